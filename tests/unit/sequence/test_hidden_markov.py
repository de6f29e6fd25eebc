"""Hidden Markov models: what is read, learned, asked and refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import HiddenMarkov
from bayeskit.errors import BayeskitError, BayeskitWarning, ImpossibleEvidenceError, MergeError, TableError


def two_state_rows(n=400, seed=0):
    """A number and a word that tell of a state which mostly stays."""
    rng = np.random.default_rng(seed)
    states = np.zeros(n, dtype=int)
    for t in range(1, n):
        states[t] = states[t - 1] if rng.random() < 0.95 else 1 - states[t - 1]
    word = np.where(rng.random(n) < 0.9, states, 1 - states)
    return {"x": rng.normal(3.0 * states, 1.0), "word": np.array(["low", "high"])[word]}, states


# -- learning from known states ---------------------------------------------------------------------------------------


def test_known_states_are_counted():
    model = HiddenMarkov(smoothing=0).fit(
        {"dog": [1, 1, 1, 2, 2], "walks": list("aabba"), "mood": ["up", "up", "down", "down", "down"]},
        group="dog",
        target="mood",
    )
    assert model.states_.tolist() == ["down", "up"]
    assert_array_equal(model.counts_.n_start, [1, 1])
    assert_array_equal(model.counts_.n_step, [[1, 0], [1, 1]])
    assert_allclose(model.transitions_, [[1.0, 0.0], [0.5, 0.5]])
    assert_allclose(model.tables_["walks"].values, [[1 / 3, 1.0], [2 / 3, 0.0]])
    assert model.history_ is None


def test_batches_of_sequences_give_what_one_fit_gives():
    X, states = two_state_rows()
    frame = pd.DataFrame({**X, "state": states, "dog": np.repeat(np.arange(8), 50)})
    whole = HiddenMarkov().fit(frame, group="dog", target="state")
    parts = HiddenMarkov()
    for dogs in ([0, 1, 2], [3], [4, 5, 6, 7]):
        parts.partial_fit(frame[frame.dog.isin(dogs)], group="dog", target="state")
    assert_array_equal(parts.counts_.n_step, whole.counts_.n_step)
    assert_allclose(parts.smooth(frame), whole.smooth(frame), atol=1e-12)


def test_groups_and_times_may_be_arrays_in_every_batch():
    X, states = two_state_rows(60)
    group, time = np.repeat([0, 1, 2], 20), np.tile(np.arange(20), 3)
    whole = HiddenMarkov().fit(X, states, group=group, time=time)
    parts = HiddenMarkov()
    for rows in (slice(0, 20), slice(20, 60)):
        batch = {name: column[rows] for name, column in X.items()}
        parts.partial_fit(batch, states[rows], group=group[rows], time=time[rows])
    assert_array_equal(parts.counts_.n_step, whole.counts_.n_step)
    with pytest.raises(TableError, match="X is a list of sequences already"):
        whole.smooth([X], group=group)


def test_merge_adds_and_unlearn_removes_a_sequence():
    X, states = two_state_rows()
    frame = pd.DataFrame({**X, "state": states, "dog": np.repeat(np.arange(8), 50)})
    a, b = (HiddenMarkov().fit(frame[keep], group="dog", target="state") for keep in (frame.dog < 3, frame.dog >= 3))
    whole = HiddenMarkov().fit(frame, group="dog", target="state")
    assert_allclose(a.merge(b).smooth(frame), whole.smooth(frame), atol=1e-12)
    left = whole.unlearn(frame[frame.dog == 7])
    other = HiddenMarkov().fit(frame[frame.dog < 7], group="dog", target="state")
    assert_array_equal(left.counts_.n_step, other.counts_.n_step)
    assert_array_equal(left.counts_.n_start, other.counts_.n_start)
    assert_allclose(left.smooth(frame), other.smooth(frame), atol=1e-9)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_counts_of_parts_make_a_model(covariance):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    model = HiddenMarkov(covariance=covariance)
    counts = model.count(x[:20], y[:20]) + model.count(x[20:], y[20:])
    made = HiddenMarkov.from_counts(counts, covariance=covariance)
    whole = HiddenMarkov(covariance=covariance).fit(x, y, lengths=[20, 40])
    assert_allclose(made.smooth(x), whole.smooth(x), atol=1e-10)
    assert_array_equal((counts - model.count(x[20:], y[20:])).n_step, model.count(x[:20], y[:20]).n_step)


def test_hidden_states_do_not_add():
    X, _ = two_state_rows(60)
    a = HiddenMarkov(2, n_init=1).fit(X)
    with pytest.raises(MergeError, match="hidden states have no names"):
        a.merge(a)
    with pytest.raises(MergeError, match="partial_fit needs a model whose states were all known"):
        a.partial_fit(X, np.zeros(60, dtype=int))


# -- learning hidden states -------------------------------------------------------------------------------------------


def test_hidden_states_of_mixed_columns_are_found():
    X, states = two_state_rows()
    model = HiddenMarkov(2).fit(X)
    agree = (model.predict(X) == states).mean()
    assert max(agree, 1 - agree) > 0.97
    assert (np.diff(model.history_.objective) >= -1e-9).all()


def test_the_number_of_states_is_chosen_by_bic():
    X, _ = two_state_rows()
    model = HiddenMarkov(n_init=2).fit(X)
    assert model.n_states_ == 2
    best = min(model.selection_, key=lambda each: each.bic)
    assert best.n_states == 2
    assert_allclose(model.bic(X), best.bic, rtol=1e-6)


def test_some_known_states_name_the_others():
    X, states = two_state_rows()
    y = np.full(len(states), None, dtype=object)
    y[::20] = np.array(["calm", "wild"])[states[::20]]
    model = HiddenMarkov().fit(X, y)
    assert model.states_.tolist() == ["calm", "wild"]
    assert (model.predict(X) == np.array(["calm", "wild"])[states]).mean() > 0.97


def test_a_known_state_is_kept_in_em():
    # The third row would be state 1 by its number; it is known to be 0.
    x = np.array([0.0, 0.1, 5.0, 5.1, 4.9, 0.2] * 5)
    y = [None, None, 0, None, 1, None] * 5
    counts = HiddenMarkov(smoothing=0, variance="ml").fit(x[:, None], y).counts_
    assert counts.n_class[0] >= 5.0


def test_full_covariances_are_found_with_missing_cells():
    rng = np.random.default_rng(0)
    states = np.repeat([0, 1], 300)
    z = rng.normal(size=(600, 2))
    x = np.where(states[:, None] == 0, z @ [[1.0, 0.9], [0.0, 0.44]], z @ [[1.0, -0.9], [0.0, 0.44]])
    x[rng.random(x.shape) < 0.1] = np.nan
    model = HiddenMarkov(2, covariance="full").fit(x)
    correlations = model.covariances_[:, 0, 1] / np.sqrt(model.covariances_[:, 0, 0] * model.covariances_[:, 1, 1])
    assert_allclose(np.sort(correlations), [-0.9, 0.9], atol=0.06)
    assert (np.diff(model.history_.objective) >= -1e-6).all()


def test_left_to_right_keeps_its_zeros():
    rng = np.random.default_rng(0)
    x = [np.concatenate([rng.normal(m, 0.5, 10) for m in (0, 3, 6)]) for _ in range(6)]
    model = HiddenMarkov(3, transitions="left-to-right").fit(x)
    assert_array_equal(model.transitions_[np.tril_indices(3, -1)], 0.0)
    assert_array_equal(model.start_, [1.0, 0.0, 0.0])
    assert_array_equal(model.predict(x)[0], np.repeat([0, 1, 2], 10))


def test_forbidden_steps_in_labels_are_refused():
    with pytest.raises(
        TableError, match=r"the step from state 'b' to 'a' is forbidden by transitions=, but it occurs 1"
    ):
        HiddenMarkov(transitions={"b": ["b"]}).fit({"x": list("aba")}, ["a", "b", "a"])


def test_kinds_that_em_cannot_use_are_refused_before_it_starts():
    with pytest.raises(BayeskitError, match=r"kind 'kde'.*EM cannot use it"):
        HiddenMarkov(2, numeric="kde").fit(np.arange(10.0)[:, None])


def test_poisson_and_lognormal_columns_learn_too():
    rng = np.random.default_rng(1)
    states = np.repeat([0, 1, 0, 1], 100)
    X = {"calls": rng.poisson(np.where(states, 9, 1)), "length": rng.lognormal(np.where(states, 2.0, 0.0))}
    model = HiddenMarkov(2, kinds={"calls": "poisson", "length": "lognormal"}).fit(X)
    agree = (model.predict(X) == states).mean()
    assert max(agree, 1 - agree) > 0.97
    assert (np.diff(model.history_.objective) >= -1e-9).all()
    means = model.forecast(X).column("calls")[1]
    assert means.shape == (1, 1, 2)


def test_a_state_that_is_never_visited_is_said():
    x = np.array([0.0, 1.0] * 10)
    with pytest.warns(BayeskitWarning, match="state .* is never visited"):
        HiddenMarkov(2, kinds="categorical", transitions=[[1, 0], [0, 1]], start=[0]).fit(x[:, None])


def test_progress_sees_each_step_and_can_stop_the_work():
    from bayeskit.progress import CancelledError

    X, _ = two_state_rows(60)
    model = HiddenMarkov(2, n_init=1).fit(X)
    before = model._state

    def stop(step):
        raise CancelledError(step.name)

    with pytest.raises(CancelledError, match="em"):
        model.fit(X, progress=stop)
    assert model._state is before


# -- what may be given ------------------------------------------------------------------------------------------------


def test_frames_lists_and_arrays_give_the_same():
    X, _ = two_state_rows(90)
    group = np.repeat(["a", "b", "c"], 30)
    model = HiddenMarkov(2, n_init=1).fit({**X, "g": group}, group="g")
    expected = model.smooth({**X, "g": group})
    assert_array_equal(model.smooth(pd.DataFrame({**X, "g": group})), expected)
    assert_array_equal(model.smooth(pl.DataFrame({**X, "g": group})), expected)
    assert_array_equal(model.smooth(X, group=group), expected)
    assert_array_equal(model.smooth(X, lengths=[30, 30, 30]), expected)
    parts = [{name: column[i : i + 30] for name, column in X.items()} for i in (0, 30, 60)]
    listed = model.smooth(parts)
    assert [len(part) for part in listed] == [30, 30, 30]
    assert_array_equal(np.concatenate(listed), expected)
    order = np.random.default_rng(0).permutation(90)
    mixed = {name: column[order] for name, column in {**X, "g": group, "t": np.tile(np.arange(30), 3)}.items()}
    assert_array_equal(model.smooth(mixed, time="t"), expected[order])


def test_one_dimensional_input_is_one_sequence_of_one_column():
    model = HiddenMarkov(kinds="categorical").fit(np.array([0, 0, 1, 1]), [0, 0, 1, 1])
    assert_array_equal(model.predict(np.array([0, 1])), [0, 1])
    assert len(HiddenMarkov().fit(["a", "b"], [0, 1]).log_likelihood(["a", "b"])) == 1


def test_missing_cells_are_summed_out():
    X, states = two_state_rows(50)
    model = HiddenMarkov().fit(X, states)
    hidden = {"x": [np.nan, 2.0], "word": [None, None]}
    alone = HiddenMarkov().fit({"x": X["x"]}, states)
    assert_allclose(model.smooth(hidden), alone.smooth({"x": [np.nan, 2.0]}), atol=1e-12)
    nothing = model.filter({"x": [np.nan, np.nan], "word": [None, None]})
    assert_allclose(nothing, [model.start_, model.start_ @ model.transitions_], atol=1e-12)
    assert_allclose(model.log_likelihood({"x": [np.nan], "word": [None]}), 0.0, atol=1e-12)


def test_unseen_values_follow_the_rule_of_the_library():
    table = {"x": list("aabb")}
    y = [0, 0, 1, 1]
    unknown = {"x": ["z", "a"]}
    ignore = HiddenMarkov().fit(table, y)
    assert_allclose(ignore.filter(unknown)[0], ignore.start_, atol=1e-15)
    with pytest.raises(BayeskitError, match="value 'z' was not seen in fit"):
        HiddenMarkov(unseen="error").fit(table, y).filter(unknown)
    smooth = HiddenMarkov(unseen="smooth").fit(table, y)
    assert smooth.log_likelihood({"x": ["z"]})[0] < 0


def test_dates_are_put_in_order_and_gaps_are_refused_or_filled():
    days = pd.to_datetime(["2024-03-01", "2024-03-02", "2024-03-05"])
    frame = pd.DataFrame({"day": days, "x": ["a", "a", "b"]})
    with pytest.raises(
        TableError, match=r"rows 1 and 2: from 2024-03-02 to 2024-03-05 is not one step of 1 day\. Pass"
    ):
        HiddenMarkov(2, n_init=1).fit(frame, time="day")
    model = HiddenMarkov(step="1 day").fit(frame.iloc[:2], [0, 0], time="day")
    assert model.filter(frame).shape == (3, 1)
    two = HiddenMarkov(step="1 day", smoothing=1).fit(
        pd.DataFrame({"day": days[:2], "x": ["a", "b"]}), [0, 1], time="day"
    )
    step = two.transitions_
    expected = two.filter(frame.iloc[:2])[1] @ step @ step @ step
    assert_allclose(two.filter(frame.assign(x=["a", "a", None]))[2], expected, atol=1e-12)
    with pytest.raises(TableError, match="step must be text such as '1 day'"):
        HiddenMarkov(step=1).fit(frame, [0, 0, 1], time="day")


def test_numbers_as_times():
    table = {"t": [0.0, 0.5, 1.5], "x": list("aab")}
    with pytest.raises(TableError, match=r"from 0.5 to 1.5 is not one step of 0.5"):
        HiddenMarkov().fit(table, [0, 0, 1], time="t")
    with pytest.raises(TableError, match="the states are not all known"):
        HiddenMarkov(step=0.5).count(table, [0, 0, 1], time="t")
    model = HiddenMarkov(step="any").fit(table, [0, 0, 1], time="t")
    assert_array_equal(model.counts_.n_step, [[1, 1], [0, 0]])
    assert_allclose(HiddenMarkov(step=0.5).fit(table, [0, 0, 1], time="t").counts_.n_step.sum(), 3.0)


def test_unsorted_rows_are_said_and_sorted():
    table = {"t": [2, 1, 3], "x": list("bab")}
    with pytest.warns(
        BayeskitWarning, match=r"rows are not in the order of time 't' \(first at row 1\); they are sorted"
    ):
        model = HiddenMarkov().fit(table, ["q", "p", "q"], time="t")
    assert_array_equal(model.counts_.n_step, [[0, 1], [0, 1]])


def test_two_rows_at_one_time_are_refused():
    with pytest.raises(
        TableError, match=r"time 't', rows 1 and 2 of group 'v': both have the time 1; a sequence has one"
    ):
        HiddenMarkov(2).fit({"g": list("uvv"), "t": [1, 1, 1], "x": list("aab")}, group="g", time="t")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group": "dogs"}, "'dogs'.*did you mean"),
        ({"time": "when"}, "column 'when'"),
        ({"lengths": [1, 1]}, "with the sum 3, the number of rows"),
        ({"lengths": [3], "group": [1, 1, 1]}, "either group= or lengths="),
        ({"group": ["a", None, "a"]}, "group, row 1: there is no value"),
        ({"group": ["a", "b"]}, "group has 2 values for 3 rows"),
        (
            {"time": ["noon", "night", "dawn"]},
            "time 'time', row 0: 'noon' is not a time; the column must hold numbers, dates or texts",
        ),
        ({"group": "dog", "target": "dog"}, "must be different columns"),
    ],
)
def test_what_does_not_say_where_rows_belong_is_refused(arguments, message):
    with pytest.raises(BayeskitError, match=message):
        HiddenMarkov(2, n_init=1).fit({"dog": ["a", "a", "b"], "x": list("aab")}, **arguments)


def test_rows_that_are_all_missing_are_refused():
    with (
        pytest.warns(BayeskitWarning, match="no value in any row"),
        pytest.raises(TableError, match="every cell is missing"),
    ):
        HiddenMarkov(2).fit({"x": [np.nan] * 4})


def test_sequences_of_one_row():
    model = HiddenMarkov(2, n_init=1).fit(np.array([0.0, 0.1, 5.0, 5.1])[:, None], group=[0, 1, 2, 3])
    assert model.counts_.n_step.sum() == 0
    assert_allclose(model.transitions_, 0.5)
    assert model.smooth(np.array([[0.0]])).shape == (1, 2)


def test_very_many_groups():
    n = 100_000
    rng = np.random.default_rng(0)
    table = {"g": np.repeat(np.arange(n), 2)[rng.permutation(2 * n)], "x": rng.integers(0, 3, 2 * n)}
    model = HiddenMarkov(2, kinds="categorical", n_init=1, max_iter=3, tol=1.0).fit(table, group="g")
    assert len(model.log_likelihood(table)) == n


def test_an_impossible_row_is_named():
    model = HiddenMarkov(smoothing=0).fit({"x": list("aabb"), "g": [0, 0, 1, 1]}, [0, 0, 1, 1], group="g")
    with pytest.raises(ImpossibleEvidenceError, match=r"row 2 of sequence 'v': no path of states"):
        model.smooth({"x": list("aab"), "g": list("uvv")})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_states": 0}, "'n_states' parameter"),
        ({"transitions": "sideways"}, "transitions must be"),
        ({"transitions": [[1, 0]]}, "a square matrix"),
        ({"transitions": np.ones((3, 3))}, "transitions has 3 rows, but n_states is 2"),
        ({"transitions": [[0, 0], [1, 1]]}, "must let something follow state 0"),
        ({"start": [7]}, "start names state 7; the states are 0, 1"),
        ({"covariance": "tied"}, "'covariance' parameter"),
        ({"smoothing": -1}, "'smoothing' parameter"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(BayeskitError, match=message):
        HiddenMarkov(**{"n_states": 2, "n_init": 1, **parameters}).fit(np.arange(6.0)[:, None])


# -- questions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_blocks_give_what_one_pass_gives(covariance):
    rng = np.random.default_rng(5)
    x, g = rng.normal(size=(5000, 2)), np.sort(rng.integers(0, 5, 5000))
    model = HiddenMarkov(3, covariance=covariance, n_init=1, max_iter=5, tol=1.0).fit(x, group=g)
    small = HiddenMarkov(3, covariance=covariance, n_init=1, max_iter=5, tol=1.0, max_memory=1000).fit(x, group=g)
    assert_allclose(small.counts_.n_step, model.counts_.n_step, rtol=1e-9)
    assert_allclose(small.smooth(x, group=g), model.smooth(x, group=g), atol=1e-9)
    assert_allclose(small.filter(x, group=g), model.filter(x, group=g), atol=1e-9)
    assert_array_equal(small.predict(x, group=g), model.predict(x, group=g))
    assert_allclose(small.log_likelihood(x, group=g), model.log_likelihood(x, group=g), rtol=1e-12)


def test_the_likelihood_is_the_sum_of_what_each_row_adds():
    X, _ = two_state_rows(60)
    model = HiddenMarkov(2, n_init=1).fit(X)
    rows = model.score_samples(X, lengths=[20, 40])
    assert_allclose(model.log_likelihood(X, lengths=[20, 40]), [rows[:20].sum(), rows[20:].sum()])
    assert_allclose(model.score(X), model.score_samples(X).mean())
    assert_allclose(model.aic(X), 2 * (model.n_parameters_ - model.score_samples(X).sum()))


def test_posterior_decoding_takes_the_best_state_of_each_row():
    X, _ = two_state_rows(60)
    model = HiddenMarkov(2, n_init=1).fit(X)
    assert_array_equal(model.decode(X, "posterior"), model.smooth(X).argmax(axis=1))
    with pytest.raises(BayeskitError, match="method must be"):
        model.decode(X, "best")


def test_a_forecast_follows_the_chain():
    X, states = two_state_rows()
    model = HiddenMarkov().fit(X, states)
    forecast = model.forecast(X, steps=3)
    last = model.filter(X)[-1]
    for h in range(3):
        last = last @ model.transitions_
        assert_allclose(forecast.states[0, h], last, atol=1e-14)
    means = model.tables_["x"].values[0]
    assert_allclose(forecast.column("x")[1][0, :, 0], forecast.states[0] @ means, atol=1e-6)
    assert_allclose(forecast.column("word")[1].sum(axis=-1), 1.0)


def test_durations_and_the_long_run():
    model = HiddenMarkov(smoothing=0).fit({"x": list("aabb")}, [0, 0, 1, 0])
    assert_allclose(model.transitions_, [[0.5, 0.5], [1.0, 0.0]])
    assert_allclose(model.durations_, [2.0, 1.0])
    assert_allclose(model.stationary_, [2 / 3, 1 / 3])
    swap = HiddenMarkov(smoothing=0).fit({"x": list("abab")}, [0, 1, 0, 1])
    assert_allclose(swap.stationary_, [0.5, 0.5])


def test_draws_come_from_the_model():
    X, states = two_state_rows(2000)
    for covariance in ("diagonal", "full"):
        model = HiddenMarkov(covariance=covariance).fit(X, states)
        tables, drawn = model.sample(20_000, random_state=0)
        again = HiddenMarkov(covariance=covariance).fit(tables[0], drawn[0])
        assert_allclose(again.transitions_, model.transitions_, atol=0.01)
        assert_allclose(again.tables_["word"].values, model.tables_["word"].values, atol=0.02)


def test_an_explanation_adds_up():
    X, states = two_state_rows(30)
    model = HiddenMarkov().fit(X, states)
    for row in (0, 12, -1):
        explanation = model.explain(X, row)
        posterior = model.smooth(X)[row]
        a, b = (model.states_.tolist().index(each) for each in explanation.states)
        assert_allclose(explanation.log_odds, np.log(posterior[a] / posterior[b]), rtol=1e-9)
        assert_allclose(explanation.prior + explanation.changes.sum(), explanation.log_odds, rtol=1e-9)
        assert "log-odds" in repr(explanation)


def test_the_picture_has_a_band_per_state():
    import matplotlib

    matplotlib.use("Agg")
    X, states = two_state_rows(30)
    axes = HiddenMarkov().fit(X, states).plot(X)
    assert len(axes.collections) == 2
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["0", "1"]


def test_the_summary_tells_of_every_state():
    X, states = two_state_rows(60)
    text = str(HiddenMarkov().fit(X, states).summary())
    assert "2 states" in text
    assert "of the time, a stay lasts" in text


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"transitions": "left-to-right"},
        {"transitions": [[1, 1], [0, 1]], "start": [0]},
        {"transitions": {0: [0, 1]}},
        {"covariance": "full", "step": "any"},
    ],
)
def test_a_model_comes_back_with_the_same_bits(parameters, tmp_path):
    rng = np.random.default_rng(0)
    X = {"g": np.repeat([0, 1], 20), "t": np.tile(np.arange(20), 2), "x": rng.normal(size=40), "z": rng.normal(size=40)}
    model = HiddenMarkov(2, n_init=1, **parameters).fit(X, group="g", time="t")
    model.save(tmp_path / "chain.bayes")
    again = bayeskit.load(tmp_path / "chain.bayes")
    assert_array_equal(again.smooth(X), model.smooth(X))
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.history_ == model.history_
    assert again.selection_ == model.selection_


def test_counts_come_back_from_a_file(tmp_path):
    from bayeskit.io.model_files import load_value, save

    counts = HiddenMarkov().count({"x": list("aab")}, ["u", "u", "v"])
    save(counts, tmp_path / "counts.bayes")
    again = load_value(tmp_path / "counts.bayes")
    assert_array_equal(again.n_step, counts.n_step)
    assert again.classes.tolist() == ["u", "v"]


def test_an_infinite_cell_is_named_at_fit_and_in_questions():
    calm, wild = {"x": [0.0, 1.0, 5.0, 6.0]}, {"x": [0.0, 1.0, np.inf, 6.0]}
    with pytest.raises(TableError, match=r"column 'x', row 2\. Leave the cell missing"):
        HiddenMarkov(2).fit(wild)
    with pytest.raises(TableError, match=r"sequence 1: .*row 2\. Leave the cell missing"):
        HiddenMarkov(2).fit([np.array(calm["x"]), np.array(wild["x"])])
    model = HiddenMarkov(2).fit(calm)
    with pytest.raises(TableError, match=r"column 'x', row 2\. Leave the cell missing"):
        model.predict(wild)


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (["1", "2", "tuesday"], "row 2: 'tuesday' is not a time"),
        (["2024-03-01", "soon", "2024-03-02"], "row 1: 'soon' is not a time"),
        (["2024-03-01", "7.5", "2024-03-02"], "row 1: '7.5' is not a time"),
    ],
)
def test_the_cell_that_is_no_time_is_named(days, said):
    with pytest.raises(TableError, match=f"time 'day', {said}; the column must hold numbers, dates or texts"):
        HiddenMarkov(1).fit({"x": [0.0, 1.0, 2.0], "day": days}, time="day")


def monthly(dates):
    rng = np.random.default_rng(0)
    return {
        "when": np.array(dates, dtype="datetime64[D]"),
        "x": rng.normal(size=len(dates)) + 9 * (np.arange(len(dates)) > 3),
    }


def test_months_and_years_are_equal_steps_though_their_days_differ():
    for dates in (
        [f"2023-{month:02}-15" for month in range(1, 9)],
        [f"{year}-03-01" for year in range(1998, 2006)],
        ["2023-01-31", "2023-02-28", "2023-03-31", "2023-04-30", "2023-05-31", "2023-06-30"],
    ):
        table = monthly(dates)
        by_time = HiddenMarkov(2).fit(table, time="when")
        by_order = HiddenMarkov(2).fit({"x": table["x"]})
        assert_array_equal(by_time.transitions_, by_order.transitions_)


def test_a_missing_month_is_filled():
    table = monthly(["2023-11-15", "2023-12-15", "2024-02-15", "2024-03-15", "2024-04-15"])
    with pytest.raises(
        TableError,
        match=r"from 2023-12-15 to 2024-02-15 is not one step of 1 month\. Pass step=, such as step='1 month'",
    ):
        HiddenMarkov(2).fit(table, time="when")
    states = ["a", "a", "b", "b", "b"]
    model = HiddenMarkov(step="1 month", n_init=1).fit(table, states, time="when")
    whole = {"x": np.insert(table["x"], 2, np.nan)}
    apart = HiddenMarkov(n_init=1).fit(whole, ["a", "a", None, "b", "b", "b"])
    assert_array_equal(model.transitions_, apart.transitions_)
    quarters = monthly(["2023-01-01", "2023-04-01", "2023-10-01"])
    assert HiddenMarkov(1, step="1 quarter").fit(quarters, time="when").log_likelihood(quarters).shape == (1,)


def test_dates_on_other_days_are_no_steps_of_months():
    table = monthly(["2023-01-15", "2023-02-15", "2023-03-17"])
    with pytest.raises(TableError, match=r"rows 1 and 2: from 2023-02-15 to 2023-03-17 is not one step of 1 month"):
        HiddenMarkov(2, step="1 month").fit(table, time="when")
