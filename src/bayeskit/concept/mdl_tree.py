"""A decision tree of minimum description length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.table_classifier import ClassifierState, TableClassifier, classes_to_parts
from bayeskit.concept.mdl.average import Average
from bayeskit.concept.mdl.coding import Coding
from bayeskit.concept.mdl.encoder import Message, encode
from bayeskit.concept.mdl.prune import Cut, Pruned, prune
from bayeskit.concept.mdl.reading import render, steps_to
from bayeskit.concept.mdl.storage import tree_from_arrays, tree_to_arrays
from bayeskit.concept.mdl.tree import SPLITS, CodedTable, Test, Tree
from bayeskit.counts.class_labels import read_classes
from bayeskit.defaults import SMOOTHING
from bayeskit.errors import BayeskitError
from bayeskit.explain.model_summary import ModelSummary
from bayeskit.explain.row_cells import read_row
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.learn.checks import warn_of_empty_columns
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.labelled import Labelled, read_labelled
from bayeskit.learn.parameters import at_least, one_of
from bayeskit.learn.state import learned
from bayeskit.result import Result
from bayeskit.table.schema import Schema


@dataclass(frozen=True)
class Path(Result):
    """The tests on a row's path to a leaf, and the training rows of each class in the leaf."""

    tests: tuple[str, ...]
    label: Any
    counts: dict[Any, float]

    def __repr__(self) -> str:
        told = ", ".join(f"{n:g} {name}" for name, n in self.counts.items())
        return "\n".join([*self.tests, f"→ {self.label} ({told})"])


@dataclass(frozen=True, eq=False)
class TreeState(ClassifierState):
    """The tree, the average over its prunings, and their lengths."""

    coding: Coding
    tree: Tree
    average: Average
    lengths: NDArray[np.float64]  # (n_cuts + 1, 2) L(h) and L(D | h) before each cut and at the end
    splits: str
    grown: Tree | None = None  # what was pruned, and how; a file does not keep them
    pruned: Pruned | None = None


