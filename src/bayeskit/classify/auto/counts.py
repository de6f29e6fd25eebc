"""The counts of an AutoBayes, under the plan that it has chosen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.boosting import BoostPlan
from bayeskit.classify.auto.evidence_networks import NetworkPlan, plain_network
from bayeskit.classify.auto.gaussians import GaussianPlan
from bayeskit.classify.auto.levels import OTHER_LEVEL, Levels
from bayeskit.classify.auto.linear import LinearPlan
from bayeskit.classify.auto.rare_values import RareValues
from bayeskit.classify.auto.texts import TextMember, count_words, whole_words
from bayeskit.classify.auto.training_rows import TrainingRows
from bayeskit.classify.auto.trees import TreePlan
from bayeskit.counts.tokens import TokenCounts
from bayeskit.errors import MergeError
from bayeskit.table.schema import Schema


@dataclass(frozen=True)
class PoolPlan:
    """Everything that is chosen rather than counted. Later rows do not change it."""

    schema: Schema
    levels: Levels
    networks: NetworkPlan
    rare: RareValues
    gaussians: tuple[GaussianPlan, ...]
    trees: tuple[TreePlan, ...]
    linear: tuple[LinearPlan, ...]  # of a wide table one, else none
    texts: tuple[TextMember, ...]  # of the columns of text by which rows left out gain
    boosting: tuple[BoostPlan, ...]  # one, where rows left out gain by it: it is added to the scores of the pool
    classes: NDArray[Any]  # those of the biases
    column_weight: NDArray[np.float64]  # (n_features + 1,): of each column in the networks, and of the prior
    column_bias: NDArray[np.float64]  # (n_classes,)
    member_weight: NDArray[np.float64]  # (n_members,): networks, Gaussians, trees, linear, texts
    member_bias: NDArray[np.float64]  # (n_classes,)
    class_matrix: NDArray[np.float64]  # (n_classes, n_classes + 1): of the pool's scores; a bias is last
    left_out_loss: NDArray[np.float64]  # (n_members + 1,): log-loss of each member, and of the pool, on rows left out
    believed: float  # how far the members are believed, from 0 (the class shares) to 1
    n_rows: float  # the rows that it was chosen on, or their weight

    @cached_property
    def plain(self) -> NetworkPlan:
        """The levels as a network without parents."""
        return plain_network(self.levels.level_at)

    @cached_property
    def digest(self) -> str:
        """A hash that is equal only for equal plans."""
        sha = hashlib.sha256()
        _feed(sha, self)
        return sha.hexdigest()

    @property
    def merged_columns(self) -> list[int]:
        """The columns with so many rare values that these are not told apart."""
        has_rare = [j for j, places in enumerate(self.levels.places) if (places == OTHER_LEVEL).any()]
        return [j for j in has_rare if j not in self.rare.features]

    @property
    def members(self) -> tuple[str, ...]:
        """The names of the members, in the order of their weights."""
        gaussians = tuple("normal scores" if len(g.curve_x) else "Gaussians" for g in self.gaussians)
        texts = tuple(f"words of {self.schema[text.column].name}" for text in self.texts)
        return ("networks", *gaussians, *("trees" for _ in self.trees), *("linear" for _ in self.linear), *texts)


def class_counts(levels: Levels, n_level: NDArray[Any]) -> NDArray[np.float64]:
    """Return how many rows each class has, from those of the levels (n_levels, n_classes).

    Each row has one level of the first column. NumPy's bincount would copy the classes of all rows.
    """
    return np.asarray(n_level[: levels.level_at[1]].sum(axis=0), dtype=np.float64)


def _feed(sha: Any, value: Any) -> None:
    if is_dataclass(value):
        for field in fields(value):
            _feed(sha, getattr(value, field.name))
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        sha.update(str((value.dtype, value.shape)).encode())
        sha.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple):
        for each in value:
            _feed(sha, each)
    else:
        sha.update(repr(value.tolist() if isinstance(value, np.ndarray) else value).encode())


@dataclass(frozen=True)
class AutoCounts:
    """Counts of some rows under a plan: integers, or sums of weights. Those of equal plans add and subtract."""

    plan: PoolPlan
    classes: NDArray[Any]  # (n_classes,)
    n_class: NDArray[Any]  # (n_classes,)
    n_level: NDArray[Any]  # (n_levels, n_classes)
    networks: NDArray[Any]  # (n_values of the networks' nodes, n_classes)
    rare: NDArray[Any]  # (n_rare, n_classes): of values without a level of their own
    trees: tuple[NDArray[Any], ...]  # (n_leaves, n_classes) each
    sums: tuple[NDArray[np.float64], ...]  # (n_classes, p + 1, p + 1) each
    texts: tuple[TokenCounts, ...]  # words and pairs of words of each column of text that is a member
    # Whether the rows that the plan was chosen on are among these: copies of a model have them in common. Their counts
    # are ``first``, or all of these where no row came later.
    holds_first: bool = False
    first: AutoCounts | None = None

    @classmethod
    def of(cls, plan: PoolPlan, rows: TrainingRows, classes: NDArray[Any], whole: bool) -> AutoCounts:
        """Count rows under a plan; ``whole`` says that the weights are integers."""
        arguments = rows.codes, rows.y, rows.weight, rows.n_classes, rows.threads
        n_level = plan.plain.kernel.count(*arguments)
        counts = cls(
            plan,
            classes,
            class_counts(plan.levels, n_level),
            n_level,
            plan.networks.kernel.count(*arguments),
            plan.rare.count(rows),
            tuple(trees.kernel.count(*arguments) for trees in plan.trees),
            tuple(gaussian.sums(rows) for gaussian in plan.gaussians),
            tuple(count_words(rows, text.column, classes) for text in plan.texts),
        )
        return counts.as_integers() if whole else counts

    def as_integers(self) -> AutoCounts:
        """Return counts of whole rows as integers, in four bytes while they fit."""
        small = np.int32 if self.n_class.sum() < 2**31 else np.int64
        # Sums of whole weights are whole: nothing is rounded.
        texts = tuple(map(whole_words, self.texts))
        return self._changed(lambda cells: cells.astype(small), n_class=self.n_class.astype(np.int64), texts=texts)

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.plan.schema

    @property
    def n_rows(self) -> float:
        """The number of rows, or their weight."""
        return float(self.n_class.sum())

    @property
    def _origin(self) -> AutoCounts | None:
        """The counts of the rows that the plan was chosen on, where these hold them."""
        return self.first if self.first is not None else self if self.holds_first else None

    def __add__(self, other: AutoCounts) -> AutoCounts:
        ours, theirs = self._aligned(other)
        first, second = ours._origin, theirs._origin
        if first is None or second is None:
            added = first if second is None else second
            return replace(ours._plus(theirs), holds_first=added is not None, first=added)
        if not _same_counts(first, second):
            raise MergeError(
                "both models hold rows of the fit that chose their plan, and one of them has unlearned some of these, "
                "so that they cannot be counted once. Merge the copies first, and unlearn the rows afterwards."
            )
        # The rows that both copies began with count once.
        return replace(ours._plus(theirs)._less_of(second), holds_first=True, first=first)

    def _plus(self, theirs: AutoCounts) -> AutoCounts:
        ours = self
        total = ours.n_class + theirs.n_class
        wide = np.int64 if total.dtype.kind == "i" and total.sum() >= 2**31 else None
        return ours._combined(theirs, lambda a, b: np.add(a, b, dtype=wide), total, 1.0)

    def __sub__(self, other: AutoCounts) -> AutoCounts:
        ours, theirs = self._aligned(other)
        rest = ours._less_of(theirs)
        if ours.first is None:
            return rest
        if _same_counts(ours.first, theirs):  # all rows of the first fit are gone
            return replace(rest, holds_first=False, first=None)
        try:
            ours._less_of(ours.first)._less_of(theirs)
        except MergeError:  # some of the rows are of the first fit
            return replace(rest, holds_first=True, first=None)
        return rest

    def _less_of(self, theirs: AutoCounts) -> AutoCounts:
        return self._combined(theirs, _less, _less(self.n_class, theirs.n_class), -1.0)

    def _combined(self, other: AutoCounts, how: Any, n_class: NDArray[Any], sign: float) -> AutoCounts:
        return replace(
            self,
            n_class=n_class,
            n_level=how(self.n_level, other.n_level),
            networks=how(self.networks, other.networks),
            rare=how(self.rare, other.rare),
            trees=tuple(how(a, b) for a, b in zip(self.trees, other.trees, strict=True)),
            sums=tuple(a + sign * b for a, b in zip(self.sums, other.sums, strict=True)),
            texts=tuple(a + b if sign > 0 else a - b for a, b in zip(self.texts, other.texts, strict=True)),
        )

    def _changed(self, how: Any, **others: Any) -> AutoCounts:
        """Return the counts with a function applied to each table of classes on its last axis."""
        return replace(
            self,
            n_level=how(self.n_level),
            networks=how(self.networks),
            rare=how(self.rare),
            trees=tuple(how(cells) for cells in self.trees),
            **others,
        )

    def _aligned(self, other: AutoCounts) -> tuple[AutoCounts, AutoCounts]:
        if self.plan is not other.plan and self.plan.digest != other.plan.digest:
            raise MergeError(
                "these AutoBayes models were fitted separately: each chose its own bins, structures and weights, so "
                "their counts cannot be added. Fit on all rows; or call partial_fit on copies of one model, and "
                "merge those: the rows that they began with count once."
            )
        classes = np.union1d(self.classes, other.classes)
        return self._under(classes), other._under(classes)

    def _under(self, classes: NDArray[Any]) -> AutoCounts:
        """Return the same counts under other classes; a new one has no rows."""
        if len(classes) == len(self.classes) and (classes == self.classes).all():
            return self
        known = {label: c for c, label in enumerate(self.classes.tolist())}
        place = np.array([known.get(label, -1) for label in classes.tolist()])
        new = place < 0

        def moved(cells: NDArray[Any]) -> NDArray[Any]:
            out = cells[..., place]
            out[..., new] = 0
            return out

        def moved_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
            out = np.array(sums[place])
            out[new] = 0.0
            return out

        sums = tuple(moved_sums(each) for each in self.sums)
        texts = tuple(_words_under(each, classes) for each in self.texts)
        first = None if self.first is None else self.first._under(classes)
        moved_classes = moved(self.n_class)
        return self._changed(moved, classes=classes, n_class=moved_classes, sums=sums, texts=texts, first=first)

    def declare(self, classes: NDArray[Any]) -> Self:
        """Return the same counts with declared classes, which may have no row yet."""
        return self._under(np.union1d(self.classes, classes))  # type: ignore[return-value]

    def narrow(self) -> Self:
        """Return the same counts without classes that no row has."""
        return self._under(self.classes[self.n_class > 0])  # type: ignore[return-value]

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a file: fields for JSON, and arrays."""
        from bayeskit.classify.auto.saved import counts_to_parts

        return counts_to_parts(self)

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Read what :meth:`to_parts` gave; the file may come from an untrusted source."""
        from bayeskit.classify.auto.saved import counts_from_parts

        return counts_from_parts(meta, arrays)  # type: ignore[return-value]


def _same_counts(a: AutoCounts, b: AutoCounts) -> bool:
    """Return whether two counts under one plan are of the same rows, up to the rounding of sums."""
    if not np.array_equal(a.classes, b.classes):
        return False
    whole = zip((a.n_class, a.n_level, a.networks, a.rare), (b.n_class, b.n_level, b.networks, b.rare), strict=True)
    pairs = [*whole, *zip(a.trees, b.trees, strict=True), *zip(a.sums, b.sums, strict=True)]
    return all(np.allclose(x, y, rtol=1e-9, atol=1e-9) for x, y in pairs)


def _words_under(words: TokenCounts, classes: NDArray[Any]) -> TokenCounts:
    kept = np.flatnonzero(np.isin(words.classes, classes))
    return words.keep_classes(kept).under(classes)


def _less(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
    rest = ours - theirs
    # Sums of weights are rounded; what they leave near zero is rounding, not a row too many.
    slack = 0.0 if rest.dtype.kind == "i" else 1e-9
    if (rest < -slack * ours).any():
        raise MergeError("cannot subtract rows that were never counted: a count would become negative.")
    return np.where(rest <= slack * ours, 0, rest) if slack else rest
