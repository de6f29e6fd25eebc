"""MDL trees on tables that the choice of predicting with the average was made on: the one tree beside the average."""

from __future__ import annotations

import json
import warnings

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold

from bayeskit import MDLTree
from benchmarks.accuracy.tables import DATA, load
from benchmarks.timing import write_section

TABLES = (
    *("autos", "balance-scale", "breast-w", "cmc", "colic", "cylinder-bands", "diabetes", "ecoli", "haberman"),
    *("heart-c", "heart-h", "heart-statlog", "ionosphere", "lymph", "penguins", "postoperative", "primary-tumor"),
    *("solar-flare-2", "spect", "tae", "titanic", "vertebral-3c"),
)
FOLDS = 10


def measure(name: str) -> tuple[float, float, float, float]:
    """Accuracy of tree and average, then their log-loss; a class that is not in the fit has probability 1e-9."""
    X, y = load(f"tabular/{name}.csv", json.loads((DATA / "schema.json").read_text())[f"tabular/{name}.csv"])
    found = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        model, label = MDLTree().fit(X.iloc[train], y.iloc[train]), y.iloc[test].to_numpy()
        right, loss = [], []
        for average in (False, True):
            p = model.set_params(average=average).predict_proba(X.iloc[test])
            right.append(accuracy_score(label, model.classes_[p.argmax(axis=1)]))
            own = np.where(label[:, None] == model.classes_, p, 0.0).sum(axis=1)
            loss.append(float(-np.log(np.maximum(own, 1e-9)).mean()))
        found.append((*right, *loss))
    tree, averaged, tree_loss, averaged_loss = np.mean(found, axis=0).tolist()
    return tree, averaged, tree_loss, averaged_loss


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class of a few rows cannot be in every fold
        found = {name: measure(name) for name in TABLES}
    found["mean"] = tuple(np.mean(list(found.values()), axis=0).tolist())
    rows = [
        "| table | one tree | average | one tree, log-loss | average, log-loss |",
        "|---|--:|--:|--:|--:|",
        *(f"| {name} | {' | '.join(f'{number:.3f}' for number in numbers)} |" for name, numbers in found.items()),
    ]
    text = (
        f"{len(TABLES)} tables that are not in the comparison with scikit-learn's trees, {FOLDS} folds: accuracy and "
        "log-loss."
    )
    write_section(
        "MDL trees: one tree and the average", "python -m benchmarks mdl_average", text + "\n\n" + "\n".join(rows)
    )
