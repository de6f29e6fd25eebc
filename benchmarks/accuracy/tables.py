"""The tables of the study, their folds, and the file in which each side keeps what it found."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
PUBLISHED = ROOT.parent / "shared" / "golden" / "published" / "weka-5x3fold-accuracy.csv"
RESULTS = ROOT / "build" / "accuracy"

ADULT_TRAINING_ROWS = 32561
REPEATS = 5
FRESH_SEED = 300  # of the folds that nothing was ever chosen on; those of the report are 0 to 4
MANY_ROWS = 100_000
STOPPED = "stopped: the CPU time of a fold was over"
ORIGINAL = "adult (original split)"


def load(name: str, schema: dict[str, Any]) -> tuple[pd.DataFrame, pd.Series]:
    frame = pd.read_csv(DATA / name, keep_default_na=False, na_values=[""], dtype=str)
    for column in schema["columns"]:
        kind = float if column["type"] == "numeric" else object
        frame[column["name"]] = frame[column["name"]].astype(kind)
    return frame, frame.pop("class")


def folds(y: pd.Series, first_seed: int) -> list[tuple[Any, Any]]:
    """Five times three stratified folds, the same for every model; above 100 000 rows three."""
    splits: list[tuple[Any, Any]] = []
    for seed in range(first_seed, first_seed + (REPEATS if len(y) <= MANY_ROWS else 1)):
        splits += StratifiedKFold(3, shuffle=True, random_state=seed).split(y, y)
    return splits


def work(first_seed: int = 0) -> Iterator[tuple[str, pd.DataFrame, pd.Series, list[tuple[Any, Any]]]]:
    """Each table with its splits, smallest first, and adult with the split that others report."""
    schemas = json.loads((DATA / "schema.json").read_text())
    for name in sorted((k for k in schemas if k.startswith("tabular/")), key=lambda k: schemas[k]["n_rows"]):
        X, y = load(name, schemas[name])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class of one or two rows cannot be in every fold
            yield Path(name).name.split(".")[0], X, y, folds(y, first_seed)
        if name == "tabular/adult.csv.gz":
            rows = np.arange(len(X))
            yield ORIGINAL, X, y, [(rows[:ADULT_TRAINING_ROWS], rows[ADULT_TRAINING_ROWS:])]


def keep(side: str, row: dict[str, Any]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / f"{side}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def results(side: str) -> list[dict[str, Any]]:
    path = RESULTS / f"{side}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
