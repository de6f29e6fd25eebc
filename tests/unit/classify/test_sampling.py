"""Rows drawn with their classes come as often as the joint distribution says."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import AODE, KDB, TAN, GaussianBayes, GaussianNB, NaiveBayes, datasets
from bayeskit.errors import BayeskitError

N = 40_000


@pytest.mark.parametrize(
    "model", [NaiveBayes(), TAN(), KDB(k=2), AODE(min_rows=0)], ids=lambda model: type(model).__name__
)
def test_rows_with_their_class_come_as_often_as_the_joint_distribution_says(model):
    model.fit(datasets.load_tennis(), target="play")
    drawn = model.sample(N, random_state=1)
    cells = list(itertools.product(*(domain.values for domain in model.domains())))
    table = dict(zip(model.schema_.names, map(list, zip(*cells, strict=True)), strict=True))
    joint = np.exp(model.predict_joint_log_proba(table))
    joint /= joint.sum()
    rows = zip(*(drawn[name] for name in (*model.schema_.names, "play")), strict=True)
    place = {(*cell, label): k for k, (cell, label) in enumerate(itertools.product(cells, model.classes_.tolist()))}
    found = np.bincount([place[row] for row in rows], minlength=joint.size) / N
    expected = joint.ravel()
    assert (np.abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / N)).all()


@pytest.mark.parametrize("model", [GaussianNB(), GaussianBayes()], ids=lambda model: type(model).__name__)
def test_numbers_are_drawn_around_the_mean_of_their_class(model):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    model.fit(rng.normal(size=(500, 2)) + 3 * y[:, None], y)
    drawn = model.sample(N, random_state=np.random.default_rng(2))
    labels = np.array(drawn.pop("class"))
    for c in (0, 1):
        numbers = np.array(list(drawn.values())).T[labels == c]
        mean = [model.tables_[name].values[0, c] for name in drawn]
        assert_allclose(numbers.mean(axis=0), mean, atol=0.05)


def test_a_model_learned_from_its_own_draws_is_nearly_the_same():
    model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    again = NaiveBayes().fit(model.sample(N, random_state=3), target="play")
    assert_allclose(again.tables_["outlook"].values, model.tables_["outlook"].values, atol=0.02)
    assert model.sample(5, random_state=3) == model.sample(5, random_state=3)
    assert model.sample(0) == {name: [] for name in (*model.schema_.names, "play")}


def test_what_cannot_be_drawn_is_refused():
    model = NaiveBayes().fit({"class": ["a", "b"]}, [0, 1])
    with pytest.raises(BayeskitError, match="column 'class'"):
        model.sample(3)
    for n in (-1, 2.5, True):
        with pytest.raises(BayeskitError, match="n must be a whole number of at least 0"):
            model.sample(n)
