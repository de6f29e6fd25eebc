"""Every estimator that is fitted whole works in scikit-learn's tools, with any table, and comes back from a file."""

import copy
import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_html_repr

import bayeskit
from bayeskit.datasets import load_penguins
from bayeskit.errors import TableError
from common.registry import whole_models

by_model = pytest.mark.parametrize("model", whole_models(), ids=lambda model: type(model).__name__)


def fresh(model):
    """Return a model whose draws are the same each time."""
    model = clone(model)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def penguins(model):
    """Return a table of text, numbers and missing cells, and what to predict: the species, or the body mass."""
    table = load_penguins()
    if is_regressor(model):
        known = [i for i, mass in enumerate(table["body_mass_g"]) if mass is not None]
        return {name: [column[i] for i in known] for name, column in table.items()}, "body_mass_g"
    return table, "species"


def answers(model, X):
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


def test_all_of_them_are_there():
    assert {type(model).__name__ for model in whole_models()} == {
        "BayesOptimalClassifier",
        "GibbsClassifier",
        "LeastSquares",
        "LogisticRegression",
        "MDLTree",
        "KNeighbors",
        "SigmoidUnit",
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@by_model
def test_any_table_is_read(model):
    table, target = penguins(model)
    fitted = fresh(model).fit(table, target=target)
    assert fitted.score(table, target=target) > 0.8
    features = {name: column for name, column in table.items() if name != target}
    assert_array_equal(answers(fitted, features), answers(fresh(model).fit(features, table[target]), features))
    turned = dict(reversed(features.items()))
    assert_array_equal(answers(fitted, turned), answers(fitted, features))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@by_model
def test_frames_give_what_a_dict_gives(model, library):
    frames = pytest.importorskip(library, reason=f"frames come from {library}")
    table, target = penguins(model)
    frame = frames.table(table) if library == "pyarrow" else frames.DataFrame(table)
    by_dict, by_frame = fresh(model).fit(table, target=target), fresh(model).fit(frame, target=target)
    assert_allclose(answers(by_frame, frame), answers(by_dict, table), rtol=1e-9, atol=1e-12)
    assert list(by_frame.feature_names_in_) == [name for name in table if name != target]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@by_model
def test_a_file_gives_the_same_bits(model, tmp_path):
    table, target = penguins(model)
    fitted = fresh(model).fit(table, target=target)
    fitted.save(tmp_path / "model.bayes")
    loaded = bayeskit.load(tmp_path / "model.bayes")
    assert type(loaded) is type(fitted)
    assert_array_equal(answers(loaded, table), answers(fitted, table), strict=True)
    loaded.save(tmp_path / "again.bayes")
    assert_array_equal(answers(bayeskit.load(tmp_path / "again.bayes"), table), answers(fitted, table), strict=True)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy], ids=["pickle", "deepcopy"])
@by_model
def test_a_copy_gives_the_same_bits(model, copied):
    table, target = penguins(model)
    fitted = fresh(model).fit(table, target=target)
    assert_array_equal(answers(copied(fitted), table), answers(fitted, table), strict=True)


@by_model
def test_pipelines_and_cross_validation_take_it(model):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (90, 3)).astype(float)
    y = X @ [1.0, 2.0, 3.0] if is_regressor(model) else np.where(X[:, 0] + 2 * rng.random(90) > 2.5, "ill", "well")
    pipe = make_pipeline(FunctionTransformer(), fresh(model)).fit(X, y)
    assert_array_equal(pipe.predict(X), fresh(model).fit(X, y).predict(X))
    assert cross_val_score(fresh(model), X, y, cv=3).mean() > 0.7
    assert type(model).__name__ in estimator_html_repr(model)


@by_model
def test_an_unfitted_model_says_that_it_must_be_fitted(model):
    for call in (lambda m: m.predict([[1.0]]), lambda m: m.save("nowhere.bayes"), lambda m: m.explain([1.0])):
        with pytest.raises(Exception, match="is not fitted") as caught:
            call(clone(model))
        assert type(caught.value).__name__ in ("NotFittedError", "TableError")


@by_model
def test_labels_are_given_once(model):
    table, target = penguins(model)
    with pytest.raises(TableError, match=r"give the (labels|numbers) once"):
        fresh(model).fit(table, table[target], target=target)
    with pytest.raises(TableError, match="requires y to be passed"):
        fresh(model).fit(table)
    with pytest.raises(TableError, match="is still among the features"):
        fresh(model).fit(table, table[target])


@by_model
def test_an_explanation_adds_up(model):
    table, target = penguins(model)
    if type(model).__name__ == "SigmoidUnit":
        model = clone(model).set_params(solver="lbfgs", tol=0.01)
    if type(model).__name__ == "LogisticRegression":
        model = clone(model).set_params(l2=1.0)
    fitted = fresh(model).fit(table, target=target)
    row = {name: column[10] for name, column in table.items() if name != target} | {"sex": None}
    found = fitted.explain(row)
    one = {name: [value] for name, value in row.items()}
    if is_regressor(model):
        assert_allclose(found.prediction, fitted.predict(one)[0], rtol=1e-12)
        assert "sex (not used)" in repr(found)
    else:
        log_proba = fitted.predict_log_proba(one)[0]
        a, b = (fitted.classes_.tolist().index(name) for name in found.classes)
        assert_allclose(found.log_odds, log_proba[a] - log_proba[b], rtol=1e-9)
        assert not found.used[list(found.features).index("sex")]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@by_model
def test_a_summary_tells_what_the_model_is(model):
    table, target = penguins(model)
    fitted = fresh(model).fit(table, target=target)
    summary = fitted.summary()
    assert str(summary).startswith(f"{type(model).__name__}: ")
    facts = summary.to_json()
    assert facts["model"] == type(model).__name__
    assert json.loads(json.dumps(facts)) == facts
    if is_classifier(model):
        assert list(facts["classes"]) == ["Adelie", "Chinstrap", "Gentoo"]
    assert list(fitted.schema_.names) == [name for name in table if name != target]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@by_model
def test_the_command_shows_a_model_from_a_file(model, tmp_path, capsys):
    pytest.importorskip("typer", reason="the command needs typer")
    pytest.importorskip("pyarrow", reason="files are read through Arrow")
    from bayeskit.cli.app import run

    table, target = penguins(model)
    path = str(tmp_path / "model.bayes")
    fresh(model).fit(table, target=target).save(path)
    assert run(["show", path]) == 0
    assert capsys.readouterr().out.startswith(f"{type(model).__name__}: ")
    assert run(["show", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["target"] == target


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [m for m in whole_models() if is_classifier(m)], ids=lambda m: type(m).__name__)
def test_the_command_predicts_by_a_model_from_a_file(model, tmp_path):
    pytest.importorskip("typer", reason="the command needs typer")
    pytest.importorskip("pyarrow", reason="files are read through Arrow")
    from bayeskit.cli.app import run

    table, target = penguins(model)
    path = str(tmp_path / "model.bayes")
    fresh(model).fit(table, target=target).save(path)
    names = [name for name in table if name != target]
    rows = [",".join("" if table[name][i] is None else str(table[name][i]) for name in names) for i in range(20)]
    (tmp_path / "birds.csv").write_text("\n".join([",".join(names), *rows]) + "\n", encoding="utf-8")
    out = tmp_path / "out.csv"
    assert run(["predict", path, str(tmp_path / "birds.csv"), "-o", str(out)]) == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 21
