"""The description length of any discrete model and the data under it, in bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.aode import AODE
from bayeskit.classify.base import BayesClassifier
from bayeskit.classify.bernoulli_nb import BernoulliNB
from bayeskit.classify.complement_nb import ComplementNB
from bayeskit.classify.matrix_classifier import MatrixClassifier, split_matrix
from bayeskit.classify.text import TextClassifier
from bayeskit.concept.brute_force import BruteForceMAP
from bayeskit.concept.mdl_tree import MDLTree
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, TableError
from bayeskit.learn.checks import rows_and_labels, split_target
from bayeskit.learn.labelled_texts import split_text
from bayeskit.network.network import BayesianNetwork
from bayeskit.result import Result
from bayeskit.table.labels import read_labels

_NEEDS_LABELS = "the description of rows by {} needs their labels"


@dataclass(frozen=True)
class DescriptionLength(Result):
    """Bits of a model, L(h), and of the data given the model, L(D | h); the model's bits come in two parts.

    Attributes
    ----------
    structure : float
        The bits that encode the parents of each variable, or the tests of a tree.
    parameters : float
        The bits of the numbers in the tables.
    data : float
        L(D | h).
    """

    structure: float
    parameters: float
    data: float

    @property
    def model(self) -> float:
        """L(h) = structure + parameters."""
        return self.structure + self.parameters

    @property
    def total(self) -> float:
        """L(h) + L(D | h)."""
        return self.model + self.data

    def __repr__(self) -> str:
        return f"{self.total:.1f} bits = model {self.model:.1f} + data {self.data:.1f}"


def description_length(
    model: Any, X: Any, y: Any = None, *, target: str | None = None, labels_only: bool = False
) -> DescriptionLength:
    r"""Return the bits that encode a model and then a table: L(h) + L(D | h).

    A network or a classifier is encoded by its structure and its parameters, each to the precision that N rows support:

    .. math:: L(h) = \sum_i \left[ \log_2 n + \log_2 \binom{n - 1}{|\mathrm{Pa}_i|} \right] + \tfrac12 \log_2 N \cdot k,
              \qquad L(D \mid h) = - \sum_{rows} \log_2 P(row)

    with n variables (a classifier's class is one of them) and k free parameters. Without the structure this is the BIC
    with another sign and another logarithm. An average over all super-parents (AODE) has no structure to encode. An
    :class:`~bayeskit.MDLTree` has a code of its own, for labels alone; the multinomial model of counts or texts
    encodes the words one after the other, given how many there are; a :class:`~bayeskit.BruteForceMAP` is
    encoded by its MAP hypothesis, :math:`-\log_2 P(h)` and :math:`-\log_2 P(D \mid h)` bits.

    Parameters
    ----------
    model : fitted model of bayeskit
        The model to encode: a classifier with discrete columns, of counts or of texts, a BayesianNetwork, an MDLTree or
        a BruteForceMAP.
    X : table
        The rows; a network's columns are found by name. An MDLTree encodes only the rows that it was fitted to.
    y : array of shape (n_rows,), optional
        The labels of a classifier's rows.
    target : str, optional
        The column of ``X`` that holds the labels.
    labels_only : bool, default False
        Encode the labels only; the receiver already has the columns: :math:`-\sum \log_2 P(y \mid x)`.

    References
    ----------
    Rissanen (1978), Modeling by shortest data description; Friedman & Goldszmidt (1996), Learning Bayesian networks
    with local structure, section 3.

    Examples
    --------
    >>> from bayeskit import NaiveBayes, TAN, datasets
    >>> tennis = datasets.load_tennis()
    >>> description_length(NaiveBayes().fit(tennis, target="play"), tennis, target="play")
    123.8 bits = model 44.4 + data 79.5
    """
    if isinstance(model, BayesianNetwork):
        if y is not None or target is not None or labels_only:
            raise BayeskitError("a network encodes all its variables: leave out y, target and labels_only.")
        return _of_network(model, X)
    if isinstance(model, MDLTree):
        h, d = model.lengths_of(X, y, target=target)
        return DescriptionLength(h, 0.0, d)
    if isinstance(model, BruteForceMAP):
        return _of_hypothesis(model, X, y, target)
    if isinstance(model, BayesClassifier):
        return _of_classifier(model, X, y, target, labels_only)
    if isinstance(model, MatrixClassifier | TextClassifier):
        return _of_linear_model(model, X, y, target, labels_only)
    raise BayeskitError(
        "description_length supports bayeskit's discrete classifiers, BayesianNetwork, MDLTree and BruteForceMAP; got "
        f"{type(model).__name__}."
    )


def _of_linear_model(model: Any, X: Any, y: Any, target: str | None, labels_only: bool) -> DescriptionLength:
    complement = isinstance(model, ComplementNB) or getattr(model, "model", "") == "complement"
    if complement and not labels_only:
        raise BayeskitError(
            "complement naive Bayes scores classes and gives rows no probability: pass labels_only=True, or take the "
            "multinomial model."
        )
    split = split_text if isinstance(model, TextClassifier) else split_matrix
    log_p = _log_p(model, *rows_and_labels(X, y, target, type(model).__name__, split, _NEEDS_LABELS), labels_only)
    n_classes, n_features = model.feature_log_prob_.shape
    bernoulli = isinstance(model, BernoulliNB) or getattr(model, "model", "") == "bernoulli"
    k = n_classes - 1 + n_classes * (n_features if bernoulli else n_features - 1)
    structure = structure_bits([0] + [1] * n_features, n_features + 1) if bernoulli else 0.0
    return DescriptionLength(structure, 0.5 * log2(len(log_p)) * k, _data_bits(log_p, "pass smoothing (alpha) above 0"))


def _log_p(model: Any, X: Any, y: Any, labels_only: bool) -> NDArray[np.float64]:
    """Return log P(y | x) or log P(x, y) of each row."""
    logs = model.predict_log_proba(X) if labels_only else model.predict_joint_log_proba(X)
    labels, codes = read_labels(y, len(logs))
    place = {label: k for k, label in enumerate(model.classes_.tolist())}
    strange = [label for label in labels.tolist() if label not in place]
    if strange:
        raise TableError(f"y holds the class {strange[0]!r}, which was not seen in fit; seen: {list(place)}.")
    column = np.array([place[label] for label in labels.tolist()])[codes]
    return np.asarray(logs[np.arange(len(logs)), column])


def _data_bits(log_p: NDArray[np.float64], remedy: str) -> float:
    """Return L(D | h) of rows with these log-probabilities; a row of probability 0 has no code."""
    if np.isneginf(log_p).any():
        raise ImpossibleEvidenceError(
            f"row {int(np.isneginf(log_p).argmax())} has probability 0 under the model, so it has no code; {remedy}."
        )
    return -float(log_p.sum()) / log(2.0)


def structure_bits(n_parents: Sequence[int], n_variables: int) -> float:
    """Return the bits that encode the parents of each variable: how many, and which of the others.

    >>> structure_bits([0, 1], 2)
    2.0
    """
    return sum(log2(n_variables) + log2(comb(n_variables - 1, k)) for k in n_parents)


def _of_network(net: BayesianNetwork, X: Any) -> DescriptionLength:
    log_p = net.log_probability(X)
    structure = structure_bits(list(map(len, net.parents)), len(net.names))
    return DescriptionLength(
        structure, 0.5 * log2(len(log_p)) * net.n_parameters, _data_bits(log_p, "smooth the tables")
    )


def _of_classifier(model: Any, X: Any, y: Any, target: str | None, labels_only: bool) -> DescriptionLength:
    numeric = [variable for variable in model.schema_ if variable.is_numeric]
    if numeric:
        raise BayeskitError(
            f"column '{numeric[0].name}' is {numeric[0].kind}, and a number from a density has no length in "
            "bits: fit with bins (numeric='mdl'), or without the column."
        )
    log_p = _log_p(
        model, *rows_and_labels(X, y, target, type(model).__name__, split_target, _NEEDS_LABELS), labels_only
    )
    parameters = 0.5 * log2(len(log_p)) * float(model.n_parameters_)
    return DescriptionLength(_classifier_structure(model), parameters, _data_bits(log_p, "pass smoothing above 0"))


def _classifier_structure(model: Any) -> float:
    if isinstance(model, AODE):
        return 0.0
    structure = getattr(model, "structure_", None)
    inner = (
        [()] * len(model.schema_) if structure is None else [above for above in structure.parents if above is not None]
    )
    # The class has no parents, and is a parent of every feature that takes part.
    parents = [0, *(len(above) + 1 for above in inner)]
    return structure_bits(parents, len(parents))


def _of_hypothesis(model: BruteForceMAP, X: Any, y: Any, target: str | None) -> DescriptionLength:
    model = model._now()
    state = model._state
    examples = model._read_more(state, X, y, target)[1]
    wrong = int((model._predict_cells(examples.cells) != examples.is_positive).sum())
    n = len(examples.cells)
    if model.noise == 0.0 and wrong:
        raise ImpossibleEvidenceError(f"the hypothesis gets {wrong} rows wrong, which noise=0 gives probability 0.")
    data = 0.0 if model.noise == 0.0 else -((n - wrong) * log2(1 - model.noise) + wrong * log2(model.noise))
    return DescriptionLength(-float(state.log_prior[int(np.argmax(state.log_posterior))]) / log(2.0), 0.0, data)
