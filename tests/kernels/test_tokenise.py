"""The tokenizer: its word-break classes, the word rules, scikit-learn's pattern, n-grams."""

import importlib.util
import random
import re
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeskit import Tokenizer

ROOT = Path(__file__).parents[2]
WORDS = Tokenizer(lowercase=False)
# Signs of every class of the word rules, and some to which none applies.
SIGNS = (
    "aZé1٣'\".,:;_ -!\n\tא\u05d1\u0301\u00ad\u200d\u30ab\u4e2d\u3042\u0e01\U0001f1e6\U0001f1eb"
    "\U0001f600\u2764\ufe0f\u2019\u00b7"
)


def word_break():
    spec = importlib.util.spec_from_file_location("make_word_break", ROOT / "native/table/make_word_break.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The quick (“brown”) fox can’t jump 32.3 feet, right?", "The quick brown fox can't jump 32.3 feet right"),
        ("e.g. U.S.A. 1,000;000 a:b x_1 __init__ ___", "e.g U.S.A 1,000;000 a:b x_1 __init__"),
        ("3.14.15 2001: a 9-to-5 job@work.example", "3.14.15 2001 a 9 to 5 job work.example"),
        ("朴素贝叶斯", "朴素 素贝 贝叶 叶斯"),
        ("我爱 NLP 技术2024年", "我爱 NLP 技术 2024 年"),
        ("カタカナとひらがな", "カタカナ とひ ひら らが がな"),
        ("대한민국 서울", "대한민국 서울"),
        ("السلام عليكم، ٣٫١٤", "السلام عليكم ٣٫١٤"),
        ("צה\"ל ב'", "צה\"ל ב'"),
        ("👨‍👩‍👧 👍🏽 🇫🇷🇩🇪🇯 ☂️", "👨‍👩‍👧 👍🏽 🇫🇷 🇩🇪 🇯 ☂"),
        ("cafe\u0301 na\u0308ive हिन्दी", "cafe\u0301 na\u0308ive हिन्दी"),
        ("co\u00adop\u200eerate", "cooperate"),
        ("สวัสดี", "สวั วัส สดี"),
    ],
    ids=lambda value: value[:9],
)
def test_words_are_those_of_unicode(text, tokens):
    assert WORDS.split(text) == tokens.split(" ")


@pytest.mark.parametrize("sign", "’‘＇")
def test_a_typographic_apostrophe_inside_a_word_is_that_of_the_keyboard(sign):
    for plain in ("don't", "rock'n'roll", "l'eau é"):
        assert Tokenizer().split(plain.replace("'", sign)) == Tokenizer().split(plain)
    assert Tokenizer(punctuation=True).split(f"{sign}no{sign}") == [sign, "no", sign]
    assert Tokenizer().spans(f"I don{sign}t")[1][1:] == (2, 7)


def test_punctuation_becomes_tokens_when_asked_for():
    tokens = ["well", ".", ".", ".", "(", "no", ")", ",", "___", "是", "！"]
    assert Tokenizer(punctuation=True).split("Well... (no), ___ 是！") == tokens


def test_ideographs_one_by_one():
    assert Tokenizer(ideographs="characters").split("朴素Bayes") == ["朴", "素", "bayes"]


def test_full_case_folding():
    assert Tokenizer().split("STRASSE Straße ΣΊΣΥΦΟΣ") == ["strasse", "strasse", "σίσυφοσ"]


def test_a_normal_form_makes_equal_letters_equal():
    assert Tokenizer().split("caf\u00e9") != Tokenizer().split("cafe\u0301")
    assert Tokenizer(unicode_form="NFC").split("cafe\u0301") == ["caf\u00e9"]
    assert Tokenizer(unicode_form="NFKC").split("ＦＵＬＬ") == ["full"]


@given(st.text(st.characters(max_codepoint=127), max_size=300))
def test_ascii_64_signs_at_a_time_gives_what_the_rules_give_sign_by_sign(text):
    # A letter beyond ASCII, apart from the rest, sends the whole text along the other way.
    for tokenizer in (WORDS, Tokenizer(punctuation=True), Tokenizer("sklearn")):
        assert tokenizer.split(text + " éé") == [*tokenizer.split(text), "éé"]
        places = [(begin, end) for _, begin, end in tokenizer.spans(text)]
        assert places == [(begin, end) for _, begin, end in tokenizer.spans(text + " éé")][:-1]


@given(st.text(max_size=80))
def test_scikit_learns_pattern_finds_the_same(text):
    assert Tokenizer("sklearn").split(text) == re.findall(r"(?u)\b\w\w+\b", text.lower())


@settings(max_examples=50)
@given(st.text(st.sampled_from("abÉ1 \n\t中") | st.characters(), max_size=40), st.integers(1, 3), st.integers(0, 2))
def test_character_ngrams_are_scikit_learns(text, low, more):
    from sklearn.feature_extraction.text import CountVectorizer

    peer = CountVectorizer(analyzer="char", ngram_range=(low, low + more), lowercase=False).build_analyzer()
    assert sorted(Tokenizer("characters", (low, low + more), lowercase=False).split(text)) == sorted(peer(text))


