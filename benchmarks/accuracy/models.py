"""The models of the study: ours with their defaults, and what scikit-learn and Khiops have for mixed tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import bayeskit


def ours() -> dict[str, Callable[[], Any]]:
    return {
        "NB Gaussian": lambda: bayeskit.NaiveBayes(),
        "NB MDL": lambda: bayeskit.NaiveBayes(numeric="mdl"),
        "TAN": lambda: bayeskit.TAN(),  # as Weka's, which the report has beside it
        "KDB 1": lambda: bayeskit.KDB(1),
        "KDB 2": lambda: bayeskit.KDB(2),
        "sel. KDB": lambda: bayeskit.KDB(2, selective=True),
        "AODE": lambda: bayeskit.AODE(),
        "A2DE": lambda: bayeskit.AODE(n_parents=2),
    }


def peers() -> dict[str, Callable[[pd.DataFrame], Any]]:
    return {
        "sk GaussianNB": lambda X: Pipeline([("code", ordinal(X, fill=True)), ("model", GaussianNB())]),
        "sk LogisticRegression": lambda X: Pipeline(
            [("code", one_hot(X)), ("model", LogisticRegression(max_iter=300))]
        ),
        "sk RandomForest": lambda X: Pipeline(
            [("code", ordinal(X, fill=True)), ("model", RandomForestClassifier(random_state=0))]
        ),
        "sk HistGradientBoosting": boosting,
    }


def khiops_alone() -> dict[str, Callable[[pd.DataFrame], Any]]:
    return {"Khiops": lambda X: khiops()}


def automatic() -> dict[str, Callable[[pd.DataFrame], Any]]:
    return {"AutoBayes": lambda X: bayeskit.AutoBayes()}


def thorough() -> dict[str, Callable[[pd.DataFrame], Any]]:
    return {"AutoBayes thorough": lambda X: bayeskit.AutoBayes("thorough")}


def stopped_early() -> dict[str, Callable[[pd.DataFrame], Any]]:
    """Return the boosters, each stopped by rows that are held out of its rounds."""
    names = {"XGBoost, early stopping": "xgboost", "LightGBM, early stopping": "lightgbm"}
    return {
        name: lambda X, library=library: Pipeline(
            [("code", ordinal(X, fill=False)), ("model", Coded(library, early_stopping=True))]
        )
        for name, library in names.items()
    }


def catboost_stopped_early() -> dict[str, Callable[[pd.DataFrame], Any]]:
    return {
        "CatBoost, early stopping": lambda X: Pipeline(
            [("code", ordinal(X, fill=False)), ("model", Coded("catboost", early_stopping=True))]
        )
    }


def forests() -> dict[str, Callable[[pd.DataFrame], Any]]:
    """Return scikit-learn's forest as it is, and with the temperature that suits the rows out of its bags."""
    names = "sk RandomForest", "sk RandomForest, oob temperature"
    return {
        names[0]: peers()[names[0]],
        names[1]: lambda X: Pipeline([("code", ordinal(X, fill=True)), ("model", TemperedForest())]),
    }


