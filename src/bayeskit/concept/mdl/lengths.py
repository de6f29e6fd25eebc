r"""How many bits a decision tree and the labels given the tree take (Quinlan & Rivest 1989).

Sender and receiver know the table without its labels. The sender writes the tree from the root down, and with each leaf
the labels of its rows; every item is one of N equally long choices and takes :math:`\log_2 N` bits.

* First of all: N = 3, whether a categorical column is split into all its values, into one value and the others, or into
  two groups of values.
* Leaf or test: N = 2. Nothing is written where no column splits the rows.
* Test: which of the columns that split the rows of the node; then, for a numeric column, which threshold between two of
  the m distinct numbers that occur, N = m − 1, and to which side missing cells go where there are any, N = 2; for a
  categorical column that is split into one value and the others, which of its m values, N = m (1 where m = 2); for two
  groups, which of the ways to split m values in two, :math:`N = 2^{m-1} - 1`. (Columns of 62 values or more have no
  groups; they are split into one value and the others.)
* Leaf: its class, N = K.
* Labels: the number e of exceptions, rows of another class than the leaf's, :math:`0 \le e \le b = n - \lceil n/K
  \rceil`; which of the n rows they are, :math:`\binom{n}{e}`; and for K > 2 how many exceptions have each of the other
  classes, :math:`\binom{e + K - 2}{K - 2}`, and in which order these come.

For two classes the labels of a leaf take :math:`L(n, e, b) = \log_2 (b + 1) + \log_2 \binom{n}{e}` bits, the paper's
formula. L(h) is the sum over tests and classes of leaves, L(D | h) that over the labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.mdl.tree import SPLITS, Test, Tree

Bits = NDArray[np.float64]
# Which of the three ways to part a column of values: one choice for the whole tree.
SPLITS_BITS = float(np.log2(len(SPLITS)))


def leaf_bits(tree: Tree) -> Bits:
    """Return the bits of each node in L(h) as a leaf: one bit for "leaf" where it could be a test, and its class."""
    return np.asarray((tree.n_usable > 0) + np.log2(tree.counts.shape[1]))


def test_bits(tree: Tree) -> Bits:
    """Return the bits of each node in L(h) as a test, without its children; 0 for leaves."""
    bits = 1.0 + np.log2(np.maximum(tree.n_usable, 1)) + np.log2(tree.n_choices.astype(np.float64))
    return np.where(tree.test == Test.LEAF, 0.0, bits)


def tree_length(tree: Tree) -> tuple[float, float]:
    """Return L(h) and L(D | h) of a tree in bits."""
    leaf = tree.test == Test.LEAF
    h = SPLITS_BITS + test_bits(tree).sum() + leaf_bits(tree)[leaf].sum()
    return float(h), float(tree.label_bits[leaf].sum())
