"""Text beside scikit-learn: speed and memory, and the accuracy of every event model on every corpus. Writes TEXT.md.

`python -m benchmarks text` does all of it; `python -m benchmarks.text speed`, `… memory`, `… stream`, `… automatic`,
`… calibrated`, `… tables`, `… chinese`, `… advice` and `… accuracy` do one part and keep the others of TEXT.md as they
are.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.naive_bayes as theirs
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline

import bayeskit
from bayeskit import AutoText, MultinomialNB, TextClassifier, read_texts
from benchmarks.text_calibration import calibration_table
from benchmarks.text_chinese import chinese_table
from benchmarks.text_tables import text_tables
from benchmarks.timing import Row, cpu_seconds

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "text"
PAGE = Path(__file__).with_name("TEXT.md")
PARTS = ("speed", "memory", "stream", "automatic", "calibrated", "tables", "chinese", "advice", "accuracy")
HEAD = """# Text

Written by `python -m benchmarks text`; every ratio is of one run on one machine, by CPU time and with one thread.
"Tokens as scikit-learn" means the pattern of CountVectorizer, so that both sides do the same work; the accuracy tables
use the words of Unicode for ours (for Chinese overlapping pairs of characters, which the peers get by
`analyzer="char", ngram_range=(2, 2)`).
"""


def corpus(name: str) -> tuple[list[str], list[Any], list[Any]]:
    """Return texts, labels and splits."""
    with gzip.open(SHARED / f"{name}.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    return [row["text"] for row in rows], [row["label"] for row in rows], [row.get("split") for row in rows]


def twenty_thousand() -> tuple[list[str], list[str]]:
    """20,000 messages of 20 newsgroups, each cut short so that all of them are 22.5 MB."""
    texts, labels, _ = corpus("20news-bydate")
    texts, labels = (texts * 2)[:20_000], (labels * 2)[:20_000]
    low, high = 100, 100_000
    while high - low > 1:
        middle = (low + high) // 2
        if sum(min(len(text), middle) for text in texts) < 22_500_000:
            low = middle
        else:
            high = middle
    return [text[:low] for text in texts], labels


# -- speed -----------------------------------------------------------------------------------------------------------


def speed() -> str:
    texts, labels = twenty_thousand()
    peer = make_pipeline(CountVectorizer(), theirs.MultinomialNB())
    hashing = make_pipeline(HashingVectorizer(alternate_sign=False, norm=None), theirs.MultinomialNB())
    same = TextClassifier(tokens="sklearn")
    words = TextClassifier()
    hashed = TextClassifier(tokens="sklearn", hashing=2**20)

    def fit(model: Any) -> Callable[[], Any]:
        # The beliefs are made when first asked for: one short document asks for them.
        return lambda: model.fit(texts, labels).predict(["a"])

    with bayeskit.threads(1):
        fit_peer, fit_hashing = cpu_seconds(fit(peer), 3), cpu_seconds(fit(hashing), 3)
        predict_peer = cpu_seconds(lambda: peer.predict(texts), 3)
        predict_hashing = cpu_seconds(lambda: hashing.predict(texts), 3)
        name, other = "CountVectorizer + MultinomialNB", "HashingVectorizer + MultinomialNB"
        rows = [
            Row("fit from strings, tokens as scikit-learn", cpu_seconds(fit(same)), name, fit_peer, 8),
            Row("fit from strings, words of Unicode", cpu_seconds(fit(words)), name, fit_peer, 8),
            Row("fit from strings, 2^20 buckets", cpu_seconds(fit(hashed)), other, fit_hashing),
            Row(
                "predict from strings, tokens as scikit-learn",
                cpu_seconds(lambda: same.predict(texts)),
                name,
                predict_peer,
                12,
            ),
            Row(
                "predict from strings, words of Unicode",
                cpu_seconds(lambda: words.predict(texts)),
                name,
                predict_peer,
                12,
            ),
            Row(
                "predict from strings, 2^20 buckets", cpu_seconds(lambda: hashed.predict(texts)), other, predict_hashing
            ),
            *sparse_rows(),
        ]
    size = sum(map(len, texts)) / 1e6
    lines = ["| task | bayeskit | peer | ratio | aim |", "|---|--:|--:|--:|--:|", *(row.line() for row in rows)]
    note = (
        f"Strings: 20,000 documents, {size:.1f} MB, {len(peer[0].vocabulary_):,} different words, 20 classes. Sparse: "
        "20,000 × 100,000, 3.3 million cells that are not zero, 20 classes."
    )
    return "\n".join(["## Speed", "", note, "", *lines, ""])


def sparse_rows() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    n, d, cells = 20_000, 100_000, 3_300_000
    # Words as rare as words are: the frequency falls with the rank.
    words = np.minimum((d ** rng.random(cells)).astype(np.int64), d) - 1
    matrix = sparse.csr_array(
        (rng.integers(1, 4, cells).astype(np.float64), (rng.integers(0, n, cells), words)), shape=(n, d)
    )
    y = rng.integers(0, 20, n)
    ours, peer = MultinomialNB(), theirs.MultinomialNB()
    yield Row(
        "fit of a sparse matrix",
        cpu_seconds(lambda: ours.fit(matrix, y).feature_log_prob_),
        "MultinomialNB",
        cpu_seconds(lambda: peer.fit(matrix, y)),
        1.3,
    )
    ours.predict(matrix[:1])
    yield Row(
        "predict of a sparse matrix",
        cpu_seconds(lambda: ours.predict(matrix)),
        "MultinomialNB",
        cpu_seconds(lambda: peer.predict(matrix)),
        1.3,
    )


# -- memory ----------------------------------------------------------------------------------------------------------


def peak() -> float:
    """Return the peak of the memory since it was last reset, in MB (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


def reset_peak() -> float:
    """Forget the peak so far, which reading a corpus made, and return the memory in use."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def memory_of(who: str) -> None:
    """Print what a fit takes besides the texts, in MB; run in a process of its own."""
    texts, labels = twenty_thousand()
    warm = ["some words to load what is loaded once"] * 2
    models = {
        "ours": TextClassifier(tokens="sklearn"),
        "theirs": make_pipeline(CountVectorizer(), theirs.MultinomialNB()),
    }
    with bayeskit.threads(1):
        models[who].fit(warm, ["a", "b"]).predict(warm)
        before = reset_peak()
        models[who].fit(texts, labels)
        fitted = peak()
        models[who].predict(texts)
    print(fitted - before, peak() - before)


def memory() -> str:
    lines = ["| | fit | fit and predict |", "|---|--:|--:|"]
    for who, name in (("ours", "TextClassifier"), ("theirs", "CountVectorizer + MultinomialNB")):
        command = [sys.executable, "-m", "benchmarks.text", "memory-of", who]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        lines.append(f"| {name} | {float(out[0]):.0f} MB | {float(out[1]):.0f} MB |")
    note = "Peak memory besides the 20,000 texts, of a process that does nothing else (aim for the fit: at most 60 MB)."
    return "\n".join(["## Memory", "", note, "", *lines, ""])


# -- a large file ----------------------------------------------------------------------------------------------------


def stream(size: float = 2e9) -> str:
    texts, labels, _ = corpus("20news-bydate")
    block = "".join(json.dumps({"text": t, "label": c}) + "\n" for t, c in zip(texts, labels, strict=True)).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "news.jsonl"
        with path.open("wb") as file:
            while file.tell() < size:
                file.write(block)
        whole = path.stat().st_size
        del texts, labels, block
        command = [sys.executable, "-m", "benchmarks.text", "stream-of", str(path)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    seconds, extra, documents = float(out[0]), float(out[1]), int(out[2])
    how = (
        f"`TextClassifier().fit(read_texts(path))` on {whole / 1e9:.2f} GB of JSON Lines ({documents:,} documents, "
        f"made by repeating 20 newsgroups): {seconds:.1f} s of CPU with one thread, "
        f"**{whole / 1e6 / seconds:.0f} MB/s**, {extra:.0f} MB of memory besides the program."
    )
    return "\n".join(["## A file larger than one would load", "", how, ""])


def stream_of(path: str) -> None:
    before, start = reset_peak(), time.process_time()
    with bayeskit.threads(1):
        model = TextClassifier().fit(read_texts(path))
    print(time.process_time() - start, peak() - before, int(model.class_count_.sum()))


# -- accuracy --------------------------------------------------------------------------------------------------------

CHINESE = {"analyzer": "char", "ngram_range": (2, 2)}
OURS = {
    "multinomial": {"model": "multinomial"},
    "Bernoulli": {"model": "bernoulli"},
    "complement": {"model": "complement"},
    "TWCNB": {"model": "complement", "tf": True, "idf": True, "length": True, "norm": True},
}
CORPORA = {
    "20 newsgroups, 2/3 of the messages": ("20news-bydate", "thirds"),
    "20 newsgroups, by date": ("20news-bydate", "split"),
    "SMS spam": ("sms-spam", "thirds"),
    "Ling-Spam, part 9 for test": ("ling-spam-bare", "fold"),
    "Reuters R8": ("reuters-r8", "split"),
    "Reuters R52": ("reuters-r52", "split"),
    "WebKB": ("webkb", "split"),
    "movie reviews, last fold for test": ("movie-reviews-polarity2", "fold"),
    "questions": ("trec-questions", "split"),
    "Chinese: hotel reviews": ("zh-chnsenticorp-hotel", "thirds"),
    "Chinese: food delivery": ("zh-waimai-10k", "thirds"),
    "Chinese: news titles": ("zh-thucnews-titles", "split"),
    "Chinese: shopping reviews": ("zh-online-shopping-10cats", "thirds"),
}


Parts = tuple[list[str], list[str], list[str], list[str]]

# -- which model to advise -------------------------------------------------------------------------------------------

ADVISED: dict[str, dict[str, Any]] = {
    "multinomial (default)": {},
    "without rare and 100 frequent words": {"drop_frequent": 100, "min_count": 3},
    "Bernoulli": {"model": "bernoulli"},
    "complement": {"model": "complement"},
    "complement, norm": {"model": "complement", "norm": True},
    "complement, tf, length": {"model": "complement", "tf": True, "length": True},
    "complement, tf, idf, length": {"model": "complement", "tf": True, "idf": True, "length": True},
    "TWCNB: all four": {"model": "complement", "tf": True, "idf": True, "length": True, "norm": True},
}
MORE_CORPORA = {
    "news of AG": ("ag-news-test", "thirds"),
    "medical abstracts": ("ohsumed-single23", "split"),
    "sentences of reviews": ("sentence-polarity", "thirds"),
}


def advice() -> str:
    """Return the table of test errors by which the pages advise a model, over all corpora."""
    corpora = {title: CORPORA.get(title) or MORE_CORPORA[title] for title in (*CORPORA, *MORE_CORPORA)}
    lines = [
        "## Which model", "",
        "Test error in % of each choice on every corpus, by `python -m benchmarks.text advice`; the least of a row is "
        "bold. The last rows are means: of the error, of its distance to the least of the row, and of the log-loss.",
        "",
        f"| corpus | classes | {' | '.join(ADVISED)} |", f"|---|--:|{'--:|' * len(ADVISED)}",
    ]  # fmt: skip
    errors, losses = [], []
    for title, (name, how) in corpora.items():
        X, y, X_test, y_test = parts(name, how)
        found = [error_and_loss(TextClassifier(**choice).fit(X, y), X_test, y_test) for choice in ADVISED.values()]
        errors.append([error for error, _ in found])
        losses.append([loss for _, loss in found])
        shown = [f"**{error:.1f}**" if error == min(errors[-1]) else f"{error:.1f}" for error in errors[-1]]
        lines.append(f"| {title} | {len(set(y))} | {' | '.join(shown)} |")
        print(lines[-1], flush=True)
    table = np.array(errors)
    means = {
        "mean": table.mean(axis=0),
        "mean above the least": (table - table.min(axis=1, keepdims=True)).mean(axis=0),
    }
    lines += [f"| {name} | | {' | '.join(f'{x:.1f}' for x in row)} |" for name, row in means.items()]
    lines.append(f"| mean log-loss | | {' | '.join(f'{x:.2f}' for x in np.mean(losses, axis=0))} |")
    return "\n".join([*lines, ""])


# Documents of each corpus in the comparison with linear models, chosen at random: to learn from, and to test.
MOST_LEARNED, MOST_TESTED = 4000, 2000


def automatic() -> str:
    """Return the table of AutoText beside linear models over word and pair frequencies."""
    corpora = {title: CORPORA.get(title) or MORE_CORPORA[title] for title in (*CORPORA, *MORE_CORPORA)}
    lines = [
        "## AutoText beside linear models", "",
        f"By `python -m benchmarks.text automatic`: at most {MOST_LEARNED:,} documents to learn from and "
        f"{MOST_TESTED:,} to test, of the corpus's own split where it has one. The peers get TF-IDF of words and pairs "
        "of words (Chinese: characters and pairs), sublinear; LogisticRegression has C = 10. Errors in %, log-loss in "
        "nats, calibration error over ten bins, CPU seconds of the fit from strings.", "",
        "| corpus | AutoText | LinearSVC | LogisticRegression | log-loss | its log-loss | calibration | "
        "its calibration | CPU | its CPU |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]  # fmt: skip
    rows = []
    for title, (name, how) in corpora.items():
        rows.append(_beside_linear(*_some(parts(name, how)), chinese="zh-" in name))
        lines.append(f"| {title} | " + _shown(rows[-1]))
        print(lines[-1], flush=True)
    lines.append("| mean | " + _shown(np.mean(rows, axis=0).tolist()))
    return "\n".join([*lines, ""])


def calibrated() -> str:
    """Return the table of how sure TextClassifier is, on every corpus."""
    return calibration_table({**CORPORA, **MORE_CORPORA}, parts)


def tables() -> str:
    """Return the table of tables with columns of text."""
    return text_tables()


def chinese() -> str:
    """Return the table of how Chinese is cut."""
    return chinese_table(parts)


def _shown(row: list[float]) -> str:
    errors, rest, cpu = row[:3], row[3:7], row[7:]
    return (
        " | ".join([*(f"{100 * x:.2f}" for x in errors), *(f"{x:.3f}" for x in rest), *(f"{x:.2f}" for x in cpu)])
        + " |"
    )


def _some(data: Parts) -> Parts:
    rng = np.random.default_rng(0)
    X, y, X_test, y_test = data
    learned, tested = rng.permutation(len(X))[:MOST_LEARNED], rng.permutation(len(X_test))[:MOST_TESTED]
    return [X[i] for i in learned], [y[i] for i in learned], [X_test[i] for i in tested], [y_test[i] for i in tested]


def _beside_linear(X: list[str], y: list[str], X_test: list[str], y_test: list[str], *, chinese: bool) -> list[float]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    # A peer is given hundreds of steps, and is not waited for after that.
    warnings.filterwarnings("ignore", message="lbfgs failed to converge")
    analyzer = "char" if chinese else "word"
    begun = time.process_time()
    ours = AutoText().fit(X, y)
    our_time = time.process_time() - begun
    begun = time.process_time()
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, analyzer=analyzer)
    rows = vectorizer.fit_transform(X)
    logistic = LogisticRegression(C=10, max_iter=300).fit(rows, y)
    their_time = time.process_time() - begun
    test = vectorizer.transform(X_test)
    support = LinearSVC().fit(rows, y)
    a, b = (_quality(p, model.classes_, y_test) for p, model in
            ((ours.predict_proba(X_test), ours), (logistic.predict_proba(test), logistic)))  # fmt: skip
    wrong = float(np.mean(support.predict(test) != np.array(y_test)))
    return [a[0], wrong, b[0], a[1], b[1], a[2], b[2], our_time, their_time]


def _quality(p: Any, classes: Any, y: list[str]) -> tuple[float, float, float]:
    """Return error, log-loss and calibration error; a class that was not learned has the log-loss of 1e-15."""
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    codes = np.array([place.get(label, -1) for label in y])
    sure, right = p.max(axis=1), p.argmax(axis=1) == codes
    truth = np.where(codes >= 0, p[np.arange(len(y)), codes], 0.0)
    bins = np.minimum((sure * 10).astype(int), 9)
    gap = sum(abs(float((sure - right)[bins == b].sum())) for b in range(10)) / len(y)
    return float(1 - right.mean()), float(-np.log(np.maximum(truth, 1e-15)).mean()), gap


def error_and_loss(model: TextClassifier, X: list[str], y: list[str]) -> tuple[float, float]:
    """Return the error in % and the log-loss; a class that was not learned has probability 0, cut off at 1e-300."""
    log_proba, classes = model.predict_log_proba(X), list(model.classes_)
    place = np.array([classes.index(label) if label in classes else -1 for label in y])
    truth = np.where(place >= 0, log_proba[np.arange(len(y)), place], -np.inf)
    return 100 * float((log_proba.argmax(axis=1) != place).mean()), float(-np.maximum(truth, np.log(1e-300)).mean())


# -- accuracy --------------------------------------------------------------------------------------------------------


def parts(name: str, how: str) -> Parts:
    texts, labels, split = corpus(name)
    labels = [str(label) for label in labels]
    if how == "split":
        test = np.array([part == "test" for part in split])
    elif how == "fold":
        test = np.array([part == sorted(set(split), key=str)[-1] for part in split])
    else:
        test = np.ones(len(texts), dtype=bool)
        test[np.random.default_rng(0).permutation(len(texts))[: 2 * len(texts) // 3]] = False
    inside, outside = np.flatnonzero(~test).tolist(), np.flatnonzero(test).tolist()
    return (
        [texts[i] for i in inside],
        [labels[i] for i in inside],
        [texts[i] for i in outside],
        [labels[i] for i in outside],
    )


def judged(model: Any, data: Parts) -> list[str]:
    """Return the numbers of one model, from a process of its own so that its peak of memory is its own."""
    processes = multiprocessing.get_context("fork")
    receiver, sender = processes.Pipe(duplex=False)
    process = processes.Process(target=lambda: sender.send(_judge(model, data)))
    process.start()
    numbers: list[str] = receiver.recv()
    process.join()
    return numbers


def _judge(model: Any, data: Parts) -> list[str]:
    X, y, X_test, y_test = data
    before, start = reset_peak(), time.process_time()
    model.fit(X, y)
    proba = model.predict_proba(X_test)
    seconds, memory = time.process_time() - start, peak() - before
    classes = list(model.classes_)
    found = [classes[c] for c in proba.argmax(axis=1)]
    truth = np.array([proba[i, classes.index(label)] if label in classes else 0.0 for i, label in enumerate(y_test)])
    loss = -np.log(np.clip(truth, np.finfo(np.float64).tiny, 1.0)).mean()
    accuracy = np.mean([a == b for a, b in zip(found, y_test, strict=True)])
    return [
        f"{100 * accuracy:.2f}",
        f"{100 * f1_score(y_test, found, average='macro', zero_division=0):.2f}",
        f"{loss:.3f}",
        f"{seconds:.2f}",
        f"{memory:.0f}",
    ]


def accuracy(*wanted: str) -> str:
    """Judge all models on the corpora wanted, by default all; the tables of the others stay as they are in the page."""
    intro = (
        "Fit and predict with default parameters; seconds of CPU for both together, with one thread, and the peak of "
        "memory besides the texts."
    )
    old = re.split(r"(?m)^(?=### )", PAGE.read_text() if PAGE.exists() else "")
    tables = {title: next((part for part in old if part.startswith(f"### {title}\n")), "") for title in CORPORA}
    for title in wanted or CORPORA:
        tables[title] = judged_on(title)
    filtered = next((part for part in old if part.startswith("### The idea of NewsWeeder")), "")
    if not wanted or not filtered:
        filtered = "\n".join(newsweeder())
    pieces = [part.strip() + "\n" for part in (*tables.values(), filtered) if part]
    return "\n".join(["## Accuracy", "", intro, "", *pieces])


def judged_on(title: str) -> str:
    name, how = CORPORA[title]
    data = parts(name, how)
    options = CHINESE if name.startswith("zh-") else {}
    size = f"{len(data[0]):,} documents to learn from, {len(data[2]):,} to predict, {len(set(data[1]))} classes."
    lines = [
        f"### {title}",
        "",
        size,
        "",
        "| model | accuracy % | macro-F1 % | log-loss | s | MB |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    models: dict[str, Any] = {f"bayeskit {key}": TextClassifier(**choice) for key, choice in OURS.items()}
    if name.startswith("20news") and how == "thirds":
        pruned = TextClassifier(drop_frequent=100, min_count=3)
        models["bayeskit multinomial, without 100 frequent and rare words"] = pruned
    peers = {
        "MultinomialNB": theirs.MultinomialNB(),
        "BernoulliNB": theirs.BernoulliNB(),
        "ComplementNB": theirs.ComplementNB(),
        "LogisticRegression": LogisticRegression(max_iter=200, tol=1e-3),
    }
    models |= {f"scikit-learn {key}": make_pipeline(CountVectorizer(**options), peer) for key, peer in peers.items()}
    with bayeskit.threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a search that stops before its end
        for key, model in models.items():
            lines.append(f"| {key} | " + " | ".join(judged(model, data)) + " |")
            print(title, lines[-1], flush=True)
    return "\n".join([*lines, ""])


def newsweeder() -> list[str]:
    """Return the table of how many of the top tenth are of the newsgroup that a reader finds interesting."""
    X, y, X_test, y_test = parts("20news-bydate", "thirds")
    lines = [
        "### The idea of NewsWeeder", "",
        "Every fourth newsgroup in turn is what a reader finds interesting, the other nineteen are not. How many of "
        "all messages, and of the top tenth of `rank`, are interesting? (Lang, 1995: 16 % of all articles, 59 % of the "
        "top tenth. Here one message in twenty is of the group, so the top tenth can hold 50 % of it at the most.)", "",
        "| interesting | all % | top tenth % | of those that it could hold % |", "|---|--:|--:|--:|",
    ]  # fmt: skip
    for group in sorted(set(y))[::4]:
        model = TextClassifier().fit(X, ["yes" if label == group else "no" for label in y])
        own = ["yes" if label == group else "no" for label in y_test]
        top, everywhere = model.rank(X_test, "yes").enrichment(own)
        lines.append(
            f"| {group} | {100 * everywhere:.1f} | {100 * top:.1f} | {100 * top / min(1.0, everywhere / 0.1):.1f} |"
        )
    return [*lines, ""]


# -- the page --------------------------------------------------------------------------------------------------------

TITLES = {
    "speed": "## Speed",
    "memory": "## Memory",
    "stream": "## A file larger",
    "automatic": "## AutoText",
    "calibrated": "## How sure",
    "tables": "## Texts beside",
    "chinese": "## How Chinese",
    "advice": "## Which model",
    "accuracy": "## Accuracy",
}


def main(*wanted: str) -> None:
    """Write the parts wanted, or all; after "accuracy" may come titles of corpora."""
    titles = [name for name in wanted if name in CORPORA]
    for part in [name for name in wanted if name in PARTS] or PARTS:
        made = accuracy(*titles) if part == "accuracy" else globals()[part]()
        print(made)
        old = re.split(r"(?m)^(?=## )", PAGE.read_text()) if PAGE.exists() else []
        pages = {each: next((text for text in old if text.startswith(title)), "") for each, title in TITLES.items()}
        pages[part] = made
        PAGE.write_text(HEAD + "\n" + "\n".join(text.strip() + "\n" for text in pages.values() if text))


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory-of"]:
        memory_of(sys.argv[2])
    elif sys.argv[1:2] == ["stream-of"]:
        stream_of(sys.argv[2])
    else:
        main(*sys.argv[1:])
