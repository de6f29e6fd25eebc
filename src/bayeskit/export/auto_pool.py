"""AutoBayes as arrays: how its cells are read, its members, and how they are pooled."""

from __future__ import annotations

from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.beliefs import AutoBeliefs
from bayeskit.classify.auto.gaussian_columns import columns_beside
from bayeskit.classify.auto.gaussians import GaussianPlan, MemberGaussians
from bayeskit.classify.auto.levels import MISSING_LEVEL, OTHER_LEVEL
from bayeskit.classify.auto.linear import LinearPlan
from bayeskit.classify.auto.pool import LEAST_LOG
from bayeskit.classify.auto.trees import PlannedTests
from bayeskit.export.scorer import HIDDEN, Column, Floats, Forest, Gaussians, Linear, Networks, Pool, RareTerms, factors
from bayeskit.table.schema import Variable

# Numbers on the scale of the Gaussians are cut off here, as the kernel `gaussian_rows` does.
FARTHEST = 8.0
# The tests of the trees, as in native/auto/trees.hpp.
BELOW, EQUAL = 0, 1


def auto_columns(beliefs: AutoBeliefs) -> tuple[Column, ...]:
    """Return how cells become levels: a missing cell, or an unseen value, that no row of fit had is hidden."""
    levels, seen, columns = beliefs.plan.levels, beliefs._level_seen, []
    for j, variable in enumerate(beliefs.plan.schema):
        at = int(levels.level_at[j])
        missing = MISSING_LEVEL if seen[at + MISSING_LEVEL] else HIDDEN
        if levels.ordered[j]:
            read = Variable(variable.name, "binned", edges=tuple(levels.edges[j].tolist()))
            places = list(range(1, read.n_values + 1))
            other = HIDDEN  # a number is always in a bin
        else:
            read, other = variable, OTHER_LEVEL if seen[at + OTHER_LEVEL] else HIDDEN
            places = [other if place == OTHER_LEVEL else place for place in levels.places[j].tolist()]
        columns.append(Column(read, np.array([missing, *places, other])))
    return tuple(columns)


def auto_pool(beliefs: AutoBeliefs) -> Pool:
    """Return the members of an AutoBayes and their pool."""
    plan = beliefs.plan
    matrix = beliefs._class_matrix.copy()
    matrix[:, -1] += beliefs._other_prior
    return Pool(
        networks=_networks(beliefs),
        rare=_rare(beliefs),
        gaussians=tuple(
            _gaussians(part, member, beliefs._shares)
            for part, member in zip(plan.gaussians, beliefs._gaussians, strict=True)
        ),
        beside=tuple(_beside(beliefs, part) for part in plan.gaussians),
        forests=tuple(
            _forest(trees, leaves, weights, 1.0 / trees.n_trees)
            for trees, leaves, weights in zip(plan.trees, beliefs._leaves, beliefs._node_weights, strict=True)
        ),
        linear=tuple(_linear(each) for each in beliefs._linear),
        boosted=tuple(
            _forest(boosting, steps, boosting._node_weight, 1.0)
            for boosting, steps in zip(plan.boosting, beliefs._steps, strict=True)
        ),
        varies=beliefs._varies,
        least_log=LEAST_LOG,
        weight=plan.member_weight,
        bias=beliefs._member_bias,
        matrix=matrix,
        centre=beliefs._centre,
        few_weight=beliefs.few_weight,
        nothing_known=np.concatenate(beliefs._nothing_known),
        log_prior=beliefs.log_prior,
        n_rows=beliefs.counts.n_rows,
    )


def _networks(beliefs: AutoBeliefs) -> Networks:
    plan = beliefs.plan.networks
    n_values = (plan.n_nodes.sum(axis=2) * plan.sizes).ravel()
    weight = beliefs.plan.column_weight
    return Networks(
        level_at=plan.level_at,
        bins=plan.bins.astype(np.int64),
        sizes=plan.sizes.astype(np.int64),
        parents=plan.parents.astype(np.int64),
        n_nodes=plan.n_nodes.astype(np.int64),
        child=plan.child.astype(np.int64),
        child_at=plan.child_at,
        value_at=np.append(0, np.cumsum(n_values)),
        lines=beliefs._networks,
        weight=weight[:-1] * beliefs._varies / len(plan.sizes),
        plain_weight=beliefs._varies / len(plan.sizes),
        start=weight[-1] * beliefs._shares + beliefs._column_bias,
    )


