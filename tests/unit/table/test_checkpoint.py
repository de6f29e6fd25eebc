"""A pass that was interrupted goes on where it ended, and its sums are bit for bit those of an undisturbed one."""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayeskit import AODE, TAN, NaiveBayes, scan
from bayeskit.errors import TableError
from bayeskit.table.scan import local
from bayeskit.table.scan.checkpoint import Checkpoint
from bayeskit.table.scan.local import Here

N_FILES, ROWS = 12, 400


@pytest.fixture
def small_units(monkeypatch):
    """Every file is a unit of work."""
    monkeypatch.setattr(local, "_ROWS_OF_A_UNIT", ROWS)


def write_days(folder):
    rng = np.random.default_rng(0)
    for k in range(N_FILES):
        label = rng.choice(["no", "yes"], ROWS)
        wind = np.where(rng.random(ROWS) < 0.4, label, rng.choice(["weak", "strong"], ROWS))
        table = pa.table(
            {"wind": wind, "heat": rng.normal(1e9, 3, ROWS), "age": rng.integers(0, 9, ROWS), "play": label}
        )
        pq.write_table(table, folder / f"{k:02}.parquet", compression="none")
    return folder


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    return write_days(tmp_path_factory.mktemp("days"))


def arrays_of(model):
    return {name: array.tobytes() for name, array in model.counts_.to_parts()[1].items()}


def stop_after(n_rows):
    def progress(step):
        if step.done >= n_rows:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("model", [NaiveBayes, TAN, AODE])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_ctrl_c_loses_one_unit_and_the_model_is_bit_for_bit_that_of_an_undisturbed_run(
    days, tmp_path, small_units, model, n_jobs
):
    expected = arrays_of(model().fit(scan(days, n_jobs=1), target="play"))
    for stop in (1, 5 * ROWS, 9 * ROWS):
        table = replace(scan(days, checkpoint=tmp_path / "kept", n_jobs=n_jobs), progress=stop_after(stop))
        with warnings.catch_warnings(record=True, action="always") as said, pytest.raises(KeyboardInterrupt):
            model().fit(table, target="play")
        assert stop == 1 or any("parts are kept in" in str(each.message) for each in said)
    with pytest.warns(UserWarning, match=r"going on after '.*\.parquet', row group 0: \d+ of 12 parts were counted"):
        found = model().fit(scan(days, checkpoint=tmp_path / "kept", n_jobs=n_jobs), target="play")
    assert arrays_of(found) == expected


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_the_sums_do_not_depend_on_the_number_of_threads(days, small_units, n_jobs):
    one, more = (NaiveBayes().fit(scan(days, n_jobs=n), target="play") for n in (1, n_jobs))
    assert arrays_of(one) == arrays_of(more)


def test_an_error_of_one_thread_ends_the_others_and_is_the_one_that_is_raised(tmp_path, small_units):
    write_days(tmp_path)
    broken = tmp_path / "03.parquet"
    broken.write_bytes(b"PAR1" + b"\xff" * 200 + broken.read_bytes()[204:])
    with pytest.raises(TableError, match=r"03\.parquet', row group 0 cannot be read"):
        NaiveBayes().fit(scan(tmp_path, n_jobs=3), target="play")


SCRIPT = """
import sys, warnings
from bayeskit import NaiveBayes, scan
from bayeskit.table.scan import local
from bayeskit.table.scan.parquet import ParquetPiece
local._ROWS_OF_A_UNIT = 400
import time
import warnings
read = ParquetPiece.batches
def slowly(self, columns):
    time.sleep(0.02)
    return read(self, columns)
ParquetPiece.batches = slowly
print("begun", flush=True)
warnings.simplefilter("always")
NaiveBayes().fit(scan(sys.argv[1], checkpoint=sys.argv[2], n_jobs=2), target="play").save(sys.argv[3], force=True)
"""


def test_kills_at_random_moments_leave_a_model_that_is_bit_for_bit_the_same(days, tmp_path, small_units):
    rng, place = random.Random(0), tmp_path / "model.bayes"
    command = [sys.executable, "-c", SCRIPT, str(days), str(tmp_path / "kept"), str(place)]
    went_on = 0
    for _ in range(int(os.environ.get("BAYESKIT_KILLS", "2"))):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            assert child.stdout.readline() == "begun\n"
            time.sleep(rng.uniform(0.05, 0.35))
            child.send_signal(signal.SIGKILL)
            went_on += "going on after" in child.stderr.read()
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    went_on += "going on after" in ended.stderr
    assert went_on
    from bayeskit import load

    assert arrays_of(load(place)) == arrays_of(NaiveBayes().fit(scan(days), target="play"))


