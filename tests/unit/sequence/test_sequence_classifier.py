"""Classes of sequences, decisions about them, and the rolling alarm."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import HiddenMarkov, SequenceClassifier
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, TableError


def gaits(n=20, seed=0):
    """Sequences of two classes that differ in how long a state lasts, not in how often it occurs."""
    rng = np.random.default_rng(seed)
    sequences, classes = [], []
    for i in range(n):
        stay = 0.9 if i % 2 else 0.3
        state, rows = 0, []
        for _ in range(60):
            state = state if rng.random() < stay else 1 - state
            rows.append(rng.normal(4.0 * state))
        sequences.append(np.array(rows))
        classes.append("slow" if i % 2 else "fast")
    return sequences, np.array(classes)


@pytest.fixture(scope="module")
def model():
    return SequenceClassifier(2, n_init=1).fit(*gaits())


def test_what_differs_only_in_time_is_told_apart(model):
    X, y = gaits(seed=1)
    assert model.score(X, y) == 1.0
    assert model.classes_.tolist() == ["fast", "slow"]


def test_the_posterior_is_bayes_rule_over_the_chains(model):
    X, _ = gaits(4, seed=2)
    logs = np.column_stack([chain.log_likelihood(X) for chain in model.chains_.values()]) + np.log([0.5, 0.5])
    expected = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
    assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    assert_allclose(model.predict_joint_log_proba(X), logs, rtol=1e-12)


def test_rows_so_far_end_in_the_posterior_of_the_sequence(model):
    X, _ = gaits(4, seed=3)
    rows = model.predict_rows(X)
    assert_allclose([part[-1] for part in rows], model.predict_proba(X), atol=1e-9)
    first = [x[:10] for x in X]
    assert_allclose([part[9] for part in rows], model.predict_proba(first), atol=1e-9)


def test_a_costly_miss_moves_the_decision(model):
    X, y = gaits(4, seed=4)
    assert_array_equal(model.decide(X, [[0, 1], [1, 0]]), y)
    loss = {"fast": {"walk": 0, "stop": 1e-9}, "slow": {"walk": 1e9, "stop": 0}}
    short = [x[:6] for x in X]
    posterior = model.predict_proba(short)
    risk_walk, risk_stop = posterior[:, 1] * 1e9, posterior[:, 0] * 1e-9
    assert_array_equal(model.decide(short, loss), np.where(risk_walk <= risk_stop, "walk", "stop"))


def test_tables_arrays_and_lists_give_the_same():
    X, y = gaits(8)
    table = {"who": np.repeat(np.arange(8), 60), "x": np.concatenate(X), "gait": np.repeat(y, 60)}
    listed = SequenceClassifier(2, n_init=1).fit([x[:, None] for x in X], y)
    stacked = SequenceClassifier(2, n_init=1).fit(np.stack(X)[:, :, None], y)
    by_column = SequenceClassifier(2, n_init=1).fit(table, group="who", target="gait")
    by_row = SequenceClassifier(2, n_init=1).fit(np.concatenate(X)[:, None], np.repeat(y, 60), lengths=[60] * 8)
    expected = listed.predict_proba([x[:, None] for x in X])
    assert_array_equal(stacked.predict_proba(np.stack(X)[:, :, None]), expected)
    assert_array_equal(by_column.predict_proba(table), expected)
    assert_array_equal(by_row.predict_proba(np.concatenate(X)[:, None], lengths=[60] * 8), expected)


def test_it_comes_back_from_a_file(model, tmp_path):
    X, _ = gaits(4)
    model.save(tmp_path / "gait.bayes")
    again = bayeskit.load(tmp_path / "gait.bayes")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.classes_.tolist() == ["fast", "slow"]


def test_bad_input_is_refused():
    X, y = gaits(4)
    with pytest.raises(TableError, match="y has 3 classes for 4 sequences"):
        SequenceClassifier(2).fit(X, y[:3])
    with pytest.raises(TableError, match="requires y"):
        SequenceClassifier(2).fit(X)
    with pytest.raises(TableError, match="has rows of more than one class"):
        SequenceClassifier(2).fit({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"])
    with pytest.raises(BayeskitError, match="'prior' parameter"):
        SequenceClassifier(2, prior="odd").fit(X, y)


def test_a_sequence_that_one_class_cannot_give_has_the_other():
    model = SequenceClassifier(1, smoothing=0, prior="uniform").fit(
        [np.array(["a", "a"]), np.array(["a", "b"])], [0, 1]
    )
    assert_allclose(model.predict_proba([np.array(["b"]), np.array(["a"])]), [[0.0, 1.0], [2 / 3, 1 / 3]])
    rows = model.predict_rows([np.array(["a", "b"]), np.array(["a"])])
    assert_allclose(rows[0], [[2 / 3, 1 / 3], [0.0, 1.0]])
    assert_allclose(rows[1], [[2 / 3, 1 / 3]])
    apart = SequenceClassifier(1, smoothing=0).fit([np.array(["a", "a"]), np.array(["b", "b"])], [0, 1])
    with pytest.raises(ImpossibleEvidenceError, match="sequence 0: no class"):
        apart.predict([np.array(["a", "b"])])


# -- the rolling alarm ------------------------------------------------------------------------------------------------


def test_an_alarm_is_the_sum_over_the_paths_to_come():
    table = {"noise": list("qqqlqqllqlll"), "pump": ["ok"] * 5 + ["worn", "worn", "worn", "broken", "ok", "ok", "worn"]}
    model = HiddenMarkov().fit(table, target="pump")
    alarm = model.alarm({"noise": list("qll")}, "broken", within=3)
    filtered, step = model.filter({"noise": list("qll")}), model.transitions_
    broken = model.states_.tolist().index("broken")
    for t in range(3):
        total = 0.0
        for path in product(range(3), repeat=4):
            if broken in path[1:]:
                total += filtered[t, path[0]] * np.prod([step[a, b] for a, b in pairwise(path)])
        assert_allclose(alarm.probability[t], total, atol=1e-12)


def test_the_loss_decides_when_it_is_raised():
    table = {"noise": list("qqqlqqllqlll"), "pump": ["ok"] * 5 + ["worn", "worn", "worn", "broken", "ok", "ok", "worn"]}
    model = HiddenMarkov().fit(table, target="pump")
    asked = {"noise": list("qqlll")}
    calm, strict = (model.alarm(asked, ["broken"], 2, loss) for loss in ([[0, 1], [1, 0]], [[0, 1], [99, 0]]))
    assert_array_equal(calm.raised, calm.probability > 0.5)
    assert_array_equal(strict.raised, strict.probability > 0.01)
    with pytest.raises(BayeskitError, match="state 'brokn'"):
        model.alarm(asked, "brokn")
    with pytest.raises(BayeskitError, match="within must be"):
        model.alarm(asked, "broken", within=0)


def test_rows_without_a_class_are_named_with_what_drops_them():
    rows = {
        "who": ["a", "a", "b", "b", "c", "c"],
        "x": [0.0, 1.0, 5.0, 6.0, 0.0, 5.0],
        "y": ["u", None, "v", "v", None, None],
    }
    with pytest.raises(
        TableError, match=r"rows 1, 4, 5 \(3 of 6\) have no label\. bayeskit\.drop_unlabeled"
    ) as refused:
        SequenceClassifier(1).fit(rows, group="who", target="y")
    assert "command" not in str(refused.value)
    kept = bayeskit.drop_unlabeled(rows, target="y")
    assert list(SequenceClassifier(1).fit(kept, group="who", target="y").classes_) == ["u", "v"]
