"""How well the classifiers do on public tables, beside scikit-learn, Khiops and the published numbers.

`python -m benchmarks.accuracy run ours`, `… run peers` and `… run khiops` work through the tables, smallest first, and
keep each result in build/accuracy.jsonl, so that a broken run goes on where it stopped;
`… write` makes ACCURACY.md from what is there.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import bayeskit

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
RESULTS = ROOT / "build" / "accuracy.jsonl"

LEAST_PROBABILITY = 1e-6
ADULT_TRAINING_ROWS = 32561
# Sums over several identifiers of hundreds of values, all unseen at once, take minutes a fold.
LEFT_OUT = {
    ("cylinder-bands", "KDB 2"),
    ("cylinder-bands", "sel. KDB"),
    ("cylinder-bands", "A2DE"),
    ("arrhythmia", "A2DE"),
}
# A model that has used so many seconds on a table starts no further fold.
SECONDS = {"ours": 25.0, "peers": 60.0, "khiops": 15.0}


def ours() -> dict[str, Callable[[], Any]]:
    return {
        "NB Gaussian": lambda: bayeskit.NaiveBayes(),
        "NB MDL": lambda: bayeskit.NaiveBayes(numeric="mdl"),
        "TAN": lambda: bayeskit.TAN(),
        "KDB 1": lambda: bayeskit.KDB(1),
        "KDB 2": lambda: bayeskit.KDB(2),
        "sel. KDB": lambda: bayeskit.KDB(2, select=True),
        "AODE": lambda: bayeskit.AODE(),
        "A2DE": lambda: bayeskit.AODE(order=2),
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


def load(name: str, schema: dict[str, Any]) -> tuple[pd.DataFrame, pd.Series]:
    frame = pd.read_csv(DATA / name, keep_default_na=False, na_values=[""], dtype=str)
    for column in schema["columns"]:
        kind = float if column["type"] == "numeric" else object
        frame[column["name"]] = frame[column["name"]].astype(kind)
    return frame, frame.pop("class")


def losses(model: Any, X: pd.DataFrame, y: pd.Series, train: Any, test: Any, labels: list[str]) -> dict[str, float]:
    start = time.process_time()
    wall = time.perf_counter()
    model.fit(X.iloc[train], y.iloc[train])
    posterior = np.asarray(model.predict_proba(X.iloc[test]))
    spent, waited = time.process_time() - start, time.perf_counter() - wall
    wide = np.zeros((len(test), len(labels)))
    wide[:, [labels.index(str(label)) for label in model.classes_]] = posterior
    truth = np.array([labels.index(label) for label in y.iloc[test]])
    p_true, best = wide[np.arange(len(test)), truth], wide.argmax(axis=1)
    confidence, right = wide.max(axis=1), best == truth
    bins = np.minimum((confidence * 10).astype(int), 9)
    calibration = sum(
        abs(confidence[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)
    )
    return {
        "error": float(1 - right.mean()),
        "log_loss": float(-np.log(np.clip(p_true, LEAST_PROBABILITY, 1)).mean()),
        "rmse": float(np.sqrt(((1 - p_true) ** 2).mean())),
        "calibration": float(calibration),
        "cpu": spent,
        "wall": waited,
    }


def folds(name: str, X: pd.DataFrame, y: pd.Series, repeats: int) -> list[tuple[Any, Any]]:
    if len(X) > 100_000:
        repeats = 1
    splits = []
    for seed in range(repeats):
        splits += list(StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y))
    return splits[:1] if len(X) > 100_000 else splits


def run(side: str) -> None:
    schemas = json.loads((DATA / "schema.json").read_text())
    names = sorted((k for k in schemas if k.startswith("tabular/")), key=lambda k: schemas[k]["n_rows"])
    makers: dict[str, Any] = {"ours": ours, "peers": peers, "khiops": khiops_alone}[side]()
    done = {(row["table"], row["model"]) for row in results()}
    # The models that have published numbers go first through all tables.
    rounds = [("NB MDL", "TAN", "AODE"), ("A2DE", "KDB 1", "NB Gaussian"), ("KDB 2", "sel. KDB")]
    for name, models in [
        (name, models) for models in (rounds if side == "ours" else [tuple(makers)]) for name in names
    ]:
        table = Path(name).name.split(".")[0]
        waiting = [model for model in models if (table, model) not in done and (table, model) not in LEFT_OUT]
        if not waiting:
            continue
        X, y = load(name, schemas[name])
        labels = sorted(y.unique().tolist())
        for model in waiting:
            rows, spent = [], 0.0
            with warnings.catch_warnings(), bayeskit.threads(1):
                warnings.simplefilter("ignore")
                for train, test in folds(table, X, y, 5 if side == "ours" else 1):
                    if spent > SECONDS[side]:
                        break
                    try:
                        made = makers[model]() if side == "ours" else makers[model](X)
                        rows.append(losses(made, X, y, train, test, labels))
                    except (ValueError, RuntimeError, MemoryError) as error:
                        keep({"table": table, "model": model, "refused": str(error)[:200]})
                        break
                    spent += rows[-1]["wall"]
            if rows:
                keep({"table": table, "model": model, "rows": len(X), "folds": rows})
                error = np.mean([row["error"] for row in rows])
                print(f"{table:22} {model:24} {len(rows):3} folds, error {error:.4f}, {spent:.1f} s", flush=True)
    adult(makers, side, schemas)


def adult(makers: dict[str, Any], side: str, schemas: dict[str, Any]) -> None:
    """The original split of adult, as others report it."""
    done = {row["model"] for row in results() if row["table"] == "adult (original split)"}
    X, y = load("tabular/adult.csv.gz", schemas["tabular/adult.csv.gz"])
    train, test = np.arange(ADULT_TRAINING_ROWS), np.arange(ADULT_TRAINING_ROWS, len(X))
    for model in (model for model in makers if model not in done):
        with warnings.catch_warnings(), bayeskit.threads(1):
            warnings.simplefilter("ignore")
            made = makers[model]() if side == "ours" else makers[model](X)
            row = losses(made, X, y, train, test, sorted(y.unique().tolist()))
        keep({"table": "adult (original split)", "model": model, "rows": len(X), "folds": [row]})
        print("adult, original split", model, row, flush=True)


def keep(row: dict[str, Any]) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def results() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"] and sys.argv[2:] in (["ours"], ["peers"], ["khiops"]):
        run(sys.argv[2])
    elif sys.argv[1:] == ["write"]:
        from benchmarks.accuracy_report import write

        write(results())
    else:
        sys.exit(__doc__)
