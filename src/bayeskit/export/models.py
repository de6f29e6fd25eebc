"""Each fitted classifier as a `Scorer`: the arrays that it predicts with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayeskit.classify.aode import AODE
from bayeskit.classify.auto.model import AutoBayes
from bayeskit.classify.gaussian_bayes import GaussianBayes
from bayeskit.classify.gaussian_nb import GaussianNB
from bayeskit.classify.kdb import KDB
from bayeskit.classify.logistic_regression import LogisticRegression
from bayeskit.classify.naive_bayes import NaiveBayes
from bayeskit.classify.ode import ODE
from bayeskit.classify.spode import SPODE, spode_families
from bayeskit.classify.tan import TAN
from bayeskit.concept.mdl.average import Average as Prunings
from bayeskit.concept.mdl.tree import Test, Tree
from bayeskit.concept.mdl_tree import MDLTree
from bayeskit.counts.families import sizes_of
from bayeskit.errors import BayeskitError
from bayeskit.estimate.averaged_back_off import BackOffAverage
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.export.auto_pool import auto_columns, auto_pool
from bayeskit.export.scorer import (
    HIDDEN,
    REFUSED,
    Average,
    Column,
    Forest,
    Gaussians,
    Integers,
    Scorer,
    Structure,
    Sum,
    factors,
)
from bayeskit.kinds import kind_of
from bayeskit.kinds.closed_form import ClosedForm
from bayeskit.learn.model import plain_class
from bayeskit.table.schema import Schema, Variable


def scorer_of(model: Any, engine: str) -> Scorer:
    """Return what a fitted classifier predicts with; a model that cannot be exported is an error that names it.

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets
    >>> scorer = scorer_of(NaiveBayes().fit(datasets.load_tennis(), target="play"), "C")
    >>> scorer.classes, scorer.columns[3].variable.values, np.exp(scorer.part.tables[3]).round(2).tolist()
    (['no', 'yes'], ('strong', 'weak'), [[0.57, 0.36], [0.43, 0.64]])
    """
    make = _MODELS.get(plain_class(model))
    if make is None:
        names = [kind.__name__ for kind in _MODELS]
        raise BayeskitError(
            f"{type(model).__name__} cannot be written as {engine}; {', '.join(names[:-1])} and {names[-1]} can."
        )
    refuse_texts(model.schema_, engine)
    return make(model._now(), engine)


def refuse_texts(schema: Schema, engine: str) -> None:
    """Raise an error for a column of free text, whose words another program would have to cut out in the same way."""
    free = [variable.name for variable in schema if variable.is_text]
    if free:
        raise BayeskitError(
            f"column '{free[0]}' is text, and {engine} cannot cut it into words as bayeskit does; train without it "
            f"(ignore={free}), or predict with bayeskit."
        )


def discrete_columns(schema: Schema, unseen: str) -> tuple[Column, ...]:
    """Return how columns are read by a model that hides missing cells, and treats unseen values as ``unseen`` says."""
    columns = []
    for variable in schema:
        after = {"smooth": variable.n_values, "error": REFUSED}.get(unseen, HIDDEN)
        levels = None if variable.is_numeric else np.array([HIDDEN, *range(variable.n_values), after])
        columns.append(Column(variable, levels))
    return tuple(columns)


def _naive(model: Any, engine: str) -> Scorer:
    beliefs, unseen = model._beliefs, model.unseen
    tables, densities = {}, {}
    for j, variable in enumerate(beliefs.schema):
        if variable.is_numeric:
            densities[j] = _closed_form(variable, beliefs.parameters[j], engine)
        elif variable.is_discrete and variable.n_values:
            tables[j] = beliefs.parameters[j][: variable.n_values + (unseen == "smooth")]
    part = Sum(beliefs.log_prior, tables, densities)
    columns = discrete_columns(beliefs.schema, unseen)
    return Scorer(model.classes_.tolist(), columns, part, beliefs.log_prior, unseen, model.impossible)


def _closed_form(variable: Variable, parameters: Any, engine: str) -> ClosedForm:
    form = kind_of(variable).closed_form(parameters)
    if form is None:
        raise BayeskitError(
            f"column '{variable.name}' is of kind '{variable.kind}', which has no closed form in {engine}; fit "
            f"it with another kind, such as kinds={{'{variable.name}': 'equal-frequency'}}."
        )
    return form


def _semi_naive(model: Any, engine: str) -> Scorer:
    part = Average((_structure(model._beliefs),))
    columns = discrete_columns(model.schema_, model.unseen)
    return Scorer(model.classes_.tolist(), columns, part, model._beliefs.log_prior, model.unseen, model.impossible)


def _structure(beliefs: FamilyBeliefs, takes_part: Any = None) -> Structure:
    kept = [(f, table) for f, table in zip(beliefs.families, beliefs.log_tables, strict=True) if table.size]
    families, tables = tuple(members for members, _ in kept), tuple(table for _, table in kept)
    return Structure(beliefs.log_prior, families, tables, takes_part)


def _aode(model: Any, engine: str) -> Scorer:
    beliefs, schema = model._beliefs, model.schema_
    if model._order == 2:
        raise BayeskitError(f"AODE with n_parents=2 cannot be written as {engine}; with n_parents=1 it can.")
    known = [j for j, size in enumerate(sizes_of(schema)) if size]
    smooth = model.unseen == "smooth"
    if isinstance(beliefs, BackOffAverage):
        structures, naive = beliefs.members, beliefs.without_parent
    else:
        given = beliefs.counts, beliefs.smoothing, smooth, beliefs.prior

        def structure(families: Any, super_parent: int) -> FamilyBeliefs:
            counts, smoothing, smooth, prior = given
            return FamilyBeliefs(counts, families, smoothing, smooth, super_parent, prior)

        structures = {i: structure(spode_families(len(schema), i), i) for i in known}
        naive = structure(tuple((j,) for j in known), -1)
    members = []
    for i in known:
        rows = beliefs.counts.column(i).sum(axis=1).astype(np.float64)
        members.append(_structure(structures[i], np.append(rows, [0.0] * smooth) >= beliefs.min_count))
    part = Average(tuple(members), _structure(naive))
    columns = discrete_columns(schema, model.unseen)
    return Scorer(model.classes_.tolist(), columns, part, naive.log_prior, model.unseen, model.impossible)


def _logistic(model: Any, engine: str) -> Scorer:
    """Scores around the mean row, so that a cell which takes the mean adds nothing."""
    state = model._fitted
    means, coef, at_mean = state.design.means, state.coef, state.units.at_mean
    if len(state.classes) < 3:  # the first class has the score 0
        coef = np.vstack([np.zeros((1, len(means))), coef])
        at_mean = np.append(0.0, at_mean)
    tables, densities, first = {}, {}, 0
    for j, variable in enumerate(state.schema):
        if variable.is_numeric:
            slope, zero = coef[:, first], np.zeros(len(coef))
            densities[j] = ClosedForm(zero, slope=slope, origin=float(means[first]))
            first += 1
        elif variable.n_values:
            inputs = slice(first, first + variable.n_values - 1)
            indicators = np.eye(variable.n_values)[:, 1:] - means[inputs]
            tables[j] = indicators @ coef[:, inputs].T
            first += variable.n_values - 1
    part = Sum(at_mean, tables, densities)
    return Scorer(state.classes.tolist(), discrete_columns(state.schema, "ignore"), part, at_mean)


def _gaussian(model: Any, engine: str) -> Scorer:
    """A column without a value in fit is not read."""
    beliefs, schema = model._beliefs, model.schema_
    gaussians, feature = beliefs.gaussians, np.array(schema.numeric, dtype=np.int64)
    p, k = len(feature), len(beliefs.log_prior)
    one, none = np.ones(p), np.zeros(p)
    deviation, lower = factors(gaussians.covariance)
    part = Gaussians(
        feature=feature,
        level=np.full(p, -1),
        median=none,
        unit=one,
        center=none,
        scale=one,
        farthest=np.inf,
        curve_at=np.zeros(p + 1, dtype=np.int64),
        curve_x=np.empty(0),
        curve_z=np.empty(0),
        mean=gaussians.mean,
        mean_rest=gaussians.rest,
        deviation=deviation,
        lower=lower,
        shape=np.zeros((k, p + 1)),
        df=None,
        spread=np.zeros(k),
        start=beliefs.log_prior,
    )
    return Scorer(model.classes_.tolist(), discrete_columns(schema, "ignore"), part, beliefs.log_prior)


def _tree(model: Any, engine: str) -> Scorer:
    state, smoothing = model._fitted, float(model.smoothing)
    prunings = state.average if model.average else Prunings.only(state.tree)
    # A number is in one of the bins between the thresholds that the trees have, not in one of its own.
    ranks: list[list[int]] = [[] for _ in state.schema]
    for j in range(len(ranks)):
        cuts = [tree.value[(tree.test == Test.CUT) & (tree.feature == j)] for tree in prunings.trees]
        ranks[j] = np.unique(np.concatenate(cuts)).tolist()
    columns: list[Column] = []
    for variable, numbers in zip(state.schema, state.coding.levels, strict=True):
        read = variable
        if numbers is not None:
            edges = [state.coding.threshold(len(columns), rank) for rank in ranks[len(columns)]]
            read = Variable(variable.name, "binned", edges=tuple(edges))
        columns.append(Column(read, np.arange(read.n_values + 2)))
    part = _forest(prunings, state.coding.sizes, ranks, smoothing)
    # The sum over branches is 1 up to rounding, and is divided by itself.
    prior = np.log(np.maximum(part.lines[0], 1e-300))
    return Scorer(state.classes.tolist(), tuple(columns), part, prior)


def _forest(prunings: Prunings, sizes: Integers, ranks: list[list[int]], smoothing: float) -> Forest:
    trees, stop = prunings.trees, np.concatenate(prunings.leaf)
    at = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    counts = np.concatenate([tree.counts for tree in trees])
    total = counts.sum(axis=1, keepdims=True)
    share, sides, cut, absent, side_at = np.ones(len(counts)), [], [], [], []
    n_sides = 0
    for tree, first in zip(trees, at, strict=False):
        for node in range(tree.n_nodes):
            is_cut = tree.test[node] == Test.CUT
            # Level 1 has the ranks up to the first threshold.
            cut.append(ranks[int(tree.feature[node])].index(int(tree.value[node])) + 2 if is_cut else -1)
            absent.append(_absent(tree, node) if is_cut else 0)
            side_at.append(n_sides)
            if tree.test[node] != Test.LEAF:
                children = tree.children(node)
                share[first + children.start : first + children.stop] = (
                    total[first + children.start : first + children.stop, 0] / total[first + node, 0]
                )
                if not is_cut:
                    size = int(sizes[tree.feature[node]])
                    cells = np.array([size, *range(size), size + 1])  # missing, the values, unseen
                    sides.append(tree.sides(node, cells, size))
                    n_sides += size + 2
    n_children = np.concatenate([tree.n_children for tree in trees])
    child = np.concatenate([tree.first_child + first for tree, first in zip(trees, at, strict=False)])
    return Forest(
        tree_at=at,
        weight=prunings.weight,
        feature=np.concatenate([np.where(tree.test == Test.LEAF, -1, tree.feature) for tree in trees]),
        cut=np.array(cut),
        absent=np.array(absent),
        side_at=np.array(side_at),
        sides=np.concatenate([np.empty(0, dtype=np.int64), *sides]),
        child=child,
        n_children=n_children,
        share=share,
        stop=stop,
        lines=(counts + smoothing) / (total + smoothing * counts.shape[1]),
    )


def _absent(tree: Tree, node: int) -> int:
    first = int(tree.missing_first[node])
    return -1 if first < 0 else 1 - first


def _auto(model: Any, engine: str) -> Scorer:
    beliefs = model._beliefs
    part = auto_pool(beliefs)
    return Scorer(model.classes_.tolist(), auto_columns(beliefs), part, beliefs.log_prior)


_MODELS: dict[type[Any], Callable[[Any, str], Scorer]] = {
    AutoBayes: _auto,
    NaiveBayes: _naive,
    GaussianNB: _naive,
    TAN: _semi_naive,
    KDB: _semi_naive,
    ODE: _semi_naive,
    SPODE: _semi_naive,
    AODE: _aode,
    GaussianBayes: _gaussian,
    LogisticRegression: _logistic,
    MDLTree: _tree,
}
