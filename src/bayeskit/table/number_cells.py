"""Numbers as people write them: decimal comma, thousands in several conventions, currencies, percentages, units."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_SPACES = "\u00a0\u202f'’"
_EXPONENT = r"([eE][+-]?\d+)?$"
PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)" + _EXPONENT
INFINITE = r"^[+-]?([iI]nf(inity)?|INF)$"
SOME_DIGIT = r"\d"
# Nobody writes thousands separators and an exponent in one number. 12,34,567 is how India writes 1,234,567.
POINT = (
    rf"^[+-]?(\d*(\.\d*)?{_EXPONENT}|[1-9]\d{{0,2}}([, {_SPACES}]\d{{3}})+(\.\d*)?$"
    r"|[1-9]\d?(,\d{2})+,\d{3}(\.\d*)?$)"
)
COMMA = rf"^[+-]?(\d*(,\d+)?{_EXPONENT}|[1-9]\d{{0,2}}([. {_SPACES}]\d{{3}})+(,\d+)?$)"
# Cells that can be read with one decimal separator only, and those that can be read with either.
_CLEAR = {
    ".": r"^[+-]?((\d*|[1-9]\d{0,2}([, '’]\d{3})+)\.(\d{1,2}|\d{4,})|(0|\d{4,})?\.\d+|[1-9]\d{0,2}([, ]\d{3})+\.\d+"
    r"|[1-9]\d{0,2}(,\d{3}){2,}|[1-9]\d?(,\d{2})+,\d{3})$",
    ",": r"^[+-]?((\d*|[1-9]\d{0,2}([. '’]\d{3})+),(\d{1,2}|\d{4,})|(0|\d{4,})?,\d+|[1-9]\d{0,2}([. ]\d{3})+,\d+"
    r"|[1-9]\d{0,2}(\.\d{3}){2,})$",
}
_NUMBER_LIKE = r"^[+-]?\d[\d., '’]*$|^[+-]?[.,]\d+$"
# Numbers in which every point may set thousands apart.
OPEN_POINT = r"^[+-]?([1-9]\d{0,2}(\.\d{3})?|0)$"

_FULL_WIDTH = "[\uff01-\uff5e\u3000\u2212]"
_CURRENCY = re.compile(
    r"^([$€£¥₹₩₽฿₫₪₺₴₦]|US\$|A\$|C\$|R\$|USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|KRW|"
    r"TRY|RUB|ZAR|SGD|HKD|TWD|ILS|元|円|圆|₣|kr|zł|Kč|Ft|Rs|fr)\.?$",
    re.IGNORECASE,
)
_NAMED_UNITS = """
    kg g mg µg μg ug lb lbs oz t km m cm mm µm nm mi mile miles ft in inch inches yd l ml cl dl gal h hr hrs hour hours
    min mins minute minutes s sec secs second seconds ms d day days wk week weeks mo month months y yr yrs year years
    °c °f °k k c f v kv mv w kw mw kwh wh a ma hz khz mhz ghz b kb mb gb tb kib mib gib bit bits byte bytes bar pa kpa
    hpa mpa psi mmhg bpm mph kph km/h m/s kcal cal j kj mj n m2 m² km2 km² m3 m³ sqft sqm ha acre acres px pt pcs pc x
    ° % ‰ ppm db mol mmol mmol/l mg/dl g/l iu u
    岁 歲 年 月 日 天 小时 分 分钟 秒 米 厘米 公里 千米 公斤 千克 克 斤 吨 个 人 次 元 万 倍 度
