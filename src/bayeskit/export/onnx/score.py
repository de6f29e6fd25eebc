"""The whole graph: columns in, labels and probabilities out."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from bayeskit.errors import BayeskitError
from bayeskit.export.sql.naive import closed_forms
from bayeskit.export.sql.tables import IMPOSSIBLE, log_numbers
from bayeskit.learn.model import plain_class
from bayeskit.learn.naive_beliefs import NaiveBeliefs

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
        A fitted model. Columns of a kind without a closed form (kde) and ``unseen="error"`` are refused.

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
    model = _exportable(model)
    beliefs: NaiveBeliefs = model._beliefs
    schema, forms = beliefs.schema, closed_forms(beliefs.schema, beliefs.parameters, "ONNX")
    used = [j for j, variable in enumerate(schema) if j in forms or (variable.is_discrete and variable.n_values)]
    graph = Graph(schema.names)
    columns = Columns(graph, model.unseen)
    tables = [columns.table(schema[j], beliefs.parameters[j]) for j in used if j not in forms]
    densities = [columns.density(schema[j], forms[j]) for j in used if j in forms]
    prior = graph.constant(log_numbers(beliefs.log_prior)[None])
    if not used:
        raise BayeskitError("the model has no column with a value, so that its graph would have no input.")
    joint = sum_in_order(graph, prior, tables, densities)
    labels, shares = _result_names(schema.names)
    _answers(graph, joint, columns.refused, beliefs, model, (labels, shares))
    inputs = [
        helper.make_tensor_value_info(
            schema[j].name, TensorProto.STRING if is_text(schema[j]) else TensorProto.DOUBLE, ["rows", 1]
        )
        for j in used
    ]
    kind = getattr(TensorProto, _TYPES[np.asarray(model.classes_).dtype.kind])
    outputs = [
        helper.make_tensor_value_info(labels, kind, ["rows"]),
        helper.make_tensor_value_info(shares, TensorProto.DOUBLE, ["rows", len(model.classes_)]),
    ]
    return graph.model(inputs, outputs)


def _answers(
    graph: Any, joint: str, refused: list[str], beliefs: NaiveBeliefs, model: Any, names: tuple[str, str]
) -> None:
    """Add what turns log P(x, c) into labels and probabilities."""
    best = graph.add("ReduceMax", joint, graph.constant(np.array([1])), keepdims=1)
    weights = graph.add("Exp", graph.add("Sub", joint, best))
    shares = graph.add("Div", weights, graph.add("ReduceSum", weights, graph.constant(np.array([1])), keepdims=1))
    impossible = graph.add("Less", best, graph.constant(IMPOSSIBLE))
    prior = np.exp(beliefs.log_prior)
    instead = prior[None] if model.impossible == "prior" else np.full((1, len(prior)), np.nan)
    found = graph.add("Where", impossible, graph.constant(instead), shares)
    if model.impossible == "prior":
        joint = graph.add("Where", impossible, graph.constant(log_numbers(beliefs.log_prior)[None]), joint)
    if refused:
        bad = reduce(lambda a, b: graph.add("Or", a, b), refused)
        found = graph.add("Where", bad, graph.constant(np.nan), found)
    graph.add("Identity", found, output=names[1])
    place = graph.add("ArgMax", joint, axis=1, keepdims=0)
    classes = np.asarray(model.classes_)
    kept = classes.astype(np.int64) if classes.dtype.kind in "iu" else classes
    graph.add("Gather", graph.constant(kept), place, output=names[0], axis=0)


def _result_names(columns: tuple[str, ...]) -> tuple[str, str]:
    """The names of the outputs; one that a column has gets a word before it."""
    names = ["label", "probabilities"]
    for k in range(len(names)):
        while names[k] in columns:
            names[k] = f"predicted {names[k]}"
    return names[0], names[1]


def _exportable(model: Any) -> Any:
    from bayeskit.classify.gaussian_nb import GaussianNB
    from bayeskit.classify.naive import NaiveBayes

    if plain_class(model) not in (NaiveBayes, GaussianNB):
        raise BayeskitError(f"{type(model).__name__} cannot be written as ONNX; NaiveBayes and GaussianNB can.")
    model = model._now()
    if model.unseen == "error":
        raise BayeskitError("a graph cannot refuse an unseen value; use unseen='ignore' or 'smooth' to write ONNX.")
    return model
