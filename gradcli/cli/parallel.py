"""Lines answered by several workers in parallel, in their order.

A thread reads lines, workers answer them, and one loop distributes and collects: it waits for one
queue, in which lines and answers arrive. At most WINDOW lines per worker are in memory, answered or
not; no further lines are distributed while HELD characters of answers wait for an earlier answer. A
worker gets all lines that wait, and never waits for more: a client that sends a line only after the
previous answer is answered at once.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any, NamedTuple, Protocol

from ..limits import Limits
from .work import Answered, lost

WINDOW = 256  # lines per worker that are read and not yet written
HELD = 100_000_000  # characters of answers that wait to be written
SHARE = 64  # lines that are sent to a worker at a time


class Slot(Protocol):
    """A slot that processes one share of lines at a time."""

    def submit(self, lines: Sequence[str], limits: Limits) -> "Future[list[Answered]]":
        """Submit lines to be answered."""
        ...

    def lost(self, error: BaseException) -> int | None:
        """The index of the line during which the worker died; None if not known. The slot can be
        used again. Raises GradcliError if the error has another cause.
        """
        ...


class Line:
    """A line whose answer is not written yet. It is sent `alone` if it may have killed a worker."""

    __slots__ = ("alone", "answer", "text")

    def __init__(self, text: str):
        self.text, self.alone = text, False
        self.answer: Answered | None = None


class Done(NamedTuple):
    """A share of lines that a slot has answered or lost."""

    slot: Slot
    share: list[Line]
    future: "Future[list[Answered]]"


def in_parallel(
    lines: Iterable[str], limits: Limits, slots: Sequence[Slot]
) -> Iterator[list[Answered]]:
    """The answers to lines in order, in lists of those that are available at the same time."""
    events: SimpleQueue[Any] = SimpleQueue()
    room, work = Semaphore(WINDOW * len(slots)), Work(limits, slots, events)
    Thread(target=_queue_lines, args=(lines, events, room), daemon=True).start()
    while work.reading or work.pending:
        work.take(events.get())
        while not events.empty():  # write together what has arrived meanwhile
            work.take(events.get())
        work.send()
        if ready := work.ready():
            yield ready
            room.release(len(ready))
            work.send()


def _queue_lines(lines: Iterable[str], events: "SimpleQueue[Any]", room: Semaphore) -> None:
    """Put each line into the queue, as long as there is room; then None, or the exception."""
    try:
        for line in lines:
            room.acquire()
            events.put(Line(line))
        events.put(None)
    except BaseException as error:
        events.put(error)


class Work:
    """The lines in progress. `pending` are lines that are not written yet, in order; `waiting`
    those of them that no worker has. `held` is the number of characters in their answers.
    """

    def __init__(self, limits: Limits, slots: Sequence[Slot], events: "SimpleQueue[Any]"):
        self.limits, self.events = limits, events
        self.slots, self.idle = len(slots), [*slots]
        self.pending, self.waiting = deque[Line](), deque[Line]()
        self.reading, self.held = True, 0

    def take(self, event: Any) -> None:
        """Process an event: a line, a share that a slot has done, or the end of the lines."""
        if isinstance(event, Line):
            self.pending.append(event)
            self.waiting.append(event)
        elif isinstance(event, Done):
            self._collect(event)
            self.idle.append(event.slot)
        elif event is None:
            self.reading = False
        else:
            raise event

    def ready(self) -> list[Answered]:
        """Remove and return the answers that can be written."""
        result = []
        while self.pending and (answer := self.pending[0].answer) is not None:
            self.pending.popleft()
            self.held -= len(answer.text)
            result.append(answer)
        return result

    def send(self) -> None:
        """Distribute lines to idle slots, if there is room for answers; the next line to be written
        is always sent.
        """
        while self.idle and self.waiting:
            if self.held > HELD and self.waiting[0] is not self.pending[0]:
                return
            self._send(self.idle.pop())

    def _send(self, slot: Slot) -> None:
        fair = min(SHARE, -(-len(self.waiting) // self.slots))
        share = [self.waiting.popleft()]
        while len(share) < fair and not (share[0].alone or self.waiting[0].alone):
            share.append(self.waiting.popleft())
        future = slot.submit([line.text for line in share], self.limits)
        future.add_done_callback(lambda future: self.events.put(Done(slot, share, future)))

    def _collect(self, done: Done) -> None:
        error = done.future.exception()
        if error is None:
            for line, answer in zip(done.share, done.future.result(), strict=True):
                line.answer, self.held = answer, self.held + len(answer.text)
            return
        at = done.slot.lost(error)
        if len(done.share) == 1:
            at = 0
        for k, line in reversed([*enumerate(done.share)]):
            if k == at:
                line.answer = lost(line.text, self.limits)
                self.held += len(line.answer.text)
            else:
                line.alone = at is None
                self.waiting.appendleft(line)
