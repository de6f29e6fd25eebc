"""Real variables: linear Gaussian, and conditional Gaussian given discrete parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, prod
from typing import Any, ClassVar

import numpy as np

from bayeskit.errors import ModelFileError, NetworkError
from bayeskit.network.cpd.distribution import Codes, Distribution, Family, Table
from bayeskit.network.cpd.table import check_size
from bayeskit.network.cpd.written_form import WrittenForm, both


@dataclass(frozen=True, eq=False)
class GaussianCPD(Distribution):
    r"""A normal whose mean is linear in the real parents, with numbers of its own for each state of the discrete ones.

    .. math:: y \mid d, x \sim N(a_d + b_d \cdot x, σ_d^2)

    Attributes
    ----------
    cards : tuple of int
        The number of states of each parent, 0 for a real one.
    intercept, sd : float64 arrays of shape (n_configurations,)
    slope : float64 array of shape (n_configurations, n_real_parents)
        Configurations of the discrete parents run as in a table: the last changes fastest. A standard deviation of 0
        stands only where an intervention has set the variable.
    """

    cards: tuple[int, ...]
    intercept: Table
    slope: Table
    sd: Table

    kind: ClassVar[str] = "gaussian"

    @property
    def shape(self) -> tuple[int, ...]:
        """The parents' states, with 0 for a real one, and 0 for the variable itself."""
        return (*self.cards, 0)

    @cached_property
    def discrete(self) -> tuple[int, ...]:
        """The places of the discrete parents."""
        return tuple(k for k, card in enumerate(self.cards) if card)

    @cached_property
    def real(self) -> tuple[int, ...]:
        """The places of the real parents."""
        return tuple(k for k, card in enumerate(self.cards) if not card)

    @property
    def n_parameters(self) -> int:
        """Intercept, slopes and standard deviation for each configuration."""
        return int(self.intercept.size + self.slope.size + self.sd.size)

    @property
    def is_point(self) -> bool:
        """Whether an intervention has set the variable to a number."""
        return not self.cards and float(self.sd[0]) == 0.0

    def __repr__(self) -> str:
        if len(self.intercept) > 1:
            return f"conditional Gaussian of {len(self.intercept)} configurations, {len(self.real)} real parents"
        slopes = "".join(f" {b:+.6g}·x{k + 1}" for k, b in enumerate(self.slope[0]))
        return f"Gaussian(mean {self.intercept[0]:.6g}{slopes}, sd {self.sd[0]:.6g})"

    def rows(self, codes: Codes) -> Table:
        """Refuse: a real variable has a density, not a row of probabilities."""
        raise NetworkError("a real variable has no table of probabilities; ask posterior() for its density.")

    def log_density(self, y: Table, codes: Codes, x: Table) -> Table:
        """Return log p(y | parents) for each row: codes (n, discrete parents) and numbers (n, real parents)."""
        # With one configuration its numbers serve all rows as they are.
        d = self.configuration(codes) if len(self.sd) > 1 else 0
        line = x @ self.slope[0] if len(self.sd) == 1 else (self.slope[d] * x).sum(axis=1)
        mean, sd = line + self.intercept[d], self.sd[d]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # too far away, it is 0
            log = y - mean  # from here in place: new arrays take as long as the arithmetic
            log /= sd
            log *= log
            log *= -0.5
            log -= (np.log(self.sd) + 0.5 * np.log(2.0 * np.pi))[d]
        return log if (sd > 0).all() else np.where(sd > 0, log, np.where(y == mean, 0.0, -np.inf))

    def configuration(self, codes: Codes) -> Codes:
        """Return the number of the configuration of the discrete parents in each row."""
        if not codes.shape[1]:
            return np.zeros(len(codes), dtype=np.int64)
        return np.asarray(np.ravel_multi_index(tuple(codes.T), [self.cards[k] for k in self.discrete]))

    def reordered(self, axes: Sequence[int]) -> GaussianCPD:
        """Return the same distribution with its parents in another order: parent k is our parent ``axes[k]``."""
        cards = tuple(self.cards[a] for a in axes)
        ours = [self.discrete.index(a) for a in axes if self.cards[a]]
        shape = [self.cards[k] for k in self.discrete]
        grid = np.arange(prod(shape)).reshape(shape).transpose(ours).reshape(-1) if shape else np.zeros(1, dtype=int)
        columns = [self.real.index(a) for a in axes if not self.cards[a]]
        return GaussianCPD(cards, self.intercept[grid], self.slope[grid][:, columns], self.sd[grid])

    def with_parent(self, card: int) -> GaussianCPD:
        """Return the distribution with one more parent, the last, that says nothing; a real one has no states."""
        if not card:
            slope = np.concatenate([self.slope, np.zeros((len(self.sd), 1))], axis=1)
            return GaussianCPD((*self.cards, 0), self.intercept, slope, self.sd)
        again = [np.repeat(numbers, card, axis=0) for numbers in (self.intercept, self.slope, self.sd)]
        return GaussianCPD((*self.cards, card), *again)

    def to_parts(self) -> tuple[dict[str, Any], Table]:
        """Return fields and numbers."""
        return {"cards": list(self.cards)}, np.concatenate([self.intercept, self.slope.ravel(), self.sd])

    @classmethod
    def from_parts(cls, meta: Mapping[str, Any], numbers: Table, shape: tuple[int, ...]) -> GaussianCPD:
        """Read what :meth:`to_parts` gave; the file may be untrusted."""
        cards = tuple(shape[:-1])
        if meta.get("cards") != list(cards) or shape[-1]:
            raise ModelFileError("a Gaussian distribution does not fit the parents of its variable.")
        q, n = prod(card for card in cards if card), cards.count(0)
        if numbers.shape != (q * (n + 2),) or not np.isfinite(numbers).all() or (numbers[q * (n + 1) :] < 0).any():
            raise ModelFileError(
                f"a Gaussian distribution needs {q * (n + 2)} finite numbers, deviations of 0 or more."
            )
        return cls(cards, numbers[:q], numbers[q : q * (n + 1)].reshape(q, n), numbers[q * (n + 1) :])


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number; truth values are not."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and isfinite(value)


