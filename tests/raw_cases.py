"""A table as people write it, a model that was trained on it, and cells that are hard to read."""

import warnings
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.testing import assert_allclose

import bayeskit
from bayeskit import NaiveBayes
from bayeskit.errors import BayeskitError

# Cells that people and programs write into each column; None is missing, and some are no such cell at all.
ASKED = {
    "price": [
        *("1.234,50", "12,5", "-3,25", "(7,5)", "8,25-", "1 234,5", "1.234.567", "12.34,5", "1,2,3", "0,5", ",5", "7"),
        *(
            "1e3",
            "2,5E2",
            "n/a",
            "-",
            "",
            " ",
            "?",
            "inf",
            "１２,５",
            "12,5 €",
            "01.234",
            "1.23",
            "+4,5",
            "5,",
            "999,99",
        ),
    ],
    "weight": [
        "12 kg",
        "3.5kg",
        "4",
        "KG 7",
        "-2 kgs",
        "8 kg.",
        "5 lb",
        "1,250 kg",
        "x",
        "(2 kg)",
        "9kgs.",
        "kg",
        "3 KG",
    ],
    "rate": ["12%", "3.5 %", "7", "-4%", "(5%)", "%", "1,000%", "0.5 %", "12 % ", "no", "1e2%", "100%"],
    "money": ["$1,234.50", "-$5", "$ -6", "$-7.5", "US$3", "$", "5$", "$12,34,567", "4", "€3", "($8)", "+$2"],
    "size": ["1.2M", "43K", "377", "2 k", "3bn", "5万", "1.5亿元", "(2K)", "K", "2e3K", "12,000", "4 M", "7Mio"],
    "sold": [
        *("16.02.2019", "1.3.2019", "30.02.2019", "2019-12-31", "2019/1/5 13:45", "27 Dec 2019", "Dec 27th, 2019"),
        *(
            "3. März 2020",
            "2019年12月27日",
            "2019-W52",
            "2020-W53-7",
            "2019-W53",
            "2019 Q4",
            "Q2 2020",
            "5/7/19",
            "5/7/71",
        ),
        *(
            "16.02.2019 23:59:60",
            "1.3.2019 7:05 pm",
            "12/12/2019T08:00:00Z",
            "May 2019",
            "2019-07",
            "never",
            "31.12.1899",
        ),
        *(
            "2020-02-29 12:00:00+02:00",
            "1-1/2020",
            "1-1/20",
            "00.01.2019",
            "1.13.2019",
            "2019-01-01 24:00",
            "Mon, 6 Jan 2020",
        ),
        *(
            "2020-01-01 12:30:15.250",
            "１.２.２０２０",
            "2020.1.2",
            "6 Foo 2020",
            "2020-01-05 1:2",
            "13/1/2020 12:30 AM",
        ),
    ],
    "start": [
        *(
            "13:45",
            "1:30 pm",
            "12:15 AM",
            "25:00",
            "PT90M",
            "2h 30m",
            "1 day, 2 hours",
            "-1:15",
            "9:05:30,5",
            "13:00 pm",
        ),
        *("7:61", "90 MIN", "P1DT2H", "P", "5", "noon", "0:00 a.m.", "3:00p.m.", "1:2", "100:30:15.25"),
    ],
    "member": ["yes", "Y", "TRUE", "no", "N", "false", "1", "0", "ja", "SÍ", "Não", "✓", "maybe", " Yes ", "oui", "是"],
    "level": ["low", "medium", "high", "High", "none", "", "NA", "?", "  ", "missing"],
    "city": ["Rome", "rome", "Paris", "unknown", "Ro'me", "NA", "-", "Oslo"],
    "age": [31.0, -999.0, None, 45.5, 0.0, 99.0],
}
NAMES = tuple(ASKED)


def _texts(n, rng):
    """Columns in the conventions that the reader must find, with a few odd cells."""
    k = rng.integers(0, 2, n)
    price = rng.gamma(2.0, 400.0 + 300 * k)
    day = np.datetime64("2019-01-01") + rng.integers(0, 700, n) + 100 * k
    dates = [f"{d.day}.{d.month}.{d.year} {rng.integers(0, 24)}:{rng.integers(0, 60):02d}" for d in day.astype(object)]
    hours = rng.integers(6, 14, n) + 4 * k
    columns = {
        "price": [f"{p:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".") for p in price],
        "weight": [f"{w:.1f} kg" for w in rng.normal(20 + 5 * k, 4)],
        "rate": [f"{100 * r:.1f}%" for r in rng.beta(2 + k, 3)],
        "money": [f"${m:,.2f}" for m in rng.gamma(2, 900 + 500 * k)],
        "size": [f"{s / 1e3:.1f}K" if s > 1e3 else f"{s:.0f}" for s in rng.gamma(1, 2000 + 2000 * k)],
        "sold": dates,
        "start": [f"{h}:{rng.integers(0, 60):02d}" for h in hours],
        "member": rng.choice(["yes", "no", "Y", "N"], n).tolist(),
        "level": np.array(["low", "medium", "high"])[np.clip(rng.integers(0, 3, n) + k, 0, 2)].tolist(),
        "city": np.array(["Rome", "Paris", "Oslo", "rome"])[(rng.integers(0, 3, n) + k) % 4].tolist(),
        "age": [float(a) for a in np.where(rng.random(n) < 0.1, -999.0, rng.normal(40 + 8 * k, 9).round())],
    }
    for name in NAMES[:-1]:
        columns[name] = [None if rng.random() < 0.05 else cell for cell in columns[name]]
    return columns, np.array(["left", "stays"])[k]


@cache
def raw_model(kind=NaiveBayes, n=600):
    """Return a model of the raw columns."""
    columns, label = _texts(n, np.random.default_rng(0))
    table = pa.table({**columns, "end": label})
    return kind().fit(bayeskit.read(table, target="end", missing=["age=-999", "city=unknown"]))


def expected(model, rows):
    """Return P(c | x) of each row by the library, NaN where it refuses the row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.predict_proba(rows)
        except (BayeskitError, ValueError):
            if rows.num_rows == 1:
                return np.full((1, len(model.classes_)), np.nan)
    half = rows.num_rows // 2
    return np.concatenate([expected(model, rows.slice(0, half)), expected(model, rows.slice(half))])


def asked():
    """Return one row for each hard cell; the other cells are those of a usual row."""
    usual, _ = _texts(1, np.random.default_rng(5))
    rows = [{**{name: cells[0] for name, cells in usual.items()}, name: cell} for name in NAMES for cell in ASKED[name]]
    rows.append(dict.fromkeys(NAMES))
    return pa.table({name: pa.array([row[name] for row in rows]) for name in NAMES})


def assert_answers(answers, truth):
    """Compare rows of (id, prediction, probabilities …) with P(c | x); a row without an answer is NULL."""
    answers = sorted(answers)
    assert [row[0] for row in answers] == list(range(len(truth)))
    assert_allclose(np.array([row[2:] for row in answers], dtype=float), truth, rtol=0, atol=1e-9, equal_nan=True)
