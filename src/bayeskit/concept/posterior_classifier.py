"""What the Bayes optimal and the Gibbs classifier share: hypotheses and their posterior."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.table_classifier import classes_to_parts
from bayeskit.concept.brute_force import BruteForceMAP
from bayeskit.concept.folds import without_column
from bayeskit.concept.hypotheses import Hypotheses
from bayeskit.concept.hypothesis_sets import ClassifierSet, ConjunctionSet, FunctionSet, HypothesisSet
from bayeskit.concept.votes import Votes
from bayeskit.counts.table import read_classes
from bayeskit.errors import BayeskitError, ModelFileError, TableError
from bayeskit.explain.explanation import Explanation, Explanations
from bayeskit.explain.log_odds import explain, explain_rows
from bayeskit.explain.model_summary import ModelSummary, listed
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.io.model_files import save
from bayeskit.io.registry import MODELS, model_class
from bayeskit.learn.checks import check_columns, in_order, refuse_target_among_features, split_target
from bayeskit.learn.estimator import Classifier, Estimator, not_fitted
from bayeskit.learn.parameters import at_least, refuse_parameters
from bayeskit.plot.hypotheses import posterior_bars
from bayeskit.table.labels import read_labels
from bayeskit.table.read import read_table, refuse_sparse
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PosteriorClassifier(Classifier, Estimator):
    """A classifier made of hypotheses whose posterior it computes in ``fit``; the subclasses list the parameters."""

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
        refuse_parameters(self, self._rules)
        refuse_sparse(X)
        if target is not None:
            if y is not None:
                raise TableError(f"give the labels once: either y or target='{target}'.")
            source, y = split_target(X, target)
            X = without_column(X, target)
        elif y is None:
            raise TableError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        else:
            source = read_table(X)
            refuse_target_among_features(X, source, y)
        read_labels(y, source.n_rows)
        found, log_likelihood = self._fit_hypotheses(X, y)
        self._choose(found)
        self._set: HypothesisSet = found
        self.classes_ = found.classes
        self.posterior_ = found.posterior
        self.hypothesis_names_ = found.names
        self.log_likelihood_ = log_likelihood
        self._names, self._named, self.target_ = source.names, source.named, target
        self.n_features_in_ = len(source.names)
        if source.named:
            self.feature_names_in_ = np.array(source.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _fit_hypotheses(self, X: Any, y: Any) -> tuple[HypothesisSet, NDArray[np.float64]]:
        given = self.hypotheses
        if isinstance(given, BruteForceMAP):
            learner = given
            if not self.prefit:
                learner = BruteForceMAP(**given.get_params(deep=False)).fit(X, y)
            conjunctions = ConjunctionSet(learner)
            return conjunctions, learner._log_likelihood(learner.errors_)
        if isinstance(given, Hypotheses):
            functions = FunctionSet(given, X, y)
            return functions, functions.hypotheses.log_likelihood
        from sklearn.utils import check_random_state

        rng = None if self.random_state is None else check_random_state(self.random_state)
        return ClassifierSet.fit(
            default_hypotheses() if given is None else given,
            X,
            y,
            prior=self.prior,
            prefit=bool(self.prefit),
            cv=int(self.cv),
            noise=float(self.noise),
            rng=rng,
        )

    def _choose(self, found: HypothesisSet) -> None:
        """Finish the fit once the posterior is known."""

    def _read(self, X: Any) -> Any:
        """Check the columns of rows to predict, and return them as the same type of table."""
        self._refuse_unfitted()
        source = read_table(X)
        if self.target_ is not None and source.named and self.target_ in source.names:
            X, source = without_column(X, self.target_), source.without(self.target_)
        ordered = in_order(X, source, self._names)
        check_columns(ordered, self._names, self._named, type(self).__name__)
        return X

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        self._refuse_unfitted()
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(v | x), of shape (n_rows, n_classes)."""
        raise NotImplementedError

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(v | x), of shape (n_rows, n_classes)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> float:
        """Return the accuracy."""
        if target is not None:
            self._refuse_unfitted()
            y, X = split_target(X, target)[1], without_column(X, target)
        return float(super().score(X, y, sample_weight))

    def explain(self, row: Any, classes: tuple[Any, Any] | None = None, order: Any = None) -> Explanation:
        """Explain one row: the prior log-odds of two classes, and how each feature changes them.

        The hypotheses must accept missing cells, as those of bayeskit do. :meth:`votes` shows the hypotheses instead.
        """
        self._refuse_unfitted()
        return explain(self, row, classes, order)

    def explain_rows(self, X: Any, classes: tuple[Any, Any] | None = None) -> Explanations:
        """Explain every row of a table, as :meth:`explain` does one."""
        self._refuse_unfitted()
        return explain_rows(self, X, classes)

    def votes(self, X: Any) -> Votes:
        """Return the prediction of each hypothesis for one row, given as a table with one row or a dict."""
        if isinstance(X, dict) and not any(isinstance(value, list | np.ndarray) for value in X.values()):
            X = {name: [value] for name, value in X.items()}
        X = self._read(X)
        best = np.argsort(-self.posterior_, kind="stable")[:50]
        proba = np.stack([self._set.proba_of(int(k), X)[0] for k in best])
        names = tuple(self._name(int(k)) for k in best)
        return Votes(names, tuple(self.classes_.tolist()), self.posterior_[best], proba)

    def plot(self, n: int = 10, *, ax: Axes | None = None) -> Axes:
        """Draw the posterior of the n most probable hypotheses as bars, and return the Axes."""
        self._refuse_unfitted()
        best = np.argsort(-self.posterior_, kind="stable")[:n]
        return posterior_bars(self.posterior_[None, best], [str(self._name(int(k))) for k in best], [""], ax=ax)

    def summary(self) -> ModelSummary:
        """Return a printable summary: the hypotheses with their posteriors, the most probable first."""
        self._refuse_unfitted()
        best = np.argsort(-self.posterior_, kind="stable")[:20].tolist()
        names = tuple(str(self._name(k)) for k in best)
        numbers = np.stack([self.posterior_[best], self.log_likelihood_[best]], axis=1)
        facts = {
            "classes": [str(label) for label in self.classes_.tolist()],
            "columns": list(self._names),
            "posterior": dict(zip(names, numbers[:, 0].tolist(), strict=True)),
        }
        size = f"{len(self.posterior_)} hypotheses, {len(self._names)} features, {len(self.classes_)} classes"
        body = listed(names, numbers, ("posterior", "log-likelihood"))
        return ModelSummary(f"{type(self).__name__}: {size}", facts, body)

    @property
    def schema_(self) -> Schema:
        """Name and kind of each column, where all hypotheses are models of bayeskit, which read any table."""
        self._refuse_unfitted()
        members = self._set.members if isinstance(self._set, ClassifierSet) else []
        schemas = [member.schema_ for member in members if hasattr(member, "schema_")]
        if not members or len(schemas) < len(members):
            raise AttributeError("the hypotheses have no schema in common: not all are models of bayeskit over tables.")
        found: Schema = schemas[0]
        return found

    def _name(self, number: int) -> Any:
        if isinstance(self._set, ConjunctionSet):
            return self._set.learner._hypothesis(number)
        return self.hypothesis_names_[number]

    def _refuse_unfitted(self) -> None:
        if not hasattr(self, "_set"):
            raise not_fitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_set")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        given = self.hypotheses
        own = [] if given is None or isinstance(given, BruteForceMAP | Hypotheses) else given
        models = [item[1] if isinstance(item, tuple) else item for item in own]
        inner = [get_tags(model).input_tags if hasattr(model, "__sklearn_tags__") else None for model in models]
        for name in ("allow_nan", "categorical", "string"):
            setattr(tags.input_tags, name, all(getattr(each, name, False) for each in inner))
        return tags

    # -- files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model with its hypotheses to a file; each must be a model of bayeskit that can be saved."""
        self._refuse_unfitted()
        save(self, path)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        self._refuse_unfitted()
        if not isinstance(self._set, ClassifierSet):
            raise ModelFileError(
                "conjunctions and functions cannot be saved in a model file; save the model with pickle."
            )
        meta, arrays = classes_to_parts(self.classes_)
        members = []
        for k, member in enumerate(self._set.members):
            name = type(member).__name__
            if name not in MODELS or type(member) is not model_class(name):
                raise ModelFileError(
                    f"the hypothesis {self.hypothesis_names_[k]!r} is a {type(member).__module__}.{name}, which "
                    "cannot be saved in a model file; save the model with pickle."
                )
            own, own_arrays = member.to_parts()
            members.append({"name": self.hypothesis_names_[k], "model": name, "meta": own})
            arrays.update({f"m{k}_{key}": array for key, array in own_arrays.items()})
        arrays["posterior"], arrays["log_likelihood"] = self.posterior_, self.log_likelihood_
        own_fields = {
            "members": members,
            "noise": float(self.noise),
            "cv": int(self.cv),
            "names": list(self._names),
            "named": self._named,
            "target": self.target_,
            **self._own_parts(),
        }
        return {**meta, **own_fields}, arrays

    def _own_parts(self) -> dict[str, Any]:
        return {}

    def _restore_own(self, meta: dict[str, Any]) -> None:
        """Read what :meth:`_own_parts` gave."""

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Read what :meth:`to_parts` gave; the fitted hypotheses become the parameter, with ``prefit=True``."""
        items = expect_field(meta, "members", list)
        members = []
        for k, item in enumerate(items):
            prefix = f"m{k}_"
            own = {key[len(prefix) :]: array for key, array in arrays.items() if key.startswith(prefix)}
            name = expect_field(item, "model", str)
            if name not in MODELS:
                raise ModelFileError(f"{name!r} is not a model that this bayeskit knows.")
            members.append(model_class(name).from_parts(expect_field(item, "meta", dict), own))
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
        columns = expect_field(meta, "names", list)
        if not all(isinstance(name, str) for name in columns):
            raise ModelFileError("the columns have no names.")
        model._names, model._named, model.target_ = tuple(columns), expect_field(meta, "named", bool), meta["target"]
        if model.target_ is not None and not isinstance(model.target_, str):
            raise ModelFileError("the target is not a column name.")
        model.n_features_in_ = len(columns)
        if model._named:
            model.feature_names_in_ = np.array(columns, dtype=object)
        model.classes_, model.posterior_, model.hypothesis_names_ = classes, posterior, names
        model.log_likelihood_ = expect_array(arrays, "log_likelihood", np.float64, (len(members),))
        model._restore_own(meta)
        model._set = ClassifierSet(names, members, posterior, classes, noise)
        return model


def default_hypotheses() -> list[Any]:
    """Return the classifiers that are used when none are given."""
    from bayeskit.classify.aode import AODE
    from bayeskit.classify.naive_bayes import NaiveBayes
    from bayeskit.classify.tan import TAN
    from bayeskit.concept.mdl_tree import MDLTree

    return [NaiveBayes(), TAN(), AODE(), MDLTree()]


def check_number(number: Any, n: int) -> int:
    """Return the number of a drawn hypothesis, which must be one of n."""
    if type(number) is not int or not 0 <= number < n:
        raise BayeskitError(f"the drawn hypothesis must have a number below {n}; got {number!r}.")
    return number