def test_a_checkpoint_of_changed_files_is_not_used_and_said(tmp_path, small_units):
    folder = tmp_path / "days"
    folder.mkdir()
    table = scan(write_days(folder), checkpoint=tmp_path / "kept")
    NaiveBayes().fit(table, target="play")
    (folder / "05.parquet").unlink()
    with pytest.warns(UserWarning, match="the files of 11 files changed since the checkpoint"):
        found = NaiveBayes().fit(scan(folder, checkpoint=tmp_path / "kept"), target="play")
    assert arrays_of(found) == arrays_of(NaiveBayes().fit(scan(folder), target="play"))


def test_a_checkpoint_of_another_model_is_not_used_and_said(days, tmp_path, small_units, monkeypatch):
    from bayeskit.table.scan import checkpoint

    NaiveBayes().fit(scan(days, checkpoint=tmp_path), target="play")
    monkeypatch.setattr(checkpoint, "_SEEN", set())  # as in the next process
    with pytest.warns(UserWarning, match=r"is of another model or other options; counting begins anew"):
        found = NaiveBayes(smoothing=3.0).fit(scan(days, checkpoint=tmp_path), target="play")
    assert found.smoothing == 3.0


def test_a_damaged_checkpoint_is_not_used_and_runs_no_code(days, tmp_path, small_units):
    NaiveBayes().fit(scan(days, checkpoint=tmp_path), target="play")
    (place,) = tmp_path.glob("*.sums")
    whole = place.read_bytes()
    head, _, _ = whole.partition(b"\n")

    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/ran",)

    from bayeskit.table.scan.checkpoint import _digest

    evil = pickle.dumps(Evil())
    for data in (whole[:-50], b"", json.dumps({**json.loads(head), "digest": _digest(evil)}).encode() + b"\n" + evil):
        place.write_bytes(data)
        with pytest.warns(UserWarning, match="is damaged; counting begins anew"):
            NaiveBayes().fit(scan(days, checkpoint=tmp_path), target="play")
        assert not (tmp_path / "ran").exists()


def test_a_full_disk_is_said_once_and_the_work_goes_on(days, tmp_path, small_units, monkeypatch):
    from bayeskit.table.scan import checkpoint

    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "atomic_write", full)
    with pytest.warns(UserWarning, match="cannot be written: No space left on device; the work goes on") as said:
        NaiveBayes().fit(scan(days, checkpoint=tmp_path), target="play")
    assert len(said) == 1


def test_a_checkpoint_is_for_files_and_for_this_process(days, tmp_path):
    with pytest.raises(TableError, match="the table cannot be checked for changes"):
        NaiveBayes().fit(scan(pq.read_table(days / "00.parquet"), checkpoint=tmp_path), target="play")

    class Elsewhere:
        pass

    with pytest.raises(TableError, match="a checkpoint is for tables that are counted in this process"):
        NaiveBayes().fit(replace(scan(days, checkpoint=tmp_path), engine=Elsewhere()), target="play")


def test_remove_leaves_what_it_did_not_write(days, tmp_path, small_units):
    kept = Checkpoint(tmp_path / "kept", say=print)
    NaiveBayes().fit(replace(scan(days), checkpoint=kept, engine=Here(1)), target="play")
    (tmp_path / "kept" / "notes.txt").touch()
    kept.remove()
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["notes.txt"]
    (tmp_path / "kept" / "notes.txt").unlink()
    kept.remove()
    assert not (tmp_path / "kept").exists()


def broken_days(folder):
    """A folder in which one file has a broken row group and another no footer."""
    write_days(folder)
    table = pq.read_table(folder / "02.parquet")
    pq.write_table(table, folder / "02.parquet", row_group_size=100, compression="none")
    data = bytearray((folder / "02.parquet").read_bytes())
    start = pq.ParquetFile(folder / "02.parquet").metadata.row_group(1).column(0).dictionary_page_offset
    data[start : start + 60] = b"\xff" * 60
    (folder / "02.parquet").write_bytes(data)
    (folder / "07.parquet").write_bytes(b"PAR1 nothing")
    return folder


def test_broken_files_are_left_out_by_name_where_that_is_asked_for(tmp_path, small_units):
    folder = broken_days(tmp_path)
    with pytest.raises(TableError, match=r"07\.parquet' is not a complete Parquet file"):
        scan(folder)
    with pytest.warns(UserWarning, match=r"1 broken file left out; the first: '.*07\.parquet' is not"):
        days = scan(folder, skip_broken=True, n_jobs=2)
    with pytest.warns(UserWarning, match=r"1 broken part left out; the first: '.*02\.parquet', row group 1 cannot"):
        found = NaiveBayes().fit(days, target="play")
    good = [path for path in sorted(Path(folder).glob("*")) if path.stem not in ("02", "07")]
    assert found.class_count_.sum() == 10 * ROWS
    expected = NaiveBayes().fit(scan(good), target="play")
    np.testing.assert_array_equal(found.counts_.values.n_value, expected.counts_.values.n_value)
    assert [name.split("'")[1][-10:] for name in days.skipped] == ["07.parquet", "02.parquet"]
