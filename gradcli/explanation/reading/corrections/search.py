"""Search for the smallest change that corrects a program: changed programs are run, and several
errors may be corrected in succession.

A changed program is accepted only if it runs without an error, prints what was printed before, and
still has every backward pass, with the gradients that the program reads.
"""

import ast
import heapq
import re
import time
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from ....snippets.eager.tensor import Record, Tensor
from ....snippets.python.machine import Failure
from ....snippets.reading import Reading
from ....snippets.trace import Backward
from ..steps import (
    computed_by,
    is_added_to_row,
    is_spread,
    is_weighted_by_row,
    operands,
    records,
)
from .case import Case, Proposal
from .table import Kind, kinds
from .text import Text

DEPTH = 5  # most different errors that are corrected in succession
READS = 50  # most changed programs that are run
SECONDS = 1.2  # most CPU time of a search
LONGEST = 100_000  # characters of a program, as each change is parsed
WEAK = 2.5  # number of changes that a weak proposal counts as
RANK = 0.001  # cost of each likelier proposal for the same error
TIE = 0.4  # costs that differ by less differ only in ranks


class Step(NamedTuple):
    """One change: the error that it corrects, a sentence why that is raised, and a remark; the
    program before it.
    """

    message: str
    why: str
    note: str
    before: str


class Correction(NamedTuple):
    """A program that runs, and the changes that lead to it."""

    reading: Reading
    steps: tuple[Step, ...]

    @property
    def source(self) -> str:
        """The whole program."""
        return self.reading.source


def correction(reading: Reading) -> Correction | None:
    """The program with the smallest change that runs; None without one, or for a long program."""
    if len(reading.source) > LONGEST:
        return None
    seen, serial = {reading.source}, count()
    waiting: list[tuple[float, int, Reading, tuple[Step, ...]]] = [(0, next(serial), reading, ())]
    reads, deadline = READS, time.process_time() + SECONDS
    result: list[tuple[float, int, Correction]] = []
    while waiting and reads and time.process_time() < deadline:
        cost, _, current, steps = heapq.heappop(waiting)
        if result and cost + 1 > result[0][0] - TIE:
            break
        for rank, (step, proposal) in enumerate(proposals(current)):
            if not reads or time.process_time() > deadline:
                break
            if proposal.source in seen or undone(current.source, proposal.source):
                continue
            seen.add(proposal.source)
            reads -= 1
            new, path = reading.again(proposal.source), (*steps, step)
            price = cost + RANK * rank + (WEAK if proposal.weak else not repeats(current, new))
            spread = new.status == 0 and broadcast_loss(reading, new) is not None
            if new.status == 0 and keeps_meaning(reading, new, proposal.reprints):
                worth = price + WEAK if spread else price
                heapq.heappush(result, (worth, next(serial), Correction(new, path)))
                if not (proposal.weak or spread):
                    break
            if len({s.message for s in path}) < DEPTH and (
                spread or (new.status == 1 and advanced(current, new, proposal.uncovers))
            ):
                heapq.heappush(waiting, (price, next(serial), new, path))
    return result[0][2] if result else None


def proposals(reading: Reading) -> Iterator[tuple[Step, Proposal]]:
    """Proposals for the error that ends a program, likeliest first."""
    failure = reading.outcome.exception or broadcast_loss(None, reading)
    if failure is None:
        return
    if failure.type in ("SyntaxError", "IndentationError"):
        for source, why in repairs(reading.source, failure):
            if source != reading.source and parses(source):
                yield Step(failure.message, why, "", reading.source), Proposal(source)
        return
    for kind, match in kinds(failure.message):
        try:
            case = Case(reading, match, failure)
        except SyntaxError:
            return
        for proposal in proposed(kind, case):
            if parses(proposal.source):
                why = proposal.why or kind.why
                yield Step(failure.message, why, proposal.note, reading.source), proposal


