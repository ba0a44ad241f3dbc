"""Index notation of a problem: of its output, of gradients, of Jacobians.

It is written where the sizes tell which dimensions they are, so that it holds for any; where one of
them would stand in it as a number, it is written at the problem's own sizes.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from ...graphs import Node
from ...graphs.substitution import substitute
from ...language.problem import Input
from ...notation import tree
from ...notation.formulas.simplify import simplify
from ...notation.formulas.spelling import read
from ...notation.indices.index import Notation
from ..analysis import searched
from ..blocks import Formula, Line, Prose, words
from .named_places import DELTA, with_names
from .other_sizes import at_own_sizes
from .wording import Wording

BRACKET = "A condition in brackets, as [h > 0], is 1 where it holds and 0 elsewhere."
SHORT = 40  # characters for which no shorter way to say it is looked for
SIZES = re.compile(r"\.shape\[\d+\]")
NUMBERS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]\d+)?")

Write = Callable[[Wording, Input, bool], Notation | None]  # the last: after a search
WriteNode = Callable[[Node], Notation | None]


@searched()
def output(w: Wording) -> Notation | None:
    """`out[i,j] = Σ_k x[i,k] a[k,j]`; None where that says nothing."""
    own, general = w.indices.output(), w.in_general
    if general is not None and w.alike([(w.problem.out, general.problem.out)]):
        own = for_any(own, general.indices.output())
    return _with_places(w, own)


@searched()
def gradient(w: Wording, x: Input) -> Notation | None:
    """`x.grad[i,k] = Σ_j g[i,j] a[k,j]`; None where that says nothing."""
    return _with_places(w, _by(w, x, _gradient))


@searched()
def jacobian(w: Wording, x: Input) -> Notation | None:
    """`∂out[i,j]/∂x[k,l] = δ[i,k] a[l,j]`, the shortest of those that are found."""
    return _with_places(w, _by(w, x, _jacobian))


def _with_places(w: Wording, result: Notation | None) -> Notation | None:
    """With names for the places of elements that masks pick."""
    if result is None or not ("nonzero(" in result.plain or "δ" in result.plain):
        return result
    named, meanings = with_names(result, tree.taken(w.names.values()))
    return named._replace(meanings=(*meanings,))


@searched(lambda w, x: w.analysis.gradient(x))
def shortest_way(w: Wording, x: Input) -> Node | None:
    """The gradient in the way that says its Jacobian shortest, for its entries to be read off."""
    there = _in_general(w, x)
    if there is not None and _is_one(w, there[0]):
        return _shortest_jacobian(*there, True)[0]
    result = None if there is None else _shortest_jacobian(*there, True)
    grad = w.analysis.gradient(x)
    if there is not None and result is not None and result[1] and result[0] and grad is not None:
        back = at_own_sizes(result[0], there[0].problem, w.problem, grad)
        if back is not None:
            return back
    searched = there is None or (result is not None and result[1] is not None)
    return _shortest_jacobian(w, x, search=searched)[0]


def signs(text: str, meanings: Iterable[str] = ()) -> list[Prose]:
    """What the signs of index notation mean that occur in lines of it, after what is known of the
    `meanings` of names.
    """
    relations = ("<", ">", "<=", ">=", "==", "!=", "=", "≤", "≥", "≠")
    inside = "\n".join(line.partition(" = ")[2] for line in text.split("\n"))
    met = [BRACKET] * any(f" {r} " in inside for r in relations)
    lines = [words(sentence) for sentence in (*dict.fromkeys(meanings), *met)]
    lines += [_delta(inside[inside.index("δ") :])] if "δ" in inside else []
    return [Prose(line) for line in lines]


def _delta(text: str) -> Line:
    """What the δ means that a text begins with: δ[i,k], or δ[y[i],j]."""
    depth, parts = 0, [""]
    for letter in text[2:]:
        if depth == 0 and letter in ",]":
            if letter == "]":
                break
            parts.append("")
            continue
        depth += (letter in "([") - (letter in ")]")
        parts[-1] += letter
    one, other = parts
    written = Formula(tree.Indexed(DELTA, tuple(map(_place, parts))))
    return (written, *words(f" is 1 where {one} and {other} are equal, and 0 elsewhere."))


def _place(text: str) -> tree.Tree:
    """A place as it stands in index notation: i, y[i], or 3j+k."""
    plain = text.replace("[", "").replace("]", "")
    return read(text) if plain.isalnum() and plain[0].isalpha() else tree.Verbatim(text)


@searched()
def in_letters(w: Wording, node: Node, write: WriteNode) -> Notation | None:
    """What `write` makes of a node, simplified, or of the shortest that is the same."""
    result = _simplified(w, node, write)
    if result is not None and len(result.plain) <= SHORT:
        return result
    return _shorter(result, write(w.shortened(node)))


# ---- at the sizes of a wording -------------------------------------------------------------------


def _simplified(w: Wording, node: Node, write: WriteNode) -> Notation | None:
    asked = w.without_implicit_seed(node)
    result = write(simplify(substitute(asked, w.labels), keep=w.names))
    if result is not None and "arange(" in result.plain:  # labels read better by their places
        return write(asked) or result
    return result


def _gradient(w: Wording, x: Input, search: bool) -> Notation | None:
    grad = w.read_off(x)
    called = w.gradient_name(x).removeprefix(f"{x.name}.")
    if grad is None:
        return None

    def write(node: Node) -> Notation | None:
        return w.indices.gradient(x.node, node, called)

    at_length = search and not w.is_long(x)
    return in_letters(w, grad, write) if at_length else _simplified(w, grad, write)


def _jacobian(w: Wording, x: Input, search: bool) -> Notation | None:
    return _shortest_jacobian(w, x, search)[1]


def _shortest_jacobian(w: Wording, x: Input, search: bool) -> tuple[Node | None, Notation | None]:
    """The gradient as the Jacobian is shortest by index, and that; the gradient that formulas are
    read off, where none can be read. It is found once.
    """
    key = x.name, search
    if key not in w.known.jacobians:
        w.known.jacobians[key] = _found_jacobian(w, x, search)
    return w.known.jacobians[key]


def _found_jacobian(w: Wording, x: Input, search: bool) -> tuple[Node | None, Notation | None]:
    grad, node, best = w.analysis.gradient(x), w.read_off(x), None
    others = (way for way, _ in islice(w.ways(x), None if search else 1))
    ways = () if grad is None else chain([grad], others)
    for way in _each_once(ways):
        result = w.indices.jacobian(x.node, way)
        shortest = _shorter(best, result)
        if shortest is not best:
            node, best = way, shortest
        if best is not None and len(best.plain) <= SHORT:
            break
    return node, best


def _shorter(a: Notation | None, b: Notation | None) -> Notation | None:
    """The shorter of those that there are; the first, where the other says less by index."""
    if a is None or b is None:
        return a or b
    return b if b.opaque <= a.opaque and len(b.plain) < len(a.plain) else a


def _each_once(nodes: Iterable[Node]) -> Iterator[Node]:
    """Those that did not come before, each made only when it is asked for."""
    seen = set[Node]()
    for node in nodes:
        if node not in seen:
            seen.add(node)
            yield node


# ---- for any sizes -------------------------------------------------------------------------------


def _by(w: Wording, x: Input, write: Write) -> Notation | None:
    """What `write` makes of the gradient by an input, for any sizes where it can be."""
    there = _in_general(w, x)
    if there is None:
        return write(w, x, True)
    result = write(*there, True)
    if _is_one(w, there[0]):
        return result
    if result is None:  # the search would be the same at the problem's own sizes
        return write(w, x, False)
    if not result.opaque and not _numbers(result) and _has_letters(w, x):
        return result
    return for_any(write(w, x, True), result)


def _in_general(w: Wording, x: Input) -> tuple[Wording, Input] | None:
    """The wording and the input in general, where the gradient is computed alike there."""
    general, grad = w.in_general, w.analysis.gradient(x)
    if general is None or grad is None:
        return None
    other = general.problem.inputs[x.name]
    there = general.analysis.gradient(other)
    pairs = [(w.problem.out, general.problem.out)]
    if there is None or not w.alike([*pairs, (grad, there)]):
        return None
    return general, other


def _is_one(w: Wording, general: Wording) -> bool:
    """Whether a problem in general is the problem itself, as one without dimensions is."""
    return general.problem.roots == w.problem.roots


def _has_letters(w: Wording, x: Input) -> bool:
    """Whether no place is 0 for want of others, at the sizes of the problem."""
    return min((*w.problem.out.shape, *x.shape), default=0) > 1


def for_any(own: Notation | None, result: Notation | None) -> Notation | None:
    """What was `found` at sizes that tell, if no number in it comes from them; or else what is
    written at the problem's `own`.
    """
    if own is None or result is None or result.opaque > own.opaque:
        return own
    return own if _numbers(result) - _numbers(own) else result


def _numbers(written: Notation) -> set[str]:
    """The numbers that may come from sizes: those of one digit are the rules' own."""
    result = NUMBERS.findall(SIZES.sub("", written.plain))
    return {number for number in result if len(number) > 1}
