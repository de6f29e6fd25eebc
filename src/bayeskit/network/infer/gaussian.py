"""Exact answers of mixed networks: real variables are eliminated first, per configuration of their discrete parents.

Given the states of its discrete parents, a group of connected real variables is jointly normal. The density of what is
observed of it is a likelihood of those parents, and enters the discrete network as the table of one more observed
variable; the discrete engine does the rest. What is unknown of the group is a mixture of normals with the posterior of
the parents as weights (Lauritzen 1992). Nothing is approximated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.infer.answers import Posterior
from bayeskit.network.infer.evidence import read_evidence
from bayeskit.network.infer.real_answers import RealJoint, RealPosterior
from bayeskit.network.infer.tree_size import LargeTablesError

if TYPE_CHECKING:
    from bayeskit.network.mixed import MixedNetwork
    from bayeskit.network.network import BayesianNetwork

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Group:
    """Connected real variables as normals, one for each configuration of their unknown discrete parents.

    Attributes
    ----------
    members : tuple of int
        The variables, parents first.
    parents : tuple of int
        The discrete parents whose states are not known.
    mean : float64 array of shape (n_configurations, n_members)
    spread : float64 array of shape (n_configurations, n_members, n_members)
        The members are ``mean + spread · unit normals``. Covariances are never formed: they square what is large, and
        the small differences that matter are then gone.
    """

    members: tuple[int, ...]
    parents: tuple[int, ...]
    mean: Floats
    spread: Floats

    def split(self, seen: Mapping[int, float]) -> tuple[list[int], Floats]:
        """Return the places of the observed members, and their numbers."""
        places = [k for k, v in enumerate(self.members) if v in seen]
        return places, np.array([seen[self.members[k]] for k in places])

    def _root(self, places: list[int]) -> Floats:
        """Return R, upper triangular, with RᵀR the covariance of these members; (n_configurations, places, places)."""
        columns = self.spread[:, places].transpose(0, 2, 1)  # a column per member, a row per unit normal
        if not np.isfinite(columns).all():
            raise NetworkError(
                "real variables: deviations times slopes are beyond the largest number; scale them down."
            )
        # With the largest rows first, reflections keep the digits of small rows (Cox & Higham 1998, section 3).
        order = np.argsort(-abs(columns).max(axis=2), axis=1, kind="stable")
        return np.asarray(np.linalg.qr(np.take_along_axis(columns, order[:, :, None], axis=1), mode="r"))

    def _units(self, root: Floats, places: list[int], values: Floats) -> Floats:
        """Return z with Rᵀz = observed numbers less their means, (n_configurations, observed)."""
        away, z = values - self.mean[:, places], np.zeros((len(self.mean), len(places)))
        with np.errstate(all="ignore"):  # what is not finite is refused by name
            for k in range(len(places)):
                z[:, k] = (away[:, k] - (root[:, :k, k] * z[:, :k]).sum(axis=1)) / root[:, k, k]
        return z

    def log_density(self, seen: Mapping[int, float]) -> Floats:
        """Return the log-density of the observed members in each configuration."""
        places, values = self.split(seen)
        if not places:
            return np.zeros(len(self.mean))
        root = self._root(places)
        z = self._units(root, places, values)
        with np.errstate(over="ignore", divide="ignore"):
            log_root = np.log(abs(np.diagonal(root, axis1=1, axis2=2))).sum(axis=1)
            log = -0.5 * (z * z).sum(axis=1) - log_root - 0.5 * len(places) * np.log(2.0 * np.pi)
        if np.isnan(log).any():
            raise NetworkError(f"the density of the real evidence {values.tolist()} is beyond what numbers can hold.")
        return np.asarray(log)

    def log_peak(self, seen: Mapping[int, float]) -> Floats:
        """Return the highest log-density of the members that were not observed, given those that were."""
        places, _ = self.split(seen)
        free = [k for k in range(len(self.members)) if k not in places]
        if not free:
            return np.zeros(len(self.mean))
        root, n = self._root([*places, *free]), len(places)
        left = abs(np.diagonal(root, axis1=1, axis2=2)[:, n:])
        return np.asarray(-np.log(left).sum(axis=1) - 0.5 * len(free) * np.log(2.0 * np.pi))

    def conditional(self, seen: Mapping[int, float], wanted: list[int]) -> tuple[Floats, Floats]:
        """Return means of members given the observed ones, and R with RᵀR their covariance, per configuration."""
        places, values = self.split(seen)
        at = [self.members.index(v) for v in wanted]
        n, mean = len(places), self.mean[:, at]
        # R of observed and wanted together: above row n, what the observed ones say of the wanted; below, what is left.
        root = self._root([*places, *at])
        if places:
            z = self._units(root, places, values)
            mean = mean + (root[:, :n, n:] * z[:, :, None]).sum(axis=1)
        return mean, root[:, n:, n:]

    def given(self, seen: Mapping[int, float], wanted: list[int]) -> tuple[Floats, Floats]:
        """Return means and deviations of members given the observed ones, (n_configurations, n_wanted) each."""
        _, values = self.split(seen)
        mean, left = self.conditional(seen, wanted)
        scale = abs(left).max(axis=1)
        sd = scale * np.sqrt(((left / np.where(scale > 0, scale, 1.0)[:, None, :]) ** 2).sum(axis=1))
        if not (np.isfinite(mean).all() and np.isfinite(sd).all()):
            raise NetworkError(f"the real evidence {values.tolist()} leads beyond what numbers can hold.")
        return mean, sd


class MixedCase:
    """One question: the evidence, the groups of real variables that matter, and the discrete network with their say."""

    def __init__(
        self,
        net: MixedNetwork,
        states: Mapping[str, Any],
        numbers: Mapping[int, float],
        wanted: list[int],
        limit: float,
    ) -> None:
        self.net, self.given, self.limit = net, dict(states), limit
        self.points = net._points
        clash = [v for v in numbers if v in self.points]
        if clash:
            raise NetworkError(f"{net.names[clash[0]]!r} was set by an intervention, so it cannot be evidence too.")
        self.seen = dict(numbers)
        self.known = {**self.points, **self.seen}
        # Sets and likelihoods leave a state open; one state does not.
        self.fixed = {
            net.index(name): net.state(name, value)
            for name, value in states.items()
            if isinstance(value, str | int | float | np.generic)
        }
        self.groups = [self._group(members) for members in self._components({*self.seen, *wanted} - self.points.keys())]

    def _components(self, asked: set[int]) -> list[list[int]]:
        """Return the connected parts of the real variables that matter: the asked ones and their real ancestors.

        An arc from an observed variable joins nothing, as its number is known.
        """
        net = self.net
        needed, waiting = set(asked), list(asked)
        real: dict[int, list[int]] = {}
        while waiting:
            v = waiting.pop()
            real[v] = [p for p in net.parents[v] if p in net._gaussian and p not in self.known]
            for p in real[v]:
                if p not in needed:
                    needed.add(p)
                    waiting.append(p)
        order = [v for v in net.topological_order if v in needed]
        leader = {v: v for v in order}

        def find(v: int) -> int:
            while leader[v] != v:
                leader[v] = leader[leader[v]]
                v = leader[v]
            return v

        for v in order:
            for p in real[v]:
                leader[find(p)] = find(v)
        parts: dict[int, list[int]] = {}
        for v in order:
            parts.setdefault(find(v), []).append(v)
        return list(parts.values())

    def _group(self, members: list[int]) -> Group:
        net = self.net
        above = {p for v in members for p in net.parents[v] if p not in net._gaussian and p not in self.fixed}
        parents = tuple(sorted(above))
        cards = [net.cards[p] for p in parents]
        q, n = prod(cards), len(members)
        if 24.0 * q * n * n > self.limit:
            names = ", ".join(net.names[p] for p in parents[:8])
            raise LargeTablesError(
                f"the exact answer needs a normal over {n} real variables for each of {q} configurations of {names}, "
                f"{24.0 * q * n * n / 2**30:.3g} GiB."
            )
        grid = np.stack(np.unravel_index(np.arange(q), cards), axis=1) if parents else np.zeros((1, 0), dtype=np.int64)
        codes = {p: grid[:, k] for k, p in enumerate(parents)}
        place = {v: k for k, v in enumerate(members)}
        mean, spread = np.zeros((q, n)), np.zeros((q, n, n))  # spread: x = mean + spread · unit normals
        with np.errstate(over="ignore", invalid="ignore"):  # the group refuses what is not finite
            for k, v in enumerate(members):
                cpd, family = net._gaussian[v], net.parents[v]
                # Without discrete parents the numbers are those of every configuration.
                d = cpd.configuration(self._codes_of(family, cpd, codes, q)) if cpd.discrete else slice(0, 1)
                mean[:, k], spread[:, k, k], slopes = cpd.intercept[d], cpd.sd[d], cpd.slope[d]
                for column, r in enumerate(cpd.real):
                    b, p = slopes[:, column], family[r]
                    if p in self.known:
                        mean[:, k] += b * self.known[p]
                    else:
                        mean[:, k] += b * mean[:, place[p]]
                        spread[:, k] += b[:, None] * spread[:, place[p]]
        return Group(tuple(members), parents, mean, spread)

    def _codes_of(
        self, family: tuple[int, ...], cpd: GaussianCPD, codes: Mapping[int, NDArray[np.int64]], q: int
    ) -> NDArray[np.int64]:
        columns = [
            np.full(q, self.fixed[family[k]]) if family[k] in self.fixed else codes[family[k]] for k in cpd.discrete
        ]
        return np.stack(columns, axis=1) if columns else np.zeros((q, 0), dtype=np.int64)

    @cached_property
    def _joined(self) -> tuple[BayesianNetwork | None, dict[str, Any], float]:
        """The discrete network with one observed variable per group, the evidence on it, and the scale of them all."""
        return self.joined()

    def joined(self, peaks: bool = False) -> tuple[BayesianNetwork | None, dict[str, Any], float]:
        """Return the discrete network in which each group is one observed variable.

        Its table is the density of what was seen of the group; with ``peaks`` the highest density of all its members.
        """
        net, given, scale = self.net._discrete, dict(self.given), 0.0
        for k, group in enumerate(self.groups):
            if not peaks and not group.split(self.seen)[0]:
                continue
            log = group.log_density(self.seen)
            if peaks:
                log = log + group.log_peak(self.seen)
            top = float(log.max())
            scale += top
            if not group.parents or net is None:
                continue
            if not np.isfinite(top):
                far = {self.net.names[v]: self.seen[v] for v in group.members if v in self.seen}
                raise NetworkError(
                    f"the real evidence {far} is so far from every configuration that no density of it is above 0; "
                    "give numbers nearer to the means."
                )
            likely = np.exp(log - top).reshape([self.net.cards[p] for p in group.parents])
            name = f"(real evidence {k + 1})"
            above = [self.net.names[p] for p in group.parents]
            net = net.with_variable(name, ["no", "yes"], parents=above, table=np.stack([1.0 - likely, likely], axis=-1))
            given[name] = "yes"
        return net, given, scale

    @cached_property
    def log_evidence(self) -> float:
        """The logarithm of the density of the evidence."""
        net, given, scale = self._joined
        if net is None or not given:
            return scale
        evidence = read_evidence(net, given)
        return float("nan") if evidence.marginals else scale + net._engine.log_evidence(evidence, self.limit)

    def discrete(self, name: str) -> Posterior:
        """Return the posterior of a discrete variable."""
        net, given, _ = self._joined
        assert net is not None
        answer = net.posterior(name, given=given, max_memory=self.limit)
        return Posterior(answer.name, answer.states, answer.array, log_evidence=lambda: self.log_evidence)

    def joint(self, wanted: list[int]) -> RealJoint:
        """Return the joint distribution of real variables, which may lie in several groups."""
        names, log = self.net.names, self.log_evidence
        fixed = [v for v in wanted if v in self.known]
        if fixed:
            raise NetworkError(f"{names[fixed[0]]!r} is known, so it has no joint distribution with others.")
        members = {v for group in self.groups if set(group.members) & set(wanted) for v in group.members}
        group = self._group([v for v in self.net.topological_order if v in members])
        means, roots = group.conditional(self.seen, wanted)
        weights, (net, given, _) = np.ones(1), self._joined
        if group.parents and net is not None:
            weights = net.joint([names[p] for p in group.parents], given=given, max_memory=self.limit).array.ravel()
        return RealJoint(tuple(names[v] for v in wanted), weights, means, roots, log)

    def real(self, wanted: list[int]) -> dict[str, RealPosterior]:
        """Return the posteriors of real variables."""
        net, given, _ = self._joined
        names, out, log = self.net.names, {}, self.log_evidence
        for v in wanted:
            if v in self.known:
                one = np.ones(1)
                out[names[v]] = RealPosterior(names[v], one, one * self.known[v], np.zeros(1), log)
        for group in self.groups:
            here = [v for v in wanted if v in group.members and v not in self.known]
            if not here:
                continue
            weights = np.ones(1)
            if group.parents and net is not None:
                weights = net.joint([names[p] for p in group.parents], given=given, max_memory=self.limit).array.ravel()
            means, sds = group.given(self.seen, here)
            for k, v in enumerate(here):
                out[names[v]] = RealPosterior(names[v], weights, means[:, k], sds[:, k], log)
        return out
