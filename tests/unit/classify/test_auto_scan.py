"""AutoBayes learns from a scan: a plan from a sample of the rows, then counts of all of them."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import bayeskit
from bayeskit import AutoBayes
from bayeskit.classify.auto import streams
from bayeskit.errors import BayeskitError, TableError


def table(rows=900, seed=0):
    rng = np.random.default_rng(seed)
    height, width = rng.normal(size=rows), rng.normal(size=rows)
    colour = rng.choice(["red", "green", "blue"], rows)
    y = np.where(colour == "red", "red", np.where(height + width > 0, "in", "out"))
    return pa.table({"height": height, "width": width, "colour": colour, "y": y})


def pieces(rows, n=3):
    step = -(-rows.num_rows // n)
    return bayeskit.scan(pa.concat_tables([rows.slice(k * step, step) for k in range(n)]))


def test_a_scan_that_the_sample_holds_gives_the_model_of_the_whole_table():
    rows = table()
    whole = AutoBayes("fast").fit(rows, target="y")
    scanned = AutoBayes("fast").fit(pieces(rows), target="y")
    assert_array_equal(scanned.predict_proba(rows.drop(["y"])), whole.predict_proba(rows.drop(["y"])))


def test_a_longer_scan_has_a_plan_from_a_sample_and_the_counts_of_all_rows(monkeypatch):
    monkeypatch.setattr(streams, "MOST_ROWS", 300)
    monkeypatch.setattr(streams, "FEWEST_ROWS", 300)
    rows = table()
    model = AutoBayes("fast").fit(pieces(rows), target="y")
    assert model.counts_.n_class.sum() == 900
    under = model.count(rows, target="y")  # one pass in memory under the same plan
    assert_array_equal(under.networks, model.counts_.networks)
    assert_array_equal(under.n_level, model.counts_.n_level)
    assert model.score(table(seed=1), target="y") > 0.85
    again = AutoBayes("fast").fit(pieces(rows), target="y")
    assert_array_equal(again.predict_proba(rows.drop(["y"])), model.predict_proba(rows.drop(["y"])))


def test_weights_and_gaps_in_the_labels_of_a_scan():
    rows = table(200)
    labels = [None if i < 7 else label for i, label in enumerate(rows["y"].to_pylist())]
    weight = np.arange(200) % 3
    gaps = rows.drop(["y"]).append_column("y", pa.array(labels)).append_column("w", pa.array(weight))
    with pytest.raises(TableError, match=r"rows 0, 1, 2, 3, 4, … \(7 of 200\) have no label"):
        AutoBayes("fast").fit(bayeskit.scan(gaps), target="y", sample_weight="w")
    labelled = bayeskit.drop_unlabeled(bayeskit.scan(gaps), target="y")
    scanned = AutoBayes("fast").fit(labelled, target="y", sample_weight="w")
    kept = rows.slice(7)
    whole = AutoBayes("fast").fit(kept, target="y", sample_weight=weight[7:].astype(float))
    assert_array_equal(scanned.predict_proba(rows.drop(["y"])), whole.predict_proba(rows.drop(["y"])))


def test_there_is_no_plan_before_rows_were_seen_and_no_model_without_labels():
    rows = table(60)
    with pytest.raises(BayeskitError, match="chooses its plan"):
        AutoBayes().plan(bayeskit.scan(rows), target="y")
    empty = rows.drop(["y"]).append_column("y", pa.nulls(60, pa.string()))
    with pytest.raises(TableError, match="no value in any row"):
        AutoBayes().fit(bayeskit.drop_unlabeled(bayeskit.scan(empty), target="y"), target="y")
