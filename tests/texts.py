"""Small corpora, and the shared ones where they are."""

import gzip
import json
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "text"

# Ten documents: what they say is of two kinds, and one word stands in both.
NEWS = [
    ("the match was a great match", "sport"),
    ("a great goal, a great win", "sport"),
    ("the team lost the match", "sport"),
    ("goal after goal after goal", "sport"),
    ("the vote was close", "politics"),
    ("a close vote and a great debate", "politics"),
    ("the party lost the vote", "politics"),
    ("debate after debate", "politics"),
    ("the minister was late", "politics"),
    ("a win for the party", "politics"),
]
TEXTS = [text for text, _ in NEWS]
LABELS = [label for _, label in NEWS]


def corpus(name):
    """The texts, labels and splits of a shared corpus, or a skipped test."""
    path = SHARED / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path.name} lies in ../shared/data/text, which is not here")
    with gzip.open(path) as file:
        rows = [json.loads(line) for line in file]
    return [row["text"] for row in rows], [row["label"] for row in rows], [row.get("split") for row in rows]
