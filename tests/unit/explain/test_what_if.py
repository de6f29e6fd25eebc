from itertools import combinations, product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from bayeskit import TAN, AutoBayes, NaiveBayes, datasets, what_if
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
    # P(no) = 0.263: below 1/2, above the threshold 1/5 of this loss.
    day = {"outlook": "overcast", "temperature": "hot", "humidity": "high", "wind": "weak"}
    dear = {"no": {"stay": 0, "go": 4}, "yes": {"stay": 1, "go": 0}}
    plain, careful = what_if(MODEL, day), what_if(MODEL, day, loss=dear)
    assert (plain.before, plain.after, plain.changes) == ("yes", "no", {"outlook": "sunny"})
    assert (careful.before, careful.after) == ("stay", "go")
    assert plain.probabilities_before["no"] > 1 / 5 > careful.probabilities_after["no"]
    assert len(careful.changes) == 1


def test_a_decision_that_no_change_turns_stays_as_it_is():
    day = {"outlook": "overcast", "temperature": "mild", "humidity": "normal", "wind": "weak"}
    never_out = {"no": {"stay": 0, "go": 1000}, "yes": {"stay": 1, "go": 0}}
    found = what_if(MODEL, day, loss=never_out, max_changes=4)
    assert (found.before, found.after, found.changes, found.decision_changed) == ("stay", "stay", {}, False)
    assert found.probabilities_after == found.probabilities_before
    assert found.n_tried == 3 * 3 * 2 * 2 - 1  # every other day
    assert str(found) == "stay: none of the 35 changes tried changes this decision."


def test_only_the_changes_allowed_are_tried():
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    found = what_if(MODEL, day, {"humidity": "normal", "wind": ["weak", "strong"]})
    assert found.changes == {"humidity": "normal"}  # P(yes) = 0.61; with wind = weak alone 0.46
    assert found.n_tried == 2
    assert str(found) == "no becomes yes with humidity = normal."
    assert not what_if(MODEL, day, {"wind": ["weak", "strong"]}).decision_changed


def test_of_numbers_the_one_that_moves_least_is_taken():
    model = LogisticRegression().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    found = what_if(model, [1.0], {"x0": [9.0, 2.0, 3.0, 2.9, -4.0]})
    assert found.changes == {"x0": 2.9}


def test_a_gaussian_feature_moves_to_where_the_classes_part():
    model = NaiveBayes(variance="ml").fit(np.array([[0.0], [1.0], [4.0], [5.0]]), [0, 0, 1, 1])
    for start, part in ((0.5, 2.5), (-3.0, 2.5), (8.0, 2.5)):
        found = what_if(model, [start])
        assert found.changes["x0"] == pytest.approx(part, rel=1e-9)  # deviations are equal: halfway between the means
        assert found.before != found.after
        assert found.minimal


@pytest.mark.parametrize("seed", range(12))
def test_of_gaussian_columns_no_smaller_change_of_one_of_them_turns_the_decision(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 2)) * rng.uniform(0.3, 3, (3, 2))[y] + rng.normal(size=(3, 2))[y]
    model, row = NaiveBayes().fit(X, y), X[0]
    found = what_if(model, row, max_changes=1)
    # Brute force: the change of one column that is least in shares of the range that what_if counts in.
    least = np.inf
    for j, domain in enumerate(model.domains()):
        low, high = domain.values[0], domain.values[-1]
        points = np.linspace(low, high, 20_001)
        rows = np.tile(row, (len(points), 1))
        rows[:, j] = points
        turned = points[model.predict(rows) != model.predict(row[None])[0]]
        if len(turned):
            least = min(least, np.abs(turned - row[j]).min() / (max(high, row[j]) - min(low, row[j])))
    assert found.decision_changed == np.isfinite(least)
    if found.decision_changed:
        ((name, value),) = found.changes.items()
        j = int(name[1])
        values = model.domains()[j].values
        share = abs(value - row[j]) / (max(values[-1], row[j]) - min(values[0], row[j]))
        assert share <= least * (1 + 1e-9)
        changed = row.copy()
        changed[j] = value
        assert model.predict(changed[None])[0] == found.after


