"""No step of EM over rows without labels lowers its objective, whatever the kind of a column."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeskit import CategoricalNB, GaussianBayes, MEstimate, NaiveBayes, SemiSupervised, TextClassifier
from bayeskit.errors import BayeskitError
from bayeskit.kinds import words


def rows_for(kind, seed):
    """Two columns that the kind allows, of whole numbers or of texts, of two classes, half of the labels hidden."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 40)
    y[:2] = 0, 1  # both classes have a row with a label
    numbers = rng.poisson(np.where(y == 0, 0.7, 3.0)[:, None], (40, 2)).astype(float)
    if kind.name == "text":
        X = np.array([[" ".join(["more"] * int(n) + ["less"]) for n in row] for row in numbers], dtype=object)
    else:
        allowed = np.unique(numbers[~kind.unfit(numbers)])
        X = np.where(kind.unfit(numbers), allowed[-1], numbers)
    X[rng.random(X.shape) < 0.1] = None if kind.name == "text" else np.nan
    labels = np.array(["b" if c else "a" for c in y], dtype=object)
    labels[20:] = None
    return X, labels


def path_of(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few steps are not enough
        return np.array(SemiSupervised(model, max_iter=25, tol=0, **options).fit(X, y).history_.objective)


def assert_never_falls(path):
    assert (np.diff(path) >= -1e-9 * np.abs(path).max()).all(), np.diff(path).min()


def check_kind(word, seed, **options):
    """The law for one kind: EM never lowers the objective, or the kind is refused by name."""
    kind = words()[word]
    X, y = rows_for(kind, seed)
    model = NaiveBayes(kinds=word, **options)
    if kind.maximizes:
        assert_never_falls(path_of(model, X, y))
    else:
        with pytest.raises(BayeskitError, match=f"column 'x0' is of kind '{kind.name}'.*EM cannot use it"):
            path_of(model, X, y)


@pytest.mark.parametrize("word", sorted(words()))
@given(
    seed=st.integers(0, 2**32 - 1),
    smoothing=st.sampled_from([0.5, 1.0, MEstimate(3)]),
    unseen=st.sampled_from(["ignore", "smooth"]),
    variance=st.sampled_from(["posterior", "ml"]),
)
@settings(max_examples=8, deadline=None)
def test_no_step_lowers_the_objective_for_any_kind(word, seed, smoothing, unseen, variance):
    check_kind(word, seed, smoothing=smoothing, unseen=unseen, variance=variance)


@pytest.mark.parametrize(
    "model",
    [CategoricalNB(alpha=0.5), CategoricalNB(fit_prior=False), GaussianBayes(), NaiveBayes(prior="data")],
    ids=str,
)
def test_no_step_lowers_the_objective_of_other_classifiers(model):
    X, y = rows_for(words()["poisson"], 3)
    assert_never_falls(path_of(model, np.nan_to_num(X), y))


@pytest.mark.parametrize("options", [{}, {"model": "bernoulli"}, {"hashing": 64}, {"smoothing": MEstimate(4)}], ids=str)
def test_no_step_lowers_the_objective_of_texts(options):
    rng = np.random.default_rng(1)
    vocabulary = np.array(["ball", "goal", "team", "match", "vote", "law", "party", "court", "the", "a", "of"])
    texts = [" ".join(rng.choice(vocabulary[a:], 5)) for a in rng.integers(0, 5, 40)]
    labels = [*("ab" * 10), *[None] * 20]
    assert_never_falls(path_of(TextClassifier(**options), texts, labels))


def test_what_does_not_maximize_is_refused_by_name():
    from bayeskit import TAN

    X, y = rows_for(words()["poisson"], 0)
    for model, said in [
        (TAN(), "got TAN"),
        (NaiveBayes(class_weight="balanced"), "NaiveBayes has class_weight"),
        (GaussianBayes(shrinkage=0.1), "shrinkage=0"),
    ]:
        with pytest.raises(BayeskitError, match=said):
            path_of(model, np.nan_to_num(X), y)
    with pytest.raises(BayeskitError, match="complement model"):
        path_of(TextClassifier(model="complement"), ["a b", "c d", "a"], ["x", "y", None])
