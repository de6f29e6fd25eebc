"""`bayeskit studio` as a user starts and ends it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path

import httpx
import pytest

from bayeskit import BayesianNetwork, datasets


def start(*arguments, **environment):
    command = [sys.executable, "-m", "bayeskit.cli", "studio", "--no-browser", *map(str, arguments)]
    env = {**os.environ, **environment}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def test_the_command_prints_an_address_that_opens_and_ctrl_c_leaves_nothing_behind(tmp_path):
    datasets.load_asia().write(tmp_path / "asia.bif")
    # A socket's address may have 108 letters, and the folder of a test has nearly as many.
    temporary = Path(tempfile.mkdtemp())
    process = start(tmp_path / "asia.bif", TMPDIR=str(temporary))
    try:
        address = process.stdout.readline().split()[-1]
        assert address.startswith("http://127.0.0.1:")
        token = address.split("token=")[1].split("#")[0]
        with httpx.Client(
            headers={"authorization": f"Bearer {token}"}, timeout=60, transport=httpx.HTTPTransport(retries=10)
        ) as client:
            base = address.split("/?")[0]
            (document,) = client.get(f"{base}/api/v1/documents").json()
            answer = client.post(f"{base}/api/v1/networks/{document['id']}/posterior", json={})
            assert answer.json()["p"]["smoke"] == pytest.approx([0.5, 0.5], rel=1e-12)
        assert document["id"] in address
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert not list(temporary.glob("bayeskit-studio-*"))
    shutil.rmtree(temporary)


@pytest.fixture
def temporary():
    # A socket's address may have 108 letters, and the folder of a test has nearly as many.
    folder = Path(tempfile.mkdtemp())
    yield folder
    shutil.rmtree(folder)


def client_of(process):
    address = process.stdout.readline().split()[-1]
    base, token = address.split("/?token=")
    headers = {"authorization": f"Bearer {token.split('#')[0]}"}
    return httpx.Client(base_url=f"{base}/api/v1", headers=headers, timeout=60)


def change_smoke(client):
    (document,) = client.get("/documents").json()
    body = {"version": document["version"], "change": "table", "variable": "smoke", "rows": [[0.25, 0.75]]}
    client.post(f"/networks/{document['id']}/change", json=body).raise_for_status()
    return document["id"]


def test_unsaved_work_survives_kill_9_and_sigterm_and_nothing_else_is_left(tmp_path, temporary):
    datasets.load_asia().write(tmp_path / "asia.bif")
    first = start(tmp_path / "asia.bif", TMPDIR=str(temporary))
    with client_of(first) as client:
        id = change_smoke(client)
        client.post("/examples/heart").raise_for_status()
        client.post(f"/networks/{id}/posterior", json={}).raise_for_status()
    first.kill()
    first.communicate(timeout=30)
    second = start(TMPDIR=str(temporary))
    with client_of(second) as client:
        (document,) = client.get("/documents").json()
        assert (document["id"], document["changed"], document["recovered"]) == (id, True, True)
        p = client.post(f"/networks/{id}/posterior", json={}).json()["p"]
        assert p["smoke"] == pytest.approx([0.25, 0.75], rel=1e-12)
    second.send_signal(signal.SIGTERM)
    said, _ = second.communicate(timeout=30)
    assert second.returncode == 143
    assert "not saved: asia.bif" in said
    third = start(tmp_path / "asia.bif", TMPDIR=str(temporary))
    with client_of(third) as client:
        client.post(f"/networks/{id}/save", json={"version": 1}).raise_for_status()
    third.send_signal(signal.SIGINT)
    third.communicate(timeout=30)
    assert BayesianNetwork.read(tmp_path / "asia.bif")["smoke"].array.tolist() == [0.25, 0.75]
    assert list(temporary.iterdir()) == []


def test_train_ended_by_sigterm_leaves_no_temporary_file(tmp_path):
    table = Path(str(files("bayeskit.datasets").joinpath("data", "heart.csv")))
    model = tmp_path / "model.bayes"
    slow = "import os, time; real = os.fsync; os.fsync = lambda file: (print('writing', flush=True), time.sleep(60))"
    code = f"{slow}; from bayeskit.cli import main; main()"
    command = [sys.executable, "-c", code, "train", str(table), "--target", "disease", "--model", "NaiveBayes"]
    process = subprocess.Popen(
        [*command, "--output", str(model)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    while "writing" not in (line := process.stdout.readline()):
        assert line, process.communicate()
    assert [each.suffix for each in tmp_path.iterdir()] == [".tmp"]
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert list(tmp_path.iterdir()) == []


def test_a_browser_is_given_a_private_file_once_the_page_can_be_opened(temporary, tmp_path):
    seen = tmp_path / "seen"
    (tmp_path / "browser.py").write_text(
        f"import sys, urllib.request as u, pathlib\nfile = pathlib.Path(u.url2pathname(sys.argv[1][7:]))\n"
        f"text = file.read_text()\naddress = text.split('url=')[1].split('\"')[0].replace('&amp;', '&')\n"
        f"page = u.build_opener(u.HTTPCookieProcessor()).open(address).read().decode()\n"
        f"pathlib.Path({str(seen)!r}).write_text(f'{{sys.argv[1]}} {{file.stat().st_mode & 0o777:o}} {{page}}')\n"
    )
    browser = f"{sys.executable} {tmp_path / 'browser.py'} %s &"
    command = [sys.executable, "-m", "bayeskit.cli", "studio"]
    env = {**os.environ, "BROWSER": browser, "TMPDIR": str(temporary)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    try:
        token = process.stdout.readline().split("token=")[1].strip()
        while not seen.exists() or not seen.read_text():
            time.sleep(0.05)
        argument, mode, page = seen.read_text().split(" ", 2)
        assert token not in argument
        assert mode == "600"
        assert "bayeskit studio" in page
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert list(temporary.iterdir()) == []


def test_a_file_that_is_not_there_is_a_sentence_and_leaves_nothing_behind(tmp_path, temporary):
    process = start(tmp_path / "nothing.csv", TMPDIR=str(temporary))
    _, said = process.communicate(timeout=60)
    assert list(temporary.iterdir()) == []
    assert process.returncode == 1
    assert "there is no file" in said
    assert "Traceback" not in said


def test_listening_for_other_machines_under_a_name_is_warned_of_and_works(temporary):
    process = start("--host", "0.0.0.0", "--allow-host", "Lab.example", TMPDIR=str(temporary))
    try:
        address = process.stdout.readline().split()[-1]
        assert address.startswith("http://Lab.example:")
        port = address.split(":")[2].split("/")[0]
        headers = {"authorization": f"Bearer {address.split('token=')[1]}"}
        for name, status in (("lab.example", 200), ("127.0.0.1", 200), ("evil.example", 403)):
            answer = httpx.get(
                f"http://127.0.0.1:{port}/api/v1/documents", headers={**headers, "host": f"{name}:{port}"}
            )
            assert answer.status_code == status
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert "answers to Lab.example" in said
    assert "not encrypted" in said
