"""Work in separate processes: bounded in time and memory, interrupted when the client leaves.

A document has two lanes, so that a long question (a sensitivity, a layout, a training) never makes a click wait. A
lane is one process that keeps the document, compiled, from one question to the next. To stop it, it is sent SIGINT,
which the kernels look for; what does not stop within a second is ended, and a new process takes the next question.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from bayeskit.errors import BayeskitError, TooLargeError
from bayeskit.studio.budget import Budget

# A worker that does not stop within this many seconds is killed.
PATIENCE = 1.0
# Seconds that a question of each kind may take.
SECONDS = {"quick": 60.0, "slow": 300.0, "open": 120.0, "long": 4 * 3600.0}
# Bytes that a worker without a task counts for at least.
RESTING = 32 << 20
# Threads that wait for workers; as many questions are worked on at once.
WAITING = 32
TASKS = (
    "bayeskit.studio.network_tasks", "bayeskit.studio.classifier_tasks", "bayeskit.studio.table_tasks",
    "bayeskit.studio.chain_tasks", "bayeskit.studio.opening",
)  # fmt: skip


class WorkError(BayeskitError):
    """An error that a worker reports: the library's message."""

    def __init__(self, message: str, kind: str = "BayeskitError") -> None:
        super().__init__(message)
        self.kind = kind


# What the process that workers are forked from imports: for networks, and besides for tables and classifiers.
NETWORKS = ["bayeskit.studio.workers", *TASKS, "bayeskit.plot.network_svg"]
TABLES = [
    "bayeskit.workflow.training",
    "bayeskit.workflow.model_columns",
    "bayeskit.explain.what_if",
    "pyarrow.compute",
]


def _context() -> Any:
    # A fork of a server with threads is not safe; a fork server has none, and it has imported the library once.
    methods = multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")


