"""``bayeskit show`` says what is in a model of every class, and what it takes."""

import numpy as np
import pytest

from bayeskit import BernoulliNB, ComplementNB, MultinomialNB, TextClassifier
from bayeskit.cli.app import run

NUMBERS = np.array([[1, 0, 2], [0, 1, 0], [1, 1, 3], [0, 2, 1]])


@pytest.mark.parametrize("model", [BernoulliNB(), MultinomialNB(), ComplementNB()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("json", [[], ["--json"]])
def test_a_model_of_counts_is_shown_with_its_classes(model, json, tmp_path, capsys):
    model.fit(NUMBERS, ["no", "no", "yes", "yes"]).save(tmp_path / "model.bayes")
    assert run(["show", str(tmp_path / "model.bayes"), *json]) == 0
    said = capsys.readouterr().out
    assert type(model).__name__ in said
    assert "yes" in said


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_a_model_of_texts_is_shown_with_its_words(json, tmp_path, capsys):
    texts = ["a sunny day", "a rainy day", "sunny and warm", "rainy and cold"]
    TextClassifier().fit(texts, ["good", "bad", "good", "bad"]).save(tmp_path / "text.bayes")
    assert run(["show", str(tmp_path / "text.bayes"), *json]) == 0
    said = capsys.readouterr().out
    assert "sunny" in said
    assert "rainy" in said


def test_a_table_is_refused_with_what_is_taken(tmp_path, capsys):
    (tmp_path / "days.csv").write_text("a,b\n1,2\n")
    assert run(["show", str(tmp_path / "days.csv")]) != 0
    assert "show takes a model (.bayes) or a network file" in " ".join(capsys.readouterr().err.split())
