"""Writes word_break.hpp: the word-break class of every code point (Unicode Standard Annex #29, table 3).

The classes follow from what Python's `unicodedata` knows (category and name) by the definitions of the annex. To
write the table for the Unicode of your Python: `python native/table/make_word_break.py > native/table/word_break.hpp`.
"""

import unicodedata

CLASSES = (
    "other", "letter", "hebrew", "number", "katakana", "connector", "extend", "format", "joiner", "mid_letter",
    "mid_number", "mid_both", "single_quote", "double_quote", "flag", "space", "ideograph", "pictograph",
)  # fmt: skip

MID_BOTH = frozenset(".\u2018\u2019\u2024\ufe52\uff07\uff0e")
MID_LETTER = frozenset(":\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a")
MID_NUMBER = frozenset(",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b")
# Letters by the annex though their category says otherwise: modifiers of phonetic writing, Armenian marks, geresh.
ALSO_LETTERS = (range(0x2C2, 0x2C6), range(0x2D2, 0x2D8), range(0x2DE, 0x2E0), range(0x2E5, 0x2EC), range(0x2ED, 0x2EE),
                range(0x2EF, 0x300), range(0x55A, 0x55D), range(0x55E, 0x55F), range(0x58A, 0x58B), range(0x5F3, 0x5F4),
                range(0xA708, 0xA717), range(0xA720, 0xA722), range(0xA789, 0xA78B), range(0xAB5B, 0xAB5C),
                range(0x16FE0, 0x16FE2), range(0x24B6, 0x24EA), range(0x1F130, 0x1F14A), range(0x1F150, 0x1F16A),
                range(0x1F170, 0x1F18A))  # fmt: skip
# Written without spaces between words: the annex leaves them to a dictionary and breaks after every character.
IDEOGRAPHIC = ("CJK", "HIRAGANA", "HENTAIGANA", "TANGUT", "NUSHU", "KHITAN", "IDEOGRAPHIC", "HANGZHOU", "THAI", "LAO",
               "KHMER", "MYANMAR", "TAI LE", "NEW TAI LUE", "TAI THAM", "TAI VIET", "AHOM")  # fmt: skip
# Where signs of category So are little pictures; code points not yet assigned there will be some.
PICTURES = (range(0x2300, 0x2400), range(0x2600, 0x27C0), range(0x2B00, 0x2C00), range(0x1F000, 0x1FB00))


def classify(code: int) -> str:
    """Return the class of a code point, one of CLASSES."""
    sign = chr(code)
    category, name = unicodedata.category(sign), unicodedata.name(sign, "")
    if (category in ("Cc", "Zl", "Zp", "Zs") and code != 0x202F) or code == 0x200B:
        return "space"
    if code == 0x200D:
        return "joiner"
    # Marks, the zero-width non-joiner, half-width voice marks, skin tones, tags.
    if (
        category[0] == "M"
        or code in (0x200C, 0xFF9E, 0xFF9F)
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
    ):
        return "extend"
    if category == "Cf":
        return "format"
    for sign_class, signs in (("single_quote", "'"), ("double_quote", '"'), ("mid_both", MID_BOTH)):
        if sign in signs:
            return sign_class
    if sign in MID_LETTER or sign in MID_NUMBER:
        return "mid_letter" if sign in MID_LETTER else "mid_number"
    if category == "Nd" or code == 0x66B:
        return "number"
    if category == "Pc" or code == 0x202F:
        return "connector"
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "flag"
    return _letter(code, category, name) or _picture(code, category)


def _letter(code: int, category: str, name: str) -> str | None:
    if any(code in codes for codes in ALSO_LETTERS):
        return "letter"
    square = 0x32D0 <= code <= 0x32FE or 0x3300 <= code <= 0x3357
    if square or code in (*range(0x3031, 0x3036), 0x309B, 0x309C, 0x30A0, 0x30FC, 0xFF70):
        return "katakana"
    if category[0] != "L" and category != "Nl":
        return None
    if "KATAKANA" in name:
        return "katakana"
    if name.startswith("HEBREW") and category == "Lo":
        return "hebrew"
    if code == 0x3005:  # the sign that repeats an ideograph
        return "letter"
    return "ideograph" if name.startswith(IDEOGRAPHIC) or 0x17000 <= code <= 0x18DFF else "letter"


def _picture(code: int, category: str) -> str:
    return "pictograph" if category in ("So", "Cn") and any(code in codes for codes in PICTURES) else "other"


def ranges() -> list[tuple[int, str]]:
    """Return where each run of code points of one class begins, with its class."""
    ranges: list[tuple[int, str]] = []
    for code in range(0x110000):
        # Surrogates are no signs, and what lies between the ideographs and the tags is not assigned.
        nothing = 0xD800 <= code <= 0xDFFF or 0x40000 <= code <= 0xDFFFF or code >= 0xE1000
        kind = "other" if nothing else classify(code)
        if not ranges or ranges[-1][1] != kind:
            ranges.append((code, kind))
    return ranges


def header() -> str:
    """Return the text of word_break.hpp."""
    words = [f"0x{start << 5 | CLASSES.index(kind):X}" for start, kind in ranges()]
    lines, line = [], "   "
    for word in words:
        if len(line) + len(word) > 116:
            lines.append(line)
            line = "   "
        line += f" {word},"
    return "\n".join([
        f"// Word-break classes of Unicode {unicodedata.unidata_version}, written by make_word_break.py.",
        "#pragma once",
        "#include <cstdint>",
        "",
        "namespace bayeskit::table {",
        "",
        f"enum class Break : uint8_t {{ {', '.join(CLASSES)} }};",
        "",
        "// Runs of code points of one class: where each begins, times 32, plus its class.",
        f"constexpr uint32_t BREAK_RUNS[{len(words)}] = {{",
        *lines,
        line,
        "};",
        "",
        "}  // namespace bayeskit::table",
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(header(), end="")
