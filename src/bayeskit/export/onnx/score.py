"""The whole graph: columns in, labels and probabilities out."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.export.sql.tables import IMPOSSIBLE, log_numbers
from bayeskit.export.target import NaiveParts, Target, naive_parts

_TYPES = {"O": "STRING", "U": "STRING", "i": "INT64", "u": "INT64", "f": "DOUBLE", "b": "BOOL"}


def to_onnx(model: Any) -> Any:
    r"""Write a fitted naive Bayes classifier as an ONNX model, which ONNX Runtime and others compute.

    Each column that the model knows is an input of shape (rows, 1): texts as ``tensor(string)``, all others, truth
    values among them, as ``tensor(double)``. Outputs are ``label``, of shape (rows,), and ``probabilities``, of shape
    (rows, classes), in double precision: within 1e-9 of :meth:`predict_proba`. Where the two best classes are closer
    than that the label may be the other one.

    NaN is a missing number and the empty text a missing text, unless it was a value in training; unseen values are
    treated as the model's ``unseen`` says. A row that the model refuses (an infinite number, a number that the kind of
    the column cannot hold, a row that no class can give under ``impossible="error"``) has NaN probabilities, since a
    graph cannot raise; its label means nothing.

    Parameters
    ----------
    model : NaiveBayes or GaussianNB
        A fitted model. Columns of a kind without a closed form and ``unseen="error"`` are refused.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets, to_onnx
    >>> graph = to_onnx(NaiveBayes().fit(datasets.load_tennis(), target="play")).graph
    >>> [column.name for column in graph.input], [result.name for result in graph.output]
    (['outlook', 'temperature', 'humidity', 'wind'], ['label', 'probabilities'])
    """
    try:
        from onnx import TensorProto, helper

        from bayeskit.export.onnx.column_terms import Columns, is_text, sum_in_order
        from bayeskit.export.onnx.graph import Graph
    except ModuleNotFoundError as error:
        raise BayeskitError("writing ONNX needs the package onnx: pip install 'bayeskit[onnx]'.") from error
    parts = naive_parts(model, "ONNX")
    if parts.unseen == "error":
        raise BayeskitError("a graph cannot refuse an unseen value; use unseen='ignore' or 'smooth' to write ONNX.")
    if not parts.columns:
        raise BayeskitError("the model has no column with a value, so that its graph would have no input.")
    names = tuple(model.schema_.names)
    graph = Graph(names)
    columns = Columns(graph, parts.unseen)
    tables = [columns.table(c.variable, c.log_table) for c in parts.columns if c.log_table is not None]
    densities = [columns.density(c.variable, c.density) for c in parts.columns if c.density is not None]
    prior = graph.constant(log_numbers(parts.log_prior)[None])
    joint = sum_in_order(graph, prior, tables, densities)
    labels, shares = _result_names(names)
    classes = np.asarray(model.classes_)
    _answers(graph, joint, columns.refused, parts, classes, (labels, shares))
    inputs = [
        helper.make_tensor_value_info(
            variable.name, TensorProto.STRING if is_text(variable) else TensorProto.DOUBLE, ["rows", 1]
        )
        for variable, _, _ in parts.columns
    ]
    kind = getattr(TensorProto, _TYPES[classes.dtype.kind])
    outputs = [
        helper.make_tensor_value_info(labels, kind, ["rows"]),
        helper.make_tensor_value_info(shares, TensorProto.DOUBLE, ["rows", len(classes)]),
    ]
    return graph.model(inputs, outputs)


def _answers(
    graph: Any, joint: str, refused: list[str], parts: NaiveParts, classes: NDArray[Any], names: tuple[str, str]
) -> None:
    """Add what turns log P(x, c) into labels and probabilities."""
    best = graph.add("ReduceMax", joint, graph.constant(np.array([1])), keepdims=1)
    weights = graph.add("Exp", graph.add("Sub", joint, best))
    shares = graph.add("Div", weights, graph.add("ReduceSum", weights, graph.constant(np.array([1])), keepdims=1))
    impossible = graph.add("Less", best, graph.constant(IMPOSSIBLE))
    prior = np.exp(parts.log_prior)
    instead = prior[None] if parts.impossible == "prior" else np.full((1, len(prior)), np.nan)
    found = graph.add("Where", impossible, graph.constant(instead), shares)
    if parts.impossible == "prior":
        joint = graph.add("Where", impossible, graph.constant(log_numbers(parts.log_prior)[None]), joint)
    if refused:
        bad = reduce(lambda a, b: graph.add("Or", a, b), refused)
        found = graph.add("Where", bad, graph.constant(np.nan), found)
    graph.add("Identity", found, output=names[1])
    place = graph.add("ArgMax", joint, axis=1, keepdims=0)
    kept = classes.astype(np.int64) if classes.dtype.kind in "iu" else classes
    graph.add("Gather", graph.constant(kept), place, output=names[0], axis=0)


def _result_names(columns: tuple[str, ...]) -> tuple[str, str]:
    """The names of the outputs; one that a column has gets a word before it."""
    names = ["label", "probabilities"]
    for k in range(len(names)):
        while names[k] in columns:
            names[k] = f"predicted {names[k]}"
    return names[0], names[1]


class ONNX(Target):
    """The target of :func:`to_onnx`."""

    name = "onnx"
    file = "play.onnx"

    def write(self, model: Any) -> bytes:  # type: ignore[override]
        """Return the graph as bytes."""
        found: bytes = to_onnx(model).SerializeToString()
        return found