UNDONE = re.compile(
    r"\.squeeze\(\)\.(un)?squeeze\(|\.unsqueeze\((\d)\)\.(unsqueeze\(\2\)|squeeze\(|T\b)"
    r"|\.T\.(T\b|(un)?squeeze\()|\.squeeze\(\)\.T\b|\.(float|long)\(\)\.(float|double|long)\("
    r"|\.double\(\)\.double\(|\.values\.long\("
)


def undone(before: str, after: str) -> bool:
    """Whether a change undoes or repeats an earlier one in the same expression."""
    return len(UNDONE.findall(after)) > len(UNDONE.findall(before))


def broadcast_loss(before: Reading | None, after: Reading) -> Failure | None:
    """A loss whose operands broadcast, as an error with the text of a warning; None if there is
    none, or if the original program has one too.
    """
    known = {w.message for w in before.outcome.warnings} if before else set()
    for warning in after.outcome.warnings:
        if warning.message.startswith("Using a target size") and warning.message not in known:
            return Failure("UserWarning", warning.message, warning.line)
    spread = [r for way in after.backwards for r in records(way) if makes_matrix(r)]
    if spread and (before is None or not any(map(makes_matrix, computed_by(before)))):
        sides = " against ".join(str(t.shape) for t in operands(spread[0]))
        return Failure("UserWarning", f"{sides}: each is compared with each", spread[0].line)
    return None


def makes_matrix(record: Record) -> bool:
    """Whether an operation of a column and a row broadcasts both, which is seldom meant."""
    return is_spread(record) or is_added_to_row(record) or is_weighted_by_row(record)


