from itertools import combinations, product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from bayeskit import NaiveBayes, datasets, what_if
from bayeskit.errors import BayeskitError, TooLargeError

TENNIS = datasets.load_tennis()
FEATURES = ["outlook", "temperature", "humidity", "wind"]
MODEL = NaiveBayes().fit(TENNIS, target="play")


def fewest_changes(row):
    """How many features must change at least, by trying all rows."""
    values = [sorted(set(TENNIS[name])) for name in FEATURES]
    before = MODEL.predict({name: [row[name]] for name in FEATURES})[0]
    for n_changed in range(1, 5):
        for places in combinations(range(4), n_changed):
            for new in product(*(values[j] for j in places)):
                changed = {**row, **{FEATURES[j]: value for j, value in zip(places, new, strict=True)}}
                if MODEL.predict({name: [changed[name]] for name in FEATURES})[0] != before:
                    return n_changed
    return None


@pytest.mark.parametrize("number", range(14))
def test_no_smaller_change_turns_the_decision_and_this_one_does(number):
    row = {name: TENNIS[name][number] for name in FEATURES}
    found = what_if(MODEL, row, max_changes=4)
    assert len(found.changes) == fewest_changes(row)
    changed = {name: [{**row, **found.changes}[name]] for name in FEATURES}
    assert MODEL.predict(changed)[0] == found.after != found.before
    assert found.probabilities_after == pytest.approx(
        dict(zip(MODEL.classes_, MODEL.predict_proba(changed)[0], strict=True))
    )


def test_a_loss_moves_the_decision_that_must_turn():
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    never_out = {"no": {"stay": 0, "go": 1000}, "yes": {"stay": 1, "go": 0}}
    found = what_if(MODEL, day, loss=never_out, max_changes=2)
    assert found.before == "stay"
    assert not found.turned
    assert "none of the" in str(found)


def test_only_the_changes_allowed_are_tried():
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    found = what_if(MODEL, day, {"humidity": "normal", "wind": ["weak", "strong"]})
    assert found.changes == {"humidity": "normal"} or set(found.changes) == {"humidity", "wind"}
    assert found.turned
    assert "turns into yes with" in str(found)


def test_of_numbers_the_one_that_moves_least_is_taken():
    model = LogisticRegression().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    found = what_if(model, [1.0], {"x0": [9.0, 2.0, 3.0, 2.9, -4.0]})
    assert found.changes == {"x0": 2.9}


def test_a_gaussian_feature_is_searched_by_default():
    model = NaiveBayes().fit(np.array([[0.0], [1.0], [4.0], [5.0]]), [0, 0, 1, 1])
    found = what_if(model, [0.5])
    assert 2.0 < found.changes["x0"] < 4.0


def test_what_cannot_be_tried_is_refused():
    other = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(BayeskitError, match="does not know which values its features take; name them in changes"):
        what_if(other, [0.5])
    with pytest.raises(BayeskitError, match="changes names 'rain'; the features are outlook"):
        what_if(MODEL, {"outlook": "sunny"}, {"rain": 1})
    with pytest.raises(BayeskitError, match="max_changes must be a whole number"):
        what_if(MODEL, {"outlook": "sunny"}, max_changes=0)
    with pytest.raises(BayeskitError, match="LinearSVC has none"):
        what_if(LinearSVC().fit([[0.0], [1.0]], [0, 1]), [0.5], {"x0": 1})
    with pytest.raises(TooLargeError, match=r"over the limit of 1000000; name fewer features"):
        what_if(other, [0.0], {"x0": np.linspace(-9, -8, 1_000_002)})
