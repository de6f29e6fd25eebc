"""One budget of memory for all workers of a studio, fair between clients."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

# What part of the budget a task may take, by its kind, and of which pool: a training, which may go on for hours, never
# makes a click or an upload wait.
SHARES = {"quick": 1 / 8, "slow": 1 / 8, "open": 1 / 8, "long": 1 / 4}
POOL_OF = {"quick": "quick", "slow": "slow", "open": "slow", "long": "long"}
POOLS = {"quick": 1 / 4, "slow": 1 / 4, "long": 1 / 2}
LEAST = 256 << 20  # bytes; with less not even the library and a small table have room


def machine_memory() -> int:
    """Return the bytes of memory that this process may use: the machine's, or its container's where that is less."""
    found = [8 << 30]
    with suppress(AttributeError, ValueError, OSError):
        found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with suppress(OSError, ValueError):
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(found)


@dataclass(frozen=True)
class _Held:
    n_bytes: int
    client: str
    pool: str


@dataclass
class _Waiting:
    holder: object
    held: _Held
    loop: asyncio.AbstractEventLoop
    turn: asyncio.Future[None]


class Budget:
    """Bytes that workers hold together; who asks for more than is left waits.

    Of those who wait, the client that holds least comes first. Workers that only keep a document ready are ended for
    those who have work, the one that rests for longest first.
    """

    def __init__(self, total: int | None = None) -> None:
        self.total = total if total is not None else max(machine_memory() // 4, LEAST)
        self._held: dict[object, _Held] = {}
        self._waiting: list[_Waiting] = []
        self._lock = threading.RLock()
        self._idle: dict[object, Callable[[], None]] = {}  # the one that rests for longest first

    def share(self, kind: str) -> int:
        """Return what a task of a lane may take."""
        return int(self.total * SHARES[kind])

    @property
    def held(self) -> int:
        """The bytes that are held now."""
        with self._lock:
            return sum(each.n_bytes for each in self._held.values())

    async def take(self, holder: object, kind: str, client: str) -> int:
        """Wait for a share of the budget and return its bytes."""
        n_bytes = self.share(kind)
        loop = asyncio.get_running_loop()
        waiting = _Waiting(holder, _Held(n_bytes, client, POOL_OF[kind]), loop, loop.create_future())
        with self._lock:
            self._idle.pop(holder, None)
            self._waiting.append(waiting)
        self._wake()
        try:
            await waiting.turn
        except asyncio.CancelledError:
            with self._lock:
                if waiting in self._waiting:
                    self._waiting.remove(waiting)
                else:  # it had its turn, and will not use it
                    self._held.pop(holder, None)
            self._wake()
            raise
        return n_bytes

    def rest(self, holder: object, n_bytes: int, end: Callable[[], None]) -> None:
        """Note that a worker waits for questions and holds so many bytes; ``end`` ends it."""
        with self._lock:
            if holder in self._held:
                self._held[holder] = replace(self._held[holder], n_bytes=n_bytes)
                self._idle[holder] = end
        self._wake()

    def release(self, holder: object) -> None:
        """Give back what a worker held."""
        with self._lock:
            self._held.pop(holder, None)
            self._idle.pop(holder, None)
        self._wake()

    def _wake(self) -> None:
        for pool, share in POOLS.items():
            while self._wake_one(pool, int(self.total * share)):
                pass

    def _wake_one(self, pool: str, room: int) -> bool:
        """Let one who waits for a pool go on, or end a worker that rests in it; whether either could be done."""
        with self._lock:
            waiting = [each for each in self._waiting if each.held.pool == pool]
            if not waiting:
                return False
            of_client: dict[str, int] = {}
            for each in self._held.values():
                of_client[each.client] = of_client.get(each.client, 0) + each.n_bytes
            first = min(waiting, key=lambda each: of_client.get(each.held.client, 0))
            others = {holder: each for holder, each in self._held.items() if each.pool == pool}
            others.pop(first.holder, None)
            if sum(each.n_bytes for each in others.values()) + first.held.n_bytes > room:
                resting = next((holder for holder in self._idle if holder in others), None)
                if resting is None:
                    return False  # a worker that ends its task wakes us again
                del self._held[resting]
                self._idle.pop(resting)()
                return True
            self._waiting.remove(first)
            self._held[first.holder] = first.held
        first.loop.call_soon_threadsafe(_set, first.turn)
        return True


def _set(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
