"""Classes that were declared stay, though they have no row, whatever is added or taken away."""

import pytest

from bayeskit import GaussianBayes, MultinomialNB, NaiveBayes, TextClassifier

NUMBERS = [[1.0, 3.0], [2.0, 5.0], [4.0, 1.0], [3.0, 2.0]]
TEXTS = ["a b", "b c", "c d", "d a"]
Y = ["no", "yes", "no", "yes"]
by_model = pytest.mark.parametrize(
    ("model", "X"),
    [(NaiveBayes, NUMBERS), (GaussianBayes, NUMBERS), (MultinomialNB, NUMBERS), (TextClassifier, TEXTS)],
    ids=["TableCounts", "GaussianCounts", "FeatureCounts", "TokenCounts"],
)


@by_model
def test_a_sum_has_the_declared_classes_of_either_part(model, X):
    declared = model().partial_fit(X, Y, classes=["maybe", "no", "yes"]).counts_
    plain = model().fit(X, Y).counts_
    for both in (declared + plain, plain + declared):
        assert both.narrow().classes.tolist() == ["maybe", "no", "yes"]
    assert (plain + plain).narrow().classes.tolist() == ["no", "yes"]


@by_model
def test_what_is_left_has_the_declared_classes_of_the_whole(model, X):
    declared = model().partial_fit(X, Y, classes=["maybe", "no", "yes"]).counts_
    plain = model().fit(X, Y).counts_
    assert (declared + plain - plain).narrow().classes.tolist() == ["maybe", "no", "yes"]