@settings(max_examples=50)
@given(st.text(st.sampled_from("abc de_é"), max_size=40), st.integers(1, 3), st.integers(0, 2))
def test_word_ngrams_are_scikit_learns(text, low, more):
    from sklearn.feature_extraction.text import CountVectorizer

    peer = CountVectorizer(ngram_range=(low, low + more)).build_analyzer()
    assert sorted(Tokenizer("sklearn", (low, low + more)).split(text)) == sorted(peer(text))


@given(st.text(st.sampled_from(SIGNS) | st.characters(), max_size=40))
def test_a_place_holds_the_token(text):
    for token, begin, end in WORDS.spans(text):
        seen = [sign for sign in text[begin:end] if unicodedata.category(sign) != "Cf" or sign in "\u200c\u200d"]
        assert token == "".join(sign for sign in seen if sign not in "\ufe0e\ufe0f")
    for token, begin, end in Tokenizer().spans(text):
        assert token in Tokenizer().split(text[begin:end]) or "\u0345" in text  # this mark folds to a letter


def test_a_function_gives_the_tokens():
    assert Tokenizer(str.split).split("One two") == ["one", "two"]
    assert Tokenizer(str.split, (2, 2), lowercase=False).split("One two three") == ["One two", "two three"]
    assert Tokenizer(str.split).spans("One  two") == [("one", 0, 3), ("two", 5, 8)]


def test_the_table_is_what_its_script_writes():
    script = word_break()
    written = (ROOT / "native/table/word_break.hpp").read_text()
    version = re.search(r"Unicode ([\d.]+)", written)[1]
    if version != unicodedata.unidata_version:
        pytest.skip(f"the table is of Unicode {version}, this Python knows {unicodedata.unidata_version}")
    assert script.header() == written


PERL_CLASSES = """
my @tests = map { [$_, qr/\\p{WB=$_}/] } @ARGV;
for my $cp (0..0xD7FF, 0xE000..0x1FFFF, 0xE0000..0xE01FF) {
    my $sign = chr($cp);
    for my $test (@tests) { if ($sign =~ $test->[1]) { print "$cp $test->[0]\\n"; last } }
}
"""
OURS = {
    "ALetter": "letter", "Hebrew_Letter": "hebrew", "Numeric": "number", "Katakana": "katakana", "Extend": "extend",
    "ExtendNumLet": "connector", "Format": "format", "ZWJ": "joiner", "MidLetter": "mid_letter", "MidNum": "mid_number",
    "MidNumLet": "mid_both", "Single_Quote": "single_quote", "Double_Quote": "double_quote",
    "Regional_Indicator": "flag", "CR": "space", "LF": "space", "Newline": "space", "WSegSpace": "space",
}  # fmt: skip


def perl():
    """Perl knows the rules and their classes by itself; it must know the Unicode of this Python."""
    if not shutil.which("perl"):
        pytest.skip("Perl is not installed")
    show = "require Unicode::UCD; print Unicode::UCD::UnicodeVersion()"
    version = subprocess.run(["perl", "-e", show], capture_output=True, text=True, check=False).stdout
    if version != unicodedata.unidata_version:
        pytest.skip(f"Perl knows Unicode {version or '?'}, this Python {unicodedata.unidata_version}")


def test_every_code_point_has_the_class_that_perl_gives_it():
    perl()
    script = word_break()
    out = subprocess.run(["perl", "-e", PERL_CLASSES, *OURS], capture_output=True, text=True, check=True).stdout
    theirs = {int(code): OURS[name] for code, name in map(str.split, out.splitlines())}
    own = {"space", "ideograph", "pictograph", "other"}  # what is "Other" to Unicode, told apart here
    for code in [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)]:
        ours = script.classify(code)
        assert ours == theirs[code] if code in theirs else ours in own, hex(code)


def test_words_end_where_perl_says():
    perl()
    script = (
        'use utf8; binmode STDIN,":utf8"; binmode STDOUT,":utf8"; $/="\\x{1}"; '
        'while(my $t=<STDIN>){chomp $t; print join("\\x{2}", split /\\b{wb}/, $t), "\\x{1}"}'
    )
    rng = random.Random(0)
    signs = SIGNS.replace("\n", "").replace("\t", "").replace("\ufe0f", "").replace("\u00ad", "").replace("❤", "")
    texts = ["".join(rng.choices(signs, k=rng.randint(1, 12))) for _ in range(5_000)]
    # Where a joiner follows a sign in the middle, Perl 5.36 breaks before that sign; rule WB4 has it ignored.
    # A picture that hangs by a joiner on a space is a word here.
    texts = [text for text in texts if not re.search("['\".,:; \u2019\u00b7]\u0301*\u200d", text)]
    sent = "".join(text + "\x01" for text in texts).encode()
    out = subprocess.run(["perl", "-e", script], input=sent, capture_output=True, check=True).stdout.decode()
    reader = Tokenizer(lowercase=False, punctuation=True, ideographs="characters")
    marks = ("Zs", "Mn", "Cf")
    for text, cut in zip(texts, out.split("\x01"), strict=False):
        wanted = [
            piece[0] + piece[1:].replace("\u2019", "'")  # the apostrophe inside a word
            for piece in cut.split("\x02")
            if piece and unicodedata.category(piece[0]) not in marks
        ]
        assert reader.split(text) == wanted, ascii(text)
