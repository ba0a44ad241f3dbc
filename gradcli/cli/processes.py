"""Workers on this machine: processes, each in a pool of its own.

So one that is killed takes no other with it, and where it writes which line it is at, no line but
that one is lost.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.util import Finalize
from threading import Thread
from typing import Any

from ..limits import Limits
from ..process import collect_seldom, one_thread
from .work import Answered, answered

START = "spawn"  # as on every system; a fork of a process with threads may wait forever
QUIET = "ignore"  # the processes of Python's own, too: one warns of what Ctrl-C leaves behind
AT, STOP = 0, 1  # what a process and its worker tell one another

_shared: Any = [0, 0]


class Processes:
    """So many workers, which end with the block that uses them."""

    def __init__(self, count: int):
        self.slots = [Process() for _ in range(count)]

    def __enter__(self) -> "Sequence[Process]":
        return self.slots

    def __exit__(self, kind: object, *_: object) -> None:
        for slot in self.slots:
            slot.kill() if kind else slot.end()
        for slot in self.slots:
            slot.join()


class Process:
    """One of them."""

    def __init__(self) -> None:
        self._manager: Any = None
        self._start()

    def _start(self) -> None:
        if QUIET not in sys.warnoptions:
            sys.warnoptions.append(QUIET)
        context = get_context(START)
        self._shared = context.RawArray("l", 2)
        self._pool = ProcessPoolExecutor(1, context, _begin, (self._shared,))

    def submit(self, lines: Sequence[str], limits: Limits) -> "Future[list[Answered]]":
        """Have lines answered."""
        self._shared[AT] = 0
        return self.run(_work, lines, limits)

    def run(self, function: Callable[..., Any], *args: Any) -> "Future[Any]":
        """Have a function called."""
        with _interrupts_wait():  # a process that this starts says nothing of Ctrl-C
            try:
                return self._pool.submit(function, *args)
            except BrokenExecutor:  # it was killed as it had nothing to do
                self._start()
                return self._pool.submit(function, *args)

    def lost(self, error: BaseException) -> int:
        """Which of the lines was worked on; another worker takes the place of this one."""
        at = self._shared[AT]
        self.renew()
        return at

    def renew(self) -> None:
        """Another worker takes the place of this one, whatever it does."""
        self.kill()
        self._start()

    def kill(self) -> None:
        """Let it end at once."""
        alive = [*(self._pool._processes or {}).values()]  # from Python 3.14 on: kill_workers()
        self.end()
        for worker in alive:
            worker.kill()

    def end(self) -> None:
        """Let it end after the line that it is at."""
        self._shared[STOP] = 1
        self._manager = self._pool._executor_manager_thread
        self._pool.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait until it has ended. The thread of its pool closes a pipe then, to which an
        interpreter that ends at that moment writes.
        """
        if self._manager is not None:
            self._manager.join()


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Interrupts wait meanwhile, in what is started too; where a system can have them wait."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(shared: Any) -> None:
    """The initialisation of a worker."""
    global _shared
    _shared = shared
    one_thread()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):  # the parent had interrupts wait until now
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    collect_seldom()
    Finalize(None, os._exit, (0,), exitpriority=0)  # what it holds is not freed piece by piece
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed tells nobody."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(lines: Sequence[str], limits: Limits) -> list[Answered]:
    result = []
    for at, line in enumerate(lines):
        if _shared[STOP]:
            break
        _shared[AT] = at
        result.append(answered(line, limits))
    return result
