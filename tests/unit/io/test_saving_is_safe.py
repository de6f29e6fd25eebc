"""The old file stays whole whatever happens while the new one is written."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import bayeskit
from bayeskit.errors import ModelFileError
from bayeskit.io import container

OLD = {"numbers": np.arange(5.0)}

# Saves without end; each file is 80 MB, so that a kill at any moment falls into the writing of one.
ENDLESS = """
import sys
import numpy as np
from bayeskit.io import container
numbers = np.zeros(10_000_000)
while True:
    container.write(sys.argv[1], "Model", {}, {"numbers": numbers})
    print("saved", flush=True)
"""

LARGER_THAN_ALLOWED = """
import resource, signal, sys
import numpy as np
from bayeskit.io import container
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    container.write(sys.argv[1], "Model", {}, {"numbers": np.zeros(1_000_000)})
except OSError as error:
    sys.exit(error.errno)
"""


@pytest.fixture
def path(tmp_path):
    container.write(tmp_path / "model.bayes", "Model", {}, OLD)
    return tmp_path / "model.bayes"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_kill_while_saving_leaves_the_old_file_whole(path):
    writer = subprocess.Popen([sys.executable, "-c", ENDLESS, path], stdout=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while not list(path.parent.glob(".model.bayes.*.tmp")):
            assert writer.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.0005)
    finally:
        writer.send_signal(signal.SIGKILL)
        written = writer.communicate()[0]
    assert writer.returncode == -signal.SIGKILL
    assert list(path.parent.glob(".model.bayes.*.tmp")), "the kill fell into the writing of a file"
    assert written == b""
    assert_array_equal(container.read(path).arrays["numbers"], OLD["numbers"])


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_write_beyond_the_limit_on_file_size_leaves_the_old_file_and_nothing_else(path):
    done = subprocess.run([sys.executable, "-c", LARGER_THAN_ALLOWED, path], check=False)
    assert done.returncode == errno.EFBIG
    assert list(path.parent.iterdir()) == [path]
    assert_array_equal(container.read(path).arrays["numbers"], OLD["numbers"])


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("a small disk can be made by root on Linux only")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(small_disk):
    path = small_disk / "model.bayes"
    container.write(path, "Model", {}, OLD)
    with pytest.raises(OSError) as refusal:
        container.write(path, "Model", {}, {"numbers": np.zeros(1_000_000)})
    assert refusal.value.errno == errno.ENOSPC
    assert refusal.value.filename == str(path)
    assert list(small_disk.iterdir()) == [path]
    assert_array_equal(container.read(path).arrays["numbers"], OLD["numbers"])


def test_a_failure_at_the_last_moment_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    def no_disk(_):
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr(os, "fsync", no_disk)
    with pytest.raises(OSError, match="the disk is gone"):
        container.write(path, "Model", {}, {"numbers": np.zeros(3)})
    assert list(path.parent.iterdir()) == [path]
    assert_array_equal(container.read(path).arrays["numbers"], OLD["numbers"])


def test_a_disk_that_is_full_at_any_write_is_named_by_the_file(path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*model\.bayes'"):
        container.write(path, "Model", {}, OLD)
    with (
        pytest.raises(OSError, match=r"No space left on device: '.*out\.csv'"),
        container.atomic_write(path.with_name("out.csv")) as file,
    ):
        file.write(b"a")


@pytest.mark.parametrize("content", [b"my thesis", b"PK\x03\x04 another archive", b"a,b\n1,2\n"])
def test_a_file_that_bayeskit_did_not_write_is_replaced_only_when_forced(path, content):
    model = bayeskit.NaiveBayes().fit({"wind": ["weak", "strong"]}, ["yes", "no"])
    network, decision = model.to_network(), bayeskit.BayesDecision(model)
    decision.fit({"wind": ["weak", "strong"]}, ["yes", "no"])
    for each in (model, network, decision):
        path.write_bytes(content)
        with pytest.raises(bayeskit.errors.TableError, match="nothing in it says that bayeskit wrote it"):
            each.save(path)
        assert path.read_bytes() == content
        each.save(path, force=True)
        each.save(path)  # a model file is replaced without a word, and so is an empty file
        assert type(bayeskit.load(path)) is type(each)
    path.write_bytes(b"")
    model.save(path)


def test_the_new_file_keeps_the_permissions_of_the_old(path):
    path.chmod(0o640)
    container.write(path, "Model", {}, OLD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_any_new_file(path):
    plain = path.with_name("plain")
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_link_stays_a_link_to_the_new_file(path):
    link = path.with_name("link")
    link.symlink_to(path)
    container.write(link, "Model", {}, {"numbers": np.zeros(2)})
    assert link.is_symlink()
    assert_array_equal(container.read(path).arrays["numbers"], [0, 0])


def test_a_folder_that_is_not_there_and_a_folder_in_the_place_of_a_file_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="create it first"):
        container.write(tmp_path / "absent" / "m", "Model", {}, OLD)
    with pytest.raises(ModelFileError, match="is a folder"):
        container.write(tmp_path, "Model", {}, OLD)
