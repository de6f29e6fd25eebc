"""Two clients change and save one network: what was accepted is there, and "saved" is said of what the file holds."""

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

from bayeskit import BayesianNetwork
from bayeskit.datasets import load_asia
from bayeskit.errors import BayeskitError
from bayeskit.studio import documents
from bayeskit.studio.server import Studio

ASIA = load_asia()
INTERLEAVINGS = 200
SMOKE = {"change": "table", "variable": "smoke", "rows": [[0.25, 0.75]]}


def in_a_loop(work):
    """Run it in a thread of its own: a browser that another test opened keeps the loop of this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@pytest.fixture
def file(tmp_path):
    ASIA.write(tmp_path / "asia.bif")
    return tmp_path / "asia.bif"


@pytest.fixture
def studio():
    studio = Studio()
    yield studio
    studio.documents.close_all()


def client_of(studio):
    headers = {"authorization": "Bearer secret"}
    transport = httpx.ASGITransport(studio.app("secret", {"test"}))
    return httpx.AsyncClient(transport=transport, base_url="http://test/api/v1", headers=headers)


class Editor:
    """A client that changes one table and saves, at moments of its own; refused as late, it looks and repeats."""

    def __init__(self, client, document, variable, seed):
        self.client, self.variable, self.rng = client, variable, random.Random(seed)
        self.id, self.version = document.id, document.version.number
        self.accepted, self.late = [], 0  # (version, P of the first state); how often it was refused

    async def post(self, what, **body):
        while True:
            await asyncio.sleep(self.rng.choice([0, 0, 0.001]))
            answer = await self.client.post(f"/networks/{self.id}/{what}", json={"version": self.version, **body})
            if answer.status_code != 409:
                self.version = answer.raise_for_status().json()["version"]
                return answer.json()
            self.late += 1
            self.version = (await self.client.get(f"/documents/{self.id}")).json()["version"]

    async def work(self, n_steps):
        for _ in range(n_steps):
            if self.rng.random() < 0.6:
                share = round(self.rng.random(), 6)
                found = await self.post("change", change="table", variable=self.variable, rows=[[share, 1 - share]])
                self.accepted.append((found["version"], share))
            else:
                await self.post("save")


def share_of(net, variable):
    return float(np.asarray(net.tables[net.index(variable)]).ravel()[0])


def test_of_random_edits_and_saves_by_two_clients_nothing_is_lost(studio, file, monkeypatch):
    # The lock of a file system is slow; what is on the disk is the same without it.
    monkeypatch.setattr("os.fsync", lambda _: None)

    async def interleave(seed):
        document = studio.documents.open(file, savable=True)
        async with client_of(studio) as client:
            editors = [Editor(client, document, name, 2 * seed + k) for k, name in enumerate(("asia", "smoke"))]
            await asyncio.gather(*(each.work(4) for each in editors))
        accepted = sorted(step for each in editors for step in each.accepted)
        assert [version for version, _ in accepted] == list(range(1, len(accepted) + 1))
        for each in editors:
            wanted = each.accepted[-1][1] if each.accepted else share_of(document.history[0].net, each.variable)
            assert share_of(document.net, each.variable) == pytest.approx(wanted, abs=1e-12)
            # Every version holds the newest accepted edit of both.
            for version in document.history:
                before = [share for number, share in each.accepted if number <= version.number]
                wanted = before[-1] if before else share_of(document.history[0].net, each.variable)
                assert share_of(version.net, each.variable) == pytest.approx(wanted, abs=1e-12)
        on_disk = BayesianNetwork.read(file)
        (saved,) = [version.net for version in document.history if version.number == document.saved]
        for each in editors:
            assert share_of(on_disk, each.variable) == pytest.approx(share_of(saved, each.variable), abs=1e-6)
        assert document.to_json()["changed"] is (document.version.number != document.saved)
        studio.documents.close(document.id)
        return sum(each.late for each in editors)

    late = sum(in_a_loop(interleave(seed)) for seed in range(INTERLEAVINGS))
    assert late > INTERLEAVINGS / 4  # the clients did get in each other's way


def test_a_version_that_is_not_the_newest_is_refused(studio, file):
    async def run():
        document = studio.documents.open(file, savable=True)
        async with client_of(studio) as client:
            body = {"version": 0, "change": "table", "variable": "smoke", "rows": [[0.25, 0.75]]}
            assert (await client.post(f"/networks/{document.id}/change", json=body)).status_code == 200
            for what, more in (("change", body), ("undo", {}), ("redo", {}), ("save", {})):
                answer = await client.post(f"/networks/{document.id}/{what}", json={"version": 0, **more})
                assert answer.status_code == 409
                assert answer.json()["error"]["kind"] == "StaleError"
                assert "version 0, and it has 1" in answer.json()["error"]["what"]
            assert (await client.post(f"/networks/{document.id}/save", json={})).status_code == 422

    in_a_loop(run())


def test_a_file_that_somebody_else_wrote_is_replaced_only_when_told_to(studio, file):
    async def run():
        document = studio.documents.open(file, savable=True)
        document.change(SMOKE)
        theirs = file.read_bytes() + b"\n"
        file.write_bytes(theirs)
        async with client_of(studio) as client:
            answer = await client.post(f"/networks/{document.id}/save", json={"version": 1})
            assert (answer.status_code, answer.json()["error"]["kind"]) == (409, "ChangedFileError")
            assert file.read_bytes() == theirs
            assert document.changed
            answer = await client.post(f"/networks/{document.id}/save", json={"version": 1, "overwrite": True})
            assert answer.json()["changed"] is False
            # What was written here is no longer somebody else's.
            answer = await client.post(f"/networks/{document.id}/save", json={"version": 1})
            assert answer.status_code == 200

    in_a_loop(run())
    assert share_of(BayesianNetwork.read(file), "smoke") == pytest.approx(0.25)


def test_a_link_stays_a_link_and_its_file_is_written(studio, file, tmp_path):
    (tmp_path / "link.bif").symlink_to(file)
    document = studio.documents.open(tmp_path / "link.bif", savable=True)
    document.change(SMOKE)
    document.save()
    assert (tmp_path / "link.bif").is_symlink()
    assert share_of(BayesianNetwork.read(file), "smoke") == pytest.approx(0.25)


def test_documents_with_unsaved_changes_are_not_closed_to_make_room(studio, file):
    edited = studio.documents.open(file, savable=True)
    edited.change(SMOKE)
    for _ in range(documents.MOST_OPEN + 3):
        studio.documents.open(file, savable=True)
    assert studio.documents.find(edited.id) is edited
    for each in studio.documents:
        each.change(SMOKE)
    with pytest.raises(BayeskitError, match="documents with unsaved changes are open; save or close one"):
        studio.documents.open(file, savable=True)
