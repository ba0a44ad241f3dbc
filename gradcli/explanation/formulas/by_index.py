"""Index notation of a problem: of its output, of gradients, of Jacobians.

It is derived at generic sizes, all different, so that it holds for any sizes; if one of these would
occur in it as a number, it is derived at the sizes of the problem.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from ...graphs import Node
from ...graphs.substitution import substitute
from ...language.problem import Input
from ...notation import tree
from ...notation.formulas.simplify import simplify
from ...notation.formulas.spelling import read
from ...notation.indices.index import Notation, WithReductions
from ...notation.indices.lower import indexing_mask
from ...notation.tree import Attribute, Call, Indexed, Method, Name, Tree, Verbatim
from ..analysis import within_budget
from ..blocks import Formula, Line, Prose, words
from .formula_writer import FormulaWriter
from .other_sizes import at_original_sizes

INSIDE = r"(?:[^\[\]]|\[[^\[\]]*\])*"  # text inside brackets, with one inner level such as y[i]
CONDITION = re.compile(rf"\[{INSIDE} (?:[<>=≤≥≠]|[<>=!]=) {INSIDE}\]")
SHORT = 40  # no shorter notation is searched for than one with so many characters
SIZES = re.compile(r"\.shape\[\d+\]")
NUMBERS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]\d+)?")

Write = Callable[[FormulaWriter, Input, bool], Notation | None]  # the flag says whether to search
WriteNode = Callable[[Node], Notation | None]


@within_budget()
def output(w: FormulaWriter) -> Notation | None:
    """The output in index notation, `out[i,j] = Σ_k x[i,k] a[k,j]`; None if it has none."""
    here, generic = w.indices.output(), w.generic
    if generic is not None and w.same_computation([(w.problem.out, generic.problem.out)]):
        here = for_any(here, generic.indices.output())
    return _with_index_names(w, here)


@within_budget()
def gradient(w: FormulaWriter, x: Input) -> Notation | None:
    """The gradient in index notation, `x.grad[i,k] = Σ_j g[i,j] a[k,j]`; None if it has none."""
    return _with_index_names(w, _for_any_sizes(w, x, _gradient))


@within_budget()
def with_reductions(w: FormulaWriter, x: Input, index: tuple[int, ...]) -> Notation | None:
    """One element of the gradient in index notation, in which reductions are written as formulas,
    not as sums over indices: `x.grad[0] = (g[0] - out[0] (g @ out)) / x.norm()`; None if it has no
    index notation.
    """
    grad = w.read_off(x)
    if grad is None or w.is_long(x):
        return None
    return w.indices.element(w.shortened(grad), w.gradient_of(x), index, WithReductions)


@within_budget()
def jacobian(w: FormulaWriter, x: Input) -> Notation | None:
    """An element of the Jacobian in index notation, in the shortest form: `∂out[i,j]/∂x[k,l] =
    δ[i,k] a[l,j]`.
    """
    return _with_index_names(w, _for_any_sizes(w, x, _jacobian))


def _with_index_names(w: FormulaWriter, result: Notation | None) -> Notation | None:
    """The notation with names for computed indices: p[j] for nonzero(mask)[j,0]."""
    if result is None:
        return None
    named, meanings = with_names(result, tree.words_in_use(w.indices.names.values()))
    return named._replace(meanings=(*meanings,))


@within_budget(lambda w, x: w.analysis.gradient(x))
def shortest_form(w: FormulaWriter, x: Input) -> Node | None:
    """The form of the gradient whose Jacobian has the shortest index notation; the entries of the
    Jacobian are read from it.
    """
    generic = _at_generic_sizes(w, x)
    if generic is not None and _is_same_problem(w, generic[0]):
        return _shortest_jacobian(*generic, True)[0]
    result = None if generic is None else _shortest_jacobian(*generic, True)
    grad = w.analysis.gradient(x)
    if generic is not None and result is not None and result[1] and result[0] and grad is not None:
        back = at_original_sizes(result[0], generic[0].problem, w.problem, grad)
        if back is not None:
            return back
    searched = generic is None or (result is not None and result[1] is not None)
    return _shortest_jacobian(w, x, search=searched)[0]


def is_by_element(written: Tree | None) -> bool:
    """Whether a formula lists elements or rows, as `a * stack([x[1], x[0]])` does. Index notation
    repeats such a list with a δ for each.
    """
    while isinstance(written, tree.Block):
        written = written.result
    if isinstance(written, tree.Infix) and written.symbol in ("*", "/"):
        return is_by_element(written.left) or is_by_element(written.right)
    if isinstance(written, Method | tree.Subscript):  # .diag() and [None]
        return is_by_element(written.base)
    return isinstance(written, Call) and written.function in ("stack", "tensor")


def signs(text: str, meanings: Iterable[str] = ()) -> list[Prose]:
    """Explanations of the symbols in lines of index notation, after the `meanings` of names."""
    inside = "\n".join(line.partition(" = ")[2] for line in text.split("\n"))
    result = [Prose(words(sentence)) for sentence in dict.fromkeys(meanings)]
    if condition := CONDITION.search(inside):
        text = (
            f"A condition in brackets, as {condition.group()}, is 1 where it holds and 0 elsewhere."
        )
        result.append(Prose(words(text), "brackets"))
    if "δ" in inside:
        result.append(Prose(_delta(inside[inside.index("δ") :]), "delta"))
    return result


def _delta(text: str) -> Line:
    """An explanation of the δ that a text begins with: δ[i,k], or δ[y[i],j]."""
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
    written = Formula(tree.Indexed(DELTA, tuple(map(_index_formula, parts))))
    equal = f"{one} is {other}" if other.isdigit() else f"{one} and {other} are equal"
    return (written, *words(f" is 1 where {equal}, and 0 elsewhere."))


def _index_formula(text: str) -> tree.Tree:
    """An index as a formula: i, y[i], or 3j+k."""
    plain = text.replace("[", "").replace("]", "")
    return read(text) if plain.isalnum() and plain[0].isalpha() else tree.Verbatim(text)


@within_budget()
def shortest_notation(w: FormulaWriter, node: Node, write: WriteNode) -> Notation | None:
    """The result of `write` for a node, in the form of its formula if that is as short as the
    simplified form, or has names for reductions.
    """
    as_formula = write(w.shortened(node))
    if w.introduced and as_formula is not None:
        return as_formula
    return _shorter(as_formula, _simplified(w, node, write))


# ---- at one choice of sizes ----------------------------------------------------------------------


def _simplified(w: FormulaWriter, node: Node, write: WriteNode) -> Notation | None:
    without_seed = w.without_implicit_seed(node)
    result = write(simplify(substitute(without_seed, w.integer_constants), keep=w.names))
    if result is not None and "arange(" in result.plain:  # names of inputs are more readable
        return write(without_seed) or result
    return result


def _gradient(w: FormulaWriter, x: Input, search: bool) -> Notation | None:
    grad = w.read_off(x)
    called = w.gradient_name(x).removeprefix(f"{x.name}.")
    if grad is None:
        return None

    def write(node: Node) -> Notation | None:
        return w.indices.gradient(x.node, node, called)

    at_length = search and not w.is_long(x)
    return shortest_notation(w, grad, write) if at_length else _simplified(w, grad, write)


def _jacobian(w: FormulaWriter, x: Input, search: bool) -> Notation | None:
    return _shortest_jacobian(w, x, search)[1]


def _shortest_jacobian(
    w: FormulaWriter, x: Input, search: bool
) -> tuple[Node | None, Notation | None]:
    """The form of the gradient whose Jacobian has the shortest index notation, and that notation;
    None for the notation if there is none. Cached.
    """
    key = x.name, search, bool(w.introduced)
    if key not in w.cache.jacobians:
        w.cache.jacobians[key] = _search_jacobian(w, x, search)
    return w.cache.jacobians[key]


def _search_jacobian(
    w: FormulaWriter, x: Input, search: bool
) -> tuple[Node | None, Notation | None]:
    grad, node, best = w.analysis.gradient(x), w.read_off(x), None
    alternatives = (form for form, _ in islice(w.gradient_forms(x), None if search else 1))
    forms = () if grad is None else chain([grad], alternatives)
    for form in _distinct(forms):
        result = w.indices.jacobian(x.node, form)
        shortest = _shorter(best, result)
        if shortest is not best:
            node, best = form, shortest
        if best is not None and len(best.plain) <= SHORT and not (w.introduced or best.conditions):
            break
    return node, best


def _shorter(a: Notation | None, b: Notation | None) -> Notation | None:
    """The better of two notations, or the one that is not None. The better one has, in this order:
    no literal indices as in δ[i,0], fewer conditions, fewer characters. `a` is returned if `b` has
    more parts that cannot be written by index (`opaque`).
    """
    if a is None or b is None:
        return a or b
    costs = [(n.has_literal_indices, n.conditions, len(n.plain)) for n in (a, b)]
    return b if b.opaque <= a.opaque and costs[1] < costs[0] else a


def _distinct(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes without repetition, lazily."""
    yielded = set[Node]()
    for node in nodes:
        if node not in yielded:
            yielded.add(node)
            yield node


