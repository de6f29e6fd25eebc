"""Write model files of this version with what the models answer: ``python tests/public/model_files/write.py 0.1.0``.

Run once per release; the files stay, and every later version reads them (docs/reference/policy.md).
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

from bayeskit import (
    AODE,
    KDB,
    ODE,
    SPODE,
    TAN,
    AutoBayes,
    AutoText,
    BayesianNetwork,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianBayes,
    GaussianMixture,
    GaussianNB,
    HiddenMarkov,
    KMeans,
    KNeighbors,
    LatentClass,
    LogisticRegression,
    MDLTree,
    MultinomialNB,
    NaiveBayes,
    NetworkClassifier,
    SigmoidUnit,
    TextClassifier,
    datasets,
)  # fmt: skip

NUMBERS = np.array([[5.1, 3.5], [4.9, 3.0], [6.2, 2.2], [5.9, 3.2], [7.7, 3.8], [6.9, 3.1], [4.7, 3.2], [6.0, 2.2]])
COUNTS = np.array([[3, 0, 1], [2, 1, 0], [0, 4, 1], [0, 2, 2], [5, 0, 0], [0, 1, 3], [2, 0, 2], [1, 3, 1]])
LABELS = np.array(["a", "a", "b", "b", "a", "b", "a", "b"])
TEXTS = [
    "free money now",
    "meeting at noon",
    "cheap money",
    "lunch at noon",
    "free lunch offer",
    "notes of the meeting",
]
OF_TEXTS = ["spam", "ham", "spam", "ham", "spam", "ham"]


def models():
    """Return each model with the rows that it is asked about."""
    penguins = datasets.load_penguins()
    birds = {name: column[:40] for name, column in penguins.items() if name != "species"}
    for kind in (NaiveBayes, TAN, AODE, KDB, SPODE, ODE, AutoBayes, KNeighbors, MDLTree, NetworkClassifier):
        model = kind(numeric="equal-frequency") if kind is NetworkClassifier else kind()
        yield model.fit(penguins, target="species"), birds
    for model in (GaussianNB(), GaussianBayes(), LogisticRegression(l2=1.0), SigmoidUnit(max_iter=100, tol=1.0)):
        yield model.fit(NUMBERS, LABELS), NUMBERS
    for kind in (MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB):
        yield kind().fit(COUNTS, LABELS), COUNTS
    for kind in (TextClassifier, AutoText):
        yield kind().fit(TEXTS, OF_TEXTS), TEXTS
    for model in (GaussianMixture(2, random_state=0), KMeans(2, random_state=0), LatentClass(2, random_state=0)):
        yield model.fit(NUMBERS), NUMBERS
    yield HiddenMarkov(2, random_state=0).fit(NUMBERS), NUMBERS
    yield datasets.load_asia(), None


def answers(model, rows):
    """Return what a model says of rows, as numbers that JSON can hold."""
    if isinstance(model, BayesianNetwork):
        given = {"smoke": "yes"}
        return [model.posterior(name, given=given).array.tolist() for name in model.names if name not in given]
    if isinstance(model, HiddenMarkov):
        return np.asarray(model.smooth(rows)).tolist()
    return np.asarray(model.predict_proba(rows)).tolist()


def as_rows(rows):
    """Return rows in a form that JSON holds."""
    return rows.tolist() if isinstance(rows, np.ndarray) else rows


def write(version):
    """Write all files into a folder of the version, which must not be there yet."""
    folder = Path(__file__).with_name(version)
    folder.mkdir()
    expected = {}
    for model, rows in models():
        name = type(model).__name__
        model.save(folder / f"{name}.bayes")
        expected[name] = {"rows": as_rows(rows), "answers": answers(model, rows)}
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write(sys.argv[1])