def proposed(kind: Kind, case: Case) -> Iterator[Proposal]:
    """The proposals for a kind of error, up to the first that does not apply to the program."""
    try:
        yield from kind.cures(case)
    except (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
        return


def parses(source: str) -> bool:
    """Whether a text parses as a program."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def advanced(before: Reading, after: Reading, earlier: bool) -> bool:
    """Whether a changed program raises another error, after it got at least as far as before; with
    `earlier`, it need not get as far.
    """
    old, new = before.outcome.exception, after.outcome.exception
    if old is None or new is None:
        return False
    same = old.message == new.message and line_of(before) == line_of(after)
    return not same and (earlier or progress(after) >= progress(before))


def repeats(before: Reading, after: Reading) -> bool:
    """Whether a changed program raises the same error in another line: the same mistake, whose
    corrections count as one change.
    """
    old, new = before.outcome.exception, after.outcome.exception
    same = old is not None and new is not None and old.message == new.message
    return same and old.line != new.line and line_of(before) != line_of(after)  # type: ignore[union-attr]


def line_of(reading: Reading) -> str:
    """The line that raises."""
    failure = reading.outcome.exception
    return line_at(reading, failure.line).strip() if failure else ""


def progress(reading: Reading) -> int:
    """How far a program got: the number of its assignments, prints and backward passes."""
    trace = reading.trace
    return len(trace.assignments) + len(trace.prints) + len(trace.backwards)


class Repair(NamedTuple):
    """A changed text, and a sentence why."""

    source: str
    why: str


def repairs(source: str, failure: Failure) -> Iterator[Repair]:
    """Texts without the syntax error."""
    yield Repair(printed_as_function(source), "In Python 3 print is a function.")
    lines = source.split("\n")
    place = failure.line - 1
    if not 0 <= place < len(lines):
        return
    code, comment = _without_comment(lines[place])
    yield from indented(lines, place, failure)
    if failure.message == "expected ':'":
        yield Repair(_with(lines, place, f"{code}:{comment}"), "A block starts after a colon.")
    if failure.message == "invalid decimal literal":
        why = "A bracket must be closed before the method."
        yield Repair(_with(lines, place, re.sub(r"(\d)\.(?=[A-Za-z_])", r"\1).", code)), why)
    closed = re.match(r"'([(\[{])' was never closed", failure.message)
    if closed:
        end = {"(": ")", "[": "]", "{": "}"}[closed[1]]
        why = "A bracket is never closed."
        yield Repair(_with(lines, place, f"{code}{end}{comment}"), why)
    if "forgot a comma" in failure.message:
        why = "The parts of a list or of a call are separated by commas."
        for at in range(place, min(place + 3, len(lines))):
            code, comment = _without_comment(lines[at])
            yield Repair(_with(lines, at, f"{code},{comment}"), why)
    if failure.message.startswith("positional argument follows"):
        why = "In a call, = names an argument and == compares."
        compared = re.sub(r"([(,]\s*\w+\s*)=(?!=)", r"\1==", lines[place], count=1)
        yield Repair(_with(lines, place, compared), why)
    if failure.message.startswith("unmatched") and code.endswith((")", "]", "}")):
        yield Repair(_with(lines, place, f"{code[:-1]}{comment}"), "A bracket is closed twice.")


def indented(lines: list[str], place: int, failure: Failure) -> Iterator[Repair]:
    """A line with the indentation of the previous one, or more after a colon."""
    if failure.type == "IndentationError" and place:
        before = next((n for n in reversed(lines[:place]) if n.strip()), "")
        indent = before[: len(before) - len(before.lstrip())]
        inner = "    " if before.rstrip().endswith(":") else ""
        why = "The statements of a block must start in the same column."
        yield Repair(_with(lines, place, indent + inner + lines[place].lstrip()), why)


def printed_as_function(source: str) -> str:
    """Python 2's print x as print(x)."""
    return re.sub(r"(?m)^(\s*)print +([^(\n=].*)$", r"\1print(\2)", source)


def _without_comment(line: str) -> tuple[str, str]:
    """A line without its comment, and the comment with the preceding space."""
    code = line.partition("#")[0].rstrip() if not re.search("[\"'].*#", line) else line.rstrip()
    return code, line[len(code) :]


def _with(lines: list[str], place: int, line: str) -> str:
    return "\n".join([*lines[:place], line, *lines[place + 1 :]])


# ---- the author's intention ----------------------------------------------------------------------
# What a corrected program must still print and compute.


def keeps_meaning(before: Reading, after: Reading, reprints: bool) -> bool:
    """Whether a corrected program still does what the author meant; `reprints`: the earlier output
    may change.
    """
    return (
        (reprints or same_output(before.outcome.printed, after.outcome.stdout))
        and len(after.trace.backwards) >= len(before.trace.backwards)
        and all(b.leaves and not loss_is_leaf(b, after.source) for b in after.trace.backwards)
        and reaches(before, after)
        and gradients_arrive(before, after)
        and no_new_warnings(before, after)
        and not flat(after)
    )


def reaches(before: Reading, after: Reading) -> bool:
    """Whether backward passes reach as many leaves as before; if there are optimisers, as many of
    the leaves that they update or whose gradient is read.
    """
    used_only = all(next(optimised(r), None) is not None for r in (before, after))
    return len(reached(before, used_only)) <= len(reached(after, used_only))


def reached(reading: Reading, used_only: bool) -> set[str]:
    """The names of the leaves that backward passes reach; with `used_only`, only those that
    optimisers update or whose gradient is read.
    """
    trained = {id(p) for p in optimised(reading)}
    result = set()
    for way in reading.backwards:
        for leaf in way.leaves:
            name = way.paths.get(leaf) or way.called.get(leaf, "")
            read = bool(name) and f"{name}.grad" in reading.source
            if not used_only or id(leaf) in trained or read:
                result.add(name)
    return result


def optimised(reading: Reading) -> Iterator[object]:
    """The parameters that the optimisers of a program update."""
    for value in reading.outcome.scope.values():
        for group in getattr(value, "fields", {}).get("param_groups", ()):
            yield from group["params"]


def loss_is_leaf(way: Backward, source: str) -> bool:
    """Whether a backward pass ends where it starts, at a leaf whose gradient is not read."""
    if not all(leaf in way.outputs for leaf in way.leaves):
        return False
    return not any(f"{way.called.get(leaf, '')}.grad" in source for leaf in way.leaves)


def same_output(before: str, after: str) -> bool:
    """Whether the earlier output is repeated, at least with the same numbers."""
    if after.startswith(before) or plain_numbers(after).startswith(plain_numbers(before)):
        return True
    old, new = floats(before), floats(after)
    close = all(abs(a - b) <= 1e-3 * max(1.0, abs(a)) for a, b in zip(old, new))
    return close and len(old) <= len(new) and before.count("\n") <= after.count("\n")


def floats(text: str) -> list[float]:
    """The numbers in a printed text."""
    text = re.sub(r"torch\.\w+|<\w+>|dtype=\S+", "", text)
    return [float(n) for n in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text)]


