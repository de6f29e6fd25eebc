r"""A small model that imitates another: a tree or a TAN, fitted to the posterior of each row instead of its label.

A row counts as P(c | x) rows of each class c by the model: these are expected counts, as in EM, and what is learned
from them is the model's answer, not the labels' noise. How much is lost is measured on rows that were left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.tan import TAN
from bayeskit.concept.mdl.average import Average
from bayeskit.concept.mdl.tree import Test, Tree
from bayeskit.concept.mdl_tree import MDLTree
from bayeskit.errors import BayeskitError, TableError
from bayeskit.learn.checks import in_order, split_target
from bayeskit.learn.model import plain_class
from bayeskit.learn.parameters import at_least, require_whole
from bayeskit.result import Result
from bayeskit.table.labels import labels_of, read_label_column
from bayeskit.table.read import Source, read_table

# Rows that are left out and measured on, of each so many, and their number at the most.
ONE_IN, MOST_HELD = 5, 20_000
# A tree is fitted to so many rows at the most: one of soft labels grows until no column splits its rows.
MOST_TREE_ROWS = 20_000
# A class with less than this share of a row is no part of it.
LEAST_SHARE = 1e-4


@dataclass(frozen=True, eq=False, repr=False)
class Distilled(Result):
    """A small model, and what it loses, measured on rows that it was not fitted to."""

    model: Any
    n_nodes: int | None  # of a tree
    n_rows: int  # that were measured on
    agreement: float  # the share of rows with the label of the model that is imitated
    divergence: float  # mean Σ P log P / Q in nats, P by the model that is imitated and Q by the small one
    log_loss: float | None  # of the labels; None where no row that is measured has one
    log_loss_before: float | None  # of the labels by the model that is imitated, which may have learned from them


def distill(
    model: Any,
    X: Any,
    to: Literal["tree", "tan"] = "tree",
    *,
    max_nodes: int | None = None,
    target: str | None = None,
    random_state: int = 0,
) -> Distilled:
    """Return a small model that imitates a fitted classifier, with what is lost.

    Four fifths of the rows are fitted, of a tree at most 20,000, each with P(c | x) by the model as its weight in each
    class; the others measure what is lost.

    Parameters
    ----------
    model : fitted classifier
        Such as :class:`~bayeskit.AutoBayes`.
    X : table
        Rows to imitate the model on; they need no labels.
    to : {"tree", "tan"}, default "tree"
        One :class:`~bayeskit.MDLTree` that can be read (``average=False``), or a :class:`~bayeskit.TAN`.
    max_nodes : int, optional
        The most nodes of the tree; the tests that say least per node are cut off first.
    target : str, optional
        The column of ``X`` that holds labels, by which log-losses are measured; by default that of the model, if it is
        there.
    random_state : int, default 0
        Chooses the rows that are left out.

    Examples
    --------
    >>> from bayeskit import AutoBayes, datasets, distill
    >>> heart = datasets.load_heart()
    >>> small = distill(AutoBayes().fit(heart, target="disease"), heart, max_nodes=9)
    >>> small.n_nodes <= 9, small.n_rows
    (True, 60)
    """
    _check(model, to, max_nodes, random_state)
    source, labels = _rows(model, X, target)
    posterior = np.asarray(model.predict_proba(source))
    rng = np.random.default_rng(random_state)
    order = rng.permutation(source.n_rows)
    held, kept = np.split(order, [min(max(source.n_rows // ONE_IN, 1), MOST_HELD)])
    if not len(kept):
        raise BayeskitError(f"distilling needs at least 2 rows; got {source.n_rows}.")
    kept = kept[:MOST_TREE_ROWS] if to == "tree" else kept
    small = _fit(model, source.take(kept), posterior[kept], to)
    if max_nodes is not None:
        small = _cut_to(small, max_nodes)
    return _measured(model, small, source.take(held), posterior[held], None if labels is None else labels[held])


def _check(model: Any, to: str, max_nodes: int | None, random_state: int) -> None:
    if hasattr(model, "_refuse_unfitted"):
        model._refuse_unfitted()
    if not hasattr(model, "schema_") or not hasattr(model, "predict_proba"):
        raise BayeskitError(f"{type(model).__name__} cannot be distilled: it has no table of columns, or no P(c | x).")
    free = [variable.name for variable in model.schema_ if variable.is_text]
    if free:
        raise BayeskitError(
            f"column '{free[0]}' is text, which trees and networks cannot read; train without it (ignore={free})."
        )
    if to not in ("tree", "tan"):
        raise BayeskitError(f"a model is distilled to 'tree' or 'tan'; got {to!r}.")
    words, holds = at_least(0, whole=True)
    if not holds(random_state):
        raise BayeskitError(f"random_state must be {words}; got {random_state!r}.")
    if max_nodes is None:
        return
    if to == "tan":
        raise BayeskitError("max_nodes is for a tree; a TAN has no nodes to cut. Use to='tree', or leave it out.")
    require_whole("max_nodes", max_nodes)


def _rows(model: Any, X: Any, target: str | None) -> tuple[Source, NDArray[np.int64] | None]:
    """The columns of the model, and the class of each row where the table has labels; -1 where a row has none."""
    names, labels = read_table(X).names, None
    if target is None and model.target_ in names and model.target_ not in model.schema_.names:
        target = model.target_
    if target is not None:
        X, labels = split_target(X, target)
    source = read_table(X)
    known = None if target is None else _class_of_rows(model, labels, target, source.n_rows)
    return in_order(X, source, model.schema_.names), known


def _class_of_rows(model: Any, labels: Any, target: str, n_rows: int) -> NDArray[np.int64]:
    column, text = read_label_column(labels, n_rows)
    rows, known = np.flatnonzero(~column.missing()), np.full(n_rows, -1, dtype=np.int64)
    if not len(rows):
        return known
    found, codes = labels_of(column.take(rows), text)
    places = {label: c for c, label in enumerate(model.classes_.tolist())}
    strange = [label for label in found.tolist() if label not in places]
    if strange:
        raise TableError(
            f"target {target!r}: the label {strange[0]!r} is no class of the model, whose classes are "
            f"{', '.join(map(repr, places))}. Correct the labels, or leave the column out: rows need none."
        )
    known[rows] = np.array([places[label] for label in found.tolist()])[codes]
    return known


def _fit(model: Any, source: Source, posterior: NDArray[np.float64], to: str) -> Any:
    """Fit to expected counts: each row once per class, weighted by P(c | x)."""
    row, label = np.nonzero(posterior >= LEAST_SHARE)
    kinds = {v.name: "categorical" for v in model.schema_ if v.is_discrete and not v.is_binned}
    small: Any = TAN(kinds=kinds) if to == "tan" else MDLTree(average=False, kinds=kinds)
    if plain_class(model) is not type(model):  # what an estimator is distilled to is one too
        from bayeskit.learn.estimator import estimator_class

        kind: Any = type(small)
        small = estimator_class(kind)(**small.get_params())
    return small.fit(source.take(row), np.asarray(model.classes_)[label], sample_weight=posterior[row, label])


def _cut_to(model: Any, max_nodes: int) -> Any:
    """Return the tree with at most so many nodes."""
    state = model._state
    tree: Tree = state.tree
    bits, is_leaf = tree.label_bits, tree.test == Test.LEAF
    while len(tree.kept(is_leaf)) > max_nodes:
        inner = [node for node in tree.kept(is_leaf).tolist() if not is_leaf[node]]
        last = [node for node in inner if is_leaf[tree.children(node)].all()]
        # What a test saves on the labels, for each node that it takes.
        saved = [(bits[node] - bits[tree.children(node)].sum()) / tree.n_children[node] for node in last]
        is_leaf[last[int(np.argmin(saved))]] = True
    tree = tree.cut_back(is_leaf)
    model._state = replace(state, tree=tree, average=Average.only(tree), grown=None, pruned=None)
    return model


def _measured(
    model: Any, small: Any, held: Source, posterior: NDArray[np.float64], known: NDArray[np.int64] | None
) -> Distilled:
    place = np.searchsorted(model.classes_, small.classes_)  # a class that no row had is none of the small model's
    answer = np.zeros_like(posterior)
    answer[:, place] = small.predict_proba(held)
    floored = np.log(np.maximum(answer, 1e-300))
    parts = np.where(posterior > 0.0, posterior * (np.log(np.maximum(posterior, 1e-300)) - floored), 0.0)
    losses: tuple[float | None, float | None] = (None, None)
    if known is not None and (known >= 0).any():
        rows, c = np.flatnonzero(known >= 0), known[known >= 0]
        before = np.log(np.maximum(posterior, 1e-300))
        losses = float(-floored[rows, c].mean()), float(-before[rows, c].mean())
    return Distilled(
        small,
        small.tree_.n_nodes if isinstance(small, MDLTree) else None,
        len(posterior),
        float((answer.argmax(axis=1) == posterior.argmax(axis=1)).mean()),
        float(parts.sum(axis=1).mean()),
        *losses,
    )
