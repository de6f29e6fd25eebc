"""The whole graph: columns in, labels and probabilities out."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.export.models import scorer_of
from bayeskit.export.raw import inputs_in_words, raw_columns, refuse_converted
from bayeskit.export.scorer import Average, Gaussians, Pool, Scorer, Sum
from bayeskit.export.sql.tables import IMPOSSIBLE, log_numbers
from bayeskit.export.target import Target

_TYPES = {"O": "STRING", "U": "STRING", "i": "INT64", "u": "INT64", "f": "DOUBLE", "b": "BOOL"}


def to_onnx(model: Any, *, converted: bool = False) -> Any:
    r"""Write a fitted classifier as an ONNX model, which ONNX Runtime and others compute.

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
    model : AutoBayes, NaiveBayes, GaussianNB, TAN, KDB, ODE, SPODE, AODE, GaussianBayes, LogisticRegression or MDLTree
        A fitted model. Columns of a kind without a closed form, ``unseen="error"``, and sums over missing parents of
        more than 50,000 numbers per row are refused.
    converted : bool, default False
        What the reader of files converted, a graph cannot: dates, decimal commas, units and forms of yes and no are
        refused by name; other spellings and words for missing cells are read. True makes the inputs the columns of the
        model, such as "sold (month)"; each input's ``doc_string`` says what it must hold.

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
    return _to_onnx(model, 1.0, converted)


def _to_onnx(model: Any, temperature: float, converted: bool = False) -> Any:
    try:
        from onnx import TensorProto, helper

        from bayeskit.export.onnx.columns import Inputs
        from bayeskit.export.onnx.graph import Graph
    except ModuleNotFoundError as error:
        raise BayeskitError("writing ONNX needs the package onnx: pip install 'bayeskit[onnx]'.") from error
    scorer = scorer_of(model, "ONNX")
    raw = raw_columns(model.schema_, converted=converted)
    if raw is not None:
        refuse_converted(model.schema_, "ONNX")
    if scorer.unseen == "error":
        raise BayeskitError("a graph cannot refuse an unseen value; use unseen='ignore' or 'smooth' to write ONNX.")
    read = [column for column in scorer.columns if column.is_read]
    if not read:
        raise BayeskitError("the model has no column with a value, so that its graph would have no input.")
    names = tuple(column.variable.name for column in scorer.columns)
    graph = Graph(names)
    inputs = Inputs(graph, scorer.columns, {} if raw is None else {column.made[0][0]: column for column in raw})
    joint = _scores(graph, inputs, scorer.part)
    joint = _with_rows(graph, joint, read[0].variable.name)
    labels, shares = _result_names(names)
    classes = np.asarray(model.classes_)
    _answers(graph, joint, inputs.refused, scorer, temperature, classes, (labels, shares))
    said = inputs_in_words(model.schema_) if converted else {}
    taken = [
        helper.make_tensor_value_info(
            column.variable.name,
            TensorProto.STRING if column.is_text else TensorProto.DOUBLE,
            ["rows", 1],
            doc_string=said.get(column.variable.name, ""),
        )
        for column in read
    ]
    kind = getattr(TensorProto, _TYPES[classes.dtype.kind])
    outputs = [
        helper.make_tensor_value_info(labels, kind, ["rows"]),
        helper.make_tensor_value_info(shares, TensorProto.DOUBLE, ["rows", len(classes)]),
    ]
    return graph.model(taken, outputs)


def _scores(graph: Any, inputs: Any, part: Any) -> str:
    """Add what computes the log-scores of the classes."""
    from bayeskit.export.onnx import parts
    from bayeskit.export.onnx.averages import write_average
    from bayeskit.export.onnx.pool import write_pool

    if isinstance(part, Sum):
        return parts.write_sum(graph, inputs, part)
    if isinstance(part, Average):
        return write_average(graph, inputs, part)
    if isinstance(part, Gaussians):
        return parts.write_gaussians(graph, inputs, part)
    if isinstance(part, Pool):
        return write_pool(graph, inputs, part)
    return str(graph.add("Log", parts.write_forest(graph, inputs, part)))


def _with_rows(graph: Any, joint: str, column: str) -> str:
    """Give the scores a line per row, also where no cell has a say."""
    rows = graph.add("Shape", column, start=0, end=1)
    shape = graph.add("Concat", rows, graph.constant(np.array([1])), axis=0)
    return str(graph.add("Expand", joint, shape))


def _answers(
    graph: Any,
    joint: str,
    refused: list[str],
    scorer: Scorer,
    temperature: float,
    classes: NDArray[Any],
    names: tuple[str, str],
) -> None:
    """Add what turns log P(x, c) into labels and probabilities."""
    best = graph.add("ReduceMax", joint, graph.constant(np.array([1])), keepdims=1)
    above = graph.add("Div", graph.add("Sub", joint, best), graph.constant(temperature))
    weights = graph.add("Exp", above)
    shares = graph.add("Div", weights, graph.row_sum(weights))
    impossible = graph.add("Less", best, graph.constant(IMPOSSIBLE))
    prior = np.exp(scorer.log_prior / temperature)
    instead = (prior / prior.sum())[None] if scorer.impossible == "prior" else np.full((1, len(prior)), np.nan)
    answer = graph.add("Where", impossible, graph.constant(instead), shares)
    if scorer.impossible == "prior":
        joint = graph.add("Where", impossible, graph.constant(log_numbers(scorer.log_prior)[None]), joint)
    if refused:
        bad = reduce(lambda a, b: graph.add("Or", a, b), refused)
        answer = graph.add("Where", bad, graph.constant(np.nan), answer)
    graph.add("Identity", answer, output=names[1])
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
    options = ("temperature", "converted")

    def write(self, model: Any, *, temperature: float = 1.0, converted: bool = False) -> bytes:  # type: ignore[override]
        """Return the graph as bytes; log-posteriors are divided by ``temperature``."""
        written: bytes = _to_onnx(model, temperature, converted).SerializeToString()
        return written
