"""`bayeskit studio` as a user starts and ends it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
import pytest

from bayeskit import datasets


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


def test_a_file_that_is_not_there_is_a_sentence(tmp_path):
    process = start(tmp_path / "nothing.csv")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "there is no file" in said
    assert "Traceback" not in said


def test_listening_for_other_machines_is_warned_of():
    process = start("--host", "0.0.0.0", "--port", "0")
    try:
        process.stdout.readline()
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert "not encrypted" in said