# ---- for any sizes -------------------------------------------------------------------------------


def _for_any_sizes(w: FormulaWriter, x: Input, write: Write) -> Notation | None:
    """The result of `write` for the gradient with respect to x, for any sizes if possible."""
    generic = _at_generic_sizes(w, x)
    if generic is None:
        return write(w, x, True)
    result = write(*generic, True)
    if _is_same_problem(w, generic[0]):
        return result
    if result is None:  # the search would give the same at the problem's own sizes
        return write(w, x, False)
    if not result.opaque and not _numbers(result) and _has_no_unit_size(w, x):
        return result
    return for_any(write(w, x, True), result)


def _at_generic_sizes(w: FormulaWriter, x: Input) -> tuple[FormulaWriter, Input] | None:
    """The FormulaWriter at generic sizes and its input, if the gradient is computed by the same
    operations there; None otherwise.
    """
    generic, grad = w.generic, w.analysis.gradient(x)
    if generic is None or grad is None:
        return None
    other = generic.problem.inputs[x.name]
    generic_grad = generic.analysis.gradient(other)
    pairs = [(w.problem.out, generic.problem.out)]
    if generic_grad is None or not w.same_computation([*pairs, (grad, generic_grad)]):
        return None
    return generic, other


def _is_same_problem(w: FormulaWriter, generic: FormulaWriter) -> bool:
    """Whether the generic problem is the problem itself, as it is if all inputs are scalars."""
    return generic.problem.roots == w.problem.roots


