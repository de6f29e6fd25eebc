"""The tables that textbooks work through by hand, as facts: a few rows each."""

from __future__ import annotations

from typing import Any

_TENNIS = """
outlook temperature humidity wind play
sunny hot high weak no
sunny hot high strong no
overcast hot high weak yes
rain mild high weak yes
rain cool normal weak yes
rain cool normal strong no
overcast cool normal strong yes
sunny mild high weak no
sunny cool normal weak yes
rain mild normal weak yes
sunny mild normal strong yes
overcast mild high strong yes
overcast hot normal weak yes
rain mild high strong no
"""

_ENJOY_SPORT = """
sky air_temp humidity wind water forecast enjoy
sunny warm normal strong warm same yes
sunny warm high strong warm same yes
rainy cold high strong warm change no
sunny warm high strong cool change yes
"""

_ENJOY_SPORT_VALUES = """
sky sunny cloudy rainy
air_temp warm cold
humidity normal high
wind strong weak
water warm cool
forecast same change
"""

_WATERMELON = """
色泽 根蒂 敲声 纹理 脐部 触感 密度 含糖率 好瓜
青绿 蜷缩 浊响 清晰 凹陷 硬滑 0.697 0.460 是
乌黑 蜷缩 沉闷 清晰 凹陷 硬滑 0.774 0.376 是
乌黑 蜷缩 浊响 清晰 凹陷 硬滑 0.634 0.264 是
青绿 蜷缩 沉闷 清晰 凹陷 硬滑 0.608 0.318 是
浅白 蜷缩 浊响 清晰 凹陷 硬滑 0.556 0.215 是
青绿 稍蜷 浊响 清晰 稍凹 软粘 0.403 0.237 是
乌黑 稍蜷 浊响 稍糊 稍凹 软粘 0.481 0.149 是
乌黑 稍蜷 浊响 清晰 稍凹 硬滑 0.437 0.211 是
乌黑 稍蜷 沉闷 稍糊 稍凹 硬滑 0.666 0.091 否
青绿 硬挺 清脆 清晰 平坦 软粘 0.243 0.267 否
浅白 硬挺 清脆 模糊 平坦 硬滑 0.245 0.057 否
浅白 蜷缩 浊响 模糊 平坦 软粘 0.343 0.099 否
青绿 稍蜷 浊响 稍糊 凹陷 硬滑 0.639 0.161 否
浅白 稍蜷 沉闷 稍糊 凹陷 硬滑 0.657 0.198 否
乌黑 稍蜷 浊响 清晰 稍凹 软粘 0.360 0.370 否
浅白 蜷缩 浊响 模糊 平坦 硬滑 0.593 0.042 否
青绿 蜷缩 沉闷 稍糊 稍凹 硬滑 0.719 0.103 否
"""

_FIFTEEN = """
X1 X2 Y
1 S -1
1 M -1
1 M 1
1 S 1
1 S -1
2 S -1
2 M -1
2 M 1
2 L 1
2 L 1
3 L 1
3 M 1
3 M 1
3 L 1
3 L -1
"""


def load_tennis() -> dict[str, list[Any]]:
    """Return the 14 days of play tennis; the target is ``play``.

    References
    ----------
    Mitchell (1997), Machine Learning, table 3.2 (the worked example of section 6.9.1).

    Examples
    --------
    >>> load_tennis()["outlook"][:3]
    ['sunny', 'sunny', 'overcast']
    """
    return _columns(_TENNIS)


def load_enjoy_sport(*, declared: bool = False) -> Any:
    """Return the 4 days of EnjoySport, the table for learning conjunctions; the target is ``enjoy``.

    Parameters
    ----------
    declared : bool, default False
        A pandas frame whose columns are categories with all the values that the book lists: ``sky`` may be cloudy and
        ``wind`` weak, which the four rows do not show. There are 973 hypotheses then.

    References
    ----------
    Mitchell (1997), Machine Learning, table 2.1.

    Examples
    --------
    >>> load_enjoy_sport()["sky"]
    ['sunny', 'sunny', 'rainy', 'sunny']
    >>> load_enjoy_sport(declared=True)["sky"].cat.categories.tolist()
    ['sunny', 'cloudy', 'rainy']
    """
    table = _columns(_ENJOY_SPORT)
    if declared:
        import pandas as pd

        values = {name: every for name, *every in map(str.split, _ENJOY_SPORT_VALUES.strip().splitlines())}
        kinds = {name: pd.CategoricalDtype(every) for name, every in values.items()}
        return pd.DataFrame(table).astype(kinds)
    return table


def load_watermelon() -> dict[str, list[Any]]:
    """Return the 17 melons of the watermelon data 3.0: six categorical columns, two numeric, the target is ``好瓜``.

    References
    ----------
    周志华 (2016),《机器学习》, 表 4.3.

    Examples
    --------
    >>> load_watermelon()["密度"][:3]
    [0.697, 0.774, 0.634]
    """
    return _columns(_WATERMELON)


def load_fifteen() -> dict[str, list[Any]]:
    """Return the 15 rows of 例 4.1: ``X1`` in 1, 2, 3, ``X2`` in S, M, L, the target ``Y`` is 1 or −1.

    References
    ----------
    李航 (2012),《统计学习方法》, 例 4.1.

    Examples
    --------
    >>> load_fifteen()["X2"][:4]
    ['S', 'M', 'M', 'S']
    """
    return _columns(_FIFTEEN)


def _columns(text: str) -> dict[str, list[Any]]:
    head, *rows = (line.split() for line in text.strip().splitlines())
    return {name: [_value(row[k]) for row in rows] for k, name in enumerate(head)}


def _value(text: str) -> str | int | float:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