"""
_UNITS = frozenset(_NAMED_UNITS.split())
_AFFIXED = re.compile(
    rf"^(?P<before>[^\d\s.,()+-]{{0,4}}\.?)\s*[+-]?\d[\d., {_SPACES}]*(?P<gap>\s?)(?P<after>[^\d\s.,()+-][^\d()]*?)?$"
)
# Different cells that are looked at to find a unit; more say nothing new.
_MOST_LOOKED_AT = 2000


def numbers_of(texts: Any, decimal: str, unit: str = "") -> pa.Array:
    """Return texts as numbers, null where one is not a number under this decimal separator, with or without the unit.

    >>> import pyarrow as pa
    >>> numbers_of(pa.array(["1,234.5", "12,34", "x"]), ".").to_pylist()
    [1234.5, None, None]
    >>> numbers_of(pa.array(["12 %", "3"]), ".", "%").to_pylist()
    [0.12, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = bare(texts, unit)
    pattern = POINT if decimal == "." else COMMA
    fits = pc.and_(pc.match_substring_regex(texts, pattern), pc.match_substring_regex(texts, SOME_DIGIT))
    fits = pc.or_(fits, pc.match_substring_regex(texts, INFINITE))
    group = "," if decimal == "." else "."
    plain = pc.replace_substring_regex(texts, f"[{group} {_SPACES}]", "")
    plain = plain if decimal == "." else pc.replace_substring(plain, ",", ".")
    numbers = pc.cast(pc.if_else(fits, plain, pa.scalar(None, plain.type)), pa.float64())
    return pc.divide(numbers, 100.0) if unit == "%" else numbers


def bare(texts: Any, unit: str = "") -> Any:
    """Return texts trimmed, with plain digits and without the unit; (5) and 5- are −5, as accounts write it.

    >>> import pyarrow as pa
    >>> bare(pa.array(["１２", "(3 kg)", "5-", "-4 kgs"]), "kg").to_pylist()
    ['12', '-3', '-5', '-4']
    """
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(texts)
    if pc.any(pc.match_substring_regex(texts, _FULL_WIDTH)).as_py():
        wide = pc.match_substring_regex(texts, _FULL_WIDTH)
        plain = pc.replace_substring(pc.utf8_normalize(texts, form="NFKC"), "\u2212", "-")
        texts = pc.if_else(wide, pc.utf8_trim_whitespace(plain), texts)
    texts = pc.replace_substring_regex(texts, r"^\(\s*([^()+-]*\d[^()]*)\)$", r"-\1")
    texts = pc.replace_substring_regex(texts, r"^([^+-]*\d)\s*[-]$", r"-\1")
    if not unit:
        return texts
    name = re.sub(r"([.^$*+?()\[\]{}|\\/-])", r"\\\1", unit)
    if unit == "%":  # a number without the sign among percentages may be a share already
        fits = pc.match_substring_regex(texts, r"\d\s*%$")
        return pc.if_else(fits, pc.replace_substring_regex(texts, r"\s*%$", ""), "")
    texts = pc.replace_substring_regex(texts, rf"^([+-]?)\s*(?i:{name})\.?\s*([+-]?)\s*(\d)", r"\1\2\3")
    return pc.replace_substring_regex(texts, rf"(\d)\s*(?i:{name})s?\.?$", r"\1")


def unit_of(texts: list[str], counts: Any) -> str:
    """Return the unit, currency or % that runs through cells; "" where none does.

    >>> unit_of(["12 kg", "3 kg", "4"], [5, 5, 1]), unit_of(["$3", "€4"], [1, 1]), unit_of(["A1", "A2"], [1, 1])
    ('kg', '', '')
    """
    met: Counter[str] = Counter()
    shown: dict[str, str] = {}
    n_bare = n_numbers = 0
    for text, count in zip(texts[:_MOST_LOOKED_AT], counts[:_MOST_LOOKED_AT], strict=True):
        text = text.strip().strip("()").lstrip("+-− ")
        match = _AFFIXED.match(text)
        if match is None or (match["before"] and match["after"]):
            continue
        n_numbers += int(count)
        before, after = match["before"], (match["after"] or "").strip()
        if not before and not after:
            n_bare += int(count)
            continue
        affix = _affix(before, after, bool(match["gap"]) or " " in text)
        if affix is None:
            return ""
        met[affix.casefold().rstrip(".").removesuffix("s") or affix] += int(count)
        shown.setdefault(affix.casefold().rstrip(".").removesuffix("s") or affix, affix)
    if not met:
        return ""
    (best, n_best), *others = met.most_common(2)
    if n_best < n_bare or (others and others[0][1] > 0.05 * n_numbers):
        return ""
    unit = shown[best].rstrip(".")
    return unit[:-1] if len(unit) > 2 and unit.casefold().endswith("s") and unit.casefold() != best else unit


def _affix(before: str, after: str, apart: bool) -> str | None:
    """Return what stands beside a number where it can be a unit: a currency, a known unit, or a word set apart."""
    if before:
        return before if _CURRENCY.match(before) else None
    if _CURRENCY.match(after) or after.casefold().rstrip(".") in _UNITS:
        return after
    return after if apart and re.fullmatch(r"[^\W\d_]{2,15}", after) else None


def decimal_vote(texts: Any) -> str | None:
    """Return the decimal separator that the different cells of one column show; None where they leave it open.

    >>> import pyarrow as pa
    >>> decimal_vote(pa.array(["0,37", "12"])), decimal_vote(pa.array(["2.781"])), decimal_vote(pa.array(["$1.5"]))
    (',', None, '.')
    """
    import pyarrow.compute as pc

    texts = pc.replace_substring_regex(bare(texts), r"^[^\d+.,-]+|[^\d.,]+$", "")
    texts = texts.filter(pc.match_substring_regex(texts, SOME_DIGIT))
    if not len(texts) or pc.mean(pc.cast(pc.match_substring_regex(texts, _NUMBER_LIKE), "float64")).as_py() < 0.9:
        return None
    clear = [sign for sign, pattern in _CLEAR.items() if pc.any(pc.match_substring_regex(texts, pattern)).as_py()]
    return clear[0] if len(clear) == 1 else None
