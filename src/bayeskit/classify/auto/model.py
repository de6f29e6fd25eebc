"""AutoBayes: the classifier that needs no choice."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score
from bayeskit.classify.auto.beliefs import AutoBeliefs
from bayeskit.classify.auto.counts import AutoCounts
from bayeskit.classify.auto.explanation_parts import (
    MemberPart,
    auto_domains,
    auto_fine_domains,
    auto_summary,
    explain_members,
)
from bayeskit.classify.auto.fitting import EFFORTS, Clock, learn_plan
from bayeskit.classify.auto.streams import passes
from bayeskit.classify.auto.training_rows import class_shares, coded_rows, different_rows
from bayeskit.classify.base import BayesClassifier
from bayeskit.decide.protocol import Domain
from bayeskit.defaults import FREQUENCY_PRIOR
from bayeskit.errors import BayeskitError, warn_caller
from bayeskit.estimate.class_weight import class_factors
from bayeskit.estimate.prior import class_prior
from bayeskit.explain.explanation import Word
from bayeskit.explain.row_cells import read_row
from bayeskit.explain.summary import Summary
from bayeskit.kinds import words
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.parameters import a_class_weight, a_plain_prior, at_least, one_of
from bayeskit.learn.plan import Pass, Plan
from bayeskit.learn.scanned import count_scan
from bayeskit.learn.state import change_of
from bayeskit.progress import Progress
from bayeskit.table.encode import encode, refuse_infinite
from bayeskit.table.read import Source, read_values
from bayeskit.table.scan.pieces import Scan
from bayeskit.table.schema import Schema

# Below this, rows left out gain less over the class frequencies than the numbers that were fitted to them explain.
LEAST_BELIEVED = 1.0 / (1.0 + float(np.exp(1.0)))
# A plan is worth choosing anew when there are so many times the rows that it was chosen on: on ten tables of 2,100 to
# 8,000 rows the log-loss was then 1.28 times that of a new fit in the geometric mean, 1.57 times at 4 and 2.0 at 16.
ROWS_OF_ONE_PLAN = 2.0


def _is_seed(value: Any) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return value is None or (whole and bool(value >= 0))


class AutoBayes(BayesClassifier):
    r"""The automatic classifier: networks, Gaussians and trees that learn from counts, pooled on held-out rows.

    .. math:: \log P(c \mid x) = \sum_d A_{cd} \Bigl( \sum_m w_m \log P_m(d \mid x) + b_d \Bigr) + a_c - \log Z, \qquad
              P \leftarrow \frac{N P + \pi}{N + 1}

    The members are *evidence networks* (each feature given the class and up to three others, with back-off smoothing),
    *Gaussians* of the numeric columns beside indicators of the categorical ones, and of normal scores, *context
    trees*, where there are more columns than rows a *linear* member over all of them, and for each column of text by
    which rows left out gain the words and pairs of words of :class:`AutoText`. Each is scored on rows left
    out of its counts, and the weights minimise the log-loss there. Where there are enough rows, the matrix A says
    which classes the pool takes for each other; elsewhere it is the identity. The last step mixes in one row of the
    class shares π, so that no class is ruled out.

    In a column that had missing cells in the fit, a missing cell is a level of its own. One that is *hidden* (left out
    of a row that is explained), or that has no level, is summed out. What was fitted to full rows then fades: with f
    the share of the columns that are known and t = f²,

    .. math:: \log P(c \mid x) = t \log P_{full}(c \mid x) + (1 - t) \Bigl[ \log \pi_c + \frac{κ}{M}
              \sum_m \log \frac{P_m(c \mid x)}{P_m(c \mid \text{nothing})} \Bigr] - \log Z,

    where κ says how far the pool is believed. With nothing known the answer are the class shares π.

    Equal seeds give equal models, to the last bit, for any number of threads and any order of the rows; the order of
    the columns, the names of values and classes, and the units of numbers change answers by rounding only.

    Parameters
    ----------
    effort : {"fast", "balanced", "thorough"}, default "balanced"
        "fast" has 4 networks and no trees, "balanced" 8 and 28; of fewer than 1,000 rows there are more trees, up to
        four times as many. "thorough" also has *boosted trees*, which learn what this pool leaves, where at least 400
        rows left out gain by them.
    max_seconds : float, optional
        The time limit of ``fit``: members that are not learned by then are left out, and a warning names them.
    max_nodes : int, default 1000000
        The largest total number of contexts, values and leaves; each holds one count per class.
    kinds : dict or str, optional
        Overrides the dtype: "numeric", "categorical" or "text", for all columns or by name.
    prior : "data", "uniform", array or dict, default "data"
        P(c): the shares of the classes in the fit, or another one: :math:`P'(c | x) \propto P(c | x) P'(c) / P(c)`.
        Where it is not "data", ``class_weight`` has no effect.
    class_weight : dict or "balanced", optional
        The weight of each class. Members and their weights are learned from the rows as they are; then
        :math:`P'(c | x) \propto w_c P(c | x)`, the posterior where rows of class c are w_c times as frequent. Rows that
        are repeated (``sample_weight``) would be left out one copy at a time, and the pool would trust what it has
        seen.
    random_state : int or None, default 0
        The seed; None draws a random one.

    Attributes
    ----------
    members_ : dict of str to float
        The weight of each member in the pool.
    left_out_loss_ : dict of str to float
        The log-loss of each member, and of the pool, on rows left out.
    n_nodes_ : int
        Contexts, values and leaves.
    counts_, schema_, classes_
        The counts and the plan, the columns, and the class labels.

    Notes
    -----
    ``partial_fit``, ``merge`` and ``unlearn`` change counts only, exactly; bins, structures, weights, the
    coefficients of the linear member and the boosted trees stay those of the first call, and a warning says when there
    are more than twice the rows of then. Only models with the same plan can be merged: copies of one fitted model.
    The rows of the first call, which every copy has, count once; a model that has learned later rows remembers their
    counts for this.

    Of a scan (:func:`bayeskit.scan`) with more than 65,536 rows, the plan comes from a random sample of that many
    rows, and a second pass counts all rows.

    Examples
    --------
    >>> from bayeskit import AutoBayes, datasets
    >>> penguins = datasets.load_penguins()
    >>> model = AutoBayes(effort="fast").fit(penguins, target="species")
    >>> model.predict(
    ...     {
    ...         "island": ["Biscoe"],
    ...         "bill_length_mm": [46.1],
    ...         "bill_depth_mm": [13.2],
    ...         "flipper_length_mm": [211.0],
    ...         "body_mass_g": [4500.0],
    ...         "sex": ["female"],
    ...         "year": [2007],
    ...     }
    ... )
    array(['Gentoo'], dtype=object)
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "effort": one_of(*EFFORTS),
        "max_seconds": (
            "None or a finite number above 0",
            lambda value: value is None or (at_least(0)[1](value) and value > 0),
        ),
        "max_nodes": at_least(1, whole=True),
        "prior": a_plain_prior,
        "class_weight": a_class_weight,
        "random_state": ("None or a whole number of at least 0", _is_seed),
    }
    _statistic = AutoCounts
    _reads_text = True
    _compared_as: ClassVar[dict[str, dict[str, Any]]] = {"AutoBayes": {}}

    def __init__(
        self,
        effort: str = "balanced",
        *,
        max_seconds: float | None = None,
        max_nodes: int = 1_000_000,
        kinds: Any = None,
        prior: Any = FREQUENCY_PRIOR,
        class_weight: Any = None,
        random_state: int | None = 0,
    ) -> None:
        self.effort = effort
        self.max_seconds = max_seconds
        self.max_nodes = max_nodes
        self.kinds = kinds
        self.prior = prior
        self.class_weight = class_weight
        self.random_state = random_state

    @classmethod
    def _takes_kind(cls, kind: str) -> bool:
        """Return whether ``kinds`` may give a column this kind."""
        return kind in ("numeric", "text") or (kind in words() and words()[kind].plain)

    def _counted_as(self) -> tuple[Any, ...] | None:
        """Return None: the counts depend on the rows."""
        return None

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from a table and its labels, as the other classifiers do; an earlier fit is discarded.

        ``progress`` is called with a :class:`bayeskit.progress.Step` after each part of the work: networks, Gaussians,
        trees and the pool; for a scan, after each batch of rows.
        """
        with change_of(self):
            settings = self._checked_settings()
            if isinstance(X, Scan):
                counts = count_scan(settings, X, y, sample_weight, target, progress)
                self._state = settings._state_of(counts, target)
            else:
                rows = settings._read_rows(X, y, sample_weight, target, None)
                self._state = settings._state_of(settings._first_counts(rows, None, progress), rows.target)
        return self

    def _count(self, rows: Labelled, schema: Schema | None, before: AutoCounts | None = None) -> AutoCounts:
        if before is None:
            return self._first_counts(rows, schema)
        columns = self._finite(rows.source, before.schema)
        order, codes, weights = different_rows(columns, rows.y, rows.weight)
        coded = coded_rows(before.plan.levels, columns, order, codes, weights, len(rows.classes))
        return AutoCounts.of(before.plan, coded, rows.classes, rows.weight is None)

    def _first_counts(self, rows: Labelled, schema: Schema | None, progress: Progress | None = None) -> AutoCounts:
        """Choose the plan on these rows, and count them."""
        source, y, classes, weight = rows.source, rows.y, rows.classes, rows.weight
        schema = learn_schema(source, self.kinds, texts=True) if schema is None else schema
        clock = Clock(self.max_seconds, progress)
        fresh = int(np.random.default_rng().integers(1 << 62))
        seed = fresh if self.random_state is None else int(self.random_state)
        counts = learn_plan(
            schema,
            self._finite(source, schema),
            y,
            classes,
            weight,
            EFFORTS[self.effort],
            seed,
            self.max_nodes,
            clock,
        )
        if clock.left_out:
            what = " and ".join(dict.fromkeys(clock.left_out))
            warn_caller(
                f"max_seconds={self.max_seconds:g} were over before all {what} were learned; the model has the rest."
            )
        merged = [schema.names[j] for j in counts.plan.merged_columns]
        if merged:
            warn_caller(
                f"column {merged[0]!r} has too many values for {len(classes)} classes: those without a level of their "
                "own are taken as one. Leave it out, or group its values."
            )
        if len(classes) > 1 and counts.plan.believed < LEAST_BELIEVED:
            warn_caller(
                "rows left out gain nothing over the class frequencies beyond what chance gives, so the answers of "
                "AutoBayes stay near these; more rows or other columns may help."
            )
        return counts

    def _add(self, before: AutoCounts, rows: Labelled) -> AutoCounts:
        total: AutoCounts = super()._add(before, rows)
        limit = ROWS_OF_ONE_PLAN * before.plan.n_rows
        if before.n_rows <= limit < total.n_rows:
            known = np.isin(rows.classes[rows.y], before.classes)
            source, labels = rows.source.take(np.flatnonzero(known)), rows.classes[rows.y[known]]
            posterior = AutoBeliefs(before).score(self._finite(source, before.schema), Score.POSTERIOR)[0]
            of_true = posterior[np.arange(len(labels)), np.searchsorted(before.classes, labels)]
            warn_caller(
                f"the plan was chosen on {before.plan.n_rows:g} rows, and there are {total.n_rows:g} now; the "
                f"log-loss of these {len(labels)} new ones was {-np.log(of_true).mean():.4f}, where that of rows left "
                f"out of the plan was {before.plan.left_out_loss[-1]:.4f}. A fit on all rows chooses anew."
            )
        return total

    def _passes(self, plan: Plan) -> Generator[Pass, Any, AutoCounts]:
        return passes(self, plan)

    def plan(self, X: Scan, *, target: str, sample_weight: str | None = None, progress: Progress | None = None) -> Plan:
        """Raise an error: bins, structures and weights are chosen on rows, so there is no plan before a first fit."""
        raise BayeskitError(
            "AutoBayes chooses its plan (bins, structures and weights) on rows. Call fit on a scan of all of them; or "
            "fit one part, send the model, and let each call count on its own part: these counts add."
        )

    @staticmethod
    def _finite(source: Source, schema: Schema) -> list[NDArray[Any]]:
        columns = encode(source, schema)
        for column, variable in zip(columns, schema, strict=True):
            if variable.is_numeric:
                refuse_infinite(column, variable.name)
        return columns

    def _frozen_by(self, schema: Schema) -> frozenset[str]:
        return frozenset(["the plan of the model (bins, structures and weights)"])

    def _check(self, counts: AutoCounts) -> None:
        self._prior(counts)

    def _prior(self, counts: AutoCounts) -> NDArray[np.float64] | None:
        """Return P(c) where it is not that of the counts."""
        if not isinstance(self.prior, str) or self.prior != "data":
            return class_prior(counts.n_class, self.prior, 0.0, counts.classes)
        if self.class_weight is None:
            return None
        shares = class_shares(counts.n_class) * class_factors(counts.n_class, counts.classes, self.class_weight)
        return np.asarray(shares / shares.sum())

    def _believe(self, counts: AutoCounts) -> AutoBeliefs:
        return AutoBeliefs(counts, self._prior(counts))

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def members_(self) -> dict[str, float]:
        """The weight of each member in the pool."""
        plan = self.counts_.plan
        weights = dict(zip(plan.members, plan.member_weight.tolist(), strict=True))
        return weights | ({"boosted trees": 1.0} if plan.boosting else {})

    @property
    def left_out_loss_(self) -> dict[str, float]:
        """The log-loss of each member, and of the pool, on rows left out."""
        plan = self.counts_.plan
        return dict(zip((*plan.members, "pool"), plan.left_out_loss.tolist(), strict=True))

    @property
    def n_nodes_(self) -> int:
        """Contexts with a value each, levels and leaves: each holds one count per class."""
        counts = self.counts_
        leaves = *counts.trees, *(each.steps for each in counts.plan.boosting)
        return int(len(counts.n_level) + len(counts.networks) + sum(len(each) for each in leaves))

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters: a count per node and class, moments of the Gaussians, and weights."""
        counts = self.counts_
        k, plan = len(counts.classes), counts.plan
        moments = sum(k * len(g.features) * (len(g.features) + 3) // 2 for g in plan.gaussians)
        weights = len(plan.column_weight) + len(plan.member_weight) + 2 * k
        return int(self.n_nodes_ * k + moments + weights)

    @property
    def tables_(self) -> dict[str, NDArray[np.float64]]:
        """P(level | class) of each column, of shape (n_levels, n_classes); the first level is a missing cell."""
        beliefs = self._beliefs
        at = beliefs.plan.levels.level_at
        probabilities = np.exp(beliefs._plain.astype(np.float64))
        probabilities[~beliefs._level_seen] = 0.0
        return {name: probabilities[at[j] : at[j + 1]] for j, name in enumerate(self.schema_.names)}

    def _summary(self) -> Summary:
        return auto_summary(self._beliefs)

    # -- hidden cells -----------------------------------------------------------------------------------------------

    def log_posterior_hiding(self, X: Any, hidden: NDArray[np.bool_], *, floor: bool = True) -> NDArray[np.float64]:
        """Return log P(c | x) of rows with hidden cells: not observed yet, rather than recorded as missing.

        Parameters
        ----------
        X : table
            The rows; the content of a hidden cell does not matter.
        hidden : bool array of shape (n_rows, n_features)
            Which cells are hidden.
        floor : bool
            Whether to mix in the last row, that of the class shares.
        """
        model = self._now()
        beliefs, columns = model._beliefs, model._encode(X)
        log_posterior = beliefs.pooled(beliefs.codes(columns, np.asarray(hidden, dtype=bool)), columns)
        if not floor:
            return np.asarray(log_posterior)
        return np.asarray(np.log(beliefs.floored(np.exp(log_posterior))))

    def _used_cells(self, X: Any) -> NDArray[np.bool_]:
        """Return which cells have a level of their own, of shape (n_rows, n_features); the others are summed out."""
        model = self._now()
        return np.ascontiguousarray(model._beliefs.codes(model._encode(X)).T != 255)

    def explain_members(self, row: Any, classes: tuple[Any, Any] | None = None) -> list[MemberPart]:
        """Return the part of each member in the log-odds of two classes; the parts sum to the log-odds exactly.

        The part of the networks is a sum of one term per feature, whatever the order; see :class:`MemberPart`.
        """
        model = self._now()
        read = read_row(model, row)
        table = {name: [value] for name, value in zip(read.names, read.values, strict=True)}
        columns = encode(model._source_of(list(table.values())), model.schema_)
        return explain_members(model._beliefs, columns, read.absent[None, :], classes)

    def _words_of(self, column: str, text: str, classes: tuple[int, int]) -> list[Word]:
        """Return the words of a cell of text, each with its part in the log-odds of two classes, by their numbers.

        Parts are those of the member that reads the column, times its weight in the pool.
        """
        model = self._now()
        beliefs = model._beliefs
        first = len(beliefs.plan.member_weight) - len(beliefs.texts)
        for weight, scores in zip(beliefs.plan.member_weight[first:].tolist(), beliefs.texts, strict=True):
            if model.schema_[scores.member.column].name == column:
                found = scores.beliefs.words_of(text, *classes)
                return [word._replace(weight=weight * word.weight) for word in found]
        return []  # its words tell nothing of the class

    def domains(self) -> list[Domain]:
        """Return the values that each column can take: for a numeric one up to 25 quantiles."""
        self._refuse_unfitted()
        return auto_domains(self._beliefs)

    def _fine_domains(self) -> list[Domain]:
        """Return the same domains with one number for each bin; `what_if` asks for them."""
        self._refuse_unfitted()
        return auto_fine_domains(self._beliefs)

    def log_joint(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """Return log P(c | x) + log P(x), where the networks give P(x); None is hidden, NaN is recorded as missing."""
        model = self._now()
        hidden = np.array([[value is None for value in column.tolist()] for column in columns], dtype=bool).T
        encoded = encode(model._source_of([column.tolist() for column in columns]), model.schema_)
        beliefs = model._beliefs
        codes = beliefs.codes(encoded, hidden)
        joint: NDArray[np.float64] = np.log(beliefs.posterior(codes, encoded)) + beliefs.log_evidence(codes)[:, None]
        return joint

    def _source_of(self, columns: list[list[Any]]) -> Source:
        schema = self.schema_
        read = tuple(read_values(column, v.name) for column, v in zip(columns, schema, strict=True))
        return Source(schema.names, schema.named, len(columns[0]), read)

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.non_deterministic = self.random_state is None
