"""Numbers as people write them: decimal comma, thousands in several conventions, currencies, percentages, units."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

SPACES = "\u00a0\u202f'’"
_EXPONENT = r"([eE][+-]?\d+)?$"
PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)" + _EXPONENT
INFINITE = r"^[+-]?([iI]nf(inity)?|INF)$"
SOME_DIGIT = r"\d"
# Nobody writes thousands separators and an exponent in one number. 12,34,567 is how India writes 1,234,567.
POINT = (
    rf"^[+-]?((\d+(\.\d*)?|\.\d+){_EXPONENT}|[1-9]\d{{0,2}}([, {SPACES}]\d{{3}})+(\.\d*)?$"
    r"|[1-9]\d?(,\d{2})+,\d{3}(\.\d*)?$)"
)
COMMA = rf"^[+-]?((\d+(,\d+)?|,\d+){_EXPONENT}|[1-9]\d{{0,2}}([. {SPACES}]\d{{3}})+(,\d+)?$)"
# Cells that can be read with one decimal separator only, and those that can be read with either.
_CLEAR = {
    ".": r"^[+-]?((\d*|[1-9]\d{0,2}([, '’]\d{3})+)\.(\d{1,2}|\d{4,})|(0|\d{4,})?\.\d+|[1-9]\d{0,2}([, ]\d{3})+\.\d+"
    r"|[1-9]\d{0,2}(,\d{3}){2,}|[1-9]\d?(,\d{2})+,\d{3})$",
    ",": r"^[+-]?((\d*|[1-9]\d{0,2}([. '’]\d{3})+),(\d{1,2}|\d{4,})|(0|\d{4,})?,\d+|[1-9]\d{0,2}([. ]\d{3})+,\d+"
    r"|[1-9]\d{0,2}(\.\d{3}){2,})$",
}
CLEAR_POINT = _CLEAR["."]
_NUMBER_LIKE = r"^[+-]?\d[\d., '’]*$|^[+-]?[.,]\d+$"
# Numbers in which every point may set thousands apart.
OPEN_POINT = r"^[+-]?([1-9]\d{0,2}(\.\d{3})?|0)$"

_FULL_WIDTH = "[\uff01-\uff5e\uffe0-\uffe6\u3000\u2212]"
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
    ° ℃ ℉ % ‰ ppm db mol mmol mmol/l mg/dl g/l iu u
    岁 歲 年 月 日 天 小时 分 分钟 秒 米 厘米 公里 千米 公斤 千克 克 斤 吨 个 人 次 元 倍 度
"""
_UNITS = frozenset(_NAMED_UNITS.split())
# Two units that differ by the case of their first letter only: milli or mega.
_MILLI_OR_MEGA = frozenset(["mw", "mv", "ma", "mj", "mpa", "mhz", "mwh"])
# The unit of a column of 43K beside 377: each cell is multiplied by what stands in it, as a power of ten.
MULTIPLES = "×"
_POWERS = {"K": 3, "k": 3, "M": 6, "Mio": 6, "mn": 6, "bn": 9, "千": 3, "万": 4, "萬": 4, "万元": 4, "亿": 8, "億": 8}
_POWERS["亿元"] = 8
_MULTIPLE = f"(?:{'|'.join(sorted(_POWERS, key=len, reverse=True))})"
_PERCENT = r"^(.*\d)\s*%$"
_AFFIXED = re.compile(
    rf"^(?P<before>[^\d\s.,()+-]{{0,4}}\.?)\s*[+-]?\d[\d., {SPACES}]*(?P<gap>\s?)(?P<after>[^\d\s.,()+-][^\d()]*?)?$"
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
    >>> numbers_of(pa.array(["1.2M", "43K", "377"]), ".", MULTIPLES).to_pylist()
    [1200000.0, 43000.0, 377.0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    power = _powers(texts, unit)
    texts = bare(texts, unit)
    pattern = POINT if decimal == "." else COMMA
    fits = pc.and_(pc.match_substring_regex(texts, pattern), pc.match_substring_regex(texts, SOME_DIGIT))
    fits = pc.or_(fits, pc.match_substring_regex(texts, INFINITE))
    group = "," if decimal == "." else "."
    plain = pc.replace_substring_regex(texts, f"[{group} {SPACES}]", "")
    plain = plain if decimal == "." else pc.replace_substring(plain, ",", ".")
    if power is not None:
        # The power is written behind the digits, since 57.7 / 100 is not the number nearest to 0.577.
        fits = pc.and_(fits, pc.invert(pc.match_substring_regex(texts, "[eEfF]")))
        plain = pc.binary_join_element_wise(plain, power, pa.scalar("", plain.type))
    return pc.cast(pc.if_else(fits, plain, pa.scalar(None, plain.type)), pa.float64())


def _powers(texts: Any, unit: str) -> Any:
    """Return the power of ten by which each cell is multiplied, as numbers are written; None where none is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    by_pattern = powers(unit)
    if not by_pattern:
        return None
    power = pc.if_else(pc.is_valid(texts), pa.scalar("", texts.type), texts)
    for pattern, exponent in by_pattern:
        ends = pc.match_substring_regex(texts, pattern)
        power = pc.if_else(ends, pa.scalar(f"e{exponent}", texts.type), power)
    return power


def bare(texts: Any, unit: str = "") -> Any:
    """Return texts trimmed, with plain digits and without the unit; (5) and 5- are −5, as accounts write it.

    >>> import pyarrow as pa
    >>> bare(pa.array(["１２", "(3 kg)", "5-", "-4 kgs"]), "kg").to_pylist()
    ['12', '-3', '-5', '-4']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(texts)
    if pc.any(pc.match_substring_regex(texts, _FULL_WIDTH)).as_py():
        wide = pc.match_substring_regex(texts, _FULL_WIDTH)
        plain = pc.replace_substring(pc.utf8_normalize(texts, form="NFKC"), "\u2212", "-")
        texts = pc.if_else(wide, pc.utf8_trim_whitespace(plain), texts)
    for pattern, template in rewrites(unit):
        if unit == "%" and pattern == _PERCENT:  # a number without the sign among percentages may be a share already
            texts = pc.if_else(pc.match_substring_regex(texts, pattern), texts, pa.scalar("", texts.type))
        texts = pc.replace_substring_regex(texts, pattern, template)
    return texts


def rewrites(unit: str) -> tuple[tuple[str, str], ...]:
    r"""Return what a trimmed cell becomes before it is read as a number: patterns of whole cells, and templates.

    Every engine that a model is exported to knows these patterns: they have no options inside and look nowhere.

    >>> rewrites("%")[-1]
    ('^(.*\\d)\\s*%$', '\\1')
    """
    signs = (r"^\(\s*([^()+-]*\d[^()]*)\)$", r"-\1"), (r"^([^+-]*\d)\s*[-]$", r"-\1")
    if not unit:
        return signs
    if unit == MULTIPLES:
        return (*signs, (rf"^(.*\d)\s*{_MULTIPLE}$", r"\1"))
    if unit == "%":
        return (*signs, (_PERCENT, r"\1"))
    name = _pattern(unit)
    before = rf"^([+-]?)\s*{name}\.?\s*([+-]?)\s*(\d.*)$"
    plural = "[sS]?" if len(unit) > 1 else ""  # ms are no metres
    return (*signs, (before, r"\1\2\3"), (rf"^(.*\d)\s*{name}{plural}\.?$", r"\1"))


def powers(unit: str) -> tuple[tuple[str, int], ...]:
    """Return the power of ten by which a cell of the unit is multiplied, by the pattern of the cells before rewriting.

    >>> powers("%"), powers("kg")
    ((('', -2),), ())
    """
    if unit == "%":
        return (("", -2),)
    if unit != MULTIPLES:
        return ()
    return tuple((rf"^.*\d\s*{name}\s*\)?\s*$", exponent) for name, exponent in _POWERS.items())


def multiples() -> dict[str, int]:
    """Return the power of ten of each word such as K or 万."""
    return dict(_POWERS)


def unit_letters(unit: str) -> tuple[str, ...]:
    """Return the forms of each letter of a unit: any case, but for letters that mean another unit in the other.

    >>> unit_letters("mW"), unit_letters("kg")
    (('m', 'Ww'), ('Kk', 'Gg'))
    """
    case = _case_matters(unit)
    forms = [{letter} if k < case else {letter, letter.lower(), letter.upper()} for k, letter in enumerate(unit)]
    return tuple("".join(sorted(form for form in letters if len(form) == 1)) for letters in forms)


def _pattern(unit: str) -> str:
    return "".join(f"[{forms}]" if len(forms) > 1 else _escaped(forms) for forms in unit_letters(unit))


def _escaped(letter: str) -> str:
    return f"\\{letter}" if letter in ".^$*+?()[]{}|\\/-" else letter


def _case_matters(unit: str) -> int:
    """Return how many first letters of a unit have a case that matters: k and K, mW and MW are two units each."""
    if _CURRENCY.match(unit) or unit in ("l", "L"):
        return 0
    return int(len(unit) == 1 or unit.casefold() in _MILLI_OR_MEGA)


def _key(affix: str) -> str:
    """Return one name for the forms of a unit: kg, KG and kgs."""
    affix = affix.rstrip(".") or affix
    case = _case_matters(affix)
    key = affix[:case] + affix[case:].casefold()
    return key.removesuffix("s") if len(key) > 2 else key


def unit_of(texts: list[str], counts: Any) -> str:
    """Return the unit, currency or % that runs through cells; "" where none does.

    >>> unit_of(["12 kg", "3 kg", "4"], [5, 5, 1]), unit_of(["$3", "€4"], [1, 1]), unit_of(["A1", "A2"], [1, 1])
    ('kg', '', '')
    >>> unit_of(["43K", "377"], [1, 9]), unit_of(["300 K", "290"], [9, 1]), unit_of(["3 mW", "4 MW"], [1, 1])
    ('×', '', '')
    """
    met: Counter[str] = Counter()
    shown: dict[str, str] = {}
    n_bare = n_numbers = 0
    for text, count in zip(texts[:_MOST_LOOKED_AT], counts[:_MOST_LOOKED_AT], strict=True):
        beside = _beside(text)
        if beside is None:
            continue
        n_numbers += int(count)
        if not any(beside[:2]):
            n_bare += int(count)
            continue
        affix = _affix(*beside)
        if affix is None:
            return ""
        key = _key(affix)
        met[key] += int(count)
        shown.setdefault(key, affix)
    if not met:
        return ""
    (best, n_best), *others = met.most_common(2)
    if others and others[0][1] > 0.05 * n_numbers:
        return ""
    if best == MULTIPLES:
        return MULTIPLES
    if n_best < n_bare or (n_bare and best == "K"):  # kelvin or thousands?
        return ""
    unit = shown[best].rstrip(".")
    return unit[:-1] if len(unit) > 2 and unit.casefold().endswith("s") and unit.casefold() != best else unit


def _beside(text: str) -> tuple[str, str, bool] | None:
    """Return what stands before and after a number, and whether a space parts them; None where it is no number."""
    text = unicodedata.normalize("NFKC", text) if re.search(_FULL_WIDTH, text) else text
    text = text.strip().strip("()").lstrip("+-− ")
    match = _AFFIXED.match(text)
    if match is None or (match["before"] and match["after"]):
        return None
    return match["before"], (match["after"] or "").strip(), bool(match["gap"]) or " " in text


def _affix(before: str, after: str, apart: bool) -> str | None:
    """Return what stands beside a number where it can be a unit: a currency, a known unit, or a word set apart."""
    if before:
        return before if _CURRENCY.match(before) else None
    if after in _POWERS and not (apart and after == "K"):  # 300 K may be kelvin, 300K is not
        return MULTIPLES
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
