"""Explanations of AutoBayes: the parts of its members, the values of its columns, and a summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.beliefs import AutoBeliefs
from bayeskit.classify.auto.levels import OTHER_LEVEL
from bayeskit.decide.protocol import Domain
from bayeskit.estimate.tokens import telling_words
from bayeskit.explain.summary import FeatureSummary, Summary
from bayeskit.result import Result

# A numeric column is shown, and asked about, by so many values at the most.
MOST_VALUES_SHOWN = 25


@dataclass(frozen=True, eq=False, repr=False)
class MemberPart(Result):
    """The part of one member in the log-odds of two classes, in both pools.

    With t the weight of the pool for full rows, it is t times its weight times its own log-odds, and 1 - t times its
    weight among the others times what the known cells changed in them. For the networks ``terms`` holds the term of
    each feature, whatever the order, and ``rest`` the remainder: the prior, the biases, and what clipping changed.
    """

    member: str
    weight: float
    log_odds: float
    features: tuple[str, ...] = ()
    terms: NDArray[np.float64] | None = None  # (n_features,)
    rest: float = 0.0


def explain_members(
    beliefs: AutoBeliefs, columns: list[NDArray[Any]], hidden: NDArray[np.bool_], classes: tuple[Any, Any] | None
) -> list[MemberPart]:
    """Return the part of each member, the bias of the pool and its floor, for one row."""
    plan = beliefs.plan
    codes = beliefs.codes(columns, hidden)
    posterior = beliefs.posterior(codes, columns)[0]
    labels = beliefs.counts.classes.tolist()
    if classes is None:
        a, b = (int(c) for c in np.argsort(-posterior, kind="stable")[:2])
    else:
        a, b = (labels.index(label) for label in classes)
    t = float(beliefs.known(codes)[0])
    few = (1.0 - t) * beliefs.few_weight
    scores = beliefs.members(codes, columns)
    parts: list[MemberPart] = []
    total = 0.0
    for name, weight, said, told in zip(
        plan.members, plan.member_weight.tolist(), scores, beliefs.told(codes, columns, scores), strict=True
    ):
        odds = t * weight * float(beliefs.log_odds(said, a, b)[0]) + few * float(told[0, a] - told[0, b])
        total += odds
        if parts:
            parts.append(MemberPart(name, t * weight + few, odds))
            continue
        terms, weighted = (beliefs.network_terms(codes, columns, each)[0] for each in (False, True))  # (n_features, k)
        of_features = t * weight * beliefs.log_odds(weighted, a, b) + few * (terms[:, a] - terms[:, b])
        rest = odds - float(of_features.sum())
        parts.append(MemberPart(name, t * weight + few, odds, plan.schema.names, of_features, rest))
    if plan.boosting:
        step = beliefs.boosted(codes)[0]
        parts.append(MemberPart("boosted trees", t, t * float(step[a] - step[b])))
        total += parts[-1].log_odds
    prior = float(beliefs.log_prior[a] - beliefs.log_prior[b])
    bias = t * beliefs.bias(a, b) + (1.0 - t) * prior
    floor = float(np.log(posterior[a]) - np.log(posterior[b])) - total - bias
    return [*parts, MemberPart("bias", 1.0, bias), MemberPart("floor", 1.0, floor)]


def auto_domains(beliefs: AutoBeliefs) -> list[Domain]:
    """Return the values that each column can take; a value of a numeric column represents the levels around it."""
    levels, n_level = beliefs.plan.levels, beliefs.counts.n_level.sum(axis=1)
    domains = []
    for j, variable in enumerate(beliefs.plan.schema):
        counts = n_level[levels.level_at[j] : levels.level_at[j + 1]]
        if variable.is_text:  # texts cannot be listed
            domains.append(Domain(variable.name, (), np.ones(0), False))
            continue
        if not levels.ordered[j]:
            seen = [v for v, place in enumerate(levels.places[j]) if place > OTHER_LEVEL and counts[place] > 0]
            domains.append(Domain(variable.name, tuple(variable.values[v] for v in seen), np.ones(len(seen)), True))
            continue
        bins, edges = counts[1:].astype(np.float64), levels.edges[j]
        present = np.flatnonzero(bins > 0)
        groups = np.minimum(
            np.cumsum(bins[present]) / max(bins.sum(), 1e-300) * MOST_VALUES_SHOWN, MOST_VALUES_SHOWN - 1
        )
        middle, weights = [], []
        for group in np.unique(groups.astype(np.int64)):
            members = present[groups.astype(np.int64) == group]
            chosen = int(members[np.searchsorted(np.cumsum(bins[members]), bins[members].sum() / 2)])
            middle.append(_inside(edges, chosen))
            weights.append(bins[members].sum() / bins[chosen])
        domains.append(Domain(variable.name, tuple(middle), np.array(weights), True))
    return domains


def auto_fine_domains(beliefs: AutoBeliefs) -> list[Domain]:
    """Return the same with a number inside each bin that some row of the fit was in."""
    levels, n_level = beliefs.plan.levels, beliefs.counts.n_level.sum(axis=1)
    domains = auto_domains(beliefs)
    for j in np.flatnonzero(levels.ordered):
        present = np.flatnonzero(n_level[levels.level_at[j] + 1 : levels.level_at[j + 1]] > 0)
        numbers = tuple(_inside(levels.edges[j], int(bin_)) for bin_ in present)
        domains[j] = Domain(domains[j].name, numbers, np.ones(len(numbers)), False)
    return domains


def _inside(edges: NDArray[np.float64], bin_: int) -> float:
    """Return a number inside a bin: its middle, or near the only edge of an outer one."""
    if not len(edges):
        return 0.0
    if bin_ == 0:
        step = edges[1] - edges[0] if len(edges) > 1 else 1.0
        return float(min(edges[0] - step / 2, np.nextafter(edges[0], -np.inf)))
    if bin_ == len(edges):
        return float(edges[-1] + (edges[-1] - edges[-2] if len(edges) > 1 else 1.0) / 2)
    return float(max(edges[bin_ - 1] / 2 + edges[bin_] / 2, edges[bin_ - 1]))


@dataclass(frozen=True)
class AutoSummary(Summary):
    """A summary with the weight of each member and the most important columns."""

    members: tuple[tuple[str, float, float], ...] = ()  # name, weight, log-loss on rows left out
    pool_loss: float = 0.0
    boosting_gain: float | None = None  # nats a row left out, where there are boosted trees
    importance: tuple[tuple[str, float], ...] = ()  # column, and what it adds to the networks on average
    n_nodes: int = 0

    def _head(self) -> list[str]:
        lines = [*super()._head(), "members: weight in the pool, log-loss on rows left out"]
        lines += [f"  {name:<18} {weight:6.2f}  {loss:.4f}" for name, weight, loss in self.members]
        lines.append(f"  {'pool':<18} {'':6}  {self.pool_loss:.4f}")
        if self.boosting_gain is not None:
            lines.append(f"  of which {self.boosting_gain:.4f} less by boosted trees")
        shown = ", ".join(f"{name} {value:.3f}" for name, value in self.importance[:10])
        return [
            *lines,
            f"most important columns (weight × mutual information, nats): {shown}",
            f"nodes: {self.n_nodes}",
        ]


def _telling_words(beliefs: AutoBeliefs, column: int) -> tuple[tuple[str, ...], NDArray[np.float64] | None]:
    """Return the words that tell most about the class, and the share of texts of each class that have them."""
    for text in beliefs.texts:
        if text.member.column == column:
            words, n = telling_words(text.counts, MOST_VALUES_SHOWN)
            return words, (n + 0.5) / (text.counts.n_class + 1.0)  # half a text with the word, and half without
    return (), None


def _importance_of_texts(beliefs: AutoBeliefs) -> list[tuple[str, float]]:
    """Return by how much each member that reads text lowers the log-loss of rows left out below that of the shares."""
    plan, shares = beliefs.plan, beliefs.counts.n_class / beliefs.counts.n_class.sum()
    entropy = -float(shares @ np.log(np.maximum(shares, 1e-300)))
    losses = plan.left_out_loss[len(plan.member_weight) - len(plan.texts) : -1].tolist()
    named = zip(plan.texts, losses, strict=True)
    return [(plan.schema[text.column].name, max(entropy - loss, 0.0)) for text, loss in named]


def auto_summary(beliefs: AutoBeliefs) -> AutoSummary:
    """Return the summary of a model."""
    plan, counts = beliefs.plan, beliefs.counts
    at, n_level = plan.levels.level_at, counts.n_level.astype(np.float64)
    total, n_class = counts.n_rows, counts.n_class.astype(np.float64)
    features, importance = [], []
    for j, variable in enumerate(plan.schema):
        of_level = n_level[at[j] : at[j + 1]]
        values: tuple[Any, ...] = ()
        table = None
        if not plan.levels.ordered[j] and variable.values:
            values = variable.values
            places = plan.levels.places[j]
            logs = beliefs._plain[at[j] : at[j + 1]].astype(np.float64)[places]
            table = np.where(of_level.sum(axis=1)[places][:, None] > 0, np.exp(logs), 0.0)
        if variable.is_text:
            values, table = _telling_words(beliefs, j)
        missing = float(of_level[0].sum() / total)
        features.append(FeatureSummary(variable.name, variable.kind, missing, values, table))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = of_level * total / (of_level.sum(axis=1, keepdims=True) * n_class)
            information = float(np.where(of_level > 0, of_level / total * np.log(ratio), 0.0).sum())
        # Less what so many levels share with the classes by chance (Miller 1955).
        freedom = ((of_level.sum(axis=1) > 0).sum() - 1) * ((n_class > 0).sum() - 1)
        information -= freedom / (2.0 * total)
        importance.append((variable.name, max(information, 0.0) * float(plan.column_weight[j])))
    importance = [*_importance_of_texts(beliefs), *(each for each in importance if not plan.schema[each[0]].is_text)]
    importance.sort(key=lambda item: -item[1])
    names = zip(plan.members, plan.member_weight.tolist(), plan.left_out_loss.tolist(), strict=False)
    nodes = len(counts.n_level) + len(counts.networks) + sum(len(leaves) for leaves in counts.trees)
    nodes += sum(len(each.steps) for each in plan.boosting)
    return AutoSummary(
        "AutoBayes",
        tuple(counts.classes.tolist()),
        total,
        counts.n_class,
        np.exp(beliefs.log_prior),
        tuple(features),
        members=tuple(names),
        pool_loss=float(plan.left_out_loss[-1]),
        boosting_gain=plan.boosting[0].gain if plan.boosting else None,
        importance=tuple(importance),
        n_nodes=nodes,
    )
