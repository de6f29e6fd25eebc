"""Training and evaluating as library functions: what the command does, without a command."""

from importlib.resources import as_file, files

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
from bayeskit import TAN, NaiveBayes
from bayeskit.datasets import load_heart
from bayeskit.decide.scores import MEASURES
from bayeskit.errors import BayeskitError
from bayeskit.progress import CancelledError
from bayeskit.table.files import TableFile
from bayeskit.workflow.evaluation import compare_models, evaluate
from bayeskit.workflow.model_columns import ModelColumns, least_certain_rows, row_of_file
from bayeskit.workflow.report.page import report
from bayeskit.workflow.training import train
from bayeskit.workflow.training_table import read_training_table


@pytest.fixture
def heart():
    with as_file(files("bayeskit.datasets").joinpath("data", "heart.csv")) as path:
        yield TableFile.open(path)


def test_training_gives_the_fitted_model_its_leaderboard_and_a_report(heart):
    table = read_training_table(heart, "disease", ignore=["thal"], kinds={"vessels": "numeric"})
    assert (table.n_rows, len(table.features.source.names)) == (303, 12)
    result = train(table, ["NaiveBayes", "TAN"], folds=3, random_state=1)
    assert result.model.schema_.names == table.features.source.names
    assert result.board.best.name in ("NaiveBayes", "TAN")
    assert set(result.measures) == set(MEASURES) - {"mean_loss"}
    assert "<h1>Predicting disease</h1>" in report(result)


def test_progress_names_each_step_and_counts_to_the_end(heart):
    steps = []
    table = read_training_table(heart, "disease")
    train(table, ["NaiveBayes", "TAN"], folds=2, progress=steps.append)
    names = [step.name for step in steps]
    assert sorted(set(names), key=names.index) == ["NaiveBayes", "TAN"]
    assert [step.done for step in steps] == sorted({step.done for step in steps})
    assert all(step.done < step.total for step in steps)


@pytest.mark.parametrize("after", [0, 1])
def test_work_stops_where_the_callback_raises(heart, after):
    seen = []

    def stop(step):
        if len(seen) == after:
            raise CancelledError(step.name)
        seen.append(step)

    with pytest.raises(CancelledError):
        train(read_training_table(heart, "disease"), ["NaiveBayes", "TAN"], folds=2, progress=stop)
    assert len(seen) == after


def test_a_model_scores_on_a_file_what_it_scores_in_memory(heart):
    table, y = load_heart(), np.array(load_heart()["disease"])
    model = NaiveBayes(kinds={"vessels": "categorical"}).fit(table, target="disease")
    found = evaluate(model, heart)
    assert (found.target, found.n_unlabelled, found.scores.n_rows) == ("disease", 0, 303)
    p_true = model.predict_proba(table)[np.arange(303), np.searchsorted(model.classes_, y)]
    assert_allclose(found.scores.log_loss.value, -np.log(p_true).mean(), rtol=1e-12)
    assert found.scores.error.value == (model.predict(table) != y).mean()


def test_two_models_are_compared_on_the_same_rows(heart):
    table, y = load_heart(), np.array(load_heart()["disease"])
    models = [cls(kinds={"vessels": "categorical"}).fit(table, target="disease") for cls in (NaiveBayes, TAN)]
    found = compare_models(*models, heart)
    right = [model.predict(table) == y for model in models]
    assert found.only_first_right == (right[0] & ~right[1]).sum()
    assert found.only_second_right == (right[1] & ~right[0]).sum()
    first, second, difference = found.measures["error"]
    assert_allclose(difference.value, second.value - first.value, atol=1e-15)
    other = NaiveBayes().fit({"x": ["a", "b"]}, ["no", "perhaps"])
    with pytest.raises(BayeskitError, match="the models do not have the same classes"):
        compare_models(models[0], other, heart)


def test_rows_of_a_file_are_found_by_number_and_by_certainty(heart):
    table = load_heart()
    model = NaiveBayes(kinds={"vessels": "categorical"}).fit(table, target="disease")
    assert row_of_file(ModelColumns(model, heart), 3)["age"] == table["age"][2]
    confidence = model.predict_proba(table).max(axis=1)
    found = [number for number, _ in least_certain_rows(ModelColumns(model, heart), 5)]
    assert_array_equal(found, np.argsort(confidence, kind="stable")[:5] + 1)
