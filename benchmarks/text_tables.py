"""Tables with columns of free text: AutoBayes and NaiveBayes beside TF-IDF with logistic regression.

Made from the corpora of `../shared/data/text` that have more than their texts: headers of messages, categories of
products, titles; and from what texts show before they are read, such as their length. `python -m benchmarks.text
tables` writes the section of TEXT.md.
"""

from __future__ import annotations

import gzip
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import bayeskit
from bayeskit import AutoBayes, AutoText, NaiveBayes

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "text"


class TextTable(NamedTuple):
    """A table with labels, the names of its columns of text, and which rows are held out."""

    name: str
    X: pd.DataFrame
    y: NDArray[Any]
    texts: list[str]
    test: NDArray[np.bool_]
    chinese: bool = False


def _rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(SHARED / f"{name}.jsonl.gz") as file:
        return [json.loads(line) for line in file]


def _shown(text: str) -> dict[str, float]:
    n = max(len(text), 1)
    return {
        "length": len(text),
        "digits": sum(sign.isdigit() for sign in text) / n,
        "capitals": sum(sign.isupper() for sign in text) / n,
    }


def news() -> TextTable:
    """Messages of 20 newsgroups: subject and body as texts, organization, lines and quoted lines beside them."""
    rows, records = _rows("20news-bydate"), []
    for row in rows:
        head, _, body = row["text"].partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        lines = fields.get("Lines", "").strip()
        records.append(
            {
                "subject": fields.get("Subject"),
                "body": body or None,
                "organization": fields.get("Organization"),
                "lines": float(lines) if lines.isdigit() else np.nan,
                "quoted": sum(line.startswith(">") for line in body.splitlines()),
            }
        )
    test = np.array([row["split"] == "test" for row in rows])
    y = np.array([row["label"] for row in rows], dtype=object)
    return TextTable("20 newsgroups, headers cut", pd.DataFrame(records), y, ["subject", "body"], test)


def shopping() -> TextTable:
    """Chinese shopping reviews: sentiment by the review, the category of the product and what the review shows."""
    rows = [row for i, row in enumerate(_rows("zh-online-shopping-10cats")) if i % 4 == 0]
    records = [{"review": row["text"], "category": row["cat"], **_shown(row["text"])} for row in rows]
    test = np.random.default_rng(0).random(len(rows)) < 1 / 3
    y = np.array([row["label"] for row in rows], dtype=object)
    return TextTable("shopping reviews (Chinese)", pd.DataFrame(records), y, ["review"], test, True)


def messages() -> TextTable:
    """SMS: spam by the message and what it shows."""
    rows = _rows("sms-spam")
    records = [{"message": row["text"], **_shown(row["text"])} for row in rows]
    test = np.random.default_rng(0).random(len(rows)) < 1 / 3
    return TextTable("sms", pd.DataFrame(records), np.array([r["label"] for r in rows], object), ["message"], test)


def reuters() -> TextTable:
    """Reuters, 52 topics: title and body as texts, the length and the digits of the body beside them."""
    rows, records = _rows("reuters-r52"), []
    for row in rows:
        title, _, body = row["text"].partition("\n")
        records.append({"title": title, "body": body or None, **_shown(body)})
    test = np.array([row["split"] == "test" for row in rows])
    y = np.array([row["label"] for row in rows], dtype=object)
    return TextTable("reuters, 52 topics", pd.DataFrame(records), y, ["title", "body"], test)


def _peer(table: TextTable) -> Any:
    words: dict[str, Any] = {"ngram_range": (1, 2), "sublinear_tf": True}
    if table.chinese:
        words["analyzer"] = "char"
    parts: list[Any] = [(name, TfidfVectorizer(**words), name) for name in table.texts]
    numbers = [n for n in table.X if n not in table.texts and table.X[n].dtype.kind in "if"]
    categories = [n for n in table.X if n not in table.texts and n not in numbers]
    parts.append(("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers))
    if categories:
        parts.append(("categories", OneHotEncoder(handle_unknown="ignore"), categories))
    return make_pipeline(ColumnTransformer(parts), LogisticRegression(C=10, max_iter=1000))


def _filled(X: pd.DataFrame, texts: list[str]) -> pd.DataFrame:
    return X.fillna(dict.fromkeys([*texts, *(n for n in X if X[n].dtype.kind not in "if")], ""))


def _scored(fit: Callable[[], Any], predict: Callable[[Any], NDArray[Any]], y: NDArray[Any]) -> tuple[float, ...]:
    start = time.process_time()
    model = fit()
    posterior = predict(model)
    seconds = time.process_time() - start
    place = np.searchsorted(model.classes_, y)
    of_true = np.maximum(posterior[np.arange(len(y)), place], 1e-15)
    return float((posterior.argmax(axis=1) != place).mean()), float(-np.log(of_true).mean()), seconds


def _ways(table: TextTable) -> dict[str, tuple[float, ...]]:
    train, X, y = ~table.test, table.X, table.y
    kinds = dict.fromkeys(table.texts, "text")
    plain = [name for name in X if name not in table.texts]
    joined = _filled(X, table.texts)[table.texts].agg("\n".join, axis=1)
    filled, known = _filled(X, table.texts), y[table.test]

    def ours(model: Any, rows: Any) -> tuple[float, ...]:
        return _scored(lambda: model.fit(rows[train], y[train]), lambda m: m.predict_proba(rows[table.test]), known)

    texts = np.array(joined.tolist(), dtype=object)
    return {
        "AutoBayes": ours(AutoBayes(kinds=kinds), X),
        "TF-IDF + logistic regression": ours(_peer(table), filled),
        "AutoText on the texts alone": ours(AutoText(), texts),
        "AutoBayes without the texts": ours(AutoBayes(), X[plain]),
        "NaiveBayes": ours(NaiveBayes(kinds=kinds), X),
    }


def text_tables() -> str:
    """Return the section of the page."""
    lines = ["| table | rows | model | error | log-loss | CPU, s |", "|---|--:|---|--:|--:|--:|"]
    with bayeskit.threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make in (news, reuters, shopping, messages):
            table = make()
            for way, (error, loss, seconds) in _ways(table).items():
                rows = f"{int((~table.test).sum()):,} / {int(table.test.sum()):,}"
                lines.append(f"| {table.name} | {rows} | {way} | {error:.4f} | {loss:.4f} | {seconds:.1f} |")
                print(lines[-1], flush=True)
    note = (
        'Columns of text beside others (`kinds={…: "text"}`): held-out rows (the split of the corpus, or a third),\n'
        "fit and predict by one thread. The peer is scikit-learn's ColumnTransformer: TF-IDF of words and pairs\n"
        "(sublinear; for Chinese characters and pairs) for each column of text, one-hot categories, standardised\n"
        "numbers, then LogisticRegression(C=10)."
    )
    return "\n".join(["## Texts beside other columns", "", note, "", *lines, ""])