@pytest.mark.parametrize("start", [1.0, 9.0])
def test_a_binned_feature_moves_to_the_nearest_edge(start):
    x = np.concatenate([np.linspace(0, 3, 40), np.linspace(7, 10, 40)])
    model = TAN(numeric="mdl").fit({"x": x, "noise": np.arange(80) % 2}, np.repeat([0, 1], 40))
    edge = model.schema_["x"].edges[0]
    found = what_if(model, {"x": start, "noise": 0}, max_changes=1)
    assert found.changes["x"] == pytest.approx(edge, rel=1e-9)
    assert (found.changes["x"] >= edge) == (start < edge)


def test_numbers_that_change_together_are_moved_back_and_not_called_minimal():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 4)) + 1.2 * y[:, None]
    model = NaiveBayes(variance="ml").fit(X, y)
    loss = [[0, 1e15], [1, 0]]  # class 1 is said only where it is all but certain
    found = what_if(model, [0.0, 0.0, 0.0, 0.0], loss=loss)
    assert len(found.changes) == 2
    assert not found.minimal
    assert "Smaller changes of these numbers may be enough." in str(found)
    last = list(found.changes)[-1]
    row = [found.changes.get(f"x{j}", 0.0) for j in range(4)]
    assert found.probabilities_after[0] <= 1e-15
    row[int(last[1])] *= 1 - 1e-9
    assert model.predict_proba([row])[0, 0] > 1e-15 * (1 - 1e-6)  # nothing is left to move back


def test_what_cannot_be_tried_is_refused():
    other = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(BayeskitError, match="has no domains of its features; give the values to try in changes"):
        what_if(other, [0.5])
    with pytest.raises(BayeskitError, match="changes names 'rain'; the features are outlook"):
        what_if(MODEL, {"outlook": "sunny"}, {"rain": 1})
    with pytest.raises(BayeskitError, match="max_changes must be a whole number"):
        what_if(MODEL, {"outlook": "sunny"}, max_changes=0)
    with pytest.raises(BayeskitError, match="LinearSVC has none"):
        what_if(LinearSVC().fit([[0.0], [1.0]], [0, 1]), [0.5], {"x0": 1})
    with pytest.raises(TooLargeError, match=r"over the limit of 1000000; name fewer features"):
        what_if(other, [0.0], {"x0": np.linspace(-9, -8, 1_000_002)})


def test_of_a_pool_all_intervals_of_its_numbers_are_tried():
    heart = datasets.load_heart()
    names = "age", "rest_bp", "cholesterol", "max_hr", "st_depression", "vessels"
    table = {name: np.asarray(heart[name], dtype=float) for name in names}
    model = AutoBayes().fit(table, heart["disease"])
    for place in range(50, 75):
        row = {name: float(column[place]) for name, column in table.items()}
        before, least, ranges = model.predict({name: [value] for name, value in row.items()})[0], np.inf, {}
        for domain in model._fine_domains():
            low, high = (end(row[domain.name], *domain.values) for end in (min, max))
            ranges[domain.name] = high - low
            points = np.linspace(low, high, 501)
            asked = {**{name: [value] * len(points) for name, value in row.items()}, domain.name: points}
            turned = points[model.predict(asked) != before]
            if len(turned):
                nearest = np.abs(turned - row[domain.name]).min()
                # One number of each interval is tried; the Gaussians may turn the decision elsewhere in it, and back.
                tried = np.abs(np.asarray(domain.values) - row[domain.name])
                least = min(least, tried[tried >= nearest].min(initial=np.inf) / (high - low))
        if np.isfinite(least):
            ((name, value),) = what_if(model, row).changes.items()  # one change, since one is enough
            assert abs(value - row[name]) / ranges[name] <= least * (1 + 1e-9)
