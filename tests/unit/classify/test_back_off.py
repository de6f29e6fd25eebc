"""``smoothing="back-off"``: probabilities by hand, rows left out, growth, files, hidden cells, and what is refused."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AODE, KDB, ODE, SPODE, TAN, BackOff, NaiveBayes, datasets, load
from bayeskit.errors import BayeskitError
from bayeskit.estimate.smoothing import BACK_OFF_GRID, as_smoothing

MODELS = {
    "ODE": lambda smoothing: ODE({"temperature": "outlook", "wind": "humidity"}, smoothing=smoothing),
    "TAN": lambda smoothing: TAN(smoothing=smoothing),
    "KDB 1": lambda smoothing: KDB(1, smoothing=smoothing),
    "KDB 2": lambda smoothing: KDB(2, smoothing=smoothing),
    "AODE": lambda smoothing: AODE(smoothing=smoothing),
}
ROUNDING = 1e-12


@pytest.fixture(params=MODELS, name="made")
def _made(request):
    return MODELS[request.param]


@pytest.fixture(name="tennis")
def _tennis():
    return datasets.load_tennis()


def without(table, row):
    return {name: [value for i, value in enumerate(column) if i != row] for name, column in table.items()}


def test_a_table_by_hand(tennis):
    model = ODE({"wind": "humidity"}, smoothing=BackOff(2.0)).fit(tennis, target="play")
    # wind: 8 of 14 days are weak. Of 9 days with play 6 are weak; of the 3 of them with high humidity 2 are weak.
    p_wind = (8 + 1 / 2) / (14 + 1)
    p_given_play = (6 + 2 * p_wind) / (9 + 2)
    p_given_both = (2 + 2 * p_given_play) / (3 + 2)
    assert_allclose(model.tables_["wind"]["weak", ("yes", "high")], p_given_both, rtol=ROUNDING)
    assert_allclose(model.class_prior_, [(5 + 1 / 2) / 15, (9 + 1 / 2) / 15], rtol=ROUNDING)


def test_the_parent_that_tells_least_goes_first():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 300)
    strong, weak = rng.integers(0, 2, 600), rng.integers(0, 2, 600)
    child = np.where(rng.random(600) < 0.9, strong, rng.integers(0, 2, 600))
    for names in (("a", "b"), ("b", "a")):
        table = dict(zip(names, (strong.astype(str), weak.astype(str)), strict=True))
        counts = np.zeros((2, 2, 2, 2))  # the two parents by name, the child, the class
        first, second = (strong, weak) if names == ("a", "b") else (weak, strong)
        np.add.at(counts, (first, second, child, (y == "b").astype(int)), 1)
        found = np.exp(BackOff(50.0).log_tables([counts])).reshape(counts.shape)
        by_strong = counts if names == ("a", "b") else np.swapaxes(counts, 0, 1)
        n_strong = by_strong.sum(axis=1)
        root = (counts.sum(axis=(0, 1, 3)) + 0.5) / 601
        p = (by_strong.sum(axis=(0, 1)) + 50 * root[:, None]) / (by_strong.sum(axis=(0, 1, 2)) + 50)
        p = (n_strong + 50 * p) / (n_strong.sum(axis=1, keepdims=True) + 50)
        p = (by_strong + 50 * p[:, None]) / (by_strong.sum(axis=2, keepdims=True) + 50)
        assert_allclose(found, p if names == ("a", "b") else np.swapaxes(p, 0, 1), rtol=ROUNDING)
        assert len(table) == 2


def test_probabilities_sum_to_one_and_no_row_is_impossible(made, tennis):
    model = made("back-off").fit(tennis, target="play")
    day = {"outlook": ["overcast"], "temperature": ["hot"], "humidity": ["normal"], "wind": ["strong"]}
    for rows in (tennis, day, {name: [None] for name in day}):
        p = model.predict_proba(rows)
        assert_allclose(p.sum(axis=1), 1.0, rtol=ROUNDING)
        assert (p > 0).all()


@pytest.mark.parametrize("smoothing", [BackOff(3.0), BackOff(0.5)])
@pytest.mark.parametrize("name", ["ODE", "AODE"])
def test_a_row_left_out_is_answered_as_by_a_model_that_never_saw_it(name, smoothing, tennis):
    model = MODELS[name](smoothing).fit(tennis, target="play")
    found = np.exp(model.leave_one_out(tennis, target="play").log_posterior)
    for row in range(14):
        rest = without(tennis, row)
        if any(len(set(rest[column])) < len(set(tennis[column])) for column in tennis):
            continue  # a level would be lost, which leave-one-out keeps
        alone = MODELS[name](smoothing).fit(rest, target="play")
        day = {column: [values[row]] for column, values in tennis.items() if column != "play"}
        assert_allclose(found[row], alone.predict_proba(day)[0], rtol=1e-10)


@pytest.mark.parametrize("name", ["ODE", "AODE"])  # in the others the structure may be another without the row
def test_a_row_with_a_missing_cell_left_out_is_answered_as_by_a_model_that_never_saw_it(name, tennis):
    made = MODELS[name]
    tennis = {name: list(column) for name, column in tennis.items()}
    tennis["outlook"][3] = tennis["humidity"][8] = None
    model = made(BackOff(3.0)).fit(tennis, target="play")
    found = np.exp(model.leave_one_out(tennis, target="play").log_posterior)
    for row in (3, 8):
        alone = made(BackOff(3.0)).fit(without(tennis, row), target="play")
        day = {column: [values[row]] for column, values in tennis.items() if column != "play"}
        assert_allclose(found[row], alone.predict_proba(day)[0], rtol=1e-10)


def test_integer_weights_are_repetitions(made, tennis):
    weight = np.arange(14) % 3 + 1
    weighted = made("back-off").fit(tennis, target="play", sample_weight=weight)
    repeated_rows = {name: np.repeat(column, weight).tolist() for name, column in tennis.items()}
    repeated = made("back-off").fit(repeated_rows, target="play")
    assert_allclose(weighted.predict_proba(tennis), repeated.predict_proba(tennis), rtol=1e-10)
    left = weighted.leave_one_out(tennis, target="play", sample_weight=weight)
    assert_allclose(left.log_loss, repeated.leave_one_out(repeated_rows, target="play").log_loss, rtol=1e-10)


def halves(table):
    return [{name: column[:6] for name, column in table.items()}, {name: column[6:] for name, column in table.items()}]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "KDB 2"])
def test_any_split_of_partial_fit_is_one_fit(name, tennis):
    model = MODELS[name]("back-off")
    for part in halves(tennis):
        model.partial_fit(part, target="play")
    whole = MODELS[name]("back-off").fit(tennis, target="play")
    assert_array_equal(model.predict_proba(tennis), whole.predict_proba(tennis))


@pytest.mark.filterwarnings("ignore:the structure was chosen on the first batch")
def test_two_parents_keep_the_structure_of_the_first_batch(tennis):
    first, second = halves(tennis)
    structure = MODELS["KDB 2"]("back-off").fit(first, target="play").structure_
    model = MODELS["KDB 2"]("back-off").partial_fit(first, target="play").partial_fit(second, target="play")
    assert model.structure_.arcs == structure.arcs
    assert model.class_prior_.tolist() == MODELS["ODE"]("back-off").fit(tennis, target="play").class_prior_.tolist()


@pytest.mark.filterwarnings("ignore:the structure was chosen on the first batch")
def test_unlearning_takes_a_batch_back(made, tennis):
    parts = halves(tennis)
    model = made("back-off").partial_fit(parts[0], target="play")
    model.partial_fit(parts[1], target="play")
    before = model.predict_proba(tennis)
    model.partial_fit(parts[0], target="play")
    model.unlearn(parts[0], target="play")
    assert_array_equal(model.predict_proba(tennis), before)


@pytest.mark.parametrize("smoothing", ["back-off", BackOff(), BackOff(4.0)])
def test_a_saved_model_answers_alike(made, tennis, smoothing, tmp_path):
    model = made(smoothing).fit(tennis, target="play")
    model.save(tmp_path / "model.bayes")
    again = load(tmp_path / "model.bayes")
    assert again.smoothing == smoothing
    assert_array_equal(again.predict_proba(tennis), model.predict_proba(tennis))


def log_joint_of(net, day):
    """log P(day, play) under a network, of each class."""
    both = {name: [value] * 2 for name, value in day.items()} | {"play": ["no", "yes"]}
    return net.log_probability(both)


@pytest.mark.parametrize("model", [TAN(smoothing="back-off"), KDB(2, smoothing="back-off")])
def test_the_network_of_the_model_gives_the_same_joint(model, tennis):
    net = model.fit(tennis, target="play").to_network()
    joint = model.predict_joint_log_proba({name: column for name, column in tennis.items() if name != "play"})
    for row in range(14):
        day = {name: column[row] for name, column in tennis.items() if name != "play"}
        assert_allclose(joint[row], log_joint_of(net, day), rtol=1e-10)


def test_the_mean_of_the_networks_of_aode_is_its_joint(tennis):
    model = AODE(0, smoothing="back-off").fit(tennis, target="play")
    day = {name: column[4] for name, column in tennis.items() if name != "play"}
    joint = np.mean([np.exp(log_joint_of(net, day)) for net in model.to_networks()], axis=0)
    found = np.exp(model.predict_joint_log_proba({name: [value] for name, value in day.items()})[0])
    assert_allclose(found, joint, rtol=1e-10)
    assert_allclose(model.tables_["wind"].values.sum(), 1.0, rtol=ROUNDING)


def test_explanations_sum_and_draws_come_from_the_tables(made, tennis):
    model = made("back-off").fit(tennis, target="play")
    day = {name: column[0] for name, column in tennis.items() if name != "play"}
    told = model.explain(day)
    p = model.predict_proba({name: [value] for name, value in day.items()})[0]
    a, b = (model.classes_.tolist().index(label) for label in told.classes)
    assert_allclose(told.prior + told.terms.sum() + told.floor, np.log(p[a] / p[b]), atol=1e-10)
    columns = model.sample_columns(50, np.random.default_rng(0))
    assert all(set(column) <= set(tennis[name]) for name, column in zip(model.schema_.names, columns, strict=True))


def test_a_value_never_seen_has_a_slot_where_one_is_asked_for(made, tennis):
    model = made("back-off").set_params(unseen="smooth").fit(tennis, target="play")
    day = {"outlook": ["foggy"], "temperature": ["hot"], "humidity": ["normal"], "wind": ["strong"]}
    p = model.predict_proba(day)
    assert_allclose(p.sum(), 1.0, rtol=ROUNDING)
    for table in model.tables_.values():
        whole = 1.0 if isinstance(model, AODE) else len(table.columns)
        assert_allclose(table.values.sum(), whole, rtol=ROUNDING)


def test_what_does_not_go_together_is_refused_before_any_row_is_read():
    with pytest.raises(BayeskitError, match=r"selective=True tries all structures with one λ"):
        KDB(2, selective=True, smoothing="back-off").fit(None, None)
    with pytest.raises(BayeskitError, match=r"n_parents=2 takes a λ or an m"):
        AODE(n_parents=2, smoothing=BackOff()).fit(None, None)
    for model in (SPODE, NaiveBayes):
        with pytest.raises(BayeskitError, match=r"must be a finite number of at least 0"):
            model(smoothing="back-off").fit(None, None)
    with pytest.raises(BayeskitError, match=r"'back-off'.* Got 'backoff' instead"):
        TAN(smoothing="backoff").fit(None, None)
    with pytest.raises(BayeskitError, match=r"m must be a finite number above 0; got 0"):
        BackOff(0)


def test_a_part_of_a_row_cannot_be_left_out(tennis):
    weight = np.ones(14)
    weight[5] = 0.5
    model = TAN(smoothing="back-off").fit(tennis, target="play", sample_weight=weight)
    with pytest.raises(BayeskitError, match=r"row 5 has the weight 0\.5"):
        model.leave_one_out(tennis, target="play", sample_weight=weight)


def test_deep_tables_lose_less_with_back_off_than_with_one_lambda():
    heart = datasets.load_heart()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        losses = {
            smoothing: KDB(3, smoothing=smoothing).fit(heart, target="disease").leave_one_out(heart, target="disease")
            for smoothing in (0.25, "back-off")
        }
    assert losses["back-off"].log_loss < losses[0.25].log_loss
    assert as_smoothing("back-off") == BackOff()
    assert BACK_OFF_GRID[0] == 0.1


def test_without_a_value_of_enough_rows_the_average_is_the_model_without_super_parents():
    table = datasets.load_tennis()
    days = {name: values for name, values in table.items() if name != "play"}
    alone = KDB(0, smoothing="back-off").fit(table, target="play").predict_proba(days)
    none = AODE(smoothing="back-off", min_rows=15).fit(table, target="play").predict_proba(days)
    some = AODE(smoothing="back-off", min_rows=5).fit(table, target="play").predict_proba(days)
    assert_allclose(none, alone, rtol=1e-12)  # no value has 15 of the 14 rows
    assert (np.abs(some - alone) > 1e-3).any()


def test_the_class_of_an_average_with_back_off_is_its_most_probable_one():
    tennis = datasets.load_tennis()
    model = AODE(smoothing="back-off").fit(tennis, target="play")
    posterior = model.predict_proba(tennis)
    assert (model.predict(tennis) == model.classes_[posterior.argmax(axis=1)]).all()
    assert_allclose(model.score_samples(tennis), np.logaddexp.reduce(model.predict_joint_log_proba(tennis), axis=1))


def test_an_average_without_any_super_parent_is_the_model_without_parents():
    tennis = datasets.load_tennis()
    average = AODE(smoothing="back-off", min_rows=100).fit(tennis, target="play")
    alone = KDB(0, smoothing="back-off").fit(tennis, target="play")
    assert_allclose(average.predict_proba(tennis), alone.predict_proba(tennis), rtol=1e-9)
