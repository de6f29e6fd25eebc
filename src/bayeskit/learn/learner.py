"""The base of models that learn from counts: count, fit, partial_fit, merge, unlearn, save and load."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from typing import Any, ClassVar, Literal, Self

from numpy.typing import NDArray

from bayeskit.counts.statistic import Running, Statistic
from bayeskit.errors import BayeskitError, MergeError, TableError, warn_caller
from bayeskit.learn.checks import refuse_new_levels
from bayeskit.learn.labelled import Labelled, read_labelled
from bayeskit.learn.model import SavedModel, plain_class
from bayeskit.learn.plan import Part, Pass, Plan, counting
from bayeskit.learn.scanned import count_more, count_scan, make_plan
from bayeskit.learn.state import CountedState, change_of
from bayeskit.progress import Progress
from bayeskit.table.labels import read_labels
from bayeskit.table.scan.pieces import Scan
from bayeskit.table.schema import Schema


class Learner(SavedModel):
    """A model that learns from counts.

    Subclasses say how to count (:meth:`_count`) and how to estimate (:meth:`_believe`); the rest is the same for all
    and is here. What is chosen while counting (bins, families, a structure, what it was chosen by) is part of the
    counts, so that it goes where they go: ``merge``, ``from_counts``, a file. Probabilities ("beliefs") are computed
    lazily, so a call of ``partial_fit`` costs only its rows.
    """

    # Whether ``partial_fit`` refuses ``classes`` that differ from those of an earlier call, as scikit-learn does.
    _same_classes_only: ClassVar[bool] = False
    # Whether a column may be free text; where the reader finds one, other models leave it out and say so.
    _reads_text: ClassVar[bool] = False
    # The class of the counts.
    _statistic: ClassVar[type[Statistic]]

    _state: CountedState

    @abstractmethod
    def _count(self, rows: Any, schema: Any, before: Any = None) -> Any:
        """Count rows that were read.

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
        settings = self._checked_settings()
        if new_levels not in ("add", "error"):
            raise BayeskitError(f"new_levels must be 'add' or 'error'; got {new_levels!r}.")
        before = self.counts_ if self._is_fitted else None
        if schema is None and before is not None:
            schema = before.schema
        counts, _ = settings._learn(X, y, sample_weight, target, schema, before)
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
        settings = model._checked_settings()
        if not isinstance(counts, cls._statistic):
            raise TypeError(f"a {cls.__name__} learns from {cls._statistic.__name__}; got {type(counts).__name__}.")
        if not counts.n_class.sum() > 0:
            raise TableError("the counts are of no rows, so there is nothing to learn from.")
        model._state = settings._state_of(counts.narrow(), target)
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
        with change_of(self):
            settings = self._checked_settings()
            if isinstance(X, Scan):
                target = settings._target_of_scan(target)
                self._state = settings._state_of(count_scan(settings, X, y, sample_weight, target), target)
            else:
                counts, rows = settings._learn(X, y, sample_weight, target, None, None)
                self._state = settings._state_of(counts, rows.target)
        return self

    def plan(self, X: Scan, *, target: str, sample_weight: str | None = None, progress: Progress | None = None) -> Plan:
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
        return make_plan(self._checked_settings(), X, target, sample_weight, progress)

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
        with change_of(self):
            settings, state = self._checked_settings(), self.__dict__.get("_state")
            if self._same_classes_only and classes is not None and state is not None:
                _refuse_other_classes(read_labels(classes)[0], state.classes)
            counted: Statistic | Running
            if isinstance(X, Scan):
                target = settings._target_of_scan(target or (None if state is None else state.target))
                counted = settings._learn_scan(X, y, sample_weight, target, state)
            elif state is None:
                counted, rows = settings._learn(X, y, sample_weight, target, None, None)
                target = rows.target
            else:
                rows = settings._read_rows(X, y, sample_weight, target, state.schema)
                counted, target = settings._add(state.counted, rows), rows.target
            if classes is not None:
                counted = _announce(counted, read_labels(classes)[0], first=state is None)
            said: frozenset[str] = frozenset() if state is None else state.said
            frozen = settings._frozen_by(counted.schema)
            new = settings._state_of(counted, target or (None if state is None else state.target), said | frozen)
            _say_what_is_frozen(frozen - said, counted.schema)
            self._state = new
        return self

    def merge(self, other: Self) -> Self:
        """Add the counts of another fitted model of the same class, as if this model had learned from its rows."""
        self._refuse_unfitted()
        if plain_class(other) is not plain_class(self):
            raise MergeError(
                f"a {type(self).__name__} merges with a {type(self).__name__}; got {type(other).__name__}."
            )
        theirs = other.counts_
        with change_of(self):
            settings, state = self._as_settings(), self._state
            self._state = settings._state_of(settings._plus(state.counts, theirs), state.target, state.said)
        return self

    def unlearn(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Remove rows that were learned before; the counts are then exactly those of the other rows."""
        self._refuse_unfitted()
        with change_of(self):
            settings, state = self._as_settings(), self._state
            if isinstance(X, Scan):
                target = settings._target_of_scan(target or state.target)
                counts = count_more(settings, X, y, sample_weight, target, state.counts)
            else:
                counts, _ = settings._learn(X, y, sample_weight, target, state.counts.schema, state.counts)
            rest = state.counts - counts
            if not rest.n_class.sum() > 0:
                raise TableError(
                    "unlearn would remove every row, and a model without rows cannot predict; make a new one."
                )
            self._state = settings._state_of(rest, state.target, state.said)
        return self

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, target: str | None, schema: Schema | None, before: Statistic | None
    ) -> tuple[Statistic, Labelled]:
        rows = self._read_rows(X, y, sample_weight, target, schema)
        return self._count(rows, schema, before), rows

    def _learn_scan(self, X: Scan, y: Any, sample_weight: Any, target: str | None, state: Any) -> Any:
        """Return the earlier counts plus those of all rows of a scan."""
        if state is None:
            return count_scan(self, X, y, sample_weight, target)
        return self._plus(state.counts, count_more(self, X, y, sample_weight, target, state.counts))

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, target: str | None, schema: Any) -> Any:
        """Read the arguments of ``fit`` and similar methods; models of other data than tables override it."""
        how = type(self).__name__, getattr(self, "kinds", None)
        return read_labelled(X, y, sample_weight, target, schema, *how, texts=self._reads_text)

    def _add(self, before: Any, rows: Any) -> Any:
        """Return the earlier counts plus the counts of more rows, as a sum or a running sum."""
        return self._plus(before, self._count(rows, before.schema, before))

    def _plus(self, ours: Any, theirs: Any) -> Any:
        return ours + theirs

    def _state_of(
        self, counts: Statistic | Running, target: str | None, said: frozenset[str] = frozenset()
    ) -> CountedState:
        # Called on the settings, which go into the state.
        self._check(counts)
        return CountedState(self, counts, target, said)

    def _frozen_by(self, schema: Schema) -> frozenset[str]:
        """Return what later rows will not change: "bins of" a column, or a structure."""
        return frozenset(f"bins of {variable.name}" for variable in schema if variable.is_binned)

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def counts_(self) -> Any:
        """The sufficient statistics: a value that later calls do not change."""
        return self._fitted.counts

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, of shape (n_classes,)."""
        return self._fitted.classes  # type: ignore[no-any-return]

    @property
    def _beliefs(self) -> Any:
        return self._fitted.beliefs

    @property
    def _believed_with(self) -> dict[str, Any]:
        return self._fitted.settings.get_params(deep=False)  # type: ignore[no-any-return]

    # -- files ------------------------------------------------------------------------------------------------------

    def _learned_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return self.counts_.to_parts()  # type: ignore[no-any-return]

    def _restored(self, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], target: str | None) -> CountedState:
        state = self._state_of(self._statistic.from_parts(meta, arrays), target)
        state.beliefs  # noqa: B018 - what cannot be believed is refused while the file is read
        return state


def _refuse_other_classes(classes: NDArray[Any], before: NDArray[Any]) -> None:
    if set(classes.tolist()) != set(before.tolist()):
        raise TableError(
            f"`classes={classes.tolist()}` is not the same as on the last call to partial_fit, which had "
            f"{before.tolist()}; leave it out there, or start with all classes."
        )


def _announce(counts: Statistic | Running, classes: NDArray[Any], first: bool) -> Statistic | Running:
    strange = sorted(set(counts.classes.tolist()) - set(classes.tolist()), key=str)
    if first and strange:
        raise TableError(f"The target label(s) {strange} in y do not exist in the initial classes {classes.tolist()}.")
    return counts.declare(classes)


def _say_what_is_frozen(new: frozenset[str], schema: Schema) -> None:
    """Warn the caller of ``partial_fit`` of what later rows will not change."""
    bins = "bins of "
    names = [name for name in getattr(schema, "names", ()) if bins + name in new]
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
