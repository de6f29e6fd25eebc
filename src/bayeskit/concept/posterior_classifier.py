"""What the Bayes optimal and the Gibbs classifier share: hypotheses and their posterior."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.table_classifier import classes_to_parts
from bayeskit.concept.brute_force import BruteForceMAP
from bayeskit.concept.folds import without_column
from bayeskit.concept.hypotheses import Hypotheses
from bayeskit.concept.hypothesis_sets import ClassifierSet, ConjunctionSet, FunctionSet, HypothesisSet, Votes
from bayeskit.concept.probabilities import log_of
from bayeskit.counts.class_labels import read_classes
from bayeskit.counts.features import FeatureNames
from bayeskit.errors import ModelFileError
from bayeskit.explain.explanation import Explanation, Explanations
from bayeskit.explain.log_odds import explain, explain_rows
from bayeskit.explain.model_summary import ModelSummary, listed
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.io.registry import MODELS, model_class
from bayeskit.learn.checks import check_columns, in_order, split_target
from bayeskit.learn.labelled import read_labelled
from bayeskit.learn.model import SavedModel, accuracy, plain_class
from bayeskit.learn.parameters import at_least, refuse_parameters
from bayeskit.learn.state import State, learned
from bayeskit.plot.hypotheses import posterior_bars
from bayeskit.table.read import read_table, refuse_sparse
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class HypothesesState(State):
    """Hypotheses with their posterior, and the one that was drawn where a model draws one."""

    set: HypothesisSet
    log_likelihood: NDArray[np.float64]  # (n_hypotheses,)
    sampled: int | None = None

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels."""
        return self.set.classes

    @property
    def posterior(self) -> NDArray[np.float64]:
        """P(h | D), of shape (n_hypotheses,)."""
        return self.set.posterior

    @property
    def names(self) -> tuple[Any, ...]:
        """The names of the hypotheses."""
        return self.set.names

    def name(self, number: int) -> Any:
        """Return the name of one hypothesis."""
        return (
            self.set.learner._state.hypothesis(number) if isinstance(self.set, ConjunctionSet) else self.names[number]
        )


