"""A kernel whose threads fail, or that is interrupted, raises in the caller and leaves the process alive."""

import os
import subprocess
import sys
import textwrap

import pytest

SANITIZED = "BAYESKIT_SANITIZE" in os.environ

WIDE = """
    import numpy as np
    from bayeskit._kernels import count_subsets, count_values, super_parent_losses

    def wide(n_columns, n_levels, n_rows):
        rng = np.random.default_rng(0)
        columns = [rng.integers(0, n_levels, n_rows).astype(np.uint16) for _ in range(n_columns)]
        y = rng.integers(0, 2, n_rows)
        sizes = [n_levels] * n_columns
        n_value = count_values(columns, y, None, 2, sizes, 1).ravel()
        pairs = count_subsets(columns, y, None, 2, sizes, 2, 1)
        ones, prior = [1.0] * n_columns, np.tile(np.bincount(y, minlength=2).astype(float), n_columns)
        return columns, y, None, n_value, pairs, sizes, 2, ones, ones, prior, [1.0 * n_levels] * n_columns
"""


def run(script):
    code = textwrap.dedent(WIDE) + textwrap.dedent(script)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits the memory of a process")
@pytest.mark.skipif(SANITIZED, reason="the sanitizer maps more memory than any limit")
@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_a_thread_without_memory_is_a_memory_error_in_the_caller(n_threads):
    done = run(
        f"""
        import resource

        given = wide(n_columns=6, n_levels=400, n_rows=1000)
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (48 << 20), -1))
        try:
            super_parent_losses(*given, {n_threads})
        except MemoryError:
            resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
            print("caught, and", super_parent_losses(*given, {n_threads}).shape)
        """
    )
    assert (done.returncode, done.stdout) == (0, "caught, and (6, 3)\n"), done.stderr


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_is_seen_inside_a_kernel(n_threads):
    # Alone the kernel goes on for most of a minute.
    done = run(
        f"""
        import os, signal, threading

        given = wide(n_columns=60, n_levels=6, n_rows=40_000)
        given = ([np.tile(column, 60) for column in given[0]], np.tile(given[1], 60), *given[2:])
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            super_parent_losses(*given, {n_threads})
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr


@pytest.mark.parametrize("method", ["predict_proba(hidden)", "leave_one_out(X, y)"])
def test_ctrl_c_is_seen_between_rows_with_many_hidden_cells(method):
    # A row with a pattern of its own takes milliseconds: a chunk of 256 of them took more than a second.
    done = run(
        f"""
        import os, signal, threading, time
        from bayeskit import KDB

        rng = np.random.default_rng(0)
        X, y = rng.integers(0, 4, (4_000, 30)).astype(float), rng.integers(0, 3, 4_000)
        X[rng.random(X.shape) < 0.2] = np.nan
        hidden = np.where(rng.random(X.shape) < 0.9, np.nan, X)
        model = KDB(3, kinds="categorical").fit(X, y)
        sent = []

        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(0.5, interrupt).start()
        try:
            for _ in range(1000):
                model.{method}
        except KeyboardInterrupt:
            print(time.monotonic() - sent[0])
        """
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < (10 if SANITIZED else 0.5)


def test_many_threads_of_the_caller_share_the_helpers():
    done = run(
        """
        from concurrent.futures import ThreadPoolExecutor

        given = wide(n_columns=8, n_levels=6, n_rows=20_000)
        alone = super_parent_losses(*given, 1)
        with ThreadPoolExecutor(6) as callers:
            found = list(callers.map(lambda _: super_parent_losses(*given, 4), range(60)))
        print(all(np.array_equal(each, alone) for each in found))
        """
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_both_sides_of_a_fork_have_helpers_of_their_own():
    # Python warns of a fork while the process has other threads: idle helpers leave before.
    done = run(
        """
        import os

        given = wide(n_columns=8, n_levels=6, n_rows=20_000)
        alone = super_parent_losses(*given, 1)
        n_alone = len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else None
        for _ in range(20):
            assert np.array_equal(super_parent_losses(*given, 3), alone)
            child = os.fork()
            if child == 0:
                os._exit(0 if np.array_equal(super_parent_losses(*given, 3), alone) else 3)
            assert n_alone is None or len(os.listdir("/proc/self/task")) <= n_alone
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print("done")
        """
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.skipif(
    SANITIZED, reason="the sanitizer's own memory is locked in the child when another thread was taking some"
)
def test_a_fork_in_the_middle_of_the_work_of_another_thread():
    done = run(
        """
        import os, threading

        given = wide(n_columns=8, n_levels=6, n_rows=20_000)
        alone = super_parent_losses(*given, 1)
        for _ in range(20):
            other = threading.Thread(target=super_parent_losses, args=(*given, 3))
            other.start()
            child = os.fork()
            if child == 0:
                os._exit(0 if np.array_equal(super_parent_losses(*given, 3), alone) else 3)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            other.join()
        print("done")
        """
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
