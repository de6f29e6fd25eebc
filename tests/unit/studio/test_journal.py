"""What a studio had accepted when it was killed is there when the next one starts."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from bayeskit import BayesianNetwork
from bayeskit.datasets import load_asia
from bayeskit.studio.documents import Documents
from bayeskit.studio.journal import PREFIX
from bayeskit.studio.look import look_file

KILLS = 30
SMOKE = {"change": "table", "variable": "smoke", "rows": [[0.25, 0.75]]}


@pytest.fixture
def room(tmp_path):
    """A folder for temporary files that no other test and no other studio looks into."""
    (tmp_path / "tmp").mkdir()
    load_asia().write(tmp_path / "asia.bif")
    return tmp_path


def share_of(net, variable="smoke"):
    return float(np.asarray(net.tables[net.index(variable)]).ravel()[0])


def left_in(room):
    return sorted(each.name for each in (room / "tmp").glob(f"{PREFIX}*"))


def test_killed_at_any_moment_the_next_studio_has_all_that_was_accepted(room):
    command = [sys.executable, "-m", "tests.unit.studio.killing", str(room), str(KILLS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > KILLS / 3  # so often there was something to bring back


def test_a_journal_that_ends_in_the_middle_of_a_line_gives_what_was_written_whole(room):
    first = Documents(recover=True, parent=room / "tmp")
    document = first.open(room / "asia.bif", savable=True)
    document.change(SMOKE)
    with (document.journal.folder / "steps.jsonl").open("ab") as file:
        file.write(b'{"change": {"change": "ta')
    first._folder._lock.close()  # as the end of its process does
    again = Documents(recover=True, parent=room / "tmp")
    (back,) = again
    assert (back.id, back.version.number, share_of(back.net), back.changed) == (document.id, 1, 0.25, True)
    back.step(-1)
    assert share_of(back.net) == 0.5
    again.close_all()


def test_unsaved_changes_outlive_an_ordinary_end_and_saved_ones_leave_nothing(room):
    for what in ("keep", "save"):
        studio = Documents(recover=True, parent=room / "tmp")
        document = studio.open(room / "asia.bif", savable=True)
        if what == "keep":
            document.change(SMOKE)
        else:
            assert document.recovered
            document.save()
        studio.close_all()
        assert len(left_in(room)) == (what == "keep")
    assert share_of(BayesianNetwork.read(room / "asia.bif")) == 0.25


def test_a_network_that_was_learned_is_unsaved_until_it_is_downloaded_and_comes_back(room):
    studio = Documents(recover=True, parent=room / "tmp")
    document = studio.open_network(load_asia(), "learned.bif")
    assert document.changed
    studio.close_all()
    again = Documents(recover=True, parent=room / "tmp")
    (back,) = again
    assert back.net.equals(load_asia())
    back.keep(back.version.number)
    again.close_all()
    assert left_in(room) == []


def test_the_folder_of_a_living_studio_and_of_another_user_are_left_alone(room, monkeypatch):
    living = Documents(recover=True, parent=room / "tmp")
    document = living.open(room / "asia.bif", savable=True)
    document.change(SMOKE)
    other = Documents(recover=True, parent=room / "tmp")
    assert list(other) == []
    other.close_all()
    assert document.journal.folder.is_dir()
    living._folder._lock.close()
    with monkeypatch.context() as patched:
        patched.setattr(os, "getuid", lambda: 12345)
        another_user = Documents(recover=True, parent=room / "tmp")
    assert list(another_user) == []
    another_user.close_all()
    assert document.journal.folder.is_dir()


def test_a_file_written_meanwhile_is_seen_when_a_recovered_document_is_saved(room):
    first = Documents(recover=True, parent=room / "tmp")
    first.open(room / "asia.bif", savable=True).change(SMOKE)
    first.close_all()
    (room / "asia.bif").write_text((room / "asia.bif").read_text() + "\n")
    again = Documents(recover=True, parent=room / "tmp")
    (back,) = again
    with pytest.raises(ValueError, match="was written by another program"):
        back.save()
    again.close_all()


def test_places_notes_and_colours_are_kept_beside_the_file(room):
    studio = Documents()
    document = studio.open(room / "asia.bif", savable=True)
    document.change({"change": "move", "places": {"smoke": [10, 20.04]}})
    document.change({"change": "note", "variable": "smoke", "note": "烟 asked on arrival"})
    document.change({"change": "colour", "variable": "lung", "colour": "b"})
    document.save()
    look = {"smoke": {"at": [10, 20.0], "note": "烟 asked on arrival"}, "lung": {"colour": "b"}}
    assert json.loads(look_file(room / "asia.bif").read_text(encoding="utf-8")) == look
    assert studio.open(room / "asia.bif", savable=True).version.draft.look == look
    document.change({"change": "rename", "variable": "smoke", "name": "smoking"})
    assert document.version.draft.look["smoking"]["at"] == [10, 20.0]
    document.change({"change": "remove-variable", "variable": "smoking"})
    assert "smoking" not in document.version.draft.look
    look_file(room / "asia.bif").write_text('{"smoke": 3}')
    assert studio.open(room / "asia.bif", savable=True).version.draft.look == {}
    studio.close_all()


def test_a_folder_without_a_lock_is_removed_once_it_is_old(room):
    for name, age in (("old", 7200), ("new", 0)):
        folder = room / "tmp" / f"{PREFIX}{name}"
        folder.mkdir(mode=0o700)
        os.utime(folder, (folder.stat().st_mtime - age,) * 2)
    Documents(recover=True, parent=room / "tmp").close_all()
    assert left_in(room) == [f"{PREFIX}new"]