def explainable() -> dict[str, Callable[[pd.DataFrame], Any]]:
    """Return the explainable boosting machine of InterpretML, which takes columns of both kinds as they are."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return {"EBM": lambda X: ExplainableBoostingClassifier(n_jobs=1, random_state=0)}


def more_peers() -> dict[str, Callable[[pd.DataFrame], Any]]:
    """Return the other ensembles, and calibrated forms of the two best of scikit-learn, so that log-loss is fair."""
    import lightgbm  # noqa: F401  (here, so that no fold pays for the import)
    import xgboost  # noqa: F401

    return {
        "sk ExtraTrees": lambda X: Pipeline(
            [("code", ordinal(X, fill=True)), ("model", ExtraTreesClassifier(random_state=0))]
        ),
        "XGBoost": lambda X: Pipeline([("code", ordinal(X, fill=False)), ("model", Coded("xgboost"))]),
        "LightGBM": lambda X: Pipeline([("code", ordinal(X, fill=False)), ("model", Coded("lightgbm"))]),
        "sk RandomForest, oob temperature": forests()["sk RandomForest, oob temperature"],
        "sk RandomForest calibrated": lambda X: CalibratedClassifierCV(
            peers()["sk RandomForest"](X), method="sigmoid", cv=3
        ),
        "sk HistGradientBoosting calibrated": lambda X: CalibratedClassifierCV(boosting(X), method="sigmoid", cv=3),
    }


def catboost_alone() -> dict[str, Callable[[pd.DataFrame], Any]]:
    import catboost  # noqa: F401

    return {"CatBoost": lambda X: Pipeline([("code", ordinal(X, fill=False)), ("model", Coded("catboost"))])}


class TemperedForest(ClassifierMixin, BaseEstimator):
    """RandomForest whose P(c | x)^(1 / T), rescaled, has the least log-loss on the rows out of each tree's bag."""

    def fit(self, X: Any, y: Any) -> TemperedForest:
        """Grow the forest and choose T."""
        self.forest_ = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
        self.classes_ = self.forest_.classes_
        out, truth = self.forest_.oob_decision_function_, np.searchsorted(self.classes_, np.asarray(y))
        known = np.isfinite(out).all(axis=1)
        out, truth = out[known], truth[known]
        rows = np.arange(len(truth))

        def loss(log_temperature: float) -> float:
            return float(-np.log(tempered(out, np.exp(log_temperature))[rows, truth]).mean())

        self.temperature_ = float(np.exp(minimize_scalar(loss, bounds=(-3, 3), method="bounded").x))
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return P(c | x)."""
        return tempered(self.forest_.predict_proba(X), self.temperature_)


def tempered(posterior: Any, temperature: float) -> Any:
    """Return P^(1 / T) that sums to 1; a class that no tree voted for has a hundredth of a vote of 100 trees."""
    logs = np.log(np.maximum(posterior, 1e-4)) / temperature
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


# With early stopping a tenth of the rows is held out, and so many rounds without a lower log-loss there end it.
HELD_OUT, PATIENCE, MOST_ROUNDS = 0.1, 30, 2000


class Coded(ClassifierMixin, BaseEstimator):
    """A booster from PyPI with its defaults on one thread; labels are coded for it.

    With ``early_stopping`` it may have up to 2,000 rounds, and a tenth of its rows says when to stop.

    All of them get the categories as codes: told which columns are categories, CatBoost took twenty times as long on
    autos (57 s a fold instead of 3) and was worse there (20 % error instead of 16).
    """

    def __init__(self, library: str, early_stopping: bool = False) -> None:
        self.library = library
        self.early_stopping = early_stopping

    def fit(self, X: Any, y: Any) -> Coded:
        """Code the labels and fit the booster."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        held_out = self._held_out(codes) if self.early_stopping else np.zeros(len(codes), dtype=bool)
        stops = {"eval_set": [(X[held_out], codes[held_out])]} if held_out.any() else {}
        rounds = {"n_estimators": MOST_ROUNDS} if stops else {}
        if self.library == "xgboost":
            from xgboost import XGBClassifier

            patience = {"early_stopping_rounds": PATIENCE} if stops else {}
            self.model_ = XGBClassifier(n_jobs=1, random_state=0, **rounds, **patience)
            stops |= {"verbose": False} if stops else {}
        elif self.library == "lightgbm":
            from lightgbm import LGBMClassifier, early_stopping

            self.model_ = LGBMClassifier(n_jobs=1, random_state=0, verbose=-1, **rounds)
            stops |= {"callbacks": [early_stopping(PATIENCE, verbose=False)]} if stops else {}
        else:
            from catboost import CatBoostClassifier

            self.model_ = CatBoostClassifier(
                thread_count=1, random_seed=0, verbose=False, allow_writing_files=False, **rounds
            )
            stops |= {"early_stopping_rounds": PATIENCE} if stops else {}
        self.model_.fit(X[~held_out], codes[~held_out], **stops)
        return self

    @staticmethod
    def _held_out(codes: Any) -> Any:
        """Return which rows say when to stop: a tenth of each class, none of a class of fewer than ten rows."""
        held_out = np.zeros(len(codes), dtype=bool)
        rng = np.random.default_rng(0)
        for each in np.unique(codes):
            rows = np.flatnonzero(codes == each)
            held_out[rng.permutation(rows)[: int(HELD_OUT * len(rows))]] = True
        return held_out

    def predict_proba(self, X: Any) -> Any:
        """Return P(c | x)."""
        return self.model_.predict_proba(X)


SIDES: dict[str, Callable[[], dict[str, Any]]] = {
    "ours": ours,
    "auto": automatic,
    "thorough": thorough,
    "peers": peers,
    "more": more_peers,
    "catboost": catboost_alone,
    "stopped": stopped_early,
    "catboost-stopped": catboost_stopped_early,
    "ebm": explainable,
    "forests": forests,
    "khiops": khiops_alone,
}


def columns_of(X: pd.DataFrame) -> tuple[list[str], list[str]]:
    numeric = [name for name in X if X[name].dtype.kind == "f"]
    return numeric, [name for name in X if name not in numeric]


def ordinal(X: pd.DataFrame, *, fill: bool) -> ColumnTransformer:
    numeric, categorical = columns_of(X)
    code = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    rest = make_pipeline(code, SimpleImputer(strategy="most_frequent", keep_empty_features=True)) if fill else code
    numbers: Any = SimpleImputer(strategy="median", keep_empty_features=True) if fill else "passthrough"
    return ColumnTransformer([("numbers", numbers, numeric), ("codes", rest, categorical)])


def one_hot(X: pd.DataFrame) -> ColumnTransformer:
    numeric, categorical = columns_of(X)
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    return ColumnTransformer(
        [("numbers", numbers, numeric), ("codes", OneHotEncoder(handle_unknown="ignore"), categorical)]
    )


def boosting(X: pd.DataFrame) -> Pipeline:
    numeric, categorical = columns_of(X)
    few = [X[name].nunique() <= 200 for name in categorical]
    mask = [False] * len(numeric) + few
    return Pipeline(
        [
            ("code", ordinal(X, fill=False)),
            ("model", HistGradientBoostingClassifier(random_state=0, categorical_features=mask)),
        ]
    )


def khiops() -> Any:
    # Khiops looks for its programs on the path of the environment that it was installed into.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    from khiops.sklearn import KhiopsClassifier

    return KhiopsClassifier()