def _is_line(row: Any) -> bool:
    return isinstance(row, LinearGaussian)


class RealForm(WrittenForm):
    """What a user writes for a real variable."""

    def default_states(self) -> list[str]:
        """Return none: a real variable has no states."""
        return []

    def bound(self, family: Family) -> GaussianCPD:
        """Return the distribution for a family."""
        raise NotImplementedError


class LinearGaussian(RealForm):
    r"""A real variable: normal, with a mean that is linear in its real parents.

    .. math:: y \mid x \sim N(a + \sum_i b_i x_i, σ^2)

    Parameters
    ----------
    slopes : mapping of real parent to number, optional
        bᵢ. Parents may also be given as keywords.
    mean : float, default 0
        a, the mean when all parents are 0.
    sd : float, default 1
        σ, above 0.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> net = BayesianNetwork(
    ...     "height->weight",
    ...     tables={"height": LinearGaussian(mean=170, sd=8), "weight": LinearGaussian(mean=-90, sd=6, height=0.95)},
    ... )
    >>> net.posterior("height", given={"weight": 90})
    height: mean 181.997, sd 4.95715
    """

    def __init__(
        self, slopes: Mapping[str, float] | None = None, /, mean: float = 0.0, sd: float = 1.0, **more: float
    ) -> None:
        self.slopes = both("LinearGaussian", slopes, more)
        numbers = {"mean": mean, "sd": sd, **self.slopes}
        for name, value in numbers.items():
            if not is_number(value):
                raise NetworkError(f"LinearGaussian: {name} must be a number; got {value!r}.")
        if not sd > 0:
            raise NetworkError(f"LinearGaussian: sd must be above 0; got {sd!r}.")
        self.mean, self.sd = float(mean), float(sd)

    def __repr__(self) -> str:
        parts = [("mean", self.mean), ("sd", self.sd), *self.slopes.items()]
        return f"LinearGaussian({', '.join(f'{name}={value!r}' for name, value in parts)})"

    def bound(self, family: Family) -> GaussianCPD:
        """Return the distribution for a family; discrete parents need a `ConditionalGaussian`."""
        discrete = [name for name, states in zip(family.parents, family.parent_states, strict=True) if states]
        if discrete:
            raise NetworkError(
                f"{family.name!r} has the discrete parent {discrete[0]!r}: give a ConditionalGaussian, with a "
                "LinearGaussian for each of its states."
            )
        slopes = family.match("LinearGaussian", self.slopes)
        return GaussianCPD(
            (0,) * len(slopes), np.array([self.mean]), np.array([slopes], dtype=np.float64).reshape(1, -1),
            np.array([self.sd]),
        )  # fmt: skip


