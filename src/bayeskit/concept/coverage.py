"""Which examples a conjunction covers, as bits: millions of hypotheses are scored with AND and a population count."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.attributes import Codes
from bayeskit.concept.conjunctions import ConjunctionSpace

Bits = NDArray[np.uint64]
# Words of bits that are worked on at once: they stay in the cache.
_BLOCK_WORDS = 1 << 18


class Coverage:
    """The rows that each constraint of each attribute covers; positive rows first, both kinds padded to whole words.

    ``tables[j]`` has shape (n_constraints of attribute j, n_words).
    """

    def __init__(self, space: ConjunctionSpace, cells: Codes, is_positive: NDArray[np.bool_]) -> None:
        self.space = space
        self.n_positive, self.n_negative = int(is_positive.sum()), int((~is_positive).sum())
        self.n_positive_words = -(-self.n_positive // 64)
        self.tables: list[Bits] = []
        for j, part in enumerate(space.parts):
            halves = []
            for wanted in (is_positive, ~is_positive):
                column, which = np.unique(cells[wanted, j], return_inverse=True)
                halves.append(_pack(part.covers(part.all[:, None], column[None, :])[:, which.ravel()]))
            self.tables.append(np.concatenate(halves, axis=1))

    @property
    def n_words(self) -> int:
        """Words of bits per hypothesis."""
        return int(self.tables[0].shape[1])

    def errors(self, bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positive rows left out and the negative rows covered, for bits of shape (…, n_words)."""
        ones = count_ones(bits)
        covered = ones[..., : self.n_positive_words].sum(axis=-1, dtype=np.int64)
        wrong = ones[..., self.n_positive_words :].sum(axis=-1, dtype=np.int64)
        return self.n_positive - covered, wrong

    def all_errors(self) -> NDArray[np.int64]:
        """Return the number of examples that each hypothesis of the space gets wrong, in the order of the space.

        The attributes are split in two groups: the rows that the last ones cover are combined once, and each
        combination of the first ones is compared with all of these.
        """
        first, last = self._parts()
        tail = _combine([self.tables[j] for j in last], self.n_words)
        errors = np.empty(self.space.size, dtype=np.int64)
        head_shape = [len(self.tables[j]) for j in first]
        n_head = prod(head_shape)
        step = max(1, _BLOCK_WORDS // max(1, tail.size))
        for start in range(0, n_head, step):
            numbers = np.arange(start, min(start + step, n_head))
            head = np.full((len(numbers), self.n_words), ~np.uint64(0))
            for j, digit in zip(first, np.unravel_index(numbers, head_shape) if head_shape else (), strict=True):
                head &= self.tables[j][digit]
            left_out, wrong = self.errors(head[:, None, :] & tail[None, :, :])
            errors[start * len(tail) : (start + len(numbers)) * len(tail)] = (left_out + wrong).ravel()
        errors[-1] = self.n_positive  # ∅ covers nothing
        return errors

    def _parts(self) -> tuple[list[int], list[int]]:
        last: list[int] = []
        size = self.n_words
        for j in reversed(range(len(self.tables))):
            if last and size * len(self.tables[j]) > _BLOCK_WORDS:
                break
            size *= len(self.tables[j])
            last.insert(0, j)
        return list(range(len(self.tables) - len(last))), last


def _combine(tables: Sequence[Bits], n_words: int) -> Bits:
    """Return the AND of every combination of rows, one from each table, the last varying fastest."""
    combined = np.full((1, n_words), ~np.uint64(0))
    for table in tables:
        combined = (combined[:, None, :] & table[None, :, :]).reshape(-1, n_words)
    return combined


def _pack(covers: NDArray[np.bool_]) -> Bits:
    """Return rows of booleans as rows of 64-bit words, padded with zeros."""
    n_rows, n = covers.shape
    padded = np.zeros((n_rows, -(-n // 64) * 64), dtype=bool)
    padded[:, :n] = covers
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _count_ones_by_table(bits: Bits) -> NDArray[np.uint8]:
    halves = np.ascontiguousarray(bits).view(np.uint16)
    return np.asarray(_ONES[halves].reshape(*bits.shape, 4).sum(axis=-1, dtype=np.uint8))


_ONES = np.array([bin(k).count("1") for k in range(256)], dtype=np.uint8)
_ONES = (_ONES[:, None] + _ONES[None, :]).ravel()
# NumPy has an instruction for it from 2.0 on.
count_ones = getattr(np, "bitwise_count", _count_ones_by_table)
