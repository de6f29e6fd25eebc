"""Which feature is most informative: about the class in general, and for one row with missing features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.loss import Loss, read_loss
from bayeskit.decide.protocol import Domain, HidingModel, JointModel, as_column, as_joint_model
from bayeskit.errors import BayeskitError
from bayeskit.explain.row_cells import read_row
from bayeskit.language import translated
from bayeskit.result import Result, fixed, html_table, text_table

# Largest distance of two posteriors that differ by rounding alone.
ROUNDING = 1e-9
# Scaling to the margins ends when they are as near as this, or after so many rounds.
FITTED, MOST_ROUNDS = 1e-12, 1000


@dataclass(frozen=True, repr=False)
class InformationValue(Result):
    """The value of information of one feature: by how much observing it lowers the expected risk of the decision.

    Under a joint distribution the mean of the posterior over the answers to a question is the posterior before it,
    and the value is never negative. ``incoherence`` is how far the model is from that: the total variation distance of
    the two, the largest difference in the probability of any set of classes. A model that averages over different
    structures for different rows (`AutoBayes`, or `AODE` with a ``min_rows`` that some values do not reach) is not
    such a distribution; the table of answers and classes is then scaled until both margins are right (iterative
    proportional fitting), which gives the nearest one that is. ``exact`` is False there, and for a continuous feature,
    whose values are summed on a grid.
    """

    feature: str
    value: float
    risk_before: float
    risk_after: float
    exact: bool
    incoherence: float


class InformationValues(list[InformationValue], Result):
    """The value of information of each missing feature, the most useful first; prints as a table."""

    def __repr__(self) -> str:
        if not self:
            return translated("no feature is missing, so there is nothing to observe.")
        return "\n".join([text_table(*self._table()), *map(translated, self._notes())])

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption=" ".join(self._notes())) if self else super()._repr_html_()

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        lines = [
            (one.feature, fixed(one.value), fixed(one.risk_after), "" if one.exact else f"≈ {one.incoherence:.1g}")
            for one in self
        ]
        return ("observe", "value", "risk after", "approximate"), lines

    def _notes(self) -> list[str]:
        said = [f"risk before: {fixed(self[0].risk_before)}"]
        worst = max(one.incoherence for one in self)
        if worst > ROUNDING:
            said.append(
                f"The model is no exact joint distribution: the mean posterior after a question differs from the "
                f"posterior before it by up to {worst:.1g}; the answers were scaled to agree with it."
            )
        return said


@dataclass(frozen=True, repr=False)
class Relevance(Result):
    """The mutual information of one feature and the class, in nats."""

    feature: str
    information: float
    exact: bool


class Relevances(list[Relevance], Result):
    """The mutual information of each feature and the class, the largest first; prints as a table."""

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        lines = [(one.feature, fixed(one.information), "" if one.exact else "≈") for one in self]
        return ("feature", "information (nats)", "approximate"), lines


def value_of_information(model: Any, row: Any, loss: Any = None) -> InformationValues:
    r"""Return the value of information of each missing feature of a row, the most useful first.

    .. math:: V_i = \min_a R(a \mid x) - \sum_v P(x_i = v \mid x) \, \min_a R(a \mid x, x_i = v)

    Parameters
    ----------
    model : classifier
        One that gives P(x, c), such as `NaiveBayes`.
    row : dict, list, array, Series or table with one row
        The observed cells; a dict may leave features out. Missing cells are those that can be observed next.
    loss : None, matrix, frame or dict
        λ(truth, action); None is 0-1 loss.

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets
    >>> model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    >>> best, *rest = value_of_information(model, {"outlook": "sunny", "wind": "strong"})
    >>> best.feature, round(best.value, 4)
    ('humidity', 0.0338)
    >>> value_of_information(model, {"outlook": "sunny", "wind": "strong"})
    observe      value   risk after  approximate
    humidity     0.0338  0.3127
    temperature  0.0000  0.3465
    risk before: 0.3465
    """
    source = as_joint_model(model, "value_of_information")
    read = read_loss(loss, source.classes_)
    if read.per_row:
        raise BayeskitError("value_of_information is about one row; give one loss matrix.")
    cells = read_row(model, row)
    asked, columns = cells.missing, [as_column([value]) for value in cells.values]
    if isinstance(model, HidingModel):  # None is hidden there, and NaN is missing
        asked = cells.absent
        columns = [
            as_column([np.nan if v is None and not out else v]) for v, out in zip(cells.values, asked, strict=True)
        ]
    domains = source.domains()
    now = _joint(source, columns)[0]
    posterior = now / now.sum()
    before = float(_risk(posterior[None, :], read)[0])
    questions = InformationValues()
    for j in np.flatnonzero(asked):
        if _cannot_be_listed(domains[j]):
            continue
        joint = _over(source, columns, int(j), domains[j])  # (n_values, n_classes): P(x, x_j = v, c)
        joint, incoherence = _coherent(joint / joint.sum(), posterior)
        # Each row weighs P(x_j = v | x); the joint of a row already holds that weight.
        after = float(_risk(joint, read).sum())
        exact = domains[j].exact and incoherence <= ROUNDING
        questions.append(InformationValue(cells.names[j], before - after, before, after, exact, incoherence))
    questions.sort(key=lambda question: -question.value)
    return questions


def feature_relevance(model: Any) -> Relevances:
    r"""Return the mutual information of each feature with the class under the model, largest first.

    .. math:: I(X_i; C) = \sum_{v, c} P(v, c) \log \frac{P(v, c)}{P(v) \, P(c)}

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets
    >>> model = NaiveBayes(smoothing=0).fit(datasets.load_tennis(), target="play")
    >>> [(each.feature, round(each.information, 4)) for each in feature_relevance(model)][0]
    ('outlook', 0.171)
    """
    source = as_joint_model(model, "feature_relevance")
    domains = source.domains()
    nothing = [as_column([None]) for _ in domains]
    now = _joint(source, nothing)[0]
    ranked = Relevances()
    for j, domain in enumerate(domains):
        if _cannot_be_listed(domain):
            continue
        joint = _over(source, nothing, j, domain)
        joint, incoherence = _coherent(joint / joint.sum(), now / now.sum())
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        ratio = np.divide(joint, independent, out=np.ones_like(joint), where=joint > 0)
        information = max(float((joint * np.log(ratio)).sum()), 0.0)  # a sum of roundings may fall just below zero
        ranked.append(Relevance(domain.name, information, domain.exact and incoherence <= ROUNDING))
    ranked.sort(key=lambda each: -each.information)
    return ranked


def _cannot_be_listed(domain: Domain) -> bool:
    """Return whether the answers to a question have no end, such as texts: it is then not rated."""
    return not domain.values and not domain.exact


def _coherent(joint: NDArray[np.float64], posterior: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return P(v, c | x) with Σ_v P(v, c | x) = P(c | x), and how far its margin was from it before."""
    incoherence = 0.5 * float(np.abs(joint.sum(axis=0) - posterior).sum())
    if incoherence <= ROUNDING:
        return joint, incoherence
    of_values = joint.sum(axis=1)
    for _ in range(MOST_ROUNDS):
        of_classes = joint.sum(axis=0)
        joint = joint * np.divide(posterior, of_classes, out=np.zeros_like(posterior), where=of_classes > 0)
        if np.abs(joint.sum(axis=1) - of_values).sum() < FITTED:
            break
        now = joint.sum(axis=1)
        joint = joint * np.divide(of_values, now, out=np.zeros_like(now), where=now > 0)[:, None]
    return joint, incoherence


def _joint(model: JointModel, columns: list[NDArray[Any]]) -> NDArray[np.float64]:
    """Return P(x, c) of each row, scaled so that the largest of all is 1."""
    log_joint = model.log_joint(columns)
    peak = log_joint.max()
    if np.isneginf(peak):
        raise BayeskitError(
            "this row has probability 0 under every class, so its missing features have no value of information."
        )
    scaled: NDArray[np.float64] = np.exp(log_joint - peak)
    return scaled


def _over(model: JointModel, columns: list[NDArray[Any]], j: int, domain: Domain) -> NDArray[np.float64]:
    """Return P(x, x_j = v, c) for every value v of feature j, on one scale."""
    n_values = len(domain.values)
    if n_values == 0:
        return np.exp(model.log_joint(columns))  # a feature without values has no information
    repeated = [np.repeat(column, n_values) for column in columns]
    repeated[j] = as_column(domain.values)
    weighted: NDArray[np.float64] = _joint(model, repeated) * domain.weights[:, None]
    return weighted


def _risk(joint: NDArray[np.float64], loss: Loss) -> NDArray[np.float64]:
    least: NDArray[np.float64] = (joint @ loss.matrix).min(axis=1)
    return least
