"""Models and rows on which an exported query is compared with the library, whatever the database."""

from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pyarrow as pa
from numpy.testing import assert_allclose

from bayeskit import KDB, ODE, SPODE, TAN, GaussianNB, NaiveBayes

# Names and values that would break a query which did not quote them.
HOSTILE_NAMES = ['a "b"', "c`d", "e'f; DROP TABLE t--", "g\\h", "日本 %s {}", "SELECT"]
HOSTILE_VALUES = ["it's", '"', "`", "\\", "\\'; --", "${env:HOME}", "", " ", "A", "a", "\n", "é", "NULL", "x1 c1 t0"]
# P(c | x) is the same in every database to this.
ATOL = 1e-9


def hostile_table(n=600, seed=0):
    """Text columns of hostile values under hostile names, with missing cells; a class that depends on them."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["o'k", "no\\", "P(no)"], n)
    columns = {}
    for j, name in enumerate(HOSTILE_NAMES):
        values = rng.permutation(HOSTILE_VALUES)[:5]
        like = np.array([values[{"o'k": 0, "no\\": 1, "P(no)": 2}[c]] for c in label])
        cells = np.where(rng.random(n) < 0.6, like, rng.choice(values, n))
        columns[name] = pa.array(cells, mask=rng.random(n) < 0.1 * (j % 3))
    return pa.table(columns), label


def mixed_table(n=600, seed=1):
    """Numbers, counts, amounts, truth values and codes, with missing cells."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, n)
    hidden = [rng.random(n) < 0.1 for _ in range(6)]
    return pa.table(
        {
            "height": pa.array(rng.normal(label, 1.0) + 1e6, mask=hidden[0]),
            "visits": pa.array(rng.poisson(1.0 + label), mask=hidden[1]),
            "price": pa.array(np.exp(rng.normal(label, 0.5)), mask=hidden[2]),
            "flag": pa.array(rng.random(n) < 0.2 + 0.3 * label, mask=hidden[3]),
            "code": pa.array(rng.integers(-2, 3, n) * 7 + label, mask=hidden[4]),
            "share": pa.array(rng.choice([0.5, 1.25, 3.0], n) + 0.25 * (label == 1), mask=hidden[5]),
        }
    ), label