def _has_no_unit_size(w: FormulaWriter, x: Input) -> bool:
    """Whether no dimension has size 1, in which an index is always 0."""
    return min((*w.problem.out.shape, *x.shape), default=0) > 1


def for_any(here: Notation | None, generic: Notation | None) -> Notation | None:
    """The notation at generic sizes if no number in it comes from these sizes, else `here`, the
    notation at the sizes of the problem.
    """
    if here is None or generic is None or generic.opaque > here.opaque:
        return here
    return here if _numbers(generic) - _numbers(here) else generic


def _numbers(written: Notation) -> set[str]:
    """The numbers that may come from sizes: those with more than one digit."""
    result = NUMBERS.findall(SIZES.sub("", written.plain))
    return {number for number in result if len(number) > 1}


# ---- names of computed indices -------------------------------------------------------------------
# p[j] stands for nonzero(x > 0)[j,0], and p[i,0] for x.argmax(dim=1)[i,0] within a δ. A sentence
# defines p.


NAMES, DELTA = "pqs", Name("δ")
COMPUTED = (Call, Method, Attribute)  # kinds of formulas that are not names
Axes = dict[str, int]  # the number of dimensions of each mask


def with_names(result: Notation, used: Collection[str]) -> tuple[Notation, list[str]]:
    """Index notation with names, not among `used`, for computed indices, and their definitions."""
    axes: Axes = {}
    for mask, axis in _computed_masks((result.left, result.right)):
        axes[mask] = max(axes.get(mask, 0), axis + 1)
    free = (name for name in NAMES if name not in used)
    names = dict(zip(axes, free))
    computed = dict.fromkeys(_computed((result.left, result.right)))
    formulas = dict(zip(computed, free))

    def named(part: Any) -> Any:
        if isinstance(part, Indexed) and part.base in formulas:
            return part._replace(base=Name(formulas[part.base]))
        mask = _mask(part)
        if mask is None or mask[0] not in names:
            return part
        places = 1 if axes[mask[0]] == 1 else 2
        return Indexed(Name(names[mask[0]]), part.places[:places])

    text = [_meaning(name, mask, axes[mask]) for mask, name in names.items()]
    text += [f"{name} is {tree.text(f)}." for f, name in formulas.items()]
    left, right = (_changed(side, named) for side in (result.left, result.right))
    return result._replace(left=left, right=right), text


def _meaning(name: str, mask: str, axes: int) -> str:
    if axes == 1:
        return f"{name}[j] is the index of the j-th True in {mask}."
    return f"{name}[j,d] is the index, in dimension d, of the j-th True in {mask}."


def _mask(part: Any) -> tuple[str, int] | None:
    """The mask and the dimension, if a formula is the index of a True element of a mask in one of
    its dimensions; None for other formulas.
    """
    if not isinstance(part, Indexed) or not isinstance(part.base, Verbatim):
        return None
    mask = indexing_mask(part.base.text)
    return None if mask is None else (mask, int(tree.text(part.places[1])))


def _computed_masks(part: Any) -> Iterator[tuple[str, int]]:
    stack = [part]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            result = _mask(part)
            if result is not None:
                yield result
            stack += part


def _computed(part: Any) -> Iterator[Tree]:
    """The formulas whose elements are indices within a δ, in reading order."""
    if not isinstance(part, tuple):
        return
    if isinstance(part, Indexed) and part.base == DELTA:
        for index in part.places:
            base = index.base if isinstance(index, Indexed) else None
            called = base.base if isinstance(base, tree.Subscript) else base
            if base is not None and isinstance(called, COMPUTED):
                yield base
    for inner in part:
        yield from _computed(inner)


def _changed(part: Any, change: Callable[[Any], Any]) -> Any:
    """A formula with `change` applied to its parts, the innermost first."""
    if not isinstance(part, tuple):
        return part
    built = (_changed(inner, change) for inner in part)
    return change(type(part)(*built) if hasattr(part, "_fields") else tuple(built))
