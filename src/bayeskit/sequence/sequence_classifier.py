"""Classes of sequences: one chain per class, and Bayes' rule."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.loss import read_loss, zero_one
from bayeskit.decide.posterior import log_posterior
from bayeskit.decide.risk import bayes_action
from bayeskit.defaults import PRIOR
from bayeskit.errors import ImpossibleEvidenceError, TableError
from bayeskit.estimate.prior import class_prior
from bayeskit.explain.model_summary import ModelSummary
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.learn.model import accuracy
from bayeskit.learn.parameters import a_prior
from bayeskit.learn.state import State, change_of
from bayeskit.progress import Progress
from bayeskit.sequence.chain_parameters import ChainParameters
from bayeskit.sequence.chain_questions import evidence_of
from bayeskit.sequence.hidden_markov import HiddenMarkov
from bayeskit.sequence.rows import Layout, Sequences, is_list_of_sequences, read_sequences
from bayeskit.table.labels import read_labels, refuse_missing_labels
from bayeskit.table.schema import Schema

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassifierState(State):
    """The chains, one per class, and how many sequences each class had."""

    classes: NDArray[Any]  # (n_classes,)
    n_class: NDArray[np.int64]  # (n_classes,): sequences
    chains: tuple[HiddenMarkov, ...]  # plain fitted models
    layout: tuple[str | None, str | None]

    @property
    def log_prior(self) -> Matrix:
        """Log P(class), by the settings."""
        settings: Any = self.settings
        # log 0 = -inf is meant: without smoothing, a class without sequences is impossible.
        with np.errstate(divide="ignore"):
            return np.log(class_prior(self.n_class, settings.prior, settings.smoothing, self.classes))


@dataclass(eq=False, repr=False)
class SequenceClassifier(ChainParameters):
    r"""A classifier of sequences: a hidden Markov model per class, and Bayes' rule over whole sequences.

    .. math:: P(c \mid x_{1:T}) \propto P(c) \, P(x_{1:T} \mid c)

    All chains share the columns, their kinds and their levels, so that their likelihoods can be compared. What the
    rows seen so far say is :meth:`predict_rows`.

    Parameters
    ----------
    n_states : int or "auto", default "auto"
        The number of hidden states of each chain; "auto" chooses it for each class by BIC.
    prior : "smoothed", "data", "uniform", array or dict, default "smoothed"
        P(class), from the numbers of sequences; as in :class:`~bayeskit.NaiveBayes`.
    transitions, start, covariance, smoothing, kinds, numeric, bins, variance, variance_prior, unseen
        What each chain is; see :class:`~bayeskit.HiddenMarkov`.
    step, max_states, n_init, tol, max_iter, max_memory, random_state
        How each chain is fitted; see there.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    chains_ : dict of class to HiddenMarkov
        The fitted chains.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeskit import SequenceClassifier
    >>> calm, wild = [np.zeros(5), np.ones(5) * 0.1], [np.array([0.0, 9.0] * 3), np.array([9.0, 0.0] * 3)]
    >>> model = SequenceClassifier(2).fit(calm + wild, ["calm", "calm", "wild", "wild"])
    >>> model.predict([np.array([0.0, 9.0, 0.0])]).tolist()
    ['wild']
    """

    _role = "classifier"
    _state: ClassifierState = field(init=False)
    _rules: ClassVar[dict[str, tuple[str, Any]]] = {**ChainParameters._rules, "prior": a_prior}

    _: KW_ONLY
    prior: Any = PRIOR
    # One chain per class is more to choose and to fit.
    max_states: int = 5
    n_init: int = 3

    def _chain_settings(self) -> HiddenMarkov:
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name != "prior"}
        return HiddenMarkov(**parameters)._checked_settings()

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
        """Learn from sequences and their classes; an earlier fit is discarded.

        Parameters
        ----------
        X : table, list of tables, or 3-D array
            As in :meth:`HiddenMarkov.fit`; an array of shape (n_sequences, n_rows, n_columns) is a list of sequences.
        y : array, optional
            The class of each sequence, in the order in which groups first come, or of each row, the same in all rows
            of a sequence.
        group, time, lengths
            As in :meth:`HiddenMarkov.fit`.
        target : str, optional
            The column of ``X`` that holds the class, the same in all rows of a group.
        progress : callable, optional
            Called with a :class:`bayeskit.progress.Step` after each step of EM.
        """
        with change_of(self):
            settings = self._checked_settings()
            chain = settings._chain_settings()
            layout = Layout(group, time, lengths, settings.step)
            read, classes, codes = _read_classes(X, y, layout, target)
            schema = chain._schema_of(read)
            chains = []
            for c in range(len(classes)):
                of_class = read.take(np.flatnonzero(codes == c))
                model = HiddenMarkov(**chain.get_params(deep=False))
                model._state = chain._learned_from(of_class, layout.named(), progress, schema)
                chains.append(model)
            n_class = np.bincount(codes, minlength=len(classes))
            state = ClassifierState(settings, schema, target, classes, n_class, tuple(chains), layout.named())
            state.log_prior  # noqa: B018 - a prior that does not fit the classes is refused before the state is assigned
            self._state = state
        return self

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, of shape (n_classes,)."""
        return self._fitted.classes  # type: ignore[no-any-return]

    @property
    def chains_(self) -> dict[Any, HiddenMarkov]:
        """The chain of each class."""
        state: ClassifierState = self._fitted
        return dict(zip(state.classes.tolist(), state.chains, strict=True))

    @property
    def class_log_prior_(self) -> Matrix:
        """Log P(class)."""
        return self._fitted.log_prior  # type: ignore[no-any-return]

    # -- use --------------------------------------------------------------------------------------------------------

    def predict_joint_log_proba(self, X: Any, *, group: Any = None, time: Any = None, lengths: Any = None) -> Matrix:
        """Return log P(sequence, class), of shape (n_sequences, n_classes); −inf where a class cannot give it."""
        model = self._now()
        read, evidence = model._evidence(X, group, time, lengths)
        return np.asarray(np.add.reduceat(evidence, read.offsets[:-1], axis=0) + model.class_log_prior_)

    def predict_log_proba(self, X: Any, *, group: Any = None, time: Any = None, lengths: Any = None) -> Matrix:
        """Return log P(class | sequence), of shape (n_sequences, n_classes)."""
        return log_posterior(_possible(self.predict_joint_log_proba(X, group=group, time=time, lengths=lengths)))

    def predict_proba(self, X: Any, *, group: Any = None, time: Any = None, lengths: Any = None) -> Matrix:
        """Return P(class | sequence), of shape (n_sequences, n_classes), in the order of first rows."""
        return np.exp(self.predict_log_proba(X, group=group, time=time, lengths=lengths))

    def predict(self, X: Any, *, group: Any = None, time: Any = None, lengths: Any = None) -> NDArray[Any]:
        """Return the most probable class of each sequence."""
        model = self._now()
        best = model.predict_log_proba(X, group=group, time=time, lengths=lengths).argmax(axis=1)
        return np.asarray(model.classes_[best])

    def predict_rows(self, X: Any, *, group: Any = None, time: Any = None, lengths: Any = None) -> Any:
        """Return P(class | rows so far) of each row, of shape (n_rows, n_classes): the class as it becomes known."""
        model = self._now()
        read, evidence = model._evidence(X, group, time, lengths)
        # Sums within each sequence alone: a class that one of them rules out is possible in the next.
        parts = [np.cumsum(evidence[a:b], axis=0) for a, b in pairwise(read.offsets.tolist())]
        joint = np.concatenate(parts)
        return read.as_came(np.exp(log_posterior(_possible(joint + model.class_log_prior_))))

    def decide(
        self, X: Any, loss: Any = None, *, group: Any = None, time: Any = None, lengths: Any = None
    ) -> NDArray[Any]:
        """Return the action of least risk for each sequence.

        Parameters
        ----------
        X : sequences
            As in :meth:`fit`.
        loss : array of shape (n_classes, n_actions), dict or Loss, optional
            What each action costs: rows are the truth, columns the action; ``{truth: {action: cost}}``. By default
            every error costs the same, and the action is the most probable class.
        group, time, lengths
            As in :meth:`fit`.
        """
        model = self._now()
        names = model.classes_.tolist()
        costs = read_loss(zero_one(len(names)) if loss is None else loss, names)
        posterior = model.predict_proba(X, group=group, time=time, lengths=lengths)
        actions = np.empty(len(costs.actions), dtype=object)
        actions[:] = costs.actions
        return np.array(actions[bayes_action(posterior, costs)].tolist())

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, group: Any = None, time: Any = None, lengths: Any = None
    ) -> float:
        """Return the share of sequences that are classified rightly."""

        class _Answers:
            def predict(self, _: Any) -> NDArray[Any]:
                return predicted

        predicted = self.predict(X, group=group, time=time, lengths=lengths)
        return accuracy(_Answers(), X, y, sample_weight)

    def summary(self) -> ModelSummary:
        """Return the chain of each class in words."""
        model = self._now()
        parts = {str(label): chain.summary() for label, chain in model.chains_.items()}
        n_class = dict(zip(parts, model._state.n_class.tolist(), strict=True))
        body = "\n".join(f"class {name} ({n_class[name]:g} sequences)\n{part.body}" for name, part in parts.items())
        title = f"{type(self).__name__}: {len(model._state.schema)} features, {len(parts)} classes"
        facts = {
            "classes": list(parts),
            "sequences": n_class,
            "chains": {n: part.to_json() for n, part in parts.items()},
        }
        return ModelSummary(title, facts, body)

    def _evidence(self, X: Any, group: Any, time: Any, lengths: Any) -> tuple[Sequences, Matrix]:
        """Return log P(row | rows before, class) of all times, of shape (n, n_classes)."""
        state: ClassifierState = self._fitted
        X = _as_list(X)
        asked = [chain._asked(X, group, time, lengths, state.target) for chain in state.chains]
        return asked[0][0], np.column_stack([evidence_of(passes) for _, passes in asked])

    # -- files ------------------------------------------------------------------------------------------------------

    def _learned_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        state: ClassifierState = self._fitted
        text = state.classes.dtype.kind in "OU"
        chains, arrays = [], {"n_class": state.n_class}
        for c, chain in enumerate(state.chains):
            meta, chain_arrays = chain._learned_parts()
            chains.append(meta)
            arrays |= {f"{c}_{name}": array for name, array in chain_arrays.items()}
        meta = {
            "schema": state.schema.to_json(),
            "classes": state.classes.tolist(),
            "text_dtype": state.classes.dtype.str if text else None,
            "layout": list(state.layout),
            "chains": chains,
        }
        return meta, arrays

    def _restored(self, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], target: str | None) -> ClassifierState:
        labels = expect_field(meta, "classes", list)
        classes = np.array(labels, dtype=object if meta["text_dtype"] == "|O" else None)
        n_class = expect_array(arrays, "n_class", np.int64, (len(labels),))
        settings, chains = self._chain_settings(), []
        chain_metas = expect_field(meta, "chains", list)
        if not labels or len(chain_metas) != len(labels) or labels != sorted(set(labels)) or (n_class < 0).any():
            raise ValueError("the classes are not in increasing order, each with a chain")
        for c, chain_meta in enumerate(chain_metas):
            parts = {name.removeprefix(f"{c}_"): a for name, a in arrays.items() if name.startswith(f"{c}_")}
            model = HiddenMarkov(**settings.get_params(deep=False))
            model._state = settings._restored(chain_meta, parts, None)
            chains.append(model)
        group, time = meta["layout"]
        schema = Schema.from_json(meta["schema"])
        return ClassifierState(self, schema, target, classes, n_class, tuple(chains), (group, time))

    def _set_tags(self, tags: Any) -> None:
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.three_d_array = True


