"""What holds for every classifier with a structure, on any table."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AODE, KDB, ODE, SPODE, TAN, load
from laws.tables import known_somewhere, rows, tables

COLUMNS = ("colour", "paid", "member", "grade")
KINDS = {"grade": "categorical", "member": "categorical"}
MODELS = {
    "ODE": lambda **options: ODE({"paid": "colour", "member": "paid"}, kinds=KINDS, **options),
    "SPODE": lambda **options: SPODE("colour", kinds=KINDS, **options),
    "TAN": lambda **options: TAN(kinds=KINDS, **options),
    "AODE": lambda **options: AODE(kinds=KINDS, **options),
    "A2DE": lambda **options: AODE(n_parents=2, kinds=KINDS, **options),
    "KDB 1": lambda **options: KDB(1, kinds=KINDS, **options),
}
FROZEN = {
    "best SPODE": lambda **options: SPODE(kinds=KINDS, **options),
    "KDB 2": lambda **options: KDB(2, kinds=KINDS, **options),
    "selective KDB": lambda **options: KDB(2, selective=True, kinds=KINDS, **options),
}
EVERY = {**MODELS, **FROZEN}
# Sums in another order differ by the last bits.
ROUNDING = 1e-10
TIE = 1e-12


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def posterior_from_networks(model, row):
    """P(c | x) from the networks' own tables, with hidden cells summed over one by one; AODE's are averaged."""
    networks = model.to_networks() if isinstance(model, AODE) else [model.to_network()]
    total = 0.0
    for net in networks:
        target, *columns = range(len(net.names))
        choices = []
        for v in columns:
            values, value = net.schema[v].values, row.get(net.names[v])
            choices.append([values.index(value)] if value in values else list(range(net.cards[v])))
        joint = np.zeros(net.cards[target])
        for x in product(*choices):
            code = dict(zip(columns, x, strict=True))
            for c in range(len(joint)):
                p = net.tables[target][c]
                for v in columns:
                    at = [c if parent == target else code[parent] for parent in net.parents[v]]
                    p *= net.tables[v][(*at, code[v])]
                joint[c] += p
        total = total + joint
    return total / total.sum()


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_a_missing_cell_is_summed_out_as_the_models_network_sums_it_out(name, data):
    X, y = data.draw(tables(3, 14, COLUMNS))
    # With m′ = 0 every super-parent takes part, as in the list of networks.
    model = EVERY[name]().set_params(**({"min_rows": 0} if name in ("AODE", "A2DE") else {})).fit(X, y)
    test, _ = data.draw(tables(1, 1, COLUMNS))
    found = model.predict_proba(test)[0]
    assert_allclose(found, posterior_from_networks(model, rows_as_dict(test)), rtol=1e-12)


def rows_as_dict(table):
    return {name: values[0] for name, values in table.items()}


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data())
@settings(max_examples=7, deadline=None)
def test_probabilities_sum_to_one_and_rows_may_come_in_any_order(name, data):
    X, y = data.draw(tables(3, 14, COLUMNS))
    order = data.draw(st.permutations(range(len(y))))
    model = EVERY[name]().fit(X, y)
    other = EVERY[name]().fit(rows(X, order), [y[i] for i in order])
    posterior = model.predict_proba(X)
    assert (posterior >= 0).all()
    assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)
    assert_allclose(other.predict_proba(X), posterior, rtol=ROUNDING)


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_any_split_of_partial_fit_equals_one_fit_and_unlearn_takes_it_back(name, data):
    X, y = data.draw(tables(4, 14, COLUMNS))
    cut = data.draw(st.integers(1, len(y) - 1))
    first, rest = range(cut), range(cut, len(y))
    whole = MODELS[name]().fit(X, y)
    parts = MODELS[name]().partial_fit(rows(X, first), y[:cut]).partial_fit(rows(X, rest), y[cut:])
    merged = MODELS[name]().fit(rows(X, first), y[:cut]).merge(MODELS[name]().fit(rows(X, rest), y[cut:]))
    for other in (parts, merged):
        assert other.schema_ == whole.schema_
        assert_array_equal(other.counts_.cells, whole.counts_.cells)
        assert_array_equal(other.predict_proba(X), whole.predict_proba(X))
    less = parts.unlearn(rows(X, rest), y[cut:])
    alone = MODELS[name]().fit(rows(X, first), y[:cut])
    assume(less.schema_ == alone.schema_)  # a column that loses its last value stays known by name only
    assert_array_equal(less.counts_.cells, alone.counts_.cells)
    assert_array_equal(less.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize("name", FROZEN)
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_where_the_structure_is_frozen_later_rows_are_counted_in_it(name, data):
    X, y = data.draw(tables(6, 14, COLUMNS))
    assume(known_somewhere(rows(X, range(5))))
    first = FROZEN[name]().fit(rows(X, range(5)), y[:5])
    more = FROZEN[name]().partial_fit(rows(X, range(5)), y[:5]).partial_fit(rows(X, range(5, len(y))), y[5:])
    assert more.structure_.parents == first.structure_.parents
    assert more.counts_.n_class.sum() == len(y)


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data())
@settings(max_examples=7, deadline=None)
def test_a_whole_weight_is_so_many_copies_and_weight_zero_is_absence(name, data):
    X, y = data.draw(tables(3, 10, COLUMNS))
    weight = data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y)))
    assume(any(weight))
    copies = [i for i, w in enumerate(weight) for _ in range(w)]
    weighted = EVERY[name]().fit(X, y, sample_weight=weight)
    repeated = EVERY[name]().fit(rows(X, copies), [y[i] for i in copies])
    assert weighted.schema_ == repeated.schema_
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=ROUNDING)


@pytest.mark.parametrize("name", EVERY)
@given(data=st.data())
@settings(max_examples=4, deadline=None)
def test_saving_and_loading_gives_the_same_numbers(name, data, tmp_path_factory):
    X, y = data.draw(tables(3, 10, COLUMNS))
    model = EVERY[name](unseen=data.draw(st.sampled_from(["ignore", "smooth"]))).fit(X, y)
    path = tmp_path_factory.mktemp("model") / "model.bayes"
    model.save(path)
    again = load(path)
    assert_array_equal(again.predict_log_proba(X), model.predict_log_proba(X))
    assert again.get_params() == model.get_params()
    assert str(again.structure_) == str(model.structure_)


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
@settings(max_examples=7, deadline=None)
def test_leave_one_out_equals_refits_with_structure_bins_and_levels_frozen(name, data):
    X, y = data.draw(tables(3, 8, COLUMNS, labels=("no", "yes")))
    # Without smoothing a row may be impossible without itself; the prior that answers is then without it as well.
    model = MODELS[name](smoothing=data.draw(st.sampled_from([0, 0.25])), impossible="prior").fit(X, y)
    found = model.leave_one_out(X, y)
    wrong, tied, log_loss, squares = 0, 0, [], []
    for i in range(len(y)):
        frozen = without(model, rows(X, [i]), [y[i]])
        posterior = frozen.score(model._encode(rows(X, [i])), 2, fallback=True)[0][0]
        assert_allclose(np.exp(found.log_posterior[i]), posterior, rtol=1e-12)
        true = posterior[model.classes_.tolist().index(y[i])]
        *_, second, first = np.sort([0.0, *posterior])
        if first - second < TIE:  # the last bits decide which class comes first
            tied += 1
        else:
            wrong += posterior.argmax() != model.classes_.tolist().index(y[i])
        with np.errstate(divide="ignore"):
            log_loss.append(-np.log(true))
        squares.append((1 - true) ** 2)
    assert_allclose(found.log_loss, np.mean(log_loss), rtol=1e-12)
    assert_allclose(found.rmse, np.sqrt(np.mean(squares)), rtol=1e-12)
    assert wrong <= round(found.error * len(y)) <= wrong + tied


def without(model, X, y):
    """The beliefs of the same structure and levels after one row is taken out of the counts."""
    from dataclasses import replace

    from bayeskit.estimate.families import FamilyBeliefs

    row = model.count(X, y)
    counts = model.counts_
    wide = row.alone.widen(counts.schema, counts.classes)
    values = counts.alone.values - wide.values
    cells = counts.cells - replace(row, cells=row._recount(counts.alone, row.cells.dtype), alone=wide).cells
    less = replace(counts, alone=replace(counts.alone, values=values), cells=cells)
    if isinstance(model._beliefs, FamilyBeliefs):
        old = model._beliefs
        return FamilyBeliefs(less, old.families, old.smoothing, old.smooth, old.super_parent)
    return model._believe(less)
