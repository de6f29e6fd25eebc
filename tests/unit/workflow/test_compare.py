"""Cross-validation by adding counts gives what fitting each fold anew gives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, cross_val_score

import bayeskit
from bayeskit import datasets
from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.labels import read_labels
from bayeskit.table.read import read_table
from bayeskit.workflow.candidates import candidates
from bayeskit.workflow.compare import compare, cross_validate
from bayeskit.workflow.folds import stratified_parts
from bayeskit.workflow.held_rows import HeldRows
from bayeskit.workflow.leaderboard import MAJORITY

pd = pytest.importorskip("pandas", reason="cross_val_score needs a frame of mixed columns")
NAMES = list(candidates())


def tables():
    return {
        "mixed": (pd.DataFrame(datasets.load_heart()), "disease", {"vessels": "categorical"}),
        "discrete": (pd.DataFrame(datasets.load_tennis()).sample(60, replace=True, random_state=0), "play", {}),
        "three classes": (pd.DataFrame(datasets.load_penguins()), "species", {"year": "categorical"}),
    }


# Without numbers there are no bins, and NaiveBayes-MDL is the model that is tried already.
@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in NAMES for kind in tables() if (name, kind) != ("NaiveBayes-MDL", "discrete")],
)
@pytest.mark.filterwarnings("ignore::bayeskit.errors.BayeskitWarning")
def test_folds_give_what_cross_val_score_gives_on_the_same_splits(name, kind):
    frame, target, kinds = tables()[kind]
    X, labels = frame.drop(columns=target), frame[target].to_numpy()
    source = read_table(X)
    classes, y = read_labels(labels)
    part = stratified_parts(y, 3, random_state=1)
    model = candidates([name])[name]
    board = cross_validate(HeldRows(source, y, classes), {name: model}, kinds=kinds, part=part).board
    estimator = clone(candidates([name])[name]).set_params(kinds=kinds or None)
    trial = board.best
    for scoring, found in (("accuracy", 1 - trial.scores.error.value), ("neg_log_loss", -trial.scores.log_loss.value)):
        theirs = cross_val_score(estimator, X, labels, cv=PredefinedSplit(part), scoring=scoring, error_score="raise")
        assert_allclose(np.average(theirs, weights=np.bincount(part)), found, rtol=1e-9)


def test_counts_are_added_unless_bins_or_structure_need_all_rows():
    heart = compare(datasets.load_heart(), target="disease", kinds={"vessels": "categorical"})
    assert {trial.name for trial in heart if trial.added} == {"NaiveBayes"}
    tennis = compare(datasets.load_tennis(), target="play", folds=3)
    assert {"NaiveBayes", "TAN", "AODE"} <= {trial.name for trial in tennis if trial.added}
    assert not next(trial for trial in tennis if trial.name == "SPODE").added


def test_bins_are_learned_without_the_rows_that_they_are_judged_on():
    # One number tells the class, but only for rows that were seen: no cut can be found in noise that is new each time.
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=400), rng.integers(0, 2, 400)
    board = compare({"x": x, "y": y}, target="y", models=["NaiveBayes-MDL"])
    assert board.best.scores.log_loss.value > 0.68


def test_the_majority_class_is_judged_as_well_and_is_never_the_best():
    board = compare({"x": ["a", "b"] * 50, "y": ["no"] * 90 + ["yes"] * 10}, target="y")
    majority = next(trial for trial in board if trial.name == MAJORITY)
    assert majority.scores.error.value == 0.1
    assert board.best.name != MAJORITY
    assert board.best.scores.log_loss.value == min(
        trial.scores.log_loss.value for trial in board if trial.name != MAJORITY and not trial.refused
    )


def test_parts_have_their_share_of_every_class_and_depend_on_the_seed_alone():
    y = np.repeat([0, 1, 2], [50, 30, 7])
    part = stratified_parts(y, 5, random_state=3)
    for c, n in enumerate((50, 30, 7)):
        sizes = np.bincount(part[y == c], minlength=5)
        assert sizes.max() - sizes.min() <= 1
        assert sizes.sum() == n
    assert_array_equal(part, stratified_parts(y, 5, random_state=3))
    assert (part != stratified_parts(y, 5, random_state=4)).any()


def test_a_class_with_one_row_is_answered_with_probability_zero_when_it_is_left_out():
    table = {"x": ["a", "b"] * 10, "y": ["no"] * 10 + ["yes"] * 9 + ["rare"]}
    board = compare(table, target="y", models=["NaiveBayes"], folds=2)
    assert board.best.posterior[-1, board.classes.index("rare")] == 0
    assert_allclose(board.best.posterior.sum(axis=1), 1, rtol=1e-12)


def test_names_are_found_in_any_case_and_unknown_ones_refused_with_the_nearest():
    assert list(candidates(["tan", "naivebayes"])) == ["TAN", "NaiveBayes"]
    with pytest.raises(BayeskitError, match="there is no classifier 'NaivBayes'; did you mean 'NaiveBayes'"):
        candidates(["NaivBayes"])


def test_a_model_that_cannot_take_part_says_why(monkeypatch):
    model = bayeskit.TAN(max_memory=1)
    source = read_table({"x": ["a", "b"] * 10, "z": ["a", "b", "c", "c"] * 5})
    y = np.arange(20) % 2
    board = cross_validate(HeldRows(source, y, np.array(["no", "yes"])), {"TAN": model}).board
    # Three values by two, two classes, 4 bytes each.
    assert "the counts of 1 family of columns for 2 classes need 48 bytes" in board[-1].refused
    assert "left out" in str(board)
    with pytest.raises(BayeskitError, match=r"no classifier could be fitted\. TAN: "):
        _ = board.best


@pytest.mark.parametrize(("folds", "table"), [(1, {"x": [1, 2], "y": [0, 1]}), (9, {"x": [1, 2], "y": [0, 1]})])
def test_folds_lie_between_two_and_the_number_of_rows(folds, table):
    with pytest.raises(BayeskitError, match="folds must be between 2 and the number of rows"):
        compare(table, target="y", folds=folds)


def test_one_class_is_nothing_to_tell_apart():
    with pytest.raises(TableError, match="one class"):
        compare({"x": [1, 2, 3], "y": ["a", "a", "a"]}, target="y", folds=2)


def own_classifiers():
    return [
        bayeskit.NaiveBayes(smoothing=0.5, class_weight={"no": 1, "yes": 3}),
        bayeskit.NaiveBayes(kinds={"age": "poisson"}),
        bayeskit.TAN(smoothing=1),
        bayeskit.MDLTree(),
        bayeskit.KNeighbors(5),
        bayeskit.SPODE("chest_pain"),
    ]


@pytest.mark.filterwarnings("ignore::bayeskit.errors.BayeskitWarning")
@pytest.mark.parametrize("number", range(6))
def test_any_classifier_of_ours_is_compared_under_its_repr_as_cross_val_score_does(number):
    model = own_classifiers()[number]
    heart, before = pd.DataFrame(datasets.load_heart()), repr(own_classifiers()[number])
    X, labels = heart.drop(columns="disease"), heart["disease"].to_numpy()
    board = compare(X, labels, models=[model, "AODE"], folds=3)
    trial = next(trial for trial in board if trial.name == repr(model))
    assert repr(model) == before  # the user's own is left as it is
    theirs = cross_val_score(clone(model), X, labels, cv=PredefinedSplit(board.part), scoring="neg_log_loss")
    assert_allclose(np.average(theirs, weights=np.bincount(board.part)), -trial.scores.log_loss.value, rtol=1e-9)


def test_classifiers_of_scikit_learn_are_compared_on_frames_and_on_arrays():
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    penguins = pd.DataFrame(datasets.load_penguins())
    X, labels = penguins.drop(columns="species"), penguins["species"].to_numpy()
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["island", "sex"]), remainder=SimpleImputer()
    )
    pipeline = make_pipeline(columns, DecisionTreeClassifier(random_state=0))
    board = compare(X, labels, models=[pipeline, GaussianNB(), "NaiveBayes"])
    trials = {trial.name: trial for trial in board}
    trial = trials[" ".join(repr(pipeline).split())]
    theirs = cross_val_score(clone(pipeline), X, labels, cv=PredefinedSplit(board.part))
    assert_allclose(np.average(theirs, weights=np.bincount(board.part)), 1 - trial.scores.error.value, rtol=1e-12)
    with pytest.raises(ValueError, match=r"could not convert string|contains NaN") as its_reason:  # by release
        GaussianNB().fit(X, labels)
    assert trials["GaussianNB()"].refused.startswith(f"it cannot be fitted: ValueError: {str(its_reason.value)[:18]}")
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(100, 3))
    y = np.where(numbers[:, 0] + rng.normal(size=100) > 0, "b", "a")
    board = compare(
        numbers, y, models=[LogisticRegression(), bayeskit.BernoulliNB(), bayeskit.SigmoidUnit(solver="lbfgs")]
    )
    assert {trial.name for trial in board if trial.scores} == {
        "LogisticRegression()", "BernoulliNB()", "SigmoidUnit(solver='lbfgs')", MAJORITY
    }  # fmt: skip
    theirs = cross_val_score(LogisticRegression(), numbers, y, cv=PredefinedSplit(board.part))
    found = next(trial for trial in board if trial.name == "LogisticRegression()")
    assert_allclose(np.average(theirs, weights=np.bincount(board.part)), 1 - found.scores.error.value, rtol=1e-12)


def test_what_cannot_be_compared_is_refused_before_any_work():
    from sklearn.svm import LinearSVC

    for bad, said in (
        (LinearSVC(), r"LinearSVC\(\) gives no probabilities"),
        (bayeskit.NaiveBayes, r"estimators such as NaiveBayes\(\); got <class"),
        (3, "got 3"),
    ):
        with pytest.raises(BayeskitError, match=said):
            compare(datasets.load_heart(), target="disease", models=[bad])


@pytest.mark.parametrize("model", [bayeskit.LatentClass(), bayeskit.KMeans(2), bayeskit.LeastSquares()])
def test_what_is_no_classifier_is_refused_by_its_role(model):
    with pytest.raises(BayeskitError, match=r"is a (clusterer|regressor); only classifiers can be compared"):
        bayeskit.compare(datasets.load_tennis(), target="play", models=[model])
