"""``bayeskit show`` says what is in a model of every class, and what it takes."""

import numpy as np
import pytest

from bayeskit import (
    BayesDecision,
    BernoulliNB,
    ComplementNB,
    DynamicNetwork,
    MultinomialNB,
    NaiveBayes,
    SequenceClassifier,
    TextClassifier,
    datasets,
)
from bayeskit.cli.app import run
from bayeskit.io.registry import MODELS, estimator_named

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


def fitted(name):
    rng = np.random.default_rng(0)
    rows = rng.poisson(3, (60, 3))
    labels = np.where(rows[:, 0] + rng.normal(size=60) > 3, "yes", "no")
    loss = {"no": {"no": 0, "yes": 1}, "yes": {"no": 5, "yes": 0}}
    special = {
        "BayesianNetwork": datasets.load_asia,
        "BayesDecision": lambda: BayesDecision(NaiveBayes(), loss=loss).fit(rows, labels),
        **dict.fromkeys(
            ("TextClassifier", "AutoText"), lambda: estimator_named(name)().fit(["a b", "c d"] * 5, ["x", "y"] * 5)
        ),
        "DynamicNetwork": lambda: DynamicNetwork("rain[t-1]->rain[t]; rain[t]->umbrella[t]").fitted(
            {"rain": ["yes", "no", "no", "yes"], "umbrella": ["yes", "no", "yes", "yes"]}
        ),
        "SequenceClassifier": lambda: SequenceClassifier().fit(rows * 1.0, np.repeat(["a", "b"], 30), lengths=[15] * 4),
        "LeastSquares": lambda: estimator_named(name)().fit(rows, rows[:, 1] + 0.5),
        **dict.fromkeys(("KMeans", "GaussianMixture", "LatentClass"), lambda: estimator_named(name)(2).fit(rows * 1.0)),
    }
    return special.get(name, lambda: estimator_named(name)().fit(rows, labels))()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("json", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_of_every_class_that_a_file_may_hold_is_shown(name, json, tmp_path, capsys):
    fitted(name).save(tmp_path / "model.bayes")
    capsys.readouterr()
    assert run(["show", str(tmp_path / "model.bayes"), *json]) == 0
    assert len(capsys.readouterr().out) > 50
