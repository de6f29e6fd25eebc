"""Independent causes: every parent adds its own hidden effect, and the variable is the largest, or the sum, of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ModelFileError, NetworkError
from bayeskit.network.cpd.distribution import Codes, Form, Step, Table

Combine = Literal["max", "sum"]
Mask = NDArray[np.bool_]
# A row of effects may miss 1 by this; it is then divided by its sum.
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class IndependentCauses(Form):
    r"""The family of noisy-OR: :math:`Y = \max(Z_0, Z_1, \dots)` or :math:`Y = \min(Z_0 + Z_1 + \dots, r - 1)`.

    Each parent has an effect :math:`Z_i` of 0 … r − 1 that depends on its state only, and :math:`Z_0` is the leak: what
    causes outside the network do. Only positive numbers are added and multiplied, so small probabilities keep their
    digits.

    Attributes
    ----------
    combine : {"max", "sum"}
    leak : float64 array of shape (n_states,)
        P(Z_0).
    links : tuple of float64 arrays of shape (the parent's states, n_states)
        P(Z_i | parent i).
    order : tuple of int
        The own states from effect 0 to the largest.
    fixed : tuple of bool arrays, one per link, of shape (the parent's states,)
        The states whose effects belong to the form: they are no parameters, and learning leaves them so.

    References
    ----------
    Díez & Druzdzel (2006), Canonical probabilistic models for knowledge engineering. Zhang & Poole (1996), Exploiting
    causal independence in Bayesian network inference, for the chain.
    """

    combine: Combine
    leak: Table
    links: tuple[Table, ...]
    order: tuple[int, ...]
    fixed: tuple[Mask, ...]

    kind: ClassVar[str] = "causes"
    keeps_order: ClassVar[bool] = False

    @property
    def title(self) -> str:
        """What it is called in messages."""
        if self.combine == "sum":
            return "noisy adder"
        if len(self.leak) > 2:
            return "noisy-MAX"
        # A condition that is not there fails for certain; a cause that is not there does nothing.
        certain = [link[mask, 1] for link, mask in zip(self.links, self.fixed, strict=True) if mask.any()]
        is_and = any((each == 1.0).any() for each in certain) if certain else self.order == (1, 0)
        return "noisy-AND" if is_and else "noisy-OR"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the full table."""
        return (*(len(link) for link in self.links), len(self.leak))

    @property
    def n_parameters(self) -> int:
        """The free numbers: those of the leak, and of each state of a parent that is not fixed."""
        rows = 1 + sum(int((~mask).sum()) for mask in self.fixed)
        return rows * (len(self.leak) - 1)

    def __repr__(self) -> str:
        return f"{self.title} of {len(self.links)} parents, {self.n_parameters} free parameters"

    def join(self, before: Table, effects: Table) -> Table:
        """Return the distribution of the combined effect, (…, r), of two independent ones."""
        if self.combine == "max":
            return np.asarray(before * np.cumsum(effects, axis=-1) + _below(before) * effects)
        r = before.shape[-1]
        out = np.zeros(np.broadcast_shapes(before.shape, effects.shape))
        for k in range(r):
            for z in range(r):
                out[..., min(k + z, r - 1)] += before[..., k] * effects[..., z]
        return out

    def rows(self, codes: Codes) -> Table:
        """Return P(own states | parents) for each row of the parents' codes."""
        running = np.repeat(self.leak[None, :], len(codes), axis=0)
        for i, link in enumerate(self.links):
            running = self.join(running, link[codes[:, i]])
        return self._as_states(running)

    def _as_states(self, by_effect: Table) -> Table:
        out = np.empty_like(by_effect)
        out[..., list(self.order)] = by_effect
        return out

    def steps(self, order: Sequence[int] | None = None) -> list[Step] | None:
        """Return the chain: the running effect meets one parent after another."""
        if not self.links:
            return None
        r = len(self.leak)
        sequence = list(range(len(self.links)) if order is None else order)
        out = []
        for k, i in enumerate(sequence):
            before = self.leak[None, :] if k == 0 else np.eye(r)
            table = self.join(before[:, None, :], self.links[i][None, :, :])
            out.append(Step(i, self._as_states(table) if k == len(sequence) - 1 else table))
        return out

    def rests_below(self, state: int) -> bool:
        """Return whether the state is effect 0: then no cause had any."""
        return state == self.order[0]

    def to_parts(self) -> tuple[dict[str, Any], Table]:
        """Return fields and numbers."""
        meta: dict[str, Any] = {"combine": self.combine, "shape": list(self.shape), "order": list(self.order)}
        meta["fixed"] = [np.flatnonzero(mask).tolist() for mask in self.fixed]
        return meta, np.concatenate([self.leak, *(link.ravel() for link in self.links)])

    @classmethod
    def from_parts(cls, meta: Mapping[str, Any], numbers: Table, shape: tuple[int, ...]) -> IndependentCauses:
        """Read what :meth:`to_parts` gave; the file may be untrusted."""
        r, order = shape[-1], meta.get("order")
        if meta.get("combine") not in ("max", "sum") or not isinstance(order, list) or sorted(order) != list(range(r)):
            raise ModelFileError("a distribution of independent causes needs 'combine' and an order of its states.")
        sizes = [card * r for card in shape[:-1]]
        if numbers.shape != (r + sum(sizes),):
            raise ModelFileError(f"independent causes of shape {shape} need {r + sum(sizes)} numbers.")
        cuts = np.cumsum([r, *sizes])[:-1]
        leak, *links = np.split(numbers, cuts) if sizes else [numbers]
        tables = [leak[None, :], *(link.reshape(-1, r) for link in links)]
        try:
            check_effects(tables, "the file")
        except NetworkError as error:
            raise ModelFileError(str(error)) from None
        # Numbers stay as they are: dividing by a sum of almost 1 once more would change their last bit.
        fixed = _read_fixed(meta.get("fixed"), shape[:-1])
        return cls(meta["combine"], tables[0][0], tuple(tables[1:]), tuple(map(int, order)), fixed)


def _below(p: Table) -> Table:
    """Return P(X < k): sums of the numbers before each, so that nothing is subtracted."""
    out = np.zeros_like(p)
    np.cumsum(p[..., :-1], axis=-1, out=out[..., 1:])
    return out


def _read_fixed(given: Any, cards: tuple[int, ...]) -> tuple[Mask, ...]:
    """Return the masks of a file."""
    good = isinstance(given, list) and len(given) == len(cards)
    if not good or not all(
        isinstance(each, list) and all(type(k) is int and 0 <= k < card for k in each)
        for each, card in zip(given, cards, strict=True)
    ):
        raise ModelFileError(
            "independent causes need 'fixed': for each parent the states whose effects are not learned."
        )
    return tuple(np.isin(np.arange(card), each) for each, card in zip(given, cards, strict=True))


def without_effect(link: Table) -> Mask:
    """Return which states of a parent have no effect at all."""
    return np.asarray(link[:, 0] == 1.0)


def check_effects(tables: Sequence[Table], what: str) -> None:
    """Refuse effects that are no probabilities."""
    for numbers in tables:
        sums = numbers.sum(axis=1)
        if not (np.isfinite(numbers).all() and (numbers >= 0).all() and (abs(sums - 1.0) <= TOLERANCE).all()):
            raise NetworkError(f"{what}: effects must be probabilities that sum to 1; got {numbers.tolist()}.")


def make_causes(
    combine: Combine,
    leak: Table,
    links: Sequence[Table],
    order: tuple[int, ...],
    fixed: Sequence[Mask],
    what: str,
) -> IndependentCauses:
    """Return the distribution; effects that are no probabilities are an error."""
    tables = (leak[None, :], *links)
    check_effects(tables, what)
    read = []
    for numbers in tables:
        sums = numbers.sum(axis=1)
        # A sum that misses 1 by rounding stays: divided again, the same file would change its last bits each time.
        exact = numbers / np.where(abs(sums - 1.0) < 1e-12, 1.0, sums)[:, None]
        exact.setflags(write=False)
        read.append(exact)
    return IndependentCauses(combine, read[0][0], tuple(read[1:]), order, tuple(fixed))