def _as_list(X: Any) -> Any:
    return list(X) if isinstance(X, np.ndarray) and X.ndim == 3 else X


def _read_classes(
    X: Any, y: Any, layout: Layout, target: str | None
) -> tuple[Sequences, NDArray[Any], NDArray[np.int64]]:
    """Return sequences without states, the classes, and the class of each sequence."""
    X = _as_list(X)
    if y is None and target is None:
        raise TableError("This SequenceClassifier estimator requires y to be passed, but the target y is None.")
    if target is not None:
        if y is not None:
            raise TableError(f"give the classes once: either y or target='{target}'.")
        read = read_sequences(X, None, layout, target)
        if read.states is None or read.classes is None:
            raise TableError(f"the target '{target}' has no value in any row, so there is nothing to learn from.")
        return _one_class_each(read)
    if not is_list_of_sequences(X):
        read = read_sequences(X, None, layout)
        n = len(y) if hasattr(y, "__len__") else 0
        if n == read.source.n_rows and n != read.n_sequences:
            return _one_class_each(read_sequences(X, y, layout))
    else:
        read = read_sequences(X, None, layout)
    classes, codes = read_labels(y, None)
    if len(codes) != read.n_sequences:
        raise TableError(
            f"y has {len(codes)} classes for {read.n_sequences} sequences; it needs one per sequence or one per row."
        )
    return read, classes, codes.astype(np.int64)


