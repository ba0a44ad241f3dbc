"""What the author of a program meant: what a corrected program must still print and compute."""

import ast
import re

from ....snippets.eager.tensor import Tensor
from ....snippets.reading import Reading
from ....snippets.trace import Backward
from ..steps import records
from .text import Text


def keeps_meaning(before: Reading, after: Reading, reprints: bool = False) -> bool:
    """Whether a program that runs still does what the one that raises is after; `reprints`: what
    it printed came of the mistake.
    """
    return (
        (reprints or same_output(before.outcome.printed, after.outcome.stdout))
        and len(after.trace.backwards) >= len(before.trace.backwards)
        and all(b.leaves and not loss_is_leaf(b, after.source) for b in after.trace.backwards)
        and len(reached(before)) <= len(reached(after))
        and gradients_arrive(before, after)
        and no_new_warnings(before, after)
        and not flat(after)
    )


def reached(reading: Reading) -> set[str]:
    """What the leaves are called that the ways back of a program reach."""
    ways = reading.backwards
    return {w.paths.get(leaf) or w.names.get(leaf, "") for w in ways for leaf in w.leaves}


def loss_is_leaf(way: Backward, source: str) -> bool:
    """Whether a way back reaches nothing but where it starts, and nobody asks for that gradient."""
    if not all(leaf in way.outputs for leaf in way.leaves):
        return False
    return not any(f"{way.names.get(leaf, '')}.grad" in source for leaf in way.leaves)


def same_output(before: str, after: str) -> bool:
    """Whether what was printed before the error is printed again, the same numbers at least."""
    if after.startswith(before) or plain_numbers(after).startswith(plain_numbers(before)):
        return True
    old, new = floats(before), floats(after)
    close = all(abs(a - b) <= 1e-3 * max(1.0, abs(a)) for a, b in zip(old, new))
    return close and len(old) <= len(new) and before.count("\n") <= after.count("\n")


def floats(text: str) -> list[float]:
    """The numbers in a printed text: a number and a tensor of it have the same."""
    text = re.sub(r"torch\.\w+|<\w+>|dtype=\S+", "", text)
    return [float(n) for n in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text)]


def plain_numbers(text: str) -> str:
    """A printed text without what says how a tensor was made."""
    text = re.sub(r",\s*(grad_fn=<\w+>|requires_grad=True|dtype=torch\.\w+)", "", text)
    text = re.sub(r"(\d)\.(?!\d)", r"\1", text)
    return re.sub(r"\s+", " ", text.strip())


def gradients_arrive(before: Reading, after: Reading) -> bool:
    """Whether the gradients that a program reads by name are there, unless it clears them."""
    if re.search(r"zero_grad\(|\.grad\s*=|del ", after.source):
        return True
    lines = after.source.split("\n")
    printed = [lines[n - 1] for n, text in after.trace.prints if "None" in text.split()]
    if any(".grad" in line for line in printed) and "None" not in before.outcome.printed.split():
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
    """Whether the .grad of a computed tensor was read before the error: it is None then, which is
    another matter.
    """
    failure, value = before.outcome.exception, before.outcome.scope.get(name)
    computed = isinstance(value, Tensor) and not value.is_leaf and value.grad is None
    return computed and failure is not None and node.lineno < failure.line


def assigned(reading: Reading, name: str) -> int:
    """How often a program gives a name a tensor."""
    return sum(a.name == name for a in reading.trace.assignments)


def no_new_warnings(before: Reading, after: Reading) -> bool:
    """Whether a change brings no warning that the program did not have.

    An optimiser that evaluates a closure warns of its own conversion of the loss.
    """
    old = {w.message for w in before.outcome.warnings}
    new = [w.message for w in after.outcome.warnings if w.message not in old]
    return all("def closure" in after.source and m.startswith("Converting") for m in new)


FLAT = re.compile(r"(Round|Sign|Sgn|Floor|Ceil|Trunc|Heaviside)Backward")


def flat(reading: Reading) -> bool:
    """Whether a way back goes through a flat step, and every gradient that it gives is 0."""
    return any(
        way.leaves
        and not any(leaf.grad is not None and leaf.grad.data.any() for leaf in way.leaves)
        and any(FLAT.match(r.name) for r in records(way))
        for way in reading.trace.backwards
    )
