"""Every sentence of the source has its Chinese, with the same values and Chinese punctuation."""

import re
from pathlib import Path

import bayeskit
from bayeskit.language.catalogue import read_po
from bayeskit.language.extract import PLACE, written
from bayeskit.language.sentences import is_prose, sentences

ENTRIES = read_po(PLACE)
VALUE = re.compile(r"\{\d+\}")
CHINESE = r"[\u4e00-\u9fff]"


def test_the_catalogue_has_the_sentences_of_the_source_and_no_others():
    # `python -m bayeskit.language.extract` writes it anew.
    assert PLACE.read_text(encoding="utf-8") == written(ENTRIES)
    assert set(ENTRIES) == set(sentences(Path(bayeskit.__file__).parent))


def test_every_sentence_has_a_translation():
    assert [key for key, text in ENTRIES.items() if not text] == []


def test_a_translation_holds_values_of_its_sentence_only():
    wrong = {key: text for key, text in ENTRIES.items() if not set(VALUE.findall(text)) <= set(VALUE.findall(key))}
    assert wrong == {}


def test_prose_is_translated_with_full_width_punctuation():
    half = re.compile(rf"{CHINESE}\s?[,;:?!]|[,;:?!]\s?{CHINESE}")
    code = re.compile(r"`[^`]*`|\{\{.*\}\}|\[[^\]]*\]|(group|time):\w+|:折数|\w+://")
    wrong = {key: text for key, text in ENTRIES.items() if is_prose(key) and half.search(code.sub("", text))}
    assert wrong == {}
