"""What predicts is a plain value that needs no scikit-learn; the estimator is its face."""

import json
import pickle
import re
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

from bayeskit import TAN, GaussianMixture, NaiveBayes, TextClassifier, datasets, load
from bayeskit.io.model_files import load_value
from bayeskit.learn.estimator import as_estimator
from bayeskit.learn.model import plain_class
from common.registry import any_table_classifiers

HEAVY = ("sklearn", "scipy.stats", "scipy.special", "pandas")


DAY = {"outlook": ["sunny"], "temperature": ["cool"], "humidity": ["high"], "wind": ["strong"]}


def run(program, *arguments):
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


ASK = f"""
import json, sys
from bayeskit.io.model_files import load_value
found = {{}}
for path in sys.argv[2:]:
    model = load_value(path)
    rows = json.loads(sys.argv[1])
    model.predict(rows), model.predict_proba(rows), model.explain({{name: cells[0] for name, cells in rows.items()}})
    str(model.summary())
    found[type(model).__name__] = [name for name in {HEAVY} if name in sys.modules]
print(json.dumps(found))
"""


@pytest.mark.filterwarnings("ignore:rows left out gain nothing")
def test_every_classifier_of_tables_is_loaded_and_asked_without_scikit_learn(tmp_path):
    tennis = datasets.load_tennis()
    rows = {name: list(cells[:2]) for name, cells in tennis.items() if name != "play"}
    paths = []
    for model in any_table_classifiers():
        if not model.__sklearn_tags__().input_tags.string:
            continue
        paths.append(tmp_path / f"{type(model).__name__}.bayes")
        model.fit(tennis, target="play").save(paths[-1])
    found = run(ASK, json.dumps(rows), *paths)
    assert found == {path.stem: [] for path in paths}
    assert {"NaiveBayes", "TAN", "AODE", "KDB"} <= set(found)


def test_a_text_classifier_and_a_mixture_are_asked_without_scikit_learn(tmp_path):
    TextClassifier().fit(["good film", "bad film"], ["yes", "no"]).save(tmp_path / "text.bayes")
    names = ["bill_length_mm", "bill_depth_mm"]
    bills = {name: datasets.load_penguins()[name] for name in names}
    GaussianMixture(2, random_state=0).fit(bills).save(tmp_path / "mixture.bayes")
    program = f"""
import json, sys
from bayeskit.io.model_files import load_value
load_value(sys.argv[1]).explain("good film")
load_value(sys.argv[2]).predict({{name: [40.0, 50.0] for name in {names}}})
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
"""
    assert run(program, tmp_path / "text.bayes", tmp_path / "mixture.bayes") == []


def test_a_value_that_was_pickled_to_a_worker_is_asked_without_scikit_learn(tmp_path):
    model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model._now()))
    program = f"""
import json, pickle, sys
model = pickle.load(open(sys.argv[1], "rb"))
print(json.dumps([model.predict_proba({DAY}).tolist(), [name for name in {HEAVY} if name in sys.modules]]))
"""
    assert run(program, tmp_path / "model.pickle") == [model.predict_proba(DAY).tolist(), []]


@pytest.mark.parametrize("verb", ["show", "predict", "explain"])
def test_the_command_asks_a_model_without_scikit_learn(verb, tmp_path):
    TAN().fit(datasets.load_tennis(), target="play").save(tmp_path / "play.bayes")
    (tmp_path / "days.csv").write_text("outlook,temperature,humidity,wind\nsunny,cool,high,weak\n")
    files = [tmp_path / "play.bayes"] + [tmp_path / "days.csv"] * (verb != "show")
    command = [sys.executable, "-X", "importtime", "-m", "bayeskit.cli", verb, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = re.findall(r"^import time:.*\| +(\S+)$", done.stderr, flags=re.MULTILINE)
    assert "bayeskit.classify.semi_naive" in imported  # the list is whole
    assert [name for name in imported if re.match(r"(sklearn|pandas\.|scipy\.stats)", name)] == []


def test_a_loaded_model_is_an_estimator_at_once(tmp_path):
    pytest.importorskip("pandas", reason="cross_val_score splits frames")
    NaiveBayes().fit(datasets.load_tennis(), target="play").save(tmp_path / "play.bayes")
    program = """
import json, sys
from bayeskit import NaiveBayes, datasets, load
model = load(sys.argv[1])
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.model_selection import cross_val_score
facts = [isinstance(model, BaseEstimator), isinstance(model, ClassifierMixin), type(model) is NaiveBayes]
tennis = datasets.load_tennis()
play = tennis.pop("play")
import pandas
scores = cross_val_score(clone(model), pandas.DataFrame(tennis), play, cv=2)
print(json.dumps([*facts, is_classifier(model), len(scores)]))
"""
    assert run(program, tmp_path / "play.bayes") == [True, True, True, True, 2]


def test_a_value_answers_as_its_estimator_does_to_the_last_bit(tmp_path):
    tennis = datasets.load_tennis()
    TAN().fit(tennis, target="play").save(tmp_path / "play.bayes")
    estimator, value = load(tmp_path / "play.bayes"), load_value(tmp_path / "play.bayes")
    assert not isinstance(value, BaseEstimator)
    assert value.predict_proba(tennis).tobytes() == estimator.predict_proba(tennis).tobytes()
    assert str(value.summary()) == str(estimator.summary())
    assert value.get_params() == estimator.get_params()


def test_the_estimator_of_a_model_is_one_class_with_the_models_name_and_help():
    assert pickle.loads(pickle.dumps(TAN)) is TAN
    assert (TAN.__name__, TAN.__module__) == ("TAN", "bayeskit")
    assert TAN.__doc__ == plain_class(TAN).__doc__
    assert as_estimator(plain_class(TAN)(smoothing=3)).get_params()["smoothing"] == 3


def test_a_class_that_a_user_derives_keeps_its_own_way():
    class Certain(NaiveBayes):
        def _believe(self, counts):
            asked.append(type(self))
            return super()._believe(counts)

    asked = []
    Certain().fit(datasets.load_tennis(), target="play").predict(DAY)
    assert asked == [Certain]


def test_a_loaded_model_has_what_only_an_estimator_has(tmp_path):
    NaiveBayes().fit(datasets.load_tennis(), target="play").save(tmp_path / "play.bayes")
    answers = {
        "repr(model.set_params(smoothing=2.0))": "NaiveBayes(smoothing=2.0)",
        "model.get_params()['numeric']": "gaussian",
        "sorted(model.get_metadata_routing().fit.requests)": ["sample_weight", "target"],
        "callable(model.set_partial_fit_request)": True,
        "model._repr_mimebundle_()['text/plain']": "NaiveBayes()",
        "model.score({**DAY, 'play': ['no']}, target='play')": 1.0,
    }
    program = f"""
import json, sys
from bayeskit import load
found, DAY = {{}}, {DAY}
for question in {list(answers)}:
    model = load(sys.argv[1])
    found[question] = eval(question)
print(json.dumps(found))
"""
    assert run(program, tmp_path / "play.bayes") == answers


def test_an_estimator_taken_from_bayeskit_inherits_from_scikit_learns_base_classes():
    program = """
import json
from bayeskit import GaussianMixture, LeastSquares, NaiveBayes
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, RegressorMixin
pairs = [(NaiveBayes, ClassifierMixin), (GaussianMixture, ClusterMixin), (LeastSquares, RegressorMixin)]
print(json.dumps([issubclass(model, BaseEstimator) and issubclass(model, mixin) for model, mixin in pairs]))
"""
    assert run(program) == [True, True, True]