class ConditionalGaussian(RealForm):
    """A real variable with discrete parents: a `LinearGaussian` for each combination of their states.

    Parameters
    ----------
    rows : mapping of state, or of a tuple of states, to LinearGaussian
        One for each combination, in the order of the discrete parents among the arcs. A slope that is left out is 0.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> net = BayesianNetwork(
    ...     "sex{f|m}->height",
    ...     tables={
    ...         "sex": [0.5, 0.5],
    ...         "height": ConditionalGaussian(
    ...             {"f": LinearGaussian(mean=166, sd=6), "m": LinearGaussian(mean=179, sd=7)}
    ...         ),
    ...     },
    ... )
    >>> net.posterior("height")
    height: mean 172.5, sd 9.20598; mixture of 2 normals
    >>> round(net.posterior("sex", given={"height": 175})["m"], 4)
    0.6916
    """

    def __init__(self, rows: Mapping[Any, LinearGaussian]) -> None:
        if not isinstance(rows, Mapping):
            raise NetworkError(
                f"ConditionalGaussian takes a mapping of states to LinearGaussian, such as {{'yes': "
                f"LinearGaussian(mean=1)}}; got {rows!r}."
            )
        strange = [row for row in rows.values() if not _is_line(row)]
        if strange:
            raise NetworkError(f"ConditionalGaussian maps states to LinearGaussian; got {strange[0]!r}.")
        self.rows = dict(rows)

    def __repr__(self) -> str:
        return f"ConditionalGaussian({self.rows!r})"

    def bound(self, family: Family) -> GaussianCPD:
        """Return the distribution for a family."""
        what = f"ConditionalGaussian of {family.name!r}"
        discrete = [k for k, states in enumerate(family.parent_states) if states]
        real = [family.parents[k] for k, states in enumerate(family.parent_states) if not states]
        shape = tuple(len(family.parent_states[k]) for k in discrete)
        if not discrete:
            raise NetworkError(f"{what}: it has no discrete parent; give a LinearGaussian.")
        check_size(family.name, (*shape, len(real) + 2))
        numbers = self._by_place(family, what, [family.parents[k] for k in discrete], real)
        places = list(np.ndindex(*shape))
        for place in places:
            if place not in numbers:
                given = ", ".join(
                    f"{family.parents[k]}={family.parent_states[k][s]}" for k, s in zip(discrete, place, strict=True)
                )
                raise NetworkError(f"{what} has nothing for {given}; give every combination.")
        rows = [numbers[place] for place in places]
        slope = np.array([[row.slopes.get(name, 0.0) for name in real] for row in rows], dtype=np.float64)
        return GaussianCPD(
            tuple(map(len, family.parent_states)), np.array([row.mean for row in rows]),
            slope.reshape(len(rows), len(real)), np.array([row.sd for row in rows]),
        )  # fmt: skip

    def _by_place(
        self, family: Family, what: str, discrete: Sequence[str], real: Sequence[str]
    ) -> dict[tuple[int, ...], LinearGaussian]:
        """Return the rows by the places of the discrete parents' states."""
        numbers: dict[tuple[int, ...], LinearGaussian] = {}
        for key, row in self.rows.items():
            states = key if isinstance(key, tuple) else (key,)
            if len(states) != len(discrete):
                raise NetworkError(f"{what}: the key {key!r} must have one state for each of {list(discrete)}.")
            strange = [name for name in row.slopes if name not in real]
            if strange:
                raise NetworkError(f"{what}: {strange[0]!r} is not one of its real parents, {list(real)}.")
            numbers[tuple(family.state(name, s) for name, s in zip(discrete, states, strict=True))] = row
        return numbers