def wide_table(n=800, seed=2):
    """Columns of three values that depend on each other, so that tables are merged; a fifth of the cells is missing."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["a", "b", "c", "d"], n)
    before, columns = rng.integers(0, 3, n), {}
    for j in range(9):
        before = np.where(rng.random(n) < 0.6, before, (rng.integers(0, 3, n) + (label == "abcd"[j % 4])) % 3)
        columns[f"c{j}"] = pa.array(np.array(["x", "y", "z"])[before], mask=rng.random(n) < 0.2)
    return pa.table(columns), label


KINDS = {"visits": "poisson", "price": "lognormal", "flag": "bernoulli", "code": "categorical", "share": "categorical"}


def with_unseen(table):
    """Return the table with a value that no row of the fit had in some of the cells."""
    columns = {}
    for j, name in enumerate(table.column_names):
        cells = table[name].to_pylist()
        columns[name] = ["never seen" if (i + j) % 11 == 0 else cell for i, cell in enumerate(cells)]
    return pa.table(columns)


class FittedWhenAsked(Mapping):
    """Fitted models and rows to score, by the name of the case; tests that are only collected cost no fit."""

    def __init__(self, cases):
        self.cases, self.fitted = cases, {}

    def __getitem__(self, name):
        if name not in self.fitted:
            model, rows, label, asked = self.cases[name]
            self.fitted[name] = model.fit(rows, label), asked
        return self.fitted[name]

    def __iter__(self):
        return iter(self.cases)

    def __len__(self):
        return len(self.cases)


def cases():
    """Return model, rows and labels to fit it to, and rows to score, by the name of the case."""
    text, text_label = hostile_table()
    mixed, mixed_label = mixed_table()
    wild = with_unseen(text)
    numbers = mixed.select(["height", "price"])
    few = mixed.select(["height", "price", "flag", "share"])
    small = pa.table({f"c{j}": text[name].slice(0, 300) for j, name in enumerate(text.column_names)})
    wide, wide_label = wide_table()
    certain = NaiveBayes(smoothing=0, impossible="prior", unseen="smooth")
    lost = SPODE(super_parent="flag", smoothing=0, impossible="prior")
    on_text, on_mixed = (text, text_label, wild), (mixed, mixed_label, mixed)
    return {
        "naive text": (NaiveBayes(), *on_text),
        "naive text, unseen smoothed": (NaiveBayes(unseen="smooth"), *on_text),
        "naive text without smoothing": (certain, *on_text),
        "naive mixed": (NaiveBayes(kinds=KINDS), *on_mixed),
        "naive bins": (NaiveBayes(numeric="equal-frequency"), *on_mixed),
        "gaussian": (GaussianNB(), numbers.to_pandas().fillna(1.0), mixed_label, numbers),
        "tan text": (TAN(), *on_text),
        "tan text, unseen smoothed": (TAN(unseen="smooth", smoothing=0.1), *on_text),
        "tan bins": (TAN(kinds={"code": "categorical"}), *on_mixed),
        "ode": (ODE(parents={"flag": "code", "height": "flag"}), *on_mixed),
        "kdb 2": (KDB(k=2), few, mixed_label, few),
        "tan of one class": (TAN(), small, ["only"] * 300, with_unseen(small)),
        "tan of many columns": (TAN(), wide, wide_label, with_unseen(wide)),
        "spode without smoothing": (lost, *on_mixed),
    }


CASES = FittedWhenAsked(cases())


def assert_scores(answers, model, rows):
    """Compare rows of (id, prediction, probabilities …) with what the model says."""
    answers = sorted(answers, key=lambda row: row[0])
    assert [row[0] for row in answers] == list(range(rows.num_rows))
    expected = model.predict_proba(rows)
    assert_allclose(np.array([row[2:] for row in answers], dtype=float), expected, rtol=0, atol=ATOL)
    assert [row[1] for row in answers] == model.predict(rows).tolist()


def tempered(model, rows, temperature):
    """Return P(c | x) to the power of 1 / temperature, over their sum."""
    powers = model.predict_proba(rows) ** (1.0 / temperature)
    return powers / powers.sum(axis=1, keepdims=True)


def numbered(rows):
    """Return the rows with a key, by which answers that come in any order are put in order."""
    return rows.append_column("id", pa.array(range(rows.num_rows)))


def typed_table(n=60, seed=7):
    """Columns of the types that databases have: truth values, decimals, an enumeration, digits as text."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["a", "b"], n)
    k = (label == "a").astype(int)
    hidden = [rng.random(n) < 0.1 for _ in range(4)]
    flag = pa.array(rng.random(n) < 0.3 + 0.4 * k, mask=hidden[0])
    price = pa.array([Decimal(int(v)) / 4 for v in k + rng.integers(0, 4, n)], pa.decimal128(8, 2), mask=hidden[1])
    size = pa.array(np.array(["large", "middle", "small"])[k + rng.integers(0, 2, n)], mask=hidden[2])
    digits = pa.array([f"0{v}" for v in k + rng.integers(0, 3, n)], mask=hidden[3])
    return pa.table({"flag": flag, "price": price, "size": size, "digits": digits}), label


def typed_models():
    """Return models that read the typed table: prices as a number, and as codes."""
    rows, label = typed_table()
    return rows, [NaiveBayes().fit(rows, label), NaiveBayes(kinds={"price": "categorical"}).fit(rows, label)]


# A column that held text in fit, as other types: the library refuses them, and so does a query, row by row.
NO_TEXTS = {
    "BOOLEAN": "TRUE",
    "INTEGER": "1",
    "DOUBLE PRECISION": "1.5",
    "DECIMAL(4, 2)": "1.25",
    "DATE": "'2020-01-01'",
}


def text_model():
    """Return a model whose only column held text."""
    return NaiveBayes().fit({"word": ["true", "false", "1", "2020-01-01"]}, ["no", "yes", "no", "yes"])