def _one_class_each(read: Sequences) -> tuple[Sequences, NDArray[Any], NDArray[np.int64]]:
    assert read.states is not None
    assert read.classes is not None
    missing = (read.states < 0) & (read.rows >= 0)
    if missing.any():
        without = np.zeros(read.source.n_rows, dtype=bool)
        without[read.rows[missing]] = True
        refuse_missing_labels(without, left_out_by_the_command=False)
    first = read.offsets[:-1]
    high = np.maximum.reduceat(read.states, first)
    # A time that was filled in has no class of its own.
    there = np.where(read.rows >= 0, read.states, np.repeat(high, np.diff(read.offsets)))
    low = np.minimum.reduceat(there, first)
    mixed = np.flatnonzero(low != high)
    if len(mixed):
        name = read.names[int(mixed[0])]
        raise TableError(
            f"sequence {name!r} has rows of more than one class; all rows of a sequence have the same. "
            "Give group= or lengths= where the table holds several sequences."
        )
    return replace(read, states=None, classes=None), read.classes, high


def _possible(joint: Matrix) -> Matrix:
    bad = np.flatnonzero(np.isneginf(joint).all(axis=1))
    if len(bad):
        raise ImpossibleEvidenceError(
            f"sequence {int(bad[0])}: no class can give these rows; fit with smoothing > 0, or leave it out."
        )
    return joint
