"""The logistic distribution: the log-odds of a variable are a sum over its parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayeskit.errors import ModelFileError, NetworkError
from bayeskit.network.cpd.distribution import Codes, Distribution, Family, Form, Table, present_state
from bayeskit.network.cpd.link import LARGEST, Link, LinkCPD
from bayeskit.network.cpd.written_form import WrittenForm, both


@dataclass(frozen=True, eq=False)
class LogisticCPD(Form):
    r"""P(y | x) ∝ exp(b_y + Σ_i w_i(x_i, y)).

    Attributes
    ----------
    bias : float64 array of shape (n_states,)
    weights : tuple of float64 arrays of shape (the parent's states, n_states)
    """

    bias: Table
    weights: tuple[Table, ...]

    kind: ClassVar[str] = "logistic"
    title = "logistic distribution"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the full table."""
        return (*(len(w) for w in self.weights), len(self.bias))

    @property
    def n_parameters(self) -> int:
        """One per own state but one, for the bias and for each state but one of a parent."""
        return (len(self.bias) - 1) * (1 + sum(len(w) - 1 for w in self.weights))

    def __repr__(self) -> str:
        return f"logistic distribution of {len(self.weights)} parents, {self.n_parameters} free parameters"

    def rows(self, codes: Codes) -> Table:
        """Return P(own states | parents) for each row of the parents' codes."""
        score = np.repeat(self.bias[None, :], len(codes), axis=0)
        for i, w in enumerate(self.weights):
            score = score + w[codes[:, i]]
        score = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(score / score.sum(axis=1, keepdims=True))

    def to_parts(self) -> tuple[dict[str, Any], Table]:
        """Return fields and numbers."""
        return {"shape": list(self.shape)}, np.concatenate([self.bias, *(w.ravel() for w in self.weights)])

    @classmethod
    def from_parts(cls, meta: Mapping[str, Any], numbers: Table, shape: tuple[int, ...]) -> LogisticCPD:
        """Read what :meth:`to_parts` gave."""
        sizes = [card * shape[-1] for card in shape[:-1]]
        if numbers.shape != (shape[-1] + sum(sizes),) or not (abs(numbers) <= LARGEST).all():
            raise ModelFileError(
                f"a logistic distribution of shape {shape} needs {shape[-1] + sum(sizes)} numbers, of at most "
                f"{LARGEST:g}."
            )
        bias, *weights = np.split(numbers, np.cumsum([shape[-1], *sizes])[:-1])
        return cls(bias, tuple(w.reshape(-1, shape[-1]) for w in weights))


class _WrittenScore(WrittenForm):
    """A bias, and a weight for each parent, by its name; real parents too."""

    takes_real = True

    def __init__(
        self, weights: Mapping[str, Any] | None = None, /, bias: float | Sequence[float] = 0.0, **more: Any
    ) -> None:
        self.bias, self.weights = bias, both(type(self).__name__, weights, more)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in [('bias', self.bias), *self.weights.items()])})"
        )

    def _read(self, family: Family) -> tuple[Table, tuple[Table, ...]]:
        """Return the bias, and the weights of each parent: one row per state, or one row for a real parent."""
        what, weights = type(self).__name__, []
        for name, states, given in zip(
            family.parents, family.parent_states, family.match(what, self.weights), strict=True
        ):
            read = np.zeros((max(len(states), 1), len(family.states)))
            if not states:
                read[0] = _score(what, family, given, name)
            elif isinstance(given, Mapping):
                for state, w in given.items():
                    read[family.state(name, state)] = _score(what, family, w, name)
            elif len(states) == 2:
                read[present_state(states)] = _score(what, family, given, name)
            else:
                raise NetworkError(
                    f"{what} of {family.name!r}: the parent {name!r} has {len(states)} states; give a mapping of "
                    "state to weight."
                )
            weights.append(read)
        return _score(what, family, self.bias, "bias"), tuple(weights)

    def _linked(self, link: Link, family: Family) -> LinkCPD:
        return LinkCPD(link, tuple(map(len, family.parent_states)), *self._read(family))


class Logistic(_WrittenScore):
    r"""The log-odds of a variable are a sum over its parents (logistic regression as a distribution).

    .. math:: \ln \frac{P(\text{yes} \mid x)}{P(\text{no} \mid x)} = b + \sum_i w_i(x_i) + \sum_j v_j x_j

    Parameters
    ----------
    weights : mapping of parent to weight, optional
        A number for a parent that is there (0 where it is not), or a mapping of state to number; for a real parent the
        number that is multiplied by it. With more than two own states a list with one number per own state in place of
        each number. Parents may also be given as keywords.
    bias : float, or one number per own state, default 0
        The log-odds when every weight is 0.

    Exact answers and samples make its full table, so they take up to about 25 parents of two states; `fitted` and
    `log_probability` take any number. With real parents that are not known answers are sampled, with their error.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> tables = {"a": [0.5, 0.5], "b": [0.5, 0.5], "y": Logistic(bias=-1, a=1.0, b=2.0)}
    >>> BayesianNetwork("a->y<-b", tables=tables)["y"]["yes", "no"]
    array([0.5, 0.5])
    """

    def bound(self, family: Family) -> Distribution:
        """Return the distribution for a family."""
        return self._linked("logistic", family) if () in family.parent_states else LogisticCPD(*self._read(family))


class Probit(_WrittenScore):
    r"""A variable of two states that says whether a normal score is above 0 (probit regression as a distribution).

    .. math:: P(\text{yes} \mid x) = Φ\left(b + \sum_i w_i(x_i) + \sum_j v_j x_j\right)

    Parameters as for `Logistic`. Without real parents it makes a table.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> from bayeskit.network import LinearGaussian
    >>> dose = BayesianNetwork(
    ...     "dose->cured", tables={"dose": LinearGaussian(mean=2, sd=1), "cured": Probit(bias=-1, dose=0.5)}
    ... )
    >>> round(dose.posterior("cured", given={"dose": 4})["yes"], 4)
    0.8413
    """

    def bound(self, family: Family) -> Distribution:
        """Return the distribution for a family."""
        if len(family.states) != 2:
            raise NetworkError(
                f"Probit is for a variable of two states; {family.name!r} has {len(family.states)}. "
                "Logistic takes more."
            )
        linked = self._linked("probit", family)
        return linked if linked.real else linked.given_numbers([])


def _score(form: str, family: Family, given: Any, what: str) -> Table:
    """Return one score per own state: a number counts for the state that says "yes"."""
    n = len(family.states)
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.full(0, np.nan)
    if numbers.shape == () and n == 2:
        numbers = np.where(np.arange(2) == present_state(family.states), numbers, 0.0)
    if numbers.shape != (n,) or not (abs(numbers) <= LARGEST).all():
        raise NetworkError(
            f"{form} of {family.name!r}: {what} needs {'a number' if n == 2 else f'{n} numbers, one per own state'}; "
            f"got {given!r}. Numbers are at most {LARGEST:g} in size."
        )
    return numbers