def plain_numbers(text: str) -> str:
    """A printed text without the suffixes of tensors, such as grad_fn."""
    text = re.sub(r",\s*(grad_fn=<\w+>|requires_grad=True|dtype=torch\.\w+)", "", text)
    text = re.sub(r"(\d)\.(?!\d)", r"\1", text)
    return re.sub(r"\s+", " ", text.strip())


def gradients_arrive(before: Reading, after: Reading) -> bool:
    """Whether the gradients that a program reads by name exist, unless it clears them."""
    if re.search(r"zero_grad\(|\.grad\s*=|del ", after.source):
        return True
    frozen = re.search(r"requires_grad(_\(| *= *)False", after.source)
    lines = after.source.split("\n")
    printed = [lines[n - 1] for n, text in after.trace.prints if "None" in text.split()]
    read = any(".grad" in line for line in printed) and not frozen
    if read and "None" not in before.outcome.printed.split():
        return False
    scope = after.outcome.scope
    for node in ast.walk(Text(after.source).tree):
        if isinstance(node, ast.Attribute) and node.attr == "grad":
            name = node.value.id if isinstance(node.value, ast.Name) else ""
            if read_as_none(before, node, name):
                continue
            value = scope.get(name) if assigned(after, name) < 2 else None
            asked = after.trace.backwards and isinstance(value, Tensor)
            if asked and isinstance(value, Tensor) and value.grad is None:
                return False
    return True


def read_as_none(before: Reading, node: ast.Attribute, name: str) -> bool:
    """Whether .grad of a computed tensor, which is None, was read before the error: then it is no
    sign of a wrong correction.
    """
    failure, value = before.outcome.exception, before.outcome.scope.get(name)
    computed = isinstance(value, Tensor) and not value.is_leaf and value.grad is None
    return computed and failure is not None and node.lineno < failure.line


def assigned(reading: Reading, name: str) -> int:
    """The number of times that a tensor is assigned to a name."""
    return sum(a.name == name for a in reading.trace.assignments)


EXPECTED = ("Converting", "Full backward hook is firing")
HARMLESS = ("deprecated", "enable_nested_tensor")  # words in warnings that concern no result


def no_new_warnings(before: Reading, after: Reading) -> bool:
    """Whether a change causes no new warning, other than HARMLESS ones.

    A warning about a number that is read from a tensor, or about inputs without a gradient, is
    ignored if the program has a closure, which an optimiser evaluates, or if the line is not new.
    """
    old, lines = {w.message for w in before.outcome.warnings}, before.source.split("\n")
    new = [w for w in after.outcome.warnings if w.message not in old]
    new = [w for w in new if not any(word in w.message for word in HARMLESS)]
    read = ["def closure" in after.source or line_at(after, w.line) in lines for w in new]
    return all(r and w.message.startswith(EXPECTED) for r, w in zip(read, new))


def line_at(reading: Reading, line: int) -> str:
    """A line of a program."""
    lines = reading.source.split("\n")
    return lines[line - 1] if 0 < line <= len(lines) else ""


FLAT = re.compile(r"(Round|Sign|Sgn|Floor|Ceil|Trunc|Heaviside)Backward")


def flat(reading: Reading) -> bool:
    """Whether a backward pass goes through a piecewise constant step, and all of its gradients are
    0.
    """
    return any(
        way.leaves
        and not any(leaf.grad is not None and leaf.grad.data.any() for leaf in way.leaves)
        and any(FLAT.match(r.name) for r in records(way))
        for way in reading.trace.backwards
    )