def _rare(beliefs: AutoBeliefs) -> tuple[RareTerms, ...]:
    rare, columns, terms = beliefs.plan.rare, auto_columns(beliefs), []
    for line, (j, places) in enumerate(zip(rare.features.tolist(), rare.places, strict=True)):
        # The value of each code, as `RareValues.find` numbers them: a missing and an unseen one are never rare.
        is_rare = (places == OTHER_LEVEL) & (columns[j].levels[1:-1] != HIDDEN)
        place = np.full((len(rare.features), len(places) + 2), -1)
        place[line, 1:-1] = np.where(is_rare, rare.value_at[line] + np.cumsum(places == OTHER_LEVEL) - 1, -1)
        lines = rare.evidence(beliefs.counts.rare, place)[line]
        terms.append(RareTerms(j, float(rare.weight[line]), lines))
    return tuple(terms)


def _scales(plan: GaussianPlan) -> dict[str, Any]:
    names = "level", "median", "unit", "center", "scale", "curve_at", "curve_x", "curve_z"
    return {"feature": plan.features, "farthest": FARTHEST, **{name: getattr(plan, name) for name in names}}


def _linear(plan: LinearPlan) -> Linear:
    return Linear(**_scales(plan.scales), mean=plan.center, coefficients=plan.coefficients, start=plan.intercept)


def _gaussians(plan: GaussianPlan, member: MemberGaussians, shares: Floats) -> Gaussians:
    deviation, lower = factors(member.scale)
    p = len(plan.features)
    pairs = list(zip(member.df.tolist(), member.kappa.tolist(), strict=True))
    shape = [
        [lgamma((df + q) / 2) - lgamma(df / 2) - 0.5 * q * log((kappa + 1.0) / kappa) for q in range(p + 1)]
        for df, kappa in pairs
    ]
    return Gaussians(
        **_scales(plan),
        mean=member.mean,
        mean_rest=np.zeros_like(member.mean),
        deviation=deviation,
        lower=lower,
        shape=np.array(shape),
        df=member.df,
        spread=member.kappa / (member.kappa + 1.0),
        start=shares,
    )


def _beside(beliefs: AutoBeliefs, plan: GaussianPlan) -> dict[int, Floats]:
    at = beliefs.plan.levels.level_at
    columns = np.flatnonzero(columns_beside(plan, beliefs.plan.levels) & beliefs._varies)
    return {j: beliefs._plain[at[j] : at[j + 1]].astype(np.float64) for j in columns.tolist()}


def _forest(plan: PlannedTests, leaves: NDArray[np.float32], weights: Floats, weight: float) -> Forest:
    n_trees, n_nodes = plan.n_trees, len(plan.feature)
    tree_of = np.repeat(np.arange(n_trees), np.diff(plan.tree_at))
    inner = np.flatnonzero(plan.feature >= 0)
    first = plan.next[inner] + plan.tree_at[tree_of[inner]]
    child, share = np.zeros(n_nodes, dtype=np.int64), np.ones(n_nodes)
    child[inner] = first
    whole = weights[first] + weights[first + 1]
    share[first] = np.where(whole > 0.0, weights[first] / np.where(whole > 0.0, whole, 1.0), 0.5)
    share[first + 1] = 1.0 - share[first]
    lines = np.zeros((n_nodes, leaves.shape[1]), dtype=np.float32)
    lines[plan.feature < 0] = leaves[plan.next[plan.feature < 0]]
    cut = np.where((plan.feature >= 0) & (plan.test == BELOW), plan.value.astype(np.int64), -1)
    # Equal tests share their sides.
    side_at, sides, places = np.zeros(n_nodes, dtype=np.int64), list[int](), dict[tuple[int, int, int], int]()
    for node in np.flatnonzero((plan.feature >= 0) & (cut < 0)).tolist():
        test = int(plan.feature[node]), int(plan.test[node]), int(plan.value[node])
        if test not in places:
            places[test] = len(sides)
            sides.extend(_sides(plan, *test).tolist())
        side_at[node] = places[test]
    return Forest(
        tree_at=plan.tree_at,
        weight=np.full(n_trees, weight),
        feature=plan.feature.astype(np.int64),
        cut=cut,
        absent=np.where(cut > 0, 0, 1),
        side_at=side_at,
        sides=np.array(sides, dtype=np.int64),
        child=child,
        n_children=np.where(plan.feature >= 0, 2, 0),
        share=share,
        stop=(plan.feature < 0).astype(np.float64),
        lines=lines,
    )


def _sides(plan: PlannedTests, feature: int, test: int, value: int) -> NDArray[Any]:
    """Return the child of each level: one level goes to the first, or a random half of them."""
    level = np.arange(plan.level_at[feature + 1] - plan.level_at[feature])
    if test == EQUAL:
        return np.where(level == value, 0, 1)
    return 1 - (_mix64((np.uint64(value) << np.uint64(8)) | level.astype(np.uint64)) & np.uint64(1)).astype(np.int64)


def _mix64(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64, by which the kernel halves levels (native/base/random.hpp)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z ^ (z >> np.uint64(31))
