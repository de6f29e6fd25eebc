"""Studios that are killed while they edit, each a fork: python -m tests.unit.studio.killing FOLDER N."""

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np

from bayeskit import BayesianNetwork
from bayeskit.datasets import load_asia
from bayeskit.studio.documents import Documents


def share_of(net):
    return float(np.asarray(net.tables[net.index("smoke")]).ravel()[0])


def edit(folder, file, seed, said):
    """Change, undo, redo and save until killed; each step is told once it was made."""
    os.fsync = lambda _: None  # a killed process loses nothing that it wrote; a machine without power might
    rng = random.Random(seed)
    document = Documents(recover=True, parent=folder).open(file, savable=True)
    os.write(said, b"open\n")
    for k in range(1, 10_000):
        what = rng.choice(["change", "change", "change", "move", "undo", "redo", "save"])
        if what == "change":
            document.change({"change": "table", "variable": "smoke", "rows": [[k / 10_000, 1 - k / 10_000]]})
        elif what == "move":
            document.change({"change": "move", "places": {"smoke": [k, -k]}})
        elif what == "save":
            document.save(overwrite=True)
        else:
            document.step(-1 if what == "undo" else 1)
        version = document.version
        told = [version.number, share_of(version.net), version.draft.look, document.saved]
        os.write(said, json.dumps(told).encode() + b"\n")


def kill_one(room, seed, rng):
    """Kill a studio after a random time; return whether there was something to bring back."""
    shutil.rmtree(room / "tmp", ignore_errors=True)
    (room / "tmp").mkdir()
    file = room / "asia.bif"
    load_asia().write(file)
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        edit(room / "tmp", file, seed, said)
        os._exit(0)
    os.close(said)
    with os.fdopen(heard, "rb") as heard:
        assert heard.readline() == b"open\n"
        time.sleep(rng.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = [line for line in heard.read().splitlines(keepends=True) if line.endswith(b"\n")]
    number, share, look, saved = json.loads(lines[-1]) if lines else (0, 0.5, {}, 0)
    after = Documents(recover=True, parent=room / "tmp")
    document = after.open(file, savable=True)
    if not document.recovered:  # all of it was in the file, or the last step was an undo to it
        assert share_of(BayesianNetwork.read(file)) == share_of(document.net)
        assert saved == number or share_of(document.net) in (share, 0.5)
    elif document.version.number == number:
        assert share_of(document.net) == share
        assert document.version.draft.look == look
    else:  # one step further, which had been written and not been told
        assert any(version.number == number for version in document.history) or document.version.number < number
    brought_back = document.recovered
    after.close_all()
    return brought_back


if __name__ == "__main__":
    room, kills, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(0)
    print(sum(kill_one(room, seed, rng) for seed in range(kills)))
