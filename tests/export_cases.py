"""Models of every class that can be exported, and rows with missing and unseen cells to compare them on."""

from functools import cache

import numpy as np
import pyarrow as pa

from bayeskit import AODE, AutoBayes, GaussianBayes, LogisticRegression, MDLTree
from sql_cases import FittedWhenAsked, hostile_table, mixed_table, wide_table, with_unseen


def mixed_rows(n=700, seed=3, missing=True):
    """Numbers, text and codes that depend on the class; in fit only some columns have missing cells."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["ash", "beech", "cedar"], n, p=[0.5, 0.3, 0.2])
    k = np.array([["ash", "beech", "cedar"].index(c) for c in label])

    def hidden(share):
        return rng.random(n) < share if missing else np.zeros(n, dtype=bool)

    height = rng.normal(k, 1.0)
    return pa.table(
        {
            "height": pa.array(height, mask=hidden(0.1)),
            "width": pa.array(height * 0.5 + rng.normal(0, 1, n) + 1e4),
            "price": pa.array(np.exp(rng.normal(k, 0.7)), mask=hidden(0.05)),
            "site": pa.array(np.array(["n", "s", "o'w", "é"])[(k + rng.integers(0, 3, n)) % 4], mask=hidden(0.08)),
            "wet": pa.array(rng.random(n) < 0.2 + 0.3 * (k == 1)),
            "ring": pa.array(rng.integers(0, 6, n) + k),
        }
    ), label


def asked_rows(table, seed=5):
    """Return rows with more missing cells in every column, values that no row of fit had, and one row of nothing."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name in table.column_names:
        cells = [None if rng.random() < 0.15 else cell for cell in table[name].to_pylist()]
        if pa.types.is_string(table.schema.field(name).type):
            cells = ["never seen" if rng.random() < 0.05 else cell for cell in cells]
        elif pa.types.is_integer(table.schema.field(name).type):
            cells = [99 if rng.random() < 0.05 else cell for cell in cells]
        columns[name] = pa.array([None, *cells], type=table.schema.field(name).type)
    return pa.table(columns)


def more_columns_than_rows(n=50, p=60, seed=8):
    """More columns than rows: AutoBayes has a linear member."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, n)
    numbers = {f"x{j}": pa.array(rng.normal(k * (j % 5 == 0), 1.0), mask=rng.random(n) < 0.1) for j in range(p)}
    return pa.table({**numbers, "site": np.array(["n", "s", "w"])[k + rng.integers(0, 2, n)]}), k


def crossing_rows(n=900, seed=1):
    """Columns that say something together only, which boosted trees learn better than the pool."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    site = np.array(["n", "s", "w"])[rng.integers(0, 3, n)]
    label = np.where(np.sin(3 * x) * z + np.abs(x) * (site == "n") > 0.3, "yes", "no")
    return pa.table({"x": pa.array(x, mask=rng.random(n) < 0.05), "z": z, "site": site}), label


def many_values(n=1200, seed=9):
    """Two columns with more values than AutoBayes has levels: twenty frequent ones, and hundreds with two rows each."""
    rng = np.random.default_rng(seed)
    number = np.concatenate([np.repeat(np.arange(100, 400), 2), rng.integers(0, 20, n - 600)])
    city, shop = number, rng.permutation(number)
    likes = rng.random(400) < 0.5
    label = np.where(likes[city] ^ (rng.random(n) < 0.1), "yes", "no")
    cities = pa.array([f"city {v}" for v in city], mask=rng.random(n) < 0.05)
    return pa.table({"city": cities, "shop": shop * 3, "x": rng.normal(likes[shop], 1.0)}), label


@cache
def export_cases():
    """Return fitted model and rows to score, by the name of the case. More nodes only take databases longer to plan."""
    mixed, label = mixed_rows()
    full, full_label = mixed_rows(300, 4, missing=False)
    text, text_label = hostile_table()
    wide, wide_label = wide_table()
    numbers, number_label = mixed_rows(400, 6)
    numbers = numbers.select(["height", "width", "price"])
    codes, code_label = mixed_table()
    two = np.where(label == "ash", "yes", "no")
    kinds = {"ring": "categorical"}
    cases = {
        "logistic": (LogisticRegression(kinds=kinds, l2=0.1), mixed, label),
        "logistic of two classes": (LogisticRegression(l2=0.1), mixed, two),
        "gaussian": (GaussianBayes(), numbers, number_label),
        "gaussian, tied": (GaussianBayes(covariance="tied", shrinkage=0.1), numbers, number_label),
        "mdl tree": (MDLTree(kinds=kinds), mixed, label),
        "mdl tree alone": (MDLTree(average=False, smoothing=0.5), text, text_label),
        "mdl tree by value": (MDLTree(splits="values"), codes, code_label),
        "aode": (AODE(), text, text_label),
        "aode, few rows": (AODE(min_rows=30, smoothing=0), wide, wide_label),
        "aode, unseen smoothed": (AODE(unseen="smooth", min_rows=2), mixed, label),
        "aode with back-off": (AODE(smoothing="back-off", prior="uniform"), wide, wide_label),
        "auto": (AutoBayes(max_nodes=3000), mixed, label),
        "auto, nothing missing in fit": (AutoBayes(max_nodes=3000), full, full_label),
        "auto of text": (AutoBayes(max_nodes=3000), text, text_label),
        "auto of two classes, fast": (AutoBayes(effort="fast", prior={"yes": 0.1, "no": 0.9}), mixed, two),
        "auto of codes": (AutoBayes(class_weight="balanced", max_nodes=3000), codes, code_label),
        "auto, boosted": (AutoBayes(effort="thorough", max_nodes=6000), *crossing_rows()),
        "auto, more columns than rows": (AutoBayes(max_nodes=3000), *more_columns_than_rows()),
        "auto, many values, fast": (AutoBayes(kinds={"shop": "categorical"}, effort="fast"), *many_values()),
    }
    return FittedWhenAsked({name: (model, rows, y, _asked(rows)) for name, (model, rows, y) in cases.items()})


def _asked(rows):
    return with_unseen(rows) if all(pa.types.is_string(t) for t in rows.schema.types) else asked_rows(rows)