class PosteriorClassifier(SavedModel):
    """A classifier made of hypotheses whose posterior it computes in ``fit``; the subclasses list the parameters."""

    _role = "classifier"
    _state: HypothesesState

    classes_ = learned("classes", "The class labels, of shape (n_classes,).")
    posterior_ = learned("posterior", "P(h | D), of shape (n_hypotheses,).")
    hypothesis_names_ = learned("names", "The names of the hypotheses.")
    log_likelihood_ = learned("log_likelihood", "Σ log P(d_i | h, x_i) over held-out rows, of shape (n_hypotheses,).")

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "cv": at_least(2, whole=True),
        "noise": ("a number of at least 0 and below 1", lambda noise: at_least(0)[1](noise) and noise < 1),
        "prefit": ("True or False", lambda prefit: isinstance(prefit, bool | np.bool_)),
    }

    def __init__(
        self,
        hypotheses: Any = None,
        *,
        prior: Any = None,
        prefit: bool = False,
        cv: int = 5,
        noise: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.hypotheses = hypotheses
        self.prior = prior
        self.prefit = prefit
        self.cv = cv
        self.noise = noise
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
        """Compute the posterior from a table and its labels, or from a table whose column ``target`` holds them.

        Classifiers that are not fitted yet are fitted too; with ``prefit=True`` the rows are held-out rows, which none
        of them should have seen.
        """
        settings = self._checked_settings()
        refuse_sparse(X)
        rows = read_labelled(X, y, None, target, None, type(self).__name__)
        source, y = rows.source, rows.classes[rows.y]
        hypotheses, log_likelihood = self._fit_hypotheses(X if target is None else without_column(X, target), y)
        names = FeatureNames(len(source.names), source.names if source.named else None)
        self._state = HypothesesState(settings, names, target, hypotheses, log_likelihood, self._sampled(hypotheses))
        return self

    def _as_settings(self) -> Self:
        # Hypotheses that were fitted already stay the user's own.
        model: Self = plain_class(self)(**self.get_params(deep=False))
        return model

    def _fit_hypotheses(self, X: Any, y: Any) -> tuple[HypothesisSet, NDArray[np.float64]]:
        given = self.hypotheses
        if isinstance(given, BruteForceMAP):
            fitted = given if self.prefit else BruteForceMAP(**given.get_params(deep=False)).fit(X, y)
            learner = fitted._now()
            state = learner._state
            return ConjunctionSet(learner), learner._log_likelihood(state.errors, state.n_examples)
        if isinstance(given, Hypotheses):
            functions = FunctionSet(given, X, y)
            return functions, functions.hypotheses.log_likelihood
        from sklearn.utils import check_random_state

        rng = None if self.random_state is None else check_random_state(self.random_state)
        return ClassifierSet.fit(
            [self._class_named(name)() for name in DEFAULT_HYPOTHESES] if given is None else given,
            X,
            y,
            prior=self.prior,
            prefit=bool(self.prefit),
            cv=int(self.cv),
            noise=float(self.noise),
            rng=rng,
        )

    def _sampled(self, hypotheses: HypothesisSet) -> int | None:
        """Return the number of a hypothesis, where the model draws one from the posterior."""
        return None

    def _read(self, X: Any) -> Any:
        """Check the columns of rows to predict, and return them as the same type of table."""
        target, names = self._fitted.target, self._fitted.schema
        source = read_table(X)
        if target is not None and source.named and target in source.names:
            X, source = without_column(X, target), source.without(target)
        ordered = in_order(X, source, names.names)
        check_columns(ordered, names.names, names.named, type(self).__name__)
        return X

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        model = self._now()
        return np.asarray(model.classes_[model.predict_proba(X).argmax(axis=1)])

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(v | x), of shape (n_rows, n_classes)."""

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(v | x), of shape (n_rows, n_classes)."""
        return log_of(self.predict_proba(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> float:
        """Return the accuracy."""
        model = self._now()
        if target is not None:
            y, X = split_target(X, target)[1], without_column(X, target)
        return accuracy(model, X, y, sample_weight)

    def explain(self, row: Any, classes: tuple[Any, Any] | None = None, order: Any = None) -> Explanation:
        """Explain one row: the prior log-odds of two classes, and how each feature changes them.

        The hypotheses must accept missing cells, as those of bayeskit do. :meth:`votes` shows the hypotheses instead.
        """
        return explain(self._now(), row, classes, order)

    def explain_rows(self, X: Any, classes: tuple[Any, Any] | None = None) -> Explanations:
        """Explain every row of a table, as :meth:`explain` does one."""
        return explain_rows(self._now(), X, classes)

    def votes(self, X: Any) -> Votes:
        """Return the prediction of each hypothesis for one row, given as a table with one row or a dict."""
        if isinstance(X, dict) and not any(isinstance(value, list | np.ndarray) for value in X.values()):
            X = {name: [value] for name, value in X.items()}
        model = self._now()
        state, X = model._state, model._read(X)
        best = np.argsort(-state.posterior, kind="stable")[:50]
        proba = np.stack([state.set.proba_of(int(k), X)[0] for k in best])
        names = tuple(state.name(int(k)) for k in best)
        return Votes(names, tuple(state.classes.tolist()), state.posterior[best], proba)

    def plot(self, n: int = 10, *, ax: Axes | None = None) -> Axes:
        """Draw the posterior of the n most probable hypotheses as bars, and return the Axes."""
        state: HypothesesState = self._fitted
        best = np.argsort(-state.posterior, kind="stable")[:n]
        return posterior_bars(state.posterior[None, best], [str(state.name(int(k))) for k in best], [""], ax=ax)

    def summary(self) -> ModelSummary:
        """Return a printable summary: the hypotheses with their posteriors, the most probable first."""
        state: HypothesesState = self._fitted
        best = np.argsort(-state.posterior, kind="stable")[:20].tolist()
        names = tuple(str(state.name(k)) for k in best)
        numbers = np.stack([state.posterior[best], state.log_likelihood[best]], axis=1)
        facts = {
            "classes": [str(label) for label in state.classes.tolist()],
            "columns": list(state.schema.names),
            "posterior": dict(zip(names, numbers[:, 0].tolist(), strict=True)),
        }
        size = f"{len(state.posterior)} hypotheses, {len(state.schema)} features, {len(state.classes)} classes"
        body = listed(names, numbers, ("posterior", "log-likelihood"))
        return ModelSummary(f"{type(self).__name__}: {size}", facts, body)

    @property
    def schema_(self) -> Schema:
        """Name and kind of each column, where all hypotheses are models of bayeskit, which read any table."""
        hypotheses = self._fitted.set
        members = hypotheses.members if isinstance(hypotheses, ClassifierSet) else []
        schemas = [member.schema_ for member in members if hasattr(member, "schema_")]
        if not members or len(schemas) < len(members):
            raise AttributeError("the hypotheses have no schema in common: not all are models of bayeskit over tables.")
        schema: Schema = schemas[0]
        return schema

    def _set_tags(self, tags: Any) -> None:
        from sklearn.utils import get_tags

        super()._set_tags(tags)
        given = self.hypotheses
        classifiers = [] if given is None or isinstance(given, BruteForceMAP | Hypotheses) else given
        models = [item[1] if isinstance(item, tuple) else item for item in classifiers]
        inner = [get_tags(model).input_tags if hasattr(model, "__sklearn_tags__") else None for model in models]
        for name in ("allow_nan", "categorical", "string"):
            setattr(tags.input_tags, name, all(getattr(each, name, False) for each in inner))

    # -- files ------------------------------------------------------------------------------------------------------

    def _to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        model = self._now()
        state = model._state
        if not isinstance(state.set, ClassifierSet):
            raise ModelFileError(
                "conjunctions and functions cannot be saved in a model file; save the model with pickle."
            )
        meta, arrays = classes_to_parts(state.classes)
        members = []
        for k, member in enumerate(state.set.members):
            name = type(member).__name__
            if name not in MODELS or plain_class(member) is not model_class(name):
                raise ModelFileError(
                    f"the hypothesis {state.names[k]!r} is a {type(member).__module__}.{name}, which "
                    "cannot be saved in a model file; save the model with pickle."
                )
            member_meta, member_arrays = member._to_parts()
            members.append({"name": state.names[k], "model": name, "meta": member_meta})
            arrays.update({f"m{k}_{key}": array for key, array in member_arrays.items()})
        arrays["posterior"], arrays["log_likelihood"] = state.posterior, state.log_likelihood
        fields = {
            "members": members,
            "noise": float(model.noise),
            "cv": int(model.cv),
            "names": list(state.schema.names),
            "named": state.schema.named,
            "target": state.target,
            "sampled": state.sampled,
        }
        return {**meta, **fields}, arrays

    @classmethod
    def _from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Read what :meth:`_to_parts` gave; the fitted hypotheses become the parameter, with ``prefit=True``."""
        items = expect_field(meta, "members", list)
        members = []
        for k, item in enumerate(items):
            prefix = f"m{k}_"
            member_arrays = {key[len(prefix) :]: array for key, array in arrays.items() if key.startswith(prefix)}
            name = expect_field(item, "model", str)
            if name not in MODELS:
                raise ModelFileError(f"{name!r} is not a model that this bayeskit knows.")
            members.append(cls._class_named(name)._from_parts(expect_field(item, "meta", dict), member_arrays))
        names = tuple(expect_field(item, "name", str) for item in items)
        if not members or len(set(names)) < len(names) or not all(hasattr(m, "predict_proba") for m in members):
            raise ModelFileError("the hypotheses are not classifiers with unique names.")
        noise, cv = expect_field(meta, "noise", float), expect_field(meta, "cv", int)
        model = cls(list(zip(names, members, strict=True)), prefit=True, noise=noise, cv=cv)
        refuse_parameters(model, cls._rules)
        classes = read_classes(meta, arrays)
        posterior = expect_array(arrays, "posterior", np.float64, (len(members),))
        if not ((posterior >= 0).all() and abs(posterior.sum() - 1.0) < 1e-9):
            raise ModelFileError("the posterior is not a distribution.")
        for member in members:
            if not set(np.asarray(member.classes_).tolist()) <= set(classes.tolist()):
                raise ModelFileError("a hypothesis has a class that the model does not have.")
        target = meta["target"]
        if not isinstance(target, str | None):
            raise ModelFileError("the target is not a column name.")
        hypotheses = ClassifierSet(names, members, posterior, classes, noise)
        log_likelihood = expect_array(arrays, "log_likelihood", np.float64, (len(members),))
        sampled = meta["sampled"]
        samples = cls._sampled is not PosteriorClassifier._sampled
        if samples != (sampled is not None) or sampled not in (None, *range(len(members))):
            raise ModelFileError(f"the sampled hypothesis must have a number below {len(members)}; got {sampled!r}.")
        model._state = HypothesesState(
            model._as_settings(), _columns(meta), target, hypotheses, log_likelihood, sampled
        )
        return model


# The classifiers that are used when none are given.
DEFAULT_HYPOTHESES = ("NaiveBayes", "TAN", "AODE", "MDLTree")


def _columns(meta: dict[str, Any]) -> FeatureNames:
    columns = expect_field(meta, "names", list)
    if not all(isinstance(name, str) for name in columns):
        raise ModelFileError("the columns have no names.")
    return FeatureNames(len(columns), tuple(columns) if expect_field(meta, "named", bool) else None)
