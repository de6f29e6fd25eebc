"""The base of models that learn from counts: count, fit, partial_fit, merge, unlearn, save and load."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from copy import deepcopy
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.statistic import Running, Statistic
from bayeskit.errors import BayeskitError, MergeError, TableError, warn_caller
from bayeskit.io.model_files import save
from bayeskit.learn.checks import refuse_new_levels
from bayeskit.learn.estimator import Estimator, not_fitted
from bayeskit.learn.labelled import Labelled, read_labelled
from bayeskit.learn.parameters import from_json, refuse_parameters, to_json
from bayeskit.learn.plan import Part, Pass, Plan, counting
from bayeskit.learn.scanned import count_scan, make_plan
from bayeskit.learn.state import State
from bayeskit.table.labels import read_labels
from bayeskit.table.read import Source
from bayeskit.table.scan.pieces import Scan
from bayeskit.table.schema import Schema


class Learner(Estimator):
    """A model that learns from counts.

    Subclasses say how to count (:meth:`_count`) and how to estimate (:meth:`_believe`); the rest is the same for all
    and is here. A fitted model holds one :class:`State`. A new state is made first and assigned last: a call that fails
    leaves a fitted model unchanged, and a thread that predicts meanwhile sees the old model or the new one.
    Probabilities ("beliefs") are computed lazily, so a call of ``partial_fit`` costs only its rows.
    """

    # Each parameter's check: name → what it must be, in words, and the test of it.
    _rules: ClassVar[dict[str, tuple[str, Any]]] = {}
    # The class of the counts.
    _statistic: ClassVar[type[Statistic]]

    _state: State

    @abstractmethod
    def _count(
        self,
        source: Source,
        y: NDArray[Any],
        classes: NDArray[Any],
        weight: NDArray[np.float64] | None,
        schema: Schema | None,
        before: Any = None,
    ) -> Any:
        """Count a table.

        With ``schema``, columns keep its kinds, bins and levels, and levels that it lacks are added to it. ``before``
        holds the counts of earlier rows, whose structure is kept.
        """

    @abstractmethod
    def _believe(self, counts: Any) -> Any:
        """Turn counts into beliefs with the current parameters."""

    def _check(self, counts: Any) -> None:
        """Raise an error for parameters that do not fit the counts, before the state changes; cheap, unlike beliefs."""

    # -- counts, in and out -----------------------------------------------------------------------------------------

    def count(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        schema: Schema | None = None,
        new_levels: Literal["add", "error"] = "add",
    ) -> Any:
        """Count a table as ``fit`` would, and return the counts; the model does not change.

        Counts add: those of several parts of a table, counted anywhere, are summed and passed to :meth:`from_counts`.

        Parameters
        ----------
        X, y, sample_weight, target
            The rows, as in :meth:`fit`.
        schema : Schema, optional
            The schema that all parts agreed on: kinds and bins are its own. By default that of the fitted model; a
            model that is not fitted learns one from the rows.
        new_levels : {"add", "error"}, default "add"
            What happens to values that the schema lacks. They are never dropped: either the schema of the result is
            the agreed one with these levels added (``counts.schema`` is then the next one to agree on, and ``+`` takes
            the union), or the first of them is an error.

        Returns
        -------
        counts
            A statistic with ``+`` and ``-``.

        Examples
        --------
        >>> from bayeskit import NaiveBayes
        >>> model = NaiveBayes()
        >>> first = model.count({"wind": ["weak", "strong"]}, ["yes", "no"])
        >>> second = model.count({"wind": ["weak", "calm"]}, ["yes", "yes"], schema=first.schema)
        >>> second.schema["wind"].values
        ('calm', 'strong', 'weak')
        >>> NaiveBayes.from_counts(first + second).class_count_
        array([1, 3])
        """
        refuse_parameters(self, self._rules)
        if new_levels not in ("add", "error"):
            raise BayeskitError(f"new_levels must be 'add' or 'error'; got {new_levels!r}.")
        before = self.counts_ if self._is_fitted else None
        if schema is None and before is not None:
            schema = before.schema
        template = self._template()
        counts, _ = template._learn(X, y, sample_weight, target, schema, before)
        if schema is not None and new_levels == "error":
            refuse_new_levels(counts.schema, schema)
        return counts

    @classmethod
    def from_counts(cls, counts: Statistic, *, target: str | None = None, **parameters: Any) -> Self:
        """Return a model fitted from counts, with these parameters.

        Parameters
        ----------
        counts
            The result of :meth:`count`, or a sum of several; levels without rows that were not declared are left out.
        target : str, optional
            The name of the column that held the labels.
        **parameters
            The parameters of the model.

        Examples
        --------
        >>> from bayeskit import TAN, datasets
        >>> tennis = datasets.load_tennis()
        >>> counts = TAN().count(tennis, target="play")
        >>> model = TAN.from_counts(counts, target="play", smoothing=1)
        >>> bool((model.predict(tennis) == TAN(smoothing=1).fit(tennis, target="play").predict(tennis)).all())
        True
        """
        model = cls(**parameters)
        refuse_parameters(model, cls._rules)
        if not isinstance(counts, cls._statistic):
            raise TypeError(f"a {cls.__name__} learns from {cls._statistic.__name__}; got {type(counts).__name__}.")
        if not counts.n_class.sum() > 0:
            raise TableError("the counts are of no rows, so there is nothing to learn from.")
        model._state = model._state_of(counts.narrow(), target)
        return model

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn from a table and its labels; an earlier fit is discarded.

        Parameters
        ----------
        X : table
            NumPy array, scipy.sparse matrix or array (of which every cell counts, the zeros too), pandas or polars
            frame, Arrow table, dict of lists, or a table of any size that :func:`bayeskit.scan` describes. Text,
            categories and booleans are categorical, numbers are numeric, NaN / None / null is missing.
        y : array of shape (n_rows,), optional
            The labels; left out when ``target`` names the column that holds them.
        sample_weight : array of shape (n_rows,), optional
            The weight of each row; for a scan, the name of the column that holds the weights.
        target : str, optional
            The column of ``X`` that holds the labels.

        Returns
        -------
        self
        """
        refuse_parameters(self, self._rules)
        template = self._template(anew=True)
        if isinstance(X, Scan):
            target = template._target_of_scan(target)
            counts = count_scan(template, X, y, sample_weight, target)
            self._state = template._state_of(counts, target)
            return self
        counts, rows = template._learn(X, y, sample_weight, target, None, None)
        self._state = template._state_of(counts, rows.target)
        return self

    def plan(self, X: Scan, *, target: str, sample_weight: str | None = None, progress: Any = None) -> Plan:
        """Return the plan for counting a table of any size, to count its parts yourself.

        Parameters
        ----------
        X : Scan
            The table, or a part of it that has all columns. Where columns are binned it is read once.
        target : str
            The column that holds the labels.
        sample_weight : str, optional
            The column that holds the row weights.
        progress : callable, optional
            Called with the rows read so far and all rows (or None).

        Returns
        -------
        Plan
            Small, and JSON by ``to_json``; ``plan.count`` counts batches, ``plan.merge`` adds parts, and
            ``from_counts`` makes the model.
        """
        refuse_parameters(self, self._rules)
        return make_plan(self._template(anew=True), X, target, sample_weight, progress)

    def _passes(self, plan: Plan) -> Generator[Pass, Any, Any]:
        """Run the passes over a scan and return the counts; most models need one pass."""
        return (yield counting(plan)).counts

    def _count_batches(self, plan: Plan, readers: Any) -> Part:
        """Count the batches of some pieces of a scan."""
        return plan.count_rows(readers)

    def _target_of_scan(self, target: str | None) -> str | None:
        """Return the column that holds the labels; some models know it themselves."""
        return target

    def _scanned_rows(self, rows: Labelled, schema: Any) -> Any:
        """Return the rows of a batch as this model's :meth:`_read_rows` would."""
        return rows

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None, *, target: str | None = None
    ) -> Self:
        """Learn from more rows, which may have new values and new classes. Parameters are those of :meth:`fit`.

        ``classes`` declares classes that have no row yet; they are included in the smoothed prior.
        """
        refuse_parameters(self, self._rules)
        state = self._state if self._is_fitted else None
        template = self._template(anew=state is None)
        counted: Statistic | Running
        if state is None:
            counted, rows = template._learn(X, y, sample_weight, target, None, None)
        else:
            rows = template._read_rows(X, y, sample_weight, target, state.counted.schema)
            counted = template._add(state.counted, rows)
        if classes is not None:
            counted = _announce(counted, read_labels(classes)[0], first=state is None)
        said: frozenset[str] = frozenset() if state is None else state.said
        target = rows.target or (None if state is None else state.target)
        new = template._state_of(counted, target, said | template._frozen_by(counted.schema))
        self._state = new
        self._say_what_is_frozen(new.said - said)
        return self

    def merge(self, other: Self) -> Self:
        """Add the counts of another fitted model of the same class, as if this model had learned from its rows."""
        self._refuse_unfitted()
        if type(other) is not type(self):
            raise MergeError(
                f"a {type(self).__name__} merges with a {type(self).__name__}; got {type(other).__name__}."
            )
        other._refuse_unfitted()
        template, state = self._template(), self._state
        self._state = template._state_of(template._plus(self.counts_, other.counts_), state.target, state.said)
        return self

    def unlearn(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Remove rows that were learned before; the counts are then exactly those of the other rows."""
        self._refuse_unfitted()
        template, state = self._template(), self._state
        counts, _ = template._learn(X, y, sample_weight, target, state.counts.schema, state.counts)
        rest = state.counts - counts
        if not rest.n_class.sum() > 0:
            raise TableError("unlearn would remove every row, and a model without rows cannot predict; make a new one.")
        self._state = template._state_of(rest, state.target, state.said)
        return self

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, target: str | None, schema: Schema | None, before: Statistic | None
    ) -> tuple[Statistic, Labelled]:
        rows = self._read_rows(X, y, sample_weight, target, schema)
        return self._count_rows(rows, schema, before), rows

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, target: str | None, schema: Any) -> Any:
        """Read the arguments of ``fit`` and similar methods; models of other data than tables override it."""
        return read_labelled(X, y, sample_weight, target, schema, type(self).__name__)

    def _count_rows(self, rows: Any, schema: Any, before: Any) -> Any:
        """Count what was read; ``before`` holds the counts of earlier rows."""
        return self._count(rows.source, rows.y, rows.classes, rows.weight, schema, before)

    def _add(self, before: Any, rows: Labelled) -> Any:
        """Return the earlier counts plus the counts of more rows, as a sum or a running sum."""
        counts = self._count_rows(rows, before.schema, before)
        return self._plus(before, counts)

    def _plus(self, ours: Any, theirs: Any) -> Any:
        return ours + theirs

    def _template(self, *, anew: bool = False) -> Self:
        """Return an unfitted model with the current parameters; ``anew``, without anything of an earlier fit."""
        return type(self)(**deepcopy(self.get_params(deep=False)))

    def _state_of(self, counts: Statistic | Running, target: str | None, said: frozenset[str] = frozenset()) -> State:
        # Called on a template: it goes into the state.
        self._check(counts)
        return State(self, counts, target, said)

    def _frozen_by(self, schema: Schema) -> frozenset[str]:
        """Return what later rows will not change: "bins of" a column, or a structure."""
        return frozenset(f"bins of {variable.name}" for variable in schema if variable.is_binned)

    def _say_what_is_frozen(self, new: frozenset[str]) -> None:
        """Warn the caller of ``partial_fit`` of what later rows will not change."""
        bins = "bins of "
        names = [name for name in self.schema_.names if bins + name in new]
        if names:
            warn_caller(
                f"the bins of {', '.join(map(repr, names[:5]))}{' …' if len(names) > 5 else ''} were cut on the "
                "first batch and stay as they are; make the first batch large, or fit bins on all rows at once.",
            )
        for what in sorted(what for what in new if not what.startswith(bins)):
            warn_caller(
                f"{what} was chosen on the first batch and stays as it is, since it needs all rows; make the "
                "first batch large, or call fit on all rows at once.",
            )

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def counts_(self) -> Any:
        """The sufficient statistics: a value that later calls do not change."""
        self._refuse_unfitted()
        return self._state.counts

    @property
    def schema_(self) -> Schema:
        """Name, kind and values of each column."""
        self._refuse_unfitted()
        return self._state.counted.schema

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, of shape (n_classes,)."""
        self._refuse_unfitted()
        return self._state.counted.classes

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self.schema_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns' names, where they have names."""
        if not self.schema_.named:
            raise AttributeError("the columns came without names.")
        return np.array(self.schema_.names, dtype=object)

    @property
    def target_(self) -> str | None:
        """The column that held the labels, where ``target`` named it."""
        self._refuse_unfitted()
        return self._state.target

    @property
    def _beliefs(self) -> Any:
        self._refuse_unfitted()
        return self._state.beliefs

    @property
    def _believed_with(self) -> dict[str, Any]:
        self._refuse_unfitted()
        return self._state.template.get_params(deep=False)  # type: ignore[no-any-return]

    def _now(self) -> Self:
        """Return a snapshot of this fitted model, which later calls in other threads do not change."""
        self._refuse_unfitted()
        model = object.__new__(type(self))
        model.__dict__ = self.__dict__.copy()
        return model

    @property
    def _is_fitted(self) -> bool:
        return "_state" in self.__dict__

    def _refuse_unfitted(self) -> None:
        if "_state" not in self.__dict__:  # each call counts where rows are asked about one by one
            raise not_fitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted

    # -- files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that :func:`bayeskit.load` reads; an old file is replaced only at the end."""
        save(self._now(), path)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        meta, arrays = self.counts_.to_parts()
        own = {
            "parameters": to_json(self.get_params(deep=False)),
            "believed_with": to_json(self._believed_with),
            "target": self.target_,
        }
        return {**meta, **own}, arrays

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Read what :meth:`to_parts` gave; the file may be untrusted."""
        template = cls(**from_json(meta["believed_with"]))
        refuse_parameters(template, cls._rules)
        target = meta["target"]
        if target is not None and not isinstance(target, str):
            raise TypeError("the target is not a column name")
        state = template._state_of(cls._statistic.from_parts(meta, arrays), target)
        state.beliefs  # noqa: B018 - what cannot be believed is refused while the file is read
        model = cls(**from_json(meta["parameters"]))
        model._state = state
        return model


def _announce(counts: Statistic | Running, classes: NDArray[Any], first: bool) -> Statistic | Running:
    strange = sorted(set(counts.classes.tolist()) - set(classes.tolist()), key=str)
    if first and strange:
        raise TableError(f"The target label(s) {strange} in y do not exist in the initial classes {classes.tolist()}.")
    return counts.declare(classes)
