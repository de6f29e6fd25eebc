"""Noisy-OR, noisy-AND, noisy-MAX and the noisy adder as a user writes them, with the names of the parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.causes import Combine, IndependentCauses, Mask, make_causes, without_effect
from bayeskit.network.cpd.distribution import Family, Table, present_state, probability
from bayeskit.network.cpd.nearest_noisy_or import nearest_noisy_or
from bayeskit.network.cpd.written_form import WrittenForm, both

LeakMeaning = Literal["net", "compound"]


class _WrittenCauses(WrittenForm):
    """What the four have in common: a link for each parent, by its name."""

    def __init__(self, links: Mapping[str, Any] | None, more: Mapping[str, Any]) -> None:
        self.links: dict[str, Any] = both(type(self).__name__, links, more)

    def _shown(self, **options: Any) -> str:
        parts = [f"{name}={value!r}" for name, value in [*options.items(), *self.links.items()]]
        return f"{type(self).__name__}({', '.join(parts)})"


class NoisyOr(_WrittenCauses):
    r"""Any cause may bring the effect about, each on its own; the effect is absent if all of them fail.

    .. math:: P(y = \text{no} \mid x) = (1 - p_0) \prod_i (1 - p_i)^{x_i}

    Parameters
    ----------
    links : mapping of parent to probability, optional
        The probability that the parent alone brings the effect about; a parent of more than two states has a mapping
        of state to probability (states that are left out have none). Parents may also be given as keywords.
    leak : float, default 0
        p₀, the probability of the effect when no parent is there.
    meaning : {"net", "compound"}
        Whether the numbers of the parents are without the leak (Díez; pyAgrum's ``addNoisyORNet``), or what is seen
        when that parent alone is there, leak included (Henrion; ``addNoisyORCompound``): then
        :math:`1 - p_i = (1 - c_i) / (1 - p_0)`.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> net = BayesianNetwork(
    ...     "flu->fever<-cold",
    ...     tables={"flu": [0.9, 0.1], "cold": [0.8, 0.2], "fever": NoisyOr(leak=0.01, flu=0.8, cold=0.4)},
    ... )
    >>> net["fever"]
    flu  cold  no      yes
    no   no    0.99    0.01
    no   yes   0.594   0.406
    yes  no    0.198   0.802
    yes  yes   0.1188  0.8812
    """

    def __init__(
        self,
        links: Mapping[str, Any] | None = None,
        /,
        leak: float = 0.0,
        meaning: LeakMeaning = "net",
        **more: Any,
    ) -> None:
        super().__init__(links, more)
        if meaning not in ("net", "compound"):
            raise NetworkError(f"NoisyOr: meaning must be 'net' or 'compound'; got {meaning!r}.")
        self.leak, self.meaning = probability(leak, "NoisyOr: the leak"), meaning
        self.distance = 0.0  # from the table that it was made of

    @classmethod
    def from_table(cls, table: Any, weights: Any = None) -> NoisyOr:
        r"""Return the noisy-OR that is nearest to a table, with its `distance`.

        .. math:: \min_{p} \sum_x w(x) \sum_y P(y \mid x) \ln \frac{P(y \mid x)}{Q_p(y \mid x)}

        Parameters
        ----------
        table : VariableTable
            ``net["fever"]``: a variable of two states whose parents have two states each.
        weights : array of shape (parents' states …), optional
            How much each row counts; by default all count the same. P(parents) gives the nearest network.

        Returns
        -------
        NoisyOr
            Its attribute ``distance`` is the mean divergence of a row in nats: 0 where the table is a noisy-OR.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> tables = {"a": [0.5, 0.5], "b": [0.5, 0.5], "y": [[[0.9, 0.1], [0.45, 0.55]], [[0.18, 0.82], [0.1, 0.9]]]}
        >>> near = NoisyOr.from_table(BayesianNetwork("a->y<-b", tables=tables)["y"])
        >>> round(near.leak, 3), round(near.links["a"], 3), round(near.distance, 5)
        (0.101, 0.794, 9e-05)
        """
        family = Family(table.name, table.states, table.parents, table.parent_states)
        _, yes = _two_states(family, "NoisyOr.from_table", "NoisyMax")
        many = [name for name, states in zip(family.parents, family.parent_states, strict=True) if len(states) != 2]
        if many:
            raise NetworkError(f"NoisyOr.from_table takes parents of two states; {many[0]!r} has others.")
        there = [present_state(states) for states in family.parent_states]
        leak, links, distance = nearest_noisy_or(np.asarray(table.array), there, yes, weights)
        near = cls(dict(zip(family.parents, links, strict=True)), leak=leak)
        near.distance = distance
        return near

    def __repr__(self) -> str:
        return self._shown(leak=self.leak, **({"meaning": self.meaning} if self.meaning != "net" else {}))

    def bound(self, family: Family) -> IndependentCauses:
        """Return the distribution for a family."""
        order = _two_states(family, "NoisyOr", "NoisyMax")
        read, fixed = [], []
        for name, link in zip(family.parents, family.match("NoisyOr", self.links), strict=True):
            p, left_out = _chances(family, name, link, "NoisyOr")
            if self.meaning == "compound":
                p = self._without_leak(p, ~left_out, name)
            read.append(np.stack([1.0 - p, p], axis=1))
            fixed.append(left_out)
        leak = np.array([1.0 - self.leak, self.leak])
        return make_causes("max", leak, read, order, fixed, f"NoisyOr of {family.name!r}")

    def _without_leak(self, p: Table, given: Mask, name: str) -> Table:
        if self.leak >= 1.0:
            raise NetworkError("NoisyOr: with a leak of 1 the numbers of the parents cannot be told from the leak.")
        if (p[given] < self.leak).any():
            raise NetworkError(
                f"NoisyOr: with meaning='compound' the number of {name!r} includes the leak, so it is at least "
                f"{self.leak:g}; got {p[given].min():g}."
            )
        return np.where(given, (p - self.leak) / (1.0 - self.leak), 0.0)


class NoisyAnd(_WrittenCauses):
    r"""All conditions must be met, and each may fail on its own.

    .. math:: P(y = \text{yes} \mid x) = s \prod_i c_i(x_i)

    Parameters
    ----------
    links : mapping of parent to probability, optional
        :math:`c_i`, the probability that a parent that is there meets its condition; one that is not there never does.
        A mapping of state to probability says it for each state. Parents may also be given as keywords.
    sure : float, default 1
        s, the probability when every condition is met.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> tables = {"power": [0.1, 0.9], "fuel": [0.2, 0.8], "runs": NoisyAnd(sure=0.99, power=0.9, fuel=1.0)}
    >>> BayesianNetwork("power->runs<-fuel", tables=tables)["runs"]["yes", "yes"]
    array([0.109, 0.891])
    """

    def __init__(self, links: Mapping[str, Any] | None = None, /, sure: float = 1.0, **more: Any) -> None:
        super().__init__(links, more)
        self.sure = probability(sure, "NoisyAnd: sure")

    def __repr__(self) -> str:
        return self._shown(sure=self.sure)

    def bound(self, family: Family) -> IndependentCauses:
        """Return the distribution for a family: a noisy-OR of failures."""
        no, yes = _two_states(family, "NoisyAnd", "NoisyMax")
        links, fixed = [], []
        for name, link in zip(family.parents, family.match("NoisyAnd", self.links), strict=True):
            c, left_out = _chances(family, name, link, "NoisyAnd")
            links.append(np.stack([c, 1.0 - c], axis=1))
            fixed.append(left_out)
        leak = np.array([self.sure, 1.0 - self.sure])
        return make_causes("max", leak, links, (yes, no), fixed, f"NoisyAnd of {family.name!r}")


class _Graded(_WrittenCauses):
    """Effects with several degrees."""

    combine: ClassVar[Combine]

    def __init__(
        self,
        links: Mapping[str, Any] | None = None,
        /,
        leak: Sequence[float] | Mapping[str, float] | None = None,
        order: Sequence[str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(links, more)
        if leak is not None and not isinstance(leak, Mapping) and np.ndim(leak) != 1:
            raise NetworkError(
                f"{type(self).__name__}: the leak has one probability for each own state, such as [0.9, 0.1]; "
                f"got {leak!r}."
            )
        self.leak, self.order = leak, None if order is None else tuple(map(str, order))

    def __repr__(self) -> str:
        return self._shown(leak=self.leak, **({"order": self.order} if self.order else {}))

    def default_states(self) -> list[str]:
        """Return the states in their order, or numbers where the leak says how many there are."""
        if self.order is not None:
            return list(self.order)
        if isinstance(self.leak, Mapping):
            return [str(state) for state in self.leak]
        n = 2 if self.leak is None else len(self.leak)
        return ["no", "yes"] if n == 2 else [str(k) for k in range(n)]

    def bound(self, family: Family) -> IndependentCauses:
        """Return the distribution for a family."""
        what = f"{type(self).__name__} of {family.name!r}"
        order = tuple(family.state(family.name, state) for state in self.order or family.states)
        if sorted(order) != list(range(len(family.states))):
            raise NetworkError(f"{what}: order must name each of {', '.join(family.states)} once; got {self.order}.")
        none = np.eye(len(order))[0]
        leak = none if self.leak is None else self._effects(family, order, self.leak, f"{what}, leak")
        links, fixed = [], []
        for name, states, link in zip(
            family.parents, family.parent_states, family.match(type(self).__name__, self.links), strict=True
        ):
            read, named = np.repeat(none[None, :], len(states), axis=0), np.zeros(len(states), dtype=bool)
            if len(states) == 2:  # a cause that is there is learned, also from a start without effect
                named[present_state(states)] = True
            if isinstance(link, Mapping):
                named[:] = False
                for state, effects in link.items():
                    k = family.state(name, state)
                    named[k] = len(states) != 2 or k == present_state(states)
                    read[k] = self._effects(family, order, effects, f"{what}, {name}={state}")
            elif np.ndim(link) == 1 and len(states) == 2:
                read[present_state(states)] = self._effects(family, order, link, f"{what}, {name}")
            elif np.shape(link) == read.shape:
                read[:] = np.stack([self._effects(family, order, row, f"{what}, {name}") for row in link])
            else:
                raise NetworkError(
                    f"{what}: the link of {name!r} is a mapping of its states ({', '.join(states)}) to the "
                    f"probabilities of {len(order)} effects, or an array of shape {read.shape}; got {link!r}."
                )
            links.append(read)
            fixed.append(without_effect(read) & ~named)
        return make_causes(self.combine, leak, links, order, fixed, what)

    def _effects(self, family: Family, order: tuple[int, ...], given: Any, what: str) -> Table:
        """Return the probabilities of effect 0, 1, …: given one per own state, or by its name."""
        by_state = np.zeros(len(order))
        if isinstance(given, Mapping):
            for state, p in given.items():
                by_state[family.state(family.name, state)] = probability(p, f"{what}, {state}")
        elif np.shape(given) == (len(order),):
            by_state[:] = [probability(p, what) for p in given]
        else:
            raise NetworkError(f"{what}: give one probability for each of {', '.join(family.states)}; got {given!r}.")
        return by_state[list(order)]


class NoisyMax(_Graded):
    r"""Noisy-OR with degrees: the variable takes the largest of the effects that its causes have.

    .. math:: P(y \le k \mid x) = P(z_0 \le k) \prod_i P(z_i \le k \mid x_i)

    Parameters
    ----------
    links : mapping of parent to effects, optional
        For each state of the parent one probability per own state, as
        ``{"mild": [0.5, 0.5, 0], "severe": [0.1, 0.3, 0.6]}``, or an array of shape (the parent's states, own states),
        or one list for a parent that is there or not.
        States that are left out have no effect. Parents may also be given as keywords.
    leak : probabilities of the own states, optional
        What happens without any of the parents.
    order : list of own states, optional
        From no effect to the largest; by default the order of the states.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> net = BayesianNetwork(
    ...     "flu->fever{none|mild|high}<-cold",
    ...     tables={
    ...         "flu": [0.9, 0.1],
    ...         "cold": [0.8, 0.2],
    ...         "fever": NoisyMax(leak=[0.98, 0.02, 0], flu=[0.2, 0.3, 0.5], cold=[0.6, 0.4, 0]),
    ...     },
    ... )
    >>> net["fever"]["yes", "yes"].round(4)
    array([0.1176, 0.3824, 0.5   ])
    """

    combine = "max"


class NoisyAdder(_Graded):
    r"""The effects of the causes add up; the last state means "that many or more".

    .. math:: y = \min(z_0 + z_1 + \dots + z_n, r - 1)

    Parameters as for `NoisyMax`.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> net = BayesianNetwork(
    ...     "a->n[3]<-b", tables={"a": [0.5, 0.5], "b": [0.5, 0.5], "n": NoisyAdder(a=[0.2, 0.8, 0], b=[0, 1, 0])}
    ... )
    >>> net["n"]["yes", "yes"]
    array([0. , 0.2, 0.8])
    """

    combine = "sum"


def _two_states(family: Family, what: str, other: str) -> tuple[int, int]:
    """Return the places of "no" and "yes"."""
    if len(family.states) != 2:
        raise NetworkError(
            f"{what} is for a variable of two states; {family.name!r} has {len(family.states)}. {other} takes more."
        )
    yes = present_state(family.states)
    return 1 - yes, yes


def _chances(family: Family, parent: str, link: Any, what: str) -> tuple[Table, Mask]:
    """Return one probability for each state of a parent, and which states were left out, so that they are 0."""
    states = family.parent_states[family.parents.index(parent)]
    out, left_out = np.zeros(len(states)), np.ones(len(states), dtype=bool)
    if isinstance(link, Mapping):
        for state, p in link.items():
            k = family.state(parent, state)
            out[k] = probability(p, f"{what}: the number of {parent}={state}")
            # A 0 that is written for the absence of a cause says what leaving it out says.
            left_out[k] = out[k] == 0.0 and len(states) == 2 and k != present_state(states)
    elif len(states) != 2:
        raise NetworkError(
            f"{what}: the parent {parent!r} has {len(states)} states; give a mapping of state to probability, such as "
            f"{{{states[-1]!r}: 0.8}}."
        )
    else:
        k = present_state(states)
        out[k], left_out[k] = probability(link, f"{what}: the number of {parent!r}"), False
    return out, left_out
