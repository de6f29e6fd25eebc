"""Cases sampled from mixed networks, from the start or given evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import NetworkError
from bayeskit.network import dag
from bayeskit.network.infer.exact import memory_in_bytes
from bayeskit.network.infer.gaussian import MixedCase
from bayeskit.network.infer.link_sampling import LinkedCase, family_values, settled
from bayeskit.network.infer.sample_output import check_random_state, check_request

if TYPE_CHECKING:
    from bayeskit.network.mixed import MixedNetwork

Floats = NDArray[np.float64]
Sampled = tuple[dict[str, NDArray[Any]], dict[int, Floats]]


class MixedSampling:
    """Samples of a mixed network."""

    def sample(
        self,
        n: int,
        *,
        given: Mapping[str, Any] | None = None,
        random_state: int = 0,
        output: str = "dict",
        max_memory: Memory = MAX_MEMORY,
    ) -> Any:
        """Sample cases; real columns are numbers.

        With evidence the cases are exact and independent samples of the distribution given it; below a discrete
        variable with real parents by rejection, which takes long where the evidence there is rare. ``output`` is
        "dict", "pandas" or "polars".
        """
        net = cast("MixedNetwork", self)
        rows, seed = check_request(n, output), check_random_state(random_state)
        if output == "codes":
            raise NetworkError("real variables have no codes: output must be 'dict', 'pandas' or 'polars'.")
        codes, numbers = self._sampled(rows, seed, given or {}, memory_in_bytes(max_memory))
        columns = {
            name: numbers[v] if v in numbers else np.array(net.states[v], dtype=object)[codes[name]].astype(str)
            for v, name in enumerate(net.names)
        }
        if output == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        if output == "polars":
            import polars as pl

            return pl.DataFrame(columns)
        return columns

    def _sampled(self, rows: int, seed: int, given: Mapping[str, Any], limit: float) -> Sampled:
        """Return codes of discrete variables and numbers of real ones."""
        net = cast("MixedNetwork", self)
        if not net._links:
            return self._sampled_given(rows, seed, given, limit) if given else self._sampled_forward(rows, seed)
        net._evidence(given)  # refuses what is no evidence
        case = LinkedCase(settled(net, given, list(range(len(net.names)))), given, limit)
        values = case.cases(rows, seed) if given else case.chunk(rows, seed)[0]
        numbers = {v: values[v] for v in net._gaussian}
        return {name: values[v] for v, name in enumerate(net.names) if v not in numbers}, numbers

    def _sampled_forward(self, rows: int, seed: int) -> Sampled:
        """Return codes and numbers sampled parents before children."""
        net = cast("MixedNetwork", self)
        discrete = net._discrete
        codes = [] if discrete is None else discrete.sample(rows, random_state=seed, output="codes")
        by_name = {} if discrete is None else dict(zip(discrete.names, codes, strict=True))
        by_place = {net.index(name): column for name, column in by_name.items()}
        numbers: dict[int, Floats] = {}
        for v in dag.topological_order(net.parents):
            if v not in net._gaussian:
                continue
            cpd = net._gaussian[v]
            d, x = family_values(net, v, {**by_place, **numbers}, rows)
            at = cpd.configuration(d)
            # One stream per variable: more cases begin with the same ones.
            noise = np.random.default_rng([seed, v]).standard_normal(rows)
            numbers[v] = cpd.intercept[at] + (cpd.slope[at] * x).sum(axis=1) + cpd.sd[at] * noise
        return by_name, numbers

    def _sampled_given(self, rows: int, seed: int, given: Mapping[str, Any], limit: float) -> Sampled:
        """Return codes sampled given the evidence, and numbers given these and the evidence."""
        net = cast("MixedNetwork", self)
        case: MixedCase = net._case(given, list(net._gaussian), limit)
        discrete, evidence, _ = case._joined
        codes = [] if discrete is None else discrete.sample(
            rows, given=evidence, random_state=seed, output="codes", max_memory=limit
        )  # fmt: skip
        by_name = {} if discrete is None else dict(zip(discrete.names, codes, strict=True))
        numbers = {v: np.full(rows, case.known[v]) for v in net._gaussian if v in case.known}
        for group in case.groups:
            free = [v for v in group.members if v not in case.known]
            if not free:
                continue
            cards = [net.cards[p] for p in group.parents]
            at = np.zeros(rows, dtype=np.int64)
            if cards:
                at = np.ravel_multi_index([by_name[net.names[p]].astype(np.int64) for p in group.parents], cards)
            means, roots = group.conditional(case.seen, free)
            noise = np.stack([np.random.default_rng([seed, v]).standard_normal(rows) for v in free], axis=1)
            drawn = means[at] + np.einsum("nij,ni->nj", roots[at], noise)
            numbers |= {v: drawn[:, k] for k, v in enumerate(free)}
        return by_name, numbers