class MDLTree(TableClassifier):
    r"""A decision tree that is pruned to the shortest description of the labels, L(h) + L(D | h) in bits.

    .. math:: h_{MDL} = \operatorname{argmin}_h \; L(h) + L(D \mid h)

    The tree is grown until its leaves are pure, by the test whose children are shortest to describe, and then pruned
    from the leaves up wherever that saves bits; no rows are held out and nothing is tuned. This most probable tree is
    the one that is printed; predictions average over all prunings (``average``). The code is that of Quinlan & Rivest
    and is written down in :mod:`bayeskit.concept.mdl.lengths`; :meth:`encode` writes the bits, and a decoder reads tree
    and labels back from them.

    Text and categories are split by value, numbers at a threshold. A missing cell is a separate value in a
    categorical column and goes to the better side of a threshold. In prediction, a cell that the node did not see in
    fit (missing, or a new value) sends the row down all branches, in proportion to their rows.

    Parameters
    ----------
    splits : {"auto", "values", "one-value", "groups"}, default "auto"
        How a categorical column is split: into all its values, into one value and the others, or into two groups of
        values; "auto" tries all three and keeps the tree of shortest description.
    average : bool, default True
        Whether predictions average over all prunings of the grown trees, weighted by their posterior probability, which
        is proportional to 2^(−L(h) − L(D | h)): the Bayes optimal prediction, usually more accurate. False predicts
        with the tree that is printed, the most probable one. It may be changed after the fit.
    smoothing : float, default 1.0
        λ of the class probabilities of a leaf, (n_c + λ) / (n + K λ).
    kinds : dict of column to kind, or one kind for all, optional
        Overrides the dtype, as in :class:`~bayeskit.NaiveBayes`: "categorical" splits numbers by value.

    Attributes
    ----------
    tree_bits_, data_bits_ : float
        L(h) and L(D | h) of the tree, in bits.
    n_leaves_, depth_ : int
        The size of the tree.
    cuts_ : list of Cut
        Each test that became a leaf, in order, with both parts of the length before and after.
    splits_ : str
        How the tree splits categorical columns.
    classes_, schema_, feature_names_in_, n_features_in_
        Classes and columns.

    References
    ----------
    Quinlan & Rivest (1989), Inferring decision trees using the minimum description length principle, Information and
    Computation 80, 227–248.

    Examples
    --------
    >>> from bayeskit import datasets
    >>> heart = datasets.load_heart()
    >>> model = MDLTree().fit(heart, target="disease")
    >>> model.n_leaves_, round(model.tree_bits_ + model.data_bits_)
    (5, 234)
    >>> model.encode(heart, target="disease")
    Message of 234 bits
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "splits": one_of("auto", *SPLITS),
        "average": ("True or False", lambda value: isinstance(value, (bool, np.bool_))),
        "smoothing": at_least(0),
    }

    _state: TreeState

    tree_ = learned("tree", "The tree.")
    splits_ = learned("splits", "How the tree splits categorical columns.")

    def __init__(
        self, *, splits: str = "auto", average: bool = True, smoothing: float = SMOOTHING, kinds: Any = None
    ) -> None:
        self.splits = splits
        self.average = average
        self.smoothing = smoothing
        self.kinds = kinds

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn from a table and its labels.

        Parameters
        ----------
        X : table
            NumPy array, pandas or polars frame, Arrow table, or dict of lists.
        y : array of shape (n_rows,), optional
            The labels; left out when ``target`` names the column that holds them.
        sample_weight : array of shape (n_rows,), optional
            How often each row counts.
        target : str, optional
            The column of ``X`` that holds the labels.
        """
        settings = self._checked_settings()
        rows = read_labelled(X, y, sample_weight, target, None, type(self).__name__, self.kinds)
        schema = learn_schema(rows.source, self.kinds, weight=rows.weight, y=rows.y)
        warn_of_empty_columns(schema)
        coding = Coding.learn(rows.source, schema)
        table = coding.table(rows.source)
        ways = SPLITS if self.splits == "auto" else (self.splits,)
        n_values = table.sizes + (table.codes == table.sizes[:, None]).any(axis=1)  # a missing cell is a value too
        if not (n_values[table.ordered == 0] > 2).any():
            ways = ways[:1]  # columns with two values are split in one way only
        y = rows.y.astype(np.uint32)
        grown = [Tree.grow(table, y, rows.weight, len(rows.classes), splits) for splits in ways]
        pruned = [prune(tree) for tree in grown]
        # Of lengths that differ by rounding only, the first is taken.
        best = int(np.argmax(np.array([each.bits for each in pruned]) < min(each.bits for each in pruned) + 1e-9))
        self._state = TreeState(
            settings,
            schema,
            rows.target,
            rows.classes,
            coding,
            pruned[best].tree,
            Average.over(grown),
            pruned[best].lengths,
            ways[best],
            grown[best],
            pruned[best],
        )
        return self

    # -- lengths ----------------------------------------------------------------------------------------------------

    @property
    def tree_bits_(self) -> float:
        """L(h): the bits of the tree."""
        return float(self._fitted.lengths[-1, 0])

    @property
    def data_bits_(self) -> float:
        """L(D | h): the bits of the labels, given the tree and the table."""
        return float(self._fitted.lengths[-1, 1])

    @property
    def n_leaves_(self) -> int:
        """The number of leaves."""
        return int(self.tree_.n_leaves)

    @property
    def depth_(self) -> int:
        """The largest number of tests from the root to a leaf."""
        return int(self.tree_.depth)

    @property
    def cuts_(self) -> list[Cut]:
        """The cuts in order; a loaded model has only the final length."""
        state: TreeState = self._fitted
        if state.grown is None or state.pruned is None:
            raise BayeskitError("the cuts are not kept in a model file; fit the tree again to see them.")
        lengths, grown = state.lengths, state.grown
        paths = (" and ".join(steps_to(grown, state.coding, node)) or "the root" for node in state.pruned.cuts)
        return [
            Cut(path, *before.tolist(), *after.tolist())
            for path, before, after in zip(paths, lengths[:-1], lengths[1:], strict=True)
        ]

    def encode(self, X: Any, y: Any = None, *, target: str | None = None) -> Message:
        """Write the tree and the labels of the rows of ``fit`` as bits, ⌈L(h) + L(D | h)⌉ of them.

        :func:`bayeskit.concept.mdl.decoder.decode` reads them back, given :meth:`coded_table`.
        """
        model = self._now()
        state = model._state
        rows = model._labelled(X, y, target)
        codes = np.searchsorted(state.classes, rows.classes)[rows.y]
        return encode(state.tree, state.coding.table(rows.source), codes.astype(np.uint32), state.splits)

    def lengths_of(self, X: Any, y: Any = None, *, target: str | None = None) -> tuple[float, float]:
        """Return L(h) and L(D | h) of the rows of ``fit``; other rows are an error, since their code differs."""
        model = self._now()
        state = model._state
        rows = model._labelled(X, y, target)
        codes = np.searchsorted(state.classes, rows.classes)[rows.y]
        table, tree = state.coding.table(rows.source), state.tree
        open_nodes = [(0, np.arange(table.n_rows))]
        while open_nodes:
            node, places = open_nodes.pop()
            if not np.array_equal(np.bincount(codes[places], minlength=len(state.classes)), tree.counts[node]):
                raise BayeskitError("a tree encodes only the rows and labels that it was fitted to; got other ones.")
            if tree.test[node] != Test.LEAF:
                j = int(tree.feature[node])
                sides = tree.sides(node, table.codes[j][places].astype(np.int64), int(table.sizes[j]))
                children = range(tree.n_nodes)[tree.children(node)]
                open_nodes.extend((child, places[sides == k]) for k, child in enumerate(children))
        return model.tree_bits_, model.data_bits_

    def coded_table(self, X: Any) -> CodedTable:
        """Return the table without labels as sender and receiver of a message have it."""
        model = self._now()
        return model._state.coding.table(model._read_features(X))

    def _labelled(self, X: Any, y: Any, target: str | None) -> Labelled:
        rows = read_labelled(X, y, None, target, self.schema_, type(self).__name__)
        strange = [label for label in rows.classes.tolist() if label not in self.classes_.tolist()]
        if strange:
            raise BayeskitError(f"the label {strange[0]!r} was not seen in fit; seen: {self.classes_.tolist()}.")
        return rows

    # -- prediction -------------------------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        model = self._now()
        state = model._state
        table = state.coding.table(model._read_features(X))
        asked = state.average if model.average else Average.only(state.tree)
        return asked.predict(table, model.smoothing)

    # -- reading ----------------------------------------------------------------------------------------------------

    def path(self, row: Any) -> Path:
        """Return the path of one row in the printed tree; it ends at a leaf, or at a cell that was not seen in fit."""
        model = self._now()
        state, tree = model._state, model._state.tree
        read = read_row(model, row)
        given = {name: [value] for name, value in zip(state.schema.names, read.values, strict=True)}
        table = state.coding.table(model._read_features(given if read.named else [list(read.values)]))
        node = 0
        while tree.test[node] != Test.LEAF:
            j = int(tree.feature[node])
            side = int(tree.sides(node, table.codes[j].astype(np.int64), int(table.sizes[j]))[0])
            if side < 0:
                break
            node = int(tree.first_child[node]) + side
        counts = tree.counts[node]
        return Path(
            tuple(steps_to(tree, state.coding, node)),
            state.classes[int(counts.argmax())],
            dict(zip(state.classes.tolist(), counts.tolist(), strict=True)),
        )

    def summary(self) -> ModelSummary:
        """Return a printable summary: the size of the tree, both parts of its length, and the tree."""
        model = self._now()
        counts = model.tree_.counts[0]
        facts = {
            "rows": float(counts.sum()),
            "classes": dict(zip(map(str, model.classes_.tolist()), counts.tolist(), strict=True)),
            "columns": list(model.schema_.names),
            "leaves": model.n_leaves_,
            "depth": model.depth_,
            "tree_bits": model.tree_bits_,
            "data_bits": model.data_bits_,
        }
        size = f"{counts.sum():g} rows, {len(model.schema_)} features, {len(model.classes_)} classes"
        lengths = f"L(h) = {model.tree_bits_:.1f} bits, L(D | h) = {model.data_bits_:.1f} bits"
        classes = ", ".join(map(str, model.classes_))
        head = f"{model.n_leaves_} leaves, depth {model.depth_}; {lengths}; classes {classes}"
        return ModelSummary(f"MDLTree: {size}", facts, f"{head}\n{model}")

    def __str__(self) -> str:
        state: TreeState | None = self.__dict__.get("_state")
        return repr(self) if state is None else render(state.tree, state.coding, state.classes)

    # -- files ------------------------------------------------------------------------------------------------------

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        state = self._state
        meta, arrays = classes_to_parts(state.classes)
        averaged = state.average.to_arrays()
        for i, tree in enumerate(state.average.trees):
            averaged.update(tree_to_arrays(tree, f"average{i}"))
        meta = {**meta, "splits_used": state.splits, "n_averaged": len(state.average.trees)}
        bits = np.array([self.tree_bits_, self.data_bits_])
        return meta, {**arrays, **tree_to_arrays(state.tree), **averaged, **state.coding.to_arrays(), "bits": bits}

    def _restore(
        self, schema: Schema, target: str | None, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> TreeState:
        classes = read_classes(meta, arrays)
        splits = expect_field(meta, "splits_used", str)
        if splits not in SPLITS:
            raise ValueError(f"splits are {splits!r}")
        coding = Coding.from_arrays(schema, arrays)
        fits = (coding.sizes, coding.ordered, len(classes))
        n_averaged = expect_field(meta, "n_averaged", int)
        if not 1 <= n_averaged <= len(SPLITS):
            raise ValueError(f"the average is over {n_averaged} grown trees; one to {len(SPLITS)} would do")
        trees = [tree_from_arrays(arrays, *fits, f"average{i}") for i in range(n_averaged)]
        average = Average.from_arrays(trees, arrays)
        lengths = expect_array(arrays, "bits", np.float64, (2,))[None, :]
        return TreeState(
            self, schema, target, classes, coding, tree_from_arrays(arrays, *fits), average, lengths, splits
        )