def prepare_workers(note: Path, only_networks: bool = False) -> None:
    """Import the library in the process that workers are forked from; ``note`` says which folder that one uses."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        from multiprocessing import forkserver, util

        note.write_text(util.get_temp_dir(), encoding="utf-8")
        _context().set_forkserver_preload(NETWORKS if only_networks else [*NETWORKS, *TABLES])
        forkserver.ensure_running()


class Lane:
    """One process that answers questions about one document, one at a time, with a share of the studio's memory."""

    threads = ThreadPoolExecutor(WAITING, thread_name_prefix="studio")

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self._process: Any = None
        self._pipe: Any = None
        self._holds: object = None
        self._allowed = 0
        self._turn = asyncio.Lock()

    async def ask(
        self, task: str, subject: tuple[object, Any], arguments: dict[str, Any], kind: str, client: str = ""
    ) -> bytes:
        """Return a task's answer as JSON; ``subject`` is a key and what the worker must hold under it."""
        async for what, value in self.follow(task, subject, arguments, kind, client):
            if what == "answer":
                answer: bytes = value
                return answer
        raise WorkError("the worker ended without an answer; ask again.")

    async def follow(
        self, task: str, subject: tuple[object, Any], arguments: dict[str, Any], kind: str, client: str = ""
    ) -> AsyncIterator[tuple[str, Any]]:
        """Yield ("event", dict) for each report of a task, then ("answer", JSON); ``kind`` says how large it may be."""
        async with self._turn:
            turn = asyncio.ensure_future(self.budget.take(self, kind, client))
            try:
                if not (await asyncio.wait({turn}, timeout=0.5))[0] and kind == "long":
                    yield "event", {"step": "waiting for other work to end", "done": 0, "total": 1}
                self._allowed = await turn
            finally:
                turn.cancel()
            held = 0
            try:
                async for what, value in self._work(task, subject, arguments, SECONDS[kind]):
                    if what == "held":
                        held = value
                    else:
                        yield what, value
            finally:
                if self._process is None or held > self.budget.share("quick"):
                    self.close()  # what a large task leaves behind is not kept for later
                else:
                    self.budget.rest(self, max(held, RESTING), self._end)

    async def _work(
        self, task: str, subject: tuple[object, Any], arguments: dict[str, Any], seconds: float
    ) -> AsyncIterator[tuple[str, Any]]:
        key, value = subject
        self._start()
        known = self._holds == key
        message = (task, arguments, known, None if known else value, self._allowed)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        with suppress(OSError):  # a worker that has just died is noticed, and named, when its answer is read
            await loop.run_in_executor(self.threads, self._pipe.send, message)
        self._holds = key
        while True:
            what, answer = await self._next(deadline - loop.time(), seconds)
            if what == "error":
                *said, held = answer
                yield "held", held
                raise WorkError(*said)
            if what == "event":
                yield what, answer
                continue
            yield "held", answer[1]
            yield what, answer[0]
            return

    async def _next(self, left: float, seconds: float) -> tuple[str, Any]:
        loop = asyncio.get_running_loop()
        waiting = loop.run_in_executor(self.threads, self._receive, self._pipe)
        try:
            message: tuple[str, Any] = await asyncio.wait_for(asyncio.shield(waiting), max(left, 0.01))
        except TimeoutError:
            await self._interrupt(waiting)
            raise TooLargeError(
                f"no answer within {seconds:.0f} seconds, so the work was stopped; ask for less, or use the library."
            ) from None
        except asyncio.CancelledError:
            await self._interrupt(waiting)
            raise
        if message[0] == "ended":
            self._process.join(2)
            code = self._process.exitcode
            self.close()
            raise WorkError(_cause_of_death(code, self._allowed), "WorkerEnded")
        return message

    @staticmethod
    def _receive(pipe: Any) -> tuple[str, Any]:
        try:
            message: tuple[str, Any] = pipe.recv()
            return message
        except (EOFError, OSError):
            return "ended", None

    async def _interrupt(self, waiting: asyncio.Future[tuple[str, Any]]) -> None:
        """Stop the task; the worker's last message is read, so that the next question gets its own answer."""
        with suppress(ProcessLookupError, TypeError):
            os.kill(self._process.pid, signal.SIGINT)
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        with suppress(TimeoutError, asyncio.CancelledError):
            while (await asyncio.wait_for(asyncio.shield(waiting), end - loop.time()))[0] == "event":
                waiting = loop.run_in_executor(self.threads, self._receive, self._pipe)
            if waiting.result()[0] != "ended":
                return
        self.close()

    def _start(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        self.close()
        context = _context()
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def close(self) -> None:
        """End the process and give its memory back."""
        self._end()
        self.budget.release(self)

    def _end(self) -> None:
        process, pipe = self._process, self._pipe
        self._process = self._pipe = self._holds = None
        if process is not None:
            process.kill()
            process.join(5)
            pipe.close()


def _cause_of_death(code: int | None, allowed: int) -> str:
    """Say why a worker ended without an answer."""
    if code == -signal.SIGKILL:
        return (
            "the worker was killed (SIGKILL), as the system does when the machine runs out of memory; ask for less, or "
            "use the library."
        )
    if code is not None and code < 0:
        return (
            f"the worker crashed ({signal.Signals(-code).name}); it may have needed more than its {allowed >> 20} MiB "
            "of memory. Start the studio with more (--memory), or use the library."
        )
    return f"the worker ended with code {code} and no answer; ask again."


class _Busy:
    """Whether a task is running: a late interrupt is ignored."""

    def __init__(self) -> None:
        self.working = False

    def interrupt(self, *_: object) -> None:
        if self.working:
            raise KeyboardInterrupt


def all_tasks() -> dict[str, Callable[..., bytes]]:
    """Return the tasks of a worker, by name."""
    return {name: task for module in TASKS for name, task in import_module(module).TASKS.items()}


class _Limit:
    """How much memory this process may have: what it had at its start and what the task is allowed."""

    def __init__(self) -> None:
        self.base = _data_bytes()
        self.allowed = 0

    def set(self, allowed: int) -> None:
        self.allowed = allowed
        if sys.platform == "win32":
            return
        import resource

        # Linux counts what can be written and is not shared; elsewhere the address space is all that can be bounded.
        which = resource.RLIMIT_DATA if sys.platform.startswith("linux") else resource.RLIMIT_AS
        with suppress(ValueError, OSError):
            resource.setrlimit(which, (self.base + allowed, resource.RLIM_INFINITY))

    @property
    def held(self) -> int:
        return max(_data_bytes() - self.base, 0)


def _data_bytes() -> int:
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    return 1 << 30


_limit = _Limit()


def memory_allowed() -> int:
    """Return the bytes that tables of inference may take in the task that runs: half of what the process has."""
    return max(_limit.allowed // 2, 1 << 26) if _limit.allowed else memory_default()


def memory_default() -> int:
    """Return what tables of inference may take where no worker bounds them, as in a notebook."""
    from bayeskit.defaults import STUDIO_MEMORY
    from bayeskit.network.infer.exact import memory_in_bytes

    return int(memory_in_bytes(STUDIO_MEMORY))


def _end_with_the_server() -> None:
    """End this process when the server is gone, also in the middle of a long task."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def work(pipe: Any) -> None:
    """Answer questions until the pipe ends; the main loop of a worker."""
    busy = _Busy()
    signal.signal(signal.SIGINT, busy.interrupt)
    _end_with_the_server()
    tasks = all_tasks()
    _limit.base = _data_bytes()
    subject: Any = None
    while True:
        try:
            name, arguments, known, value, allowed = pipe.recv()
        except (EOFError, OSError):
            return
        _limit.set(allowed)
        if not known:
            subject = value
        try:
            busy.working = True
            answer = _answer(tasks[name], subject, arguments, pipe, busy)
        except KeyboardInterrupt:
            answer = ("error", ("stopped.", "Stopped", _limit.held))
        finally:
            busy.working = False
        try:
            pipe.send(answer)
        except (BrokenPipeError, OSError):
            return


def _answer(
    task: Callable[..., bytes], subject: Any, arguments: dict[str, Any], pipe: Any, busy: _Busy
) -> tuple[str, Any]:
    def report(event: dict[str, Any]) -> None:
        busy.working = False  # a message must not be cut in the middle
        pipe.send(("event", event))
        busy.working = True

    try:
        return "answer", (task(subject, report, **arguments), _limit.held)
    except MemoryError:
        said = (
            f"this needs more than the {_limit.allowed >> 20} MiB of memory that it may have; start the studio with "
            "more (--memory), or use the library."
        )
        return "error", (said, "TooLargeError", _limit.held)
    except (BayeskitError, ValueError, TypeError, OSError, RecursionError) as error:
        return "error", (" ".join(str(error).split()), type(error).__name__, _limit.held)
