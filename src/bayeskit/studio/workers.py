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
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from typing import Any

from bayeskit.errors import BayeskitError, TooLargeError

# The address space of a worker; tables of inference are bounded by what each question says.
MAX_BYTES = 8 << 30
# A worker that does not stop within this many seconds is killed.
PATIENCE = 1.0
# Threads that wait for workers; as many questions are worked on at once.
WAITING = 32
TASKS = ("bayeskit.studio.network_tasks", "bayeskit.studio.classifier_tasks", "bayeskit.studio.table_tasks")


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


def prepare_workers(only_networks: bool = False) -> None:
    """Import the library in the process that workers are forked from, before the first question."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        from multiprocessing import forkserver

        _context().set_forkserver_preload(NETWORKS if only_networks else [*NETWORKS, *TABLES])
        forkserver.ensure_running()


class Lane:
    """One process that answers questions about one document, one at a time."""

    threads = ThreadPoolExecutor(WAITING, thread_name_prefix="studio")

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Any = None
        self._holds: object = None
        self._turn = asyncio.Lock()

    async def ask(self, task: str, subject: tuple[object, Any], arguments: dict[str, Any], seconds: float) -> bytes:
        """Return a task's answer as JSON; ``subject`` is a key and what the worker must hold under it."""
        async for kind, value in self.follow(task, subject, arguments, seconds):
            if kind == "answer":
                answer: bytes = value
                return answer
        raise WorkError("the worker ended without an answer; ask again.")

    async def follow(
        self, task: str, subject: tuple[object, Any], arguments: dict[str, Any], seconds: float
    ) -> AsyncIterator[tuple[str, Any]]:
        """Yield ("event", dict) for each report of a task, then ("answer", JSON)."""
        async with self._turn:
            key, value = subject
            self._start()
            known = self._holds == key
            message = (task, arguments, known, None if known else value)
            loop = asyncio.get_running_loop()
            deadline = loop.time() + seconds
            await loop.run_in_executor(self.threads, self._pipe.send, message)
            self._holds = key
            while True:
                kind, answer = await self._next(deadline - loop.time(), seconds)
                if kind == "error":
                    raise WorkError(*answer)
                yield kind, answer
                if kind == "answer":
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
            self.close()
            raise WorkError("the worker ran out of memory and was ended; ask for less, or use the library.")
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
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join(5)
            self._pipe.close()
        self._process = self._pipe = self._holds = None


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


def work(pipe: Any) -> None:
    """Answer questions until the pipe ends; the main loop of a worker."""
    busy = _Busy()
    signal.signal(signal.SIGINT, busy.interrupt)
    _bound_memory()
    tasks = all_tasks()
    subject: Any = None
    while True:
        try:
            name, arguments, known, value = pipe.recv()
        except (EOFError, OSError):
            return
        if not known:
            subject = value
        try:
            busy.working = True
            answer = _answer(tasks[name], subject, arguments, pipe, busy)
        except KeyboardInterrupt:
            answer = ("error", ("stopped.", "Stopped"))
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
        return "answer", task(subject, report, **arguments)
    except MemoryError:
        return "error", ("this needs more memory than the studio allows; use the library.", "TooLargeError")
    except (BayeskitError, ValueError, TypeError, OSError) as error:
        return "error", (" ".join(str(error).split()), type(error).__name__)


def _bound_memory() -> None:
    if sys.platform == "win32":
        return
    import resource

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
