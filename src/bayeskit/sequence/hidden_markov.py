"""Hidden Markov models over any table of sequences."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.gaussian import GaussianCounts
from bayeskit.counts.memory import read_memory
from bayeskit.errors import BayeskitError, MergeError, TableError, warn_caller
from bayeskit.estimate.history import History
from bayeskit.kinds import Estimation
from bayeskit.learn.checks import warn_of_empty_columns
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.counting import learn_counts
from bayeskit.learn.model import plain_class
from bayeskit.learn.state import change_of
from bayeskit.mixture.start import as_generator
from bayeskit.progress import Progress
from bayeskit.sequence.beliefs import ChainBeliefs
from bayeskit.sequence.chain_parameters import ChainParameters
from bayeskit.sequence.chain_questions import ChainQuestions
from bayeskit.sequence.counts import SequenceCounts, count_steps, gaussian_columns, joint_schema
from bayeskit.sequence.expected import HiddenRows
from bayeskit.sequence.learning import Candidate, Climb, HiddenSequences, Record
from bayeskit.sequence.rows import Layout, Sequences, matched, read_sequences
from bayeskit.sequence.scanned import count_scan
from bayeskit.sequence.state import ChainState
from bayeskit.sequence.transitions import allowed_states, refuse_transitions
from bayeskit.table.encode import encode
from bayeskit.table.scan import Scan
from bayeskit.table.schema import Schema


@dataclass(eq=False, repr=False)
class HiddenMarkov(ChainQuestions, ChainParameters):
    r"""A hidden Markov model: a chain of states, each of which gives a row of a table.

    .. math:: P(s_{1:T}, x_{1:T}) = π_{s_1} \prod_{t>1} a_{s_{t-1} s_t} \prod_t \prod_j P(x_{tj} \mid s_t)

    Within a state it is naive Bayes: columns may be of any kind, mixed, and a missing cell is summed out. Where all
    states are known, learning is counting. Where some or all are hidden, the counts are expected counts, by EM
    (Baum–Welch): the objective, log-likelihood plus log prior, never decreases.

    Parameters
    ----------
    n_states : int or "auto", default "auto"
        The number of hidden states; "auto" tries 1, 2, … and keeps the best by BIC. Where states are given in ``fit``
        they are those states.
    transitions : "any", "left-to-right", matrix or dict, default "any"
        Which steps are possible; the others are zeros that learning keeps. "left-to-right" begins in the first state
        and never goes back. A matrix of truth values has one row per state; a dict gives for each state those that
        may follow it.
    start : list of states, optional
        The states that a sequence may begin in; by default all.
    covariance : {"diagonal", "full"}, default "diagonal"
        Whether gaussian columns are independent within a state, or have one covariance matrix per state.
    smoothing : float or smoothing, default 1.0
        λ, added to each count of a value, a first state and a step; 0 is maximum likelihood.
    kinds : dict of column to kind, or one kind for all, optional
        Overrides the dtype: "categorical", "gaussian", "poisson", "bernoulli", "lognormal", …
    numeric : str, default "gaussian"
        The kind of numeric columns that ``kinds`` does not name.
    bins : int, default 10
        The largest number of bins, where numbers are cut.
    variance : {"posterior", "ml", "unbiased"}, default "posterior"
        How the variance of a gaussian column in a state is estimated, as in :class:`~bayeskit.NaiveBayes`.
    variance_prior : float, default 8.0
        How many rows with the variance of the whole column "posterior" adds to each state.
    unseen : {"ignore", "error", "smooth"}, default "ignore"
        What a value does that was not seen in ``fit``: it counts as missing, is an error, or has a share of its own.
    step : number, str or None, default None
        The time between two rows, such as ``"1 day"``, ``"1 month"`` or 0.5: gaps are filled with rows of missing
        cells. None means that all steps are equal (a gap is an error), "any" that only the order matters.
    max_states : int, default 10
        The largest number that "auto" tries; it stops earlier after three numbers in a row that are no better.
    n_init : int, default 5
        The number of starts of EM; the one with the best final objective is kept.
    tol : float, default 1e-6
        Stop when a step improves the objective by less than this per row.
    max_iter : int, default 500
        The largest number of steps; reaching it gives a warning.
    max_memory : int or str, default "4 GiB"
        What the rows of a pass may take; longer sequences are done in blocks of at least √n rows.
    random_state : int, generator or None, default 0
        Seed of the starts.

    Attributes
    ----------
    states_ : array of shape (n_states,)
        The states: the labels that were given, or 0, 1, … in decreasing order of their share.
    start_ : float array of shape (n_states,)
        P(first state).
    transitions_ : float array of shape (n_states, n_states)
        P(next state | state): one row per state.
    stationary_, durations_ : float arrays of shape (n_states,)
        The share of time in each state in the long run, and the expected number of rows that a stay lasts.
    history_ : History or None
        The objective of EM before each step and at the end; None where all states were given.
    selection_ : tuple of Candidate
        The numbers of states that were tried, with BIC.
    counts_ : SequenceCounts
        The counts; expected ones where states were hidden.

    References
    ----------
    Rabiner (1989), A tutorial on hidden Markov models, Proceedings of the IEEE 77, 257–286.

    Examples
    --------
    >>> from bayeskit import HiddenMarkov
    >>> days = {"umbrella": [True, True, False, False], "weather": ["rain", "rain", "sun", "sun"]}
    >>> model = HiddenMarkov().fit(days, target="weather")
    >>> model.transitions_.round(2)
    array([[0.5 , 0.5 ],
           [0.33, 0.67]])
    >>> model.filter({"umbrella": [True, False]}).round(2)
    array([[0.86, 0.14],
           [0.23, 0.77]])
    """

    _role = None
    _state: ChainState = field(init=False)

    def _refuse_together(self) -> None:
        refuse_transitions(self.transitions, self.start, self.n_states)

    # -- learning ---------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        group: Any = None,
        time: Any = None,
        lengths: Any = None,
        target: str | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from sequences; an earlier fit is discarded.

        Parameters
        ----------
        X : table, list of tables, or 1-D array
            One table with all rows, or a list of sequences: arrays, frames or dicts of columns, with rows in order.
            A 1-D array is one sequence of one column. Or a `bayeskit.scan` sorted by group, with the states in
            ``target``: it is counted some sequences at a time, so that it may be larger than memory.
        y : array of shape (n_rows,), or a list of such, optional
            The states; None or NaN where a state is unknown. Without any, all states are hidden.
        group : str or array of shape (n_rows,), optional
            The column that says to which sequence a row belongs, or the values themselves.
        time : str or array of shape (n_rows,), optional
            The column with the time of each row, numbers or dates: rows are put in its order. Without it they are in
            order already.
        lengths : list of int, optional
            Instead of ``group``: the rows of each sequence, one after the other.
        target : str, optional
            The column of ``X`` that holds the states.
        progress : callable, optional
            Called with a :class:`bayeskit.progress.Step` after each step of EM.

        Returns
        -------
        self
        """
        with change_of(self):
            settings = self._checked_settings()
            layout = Layout(group, time, lengths, settings.step)
            if isinstance(X, Scan):
                state = ChainState(settings, settings._count_scan(X, y, layout, target, None), target, layout.named())
                state.beliefs  # noqa: B018 - refused before the state is assigned
                self._state = state
                return self
            read = read_sequences(X, y, layout, target)
            self._state = settings._learned_from(read, layout.named(), progress)
        return self

    def _count_scan(
        self, scan: Scan, y: Any, layout: Layout, target: str | None, schema: Schema | None
    ) -> SequenceCounts:
        """Count the sequences of a scan that is sorted by group, some at a time."""
        if y is not None or layout.lengths is not None or not isinstance(layout.time, str | None):
            raise TableError("a scan names its columns: pass group=, time= and target= as names, and no y or lengths.")
        return count_scan(scan, layout.group, layout.time, target, _CountTable(self, layout, target), schema)

    def _learned_from(
        self,
        read: Sequences,
        names: tuple[str | None, str | None],
        progress: Progress | None,
        schema: Schema | None = None,
    ) -> ChainState:
        if read.classes is not None and self.n_states not in ("auto", len(read.classes)):
            raise BayeskitError(
                f"n_states is {self.n_states}, but the states in y are {read.classes.tolist()}; leave n_states out."
            )
        if read.is_labelled:
            counts = self._counted(read, None)
            state = ChainState(self, counts, read.target, names)
        else:
            counts, record = self._climbed(read, progress, schema)
            state = ChainState(self, counts, read.target, names, record)
        state.beliefs  # noqa: B018 - what cannot be believed is refused here, before the state is assigned
        empty = np.flatnonzero(counts.n_class < 1e-6)
        if len(empty):
            warn_caller(
                f"state {counts.classes[empty[0]]!r} is never visited; its probabilities come from the smoothing."
            )
        return state

    def _schema_of(self, read: Sequences) -> Schema:
        schema = learn_schema(read.source, self.kinds, self.numeric, self.bins)
        warn_of_empty_columns(schema)
        if all(variable.kind == "unknown" for variable in schema):
            raise TableError("every cell is missing, so there is nothing to learn from.")
        return schema

    def _climbed(
        self, read: Sequences, progress: Progress | None, schema: Schema | None
    ) -> tuple[SequenceCounts, Record]:
        """Fit hidden states by EM, under a schema or the one of the rows."""
        schema = self._schema_of(read) if schema is None else schema
        rows = HiddenRows(schema, read.encoded(schema), self._together(schema))
        k = None if read.classes is None else len(read.classes)
        k = k if k is not None or self.n_states == "auto" else int(self.n_states)
        climb = Climb(
            self._estimation,
            lambda n: allowed_states(self.transitions, self.start, self._names(read, n)),
            isinstance(self.transitions, str) and self.transitions == "left-to-right",
            self.n_init,
            self.tol,
            self.max_iter,
            read_memory(self.max_memory),
            progress,
        )
        hidden = HiddenSequences(rows, read.offsets, read.states, climb)
        base = int(as_generator(self.random_state).integers(2**31))
        if k is None:
            estimated, history, tried = hidden.choose(self.max_states, base)
        else:
            estimated, history, log = hidden.climb(k, base)
            tried = (hidden.candidate(estimated.beliefs, log),)
        counts = estimated.counts
        if read.classes is not None:
            table = counts.table
            joint = counts.joint
            counts = SequenceCounts(
                _renamed(table, read.classes), counts.n_start, counts.n_step,
                None if joint is None else _renamed(joint, read.classes),
            )  # fmt: skip
        elif isinstance(self.transitions, str) and self.transitions == "any" and self.start is None:
            counts = counts.in_order(np.argsort(-counts.n_class, kind="stable"))
        return counts, Record(history, tried)

    @staticmethod
    def _names(read: Sequences, n: int) -> NDArray[Any]:
        return np.arange(n) if read.classes is None else read.classes

    def _together(self, schema: Schema) -> bool:
        return self.covariance == "full" and len(gaussian_columns(schema)) > 0

    def _counted(self, read: Sequences, schema: Schema | None) -> SequenceCounts:
        """Count sequences whose states are all known."""
        assert read.classes is not None
        assert read.states is not None
        y = np.empty(read.source.n_rows, dtype=np.int64)
        y[read.rows] = read.states
        y = y.astype(np.uint32)
        table = learn_counts(read.source, y, read.classes, None, self.kinds, self.numeric, self.bins, schema)
        warn_of_empty_columns(table.schema)
        n_start, n_step = count_steps(read.states, read.offsets, len(read.classes))
        joint = None
        if self._together(table.schema):
            columns = encode(read.source, table.schema)
            x = np.column_stack([columns[j] for j in gaussian_columns(table.schema)]).astype(np.float64)
            joint = GaussianCounts.of(joint_schema(table.schema), read.classes, x, y, None)
        return SequenceCounts(table, n_start, n_step, joint)

    @property
    def _estimation(self) -> Estimation:
        return Estimation(self.smoothing, self.unseen, self.variance, self.variance_prior)

    def _believe(self, counts: SequenceCounts) -> ChainBeliefs:
        allowed = allowed_states(self.transitions, self.start, counts.classes)
        forbidden = (counts.n_step > 0) & ~allowed.step
        if forbidden.any():
            i, j = np.argwhere(forbidden)[0]
            raise TableError(
                f"the step from state {counts.classes[i]!r} to {counts.classes[j]!r} is forbidden by transitions=, but "
                f"it occurs {counts.n_step[i, j]:g} time(s)."
            )
        if ((counts.n_start > 0) & ~allowed.start).any():
            i = int(((counts.n_start > 0) & ~allowed.start).argmax())
            raise TableError(f"a sequence begins in state {counts.classes[i]!r}, which start= or transitions= forbids.")
        return ChainBeliefs.of(counts, self._estimation, allowed)

    # -- counts that add --------------------------------------------------------------------------------------------

    def count(
        self, X: Any, y: Any = None, *, group: Any = None, time: Any = None, lengths: Any = None,
        target: str | None = None, schema: Schema | None = None,
    ) -> SequenceCounts:  # fmt: skip
        """Count sequences whose states are all known, and return the counts; the model does not change.

        Counts add: those of several tables, counted anywhere, are summed and passed to :meth:`from_counts`. A sequence
        must be whole in one of them.
        """
        settings = self._checked_settings()
        layout = Layout(group, time, lengths, settings.step)
        if isinstance(X, Scan):
            return settings._count_scan(X, y, layout, target, schema)
        return settings._counted(settings._labelled(read_sequences(X, y, layout, target), X, schema), schema)

    @classmethod
    def from_counts(cls, counts: SequenceCounts, *, target: str | None = None, **parameters: Any) -> Self:
        """Return a model fitted from counts, with these parameters."""
        model = cls(**parameters)
        settings = model._checked_settings()
        if not isinstance(counts, SequenceCounts):
            raise TypeError(f"a {cls.__name__} learns from SequenceCounts; got {type(counts).__name__}.")
        state = ChainState(settings, counts.narrow(), target)
        state.beliefs  # noqa: B018 - refused before the state is assigned
        model._state = state
        return model

    def _labelled(self, read: Sequences, X: Any, schema: Schema | None) -> Sequences:
        if schema is not None:
            read = matched(read, schema, X, type(self).__name__)
        if not read.is_labelled:
            raise TableError(
                "the states are not all known (no y or target, a label is missing, or step= filled a gap), so the rows "
                "cannot be counted; fit learns from such sequences by EM."
            )
        return read

    def partial_fit(
        self, X: Any, y: Any = None, *, group: Any = None, time: Any = None, lengths: Any = None,
        target: str | None = None,
    ) -> Self:  # fmt: skip
        """Learn from more sequences whose states are known; the result is what one fit of all gives."""
        with change_of(self):
            if "_state" not in self.__dict__:
                settings, before = self._checked_settings(), None
            else:
                settings, before = self._checked_settings(), self._known_counts("partial_fit")
            read, state = self._more(settings, X, y, group, time, lengths, target, before)
            counts = settings._counted(read, None if before is None else before.schema)
            names = Layout(group, time).named() if state is None else state.layout
            new = ChainState(settings, counts if before is None else before + counts,
                             read.target if state is None else state.target, names)  # fmt: skip
            new.beliefs  # noqa: B018 - refused before the state is assigned
            self._state = new
        return self

    def unlearn(
        self, X: Any, y: Any = None, *, group: Any = None, time: Any = None, lengths: Any = None,
        target: str | None = None,
    ) -> Self:  # fmt: skip
        """Remove whole sequences that were learned before; the counts are then exactly those of the others."""
        self._refuse_unfitted()
        with change_of(self):
            settings, before = self._as_settings(), self._known_counts("unlearn")
            read, state = self._more(settings, X, y, group, time, lengths, target, before)
            assert state is not None
            rest = before - settings._counted(read, before.schema)
            if not rest.n_class.sum() > 0:
                raise TableError("unlearn would remove every row, and a model without rows cannot predict.")
            self._state = ChainState(settings, rest, state.target, state.layout)
        return self

    def merge(self, other: Self) -> Self:
        """Add the counts of another model whose states were known, as if this one had learned from its sequences."""
        self._refuse_unfitted()
        if plain_class(other) is not plain_class(self):
            raise MergeError(f"a HiddenMarkov merges with a HiddenMarkov; got {type(other).__name__}.")
        theirs = other._known_counts("merge")
        with change_of(self):
            settings, state = self._as_settings(), self._state
            self._state = ChainState(settings, self._known_counts("merge") + theirs, state.target, state.layout)
        return self

    def _more(
        self, settings: Self, X: Any, y: Any, group: Any, time: Any, lengths: Any, target: str | None, before: Any
    ) -> tuple[Sequences, ChainState | None]:
        state: ChainState | None = self.__dict__.get("_state")
        if state is not None:
            if group is None and lengths is None:
                group = state.layout[0]
            time = state.layout[1] if time is None else time
            target = state.target if target is None and y is None else target
        read = read_sequences(X, y, Layout(group, time, lengths, settings.step), target)
        return settings._labelled(read, X, None if before is None else before.schema), state

    def _known_counts(self, what: str) -> SequenceCounts:
        state: ChainState = self._fitted
        if state.record is not None:
            raise MergeError(
                f"{what} needs a model whose states were all known: hidden states have no names of their own, so that "
                "their expected counts do not add; call fit on all sequences."
            )
        return state.counts  # type: ignore[return-value]

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def counts_(self) -> SequenceCounts:
        """The counts; expected ones where states were hidden."""
        return self._fitted.counts  # type: ignore[no-any-return]

    @property
    def history_(self) -> History | None:
        """The objective of EM before each step and at the end; None where all states were given."""
        record = self._fitted.record
        return None if record is None else record.history

    @property
    def selection_(self) -> tuple[Candidate, ...]:
        """The numbers of states that were tried, with their BIC; empty where the states were given."""
        record = self._fitted.record
        return () if record is None else record.selection

    # -- files ------------------------------------------------------------------------------------------------------

    def _learned_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        state: ChainState = self._fitted
        meta, arrays = state.counts.to_parts()
        record = None if state.record is None else state.record.to_json()
        return {**meta, "layout": list(state.layout), "record": record}, arrays

    def _restored(self, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], target: str | None) -> ChainState:
        group, time = meta["layout"]
        if not all(each is None or isinstance(each, str) for each in (group, time)):
            raise TypeError("the group and time are not column names")
        record = None if meta["record"] is None else Record.from_json(meta["record"])
        state = ChainState(self, SequenceCounts.from_parts(meta, arrays), target, (group, time), record)
        state.beliefs  # noqa: B018 - what cannot be believed is refused while the file is read
        return state

    def _set_tags(self, tags: Any) -> None:
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = False


@dataclass(frozen=True)
class _CountTable:
    """Counts the sequences of a table of a scan; it is sent to whoever has the rows."""

    settings: HiddenMarkov
    layout: Layout
    target: str | None

    def __call__(self, table: Any, schema: Schema | None) -> SequenceCounts:
        read = read_sequences(table, None, self.layout, self.target)
        return self.settings._counted(self.settings._labelled(read, table, schema), schema)


def _renamed(counts: Any, classes: NDArray[Any]) -> Any:
    name = "class_labels" if hasattr(counts, "class_labels") else "classes"
    return replace(counts, **{name: classes})
