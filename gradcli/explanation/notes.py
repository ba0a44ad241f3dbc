"""Notes: a missing seed, integer values, kinks, unused inputs, formulas that are not always right.
A note is a pair of a code and a sentence.
"""

import re
from collections.abc import Collection, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..backends.numeric import Evaluator, sources
from ..errors import if_applicable
from ..graphs import Node, walk
from ..graphs.shapes import text
from ..language.generic_sizes import at_shapes
from ..language.problem import Input, Problem
from ..language.wrt import NOT_FLOATING, NOT_SCALAR
from ..lazy import np
from ..notation import tree
from ..notation.jacobians.structure import Structure
from .analysis import Analysis, is_large, once, operations, within_budget
from .blocks import text_of
from .checking.rounding import LONGER, rounded
from .derivation.derivation import derivation
from .formulas.contradictions import (
    Contradiction,
    FormulaBesideNumbers,
    cause,
    contradictions,
    formula_value,
    of_gradients,
    of_matrix,
    of_node,
    with_ones,
)
from .formulas.formula_writer import FormulaWriter
from .formulas.trials import MOST
from .in_pytorch.kinks import kinks_hit, written_around
from .in_pytorch.not_differentiated import (
    broadcast_losses,
    hessian_not_differentiated,
    not_differentiated,
)
from .in_pytorch.numbers_for_tensors import refused_calls
from .phrases import listed, number_text

if TYPE_CHECKING:
    from .higher.hessian import Hessian
    from .higher.jvp import Jvp

# endings of a note on the sizes for which a formula holds, by its extent (`_extent` in trials.py)
ELSEWHERE = {
    "above-one": ", and at other sizes above 1; where one is 1 a dimension is left out, and {it} "
    "may not be.",
    "square": ", and at other sizes at which {whole} of a square matrix.",
    "equal": ", and at other sizes that are all equal; elsewhere {it} may not be.",
    "alike": ", and at other sizes if those equal here stay equal and the larger of two stays the "
    "larger; elsewhere {it} may not be.",
    "some": "; at some other sizes {it} {be} not.",
    "here": "; at other sizes {it} {be} not.",
}
RULES = "PyTorch computes the gradient as the rules do"
CURE = f"{RULES}. The formula is right there: compute it instead."
LIMIT = f"{RULES}. The formula gives the limit there: compute it instead."
LARGER = 5  # the size that replaces 1
BARE_SUM = re.compile(r"sum\s*\(")
SAME = ": PyTorch computes the same"
IN_ANOTHER_ORDER = (
    ": PyTorch's does too; which elements may depend on the order in which it multiplies and adds"
)


def collect(a: Analysis, w: FormulaWriter) -> list[tuple[str, str]]:
    """All notes on a problem and its gradients."""
    return [*about_the_problem(a, w), *formulas(w), *ended(a.problem)]


def hessian_notes(h: "Hessian") -> list[tuple[str, str]]:
    """The notes on a Hessian."""
    moving = [t.x for t in h.p.tangents]
    products = [
        of_node(f"{z.name}.hvp", h.product(z), h.product_formula(z), *moving)
        for z in (h.p.wrt if moving else ())
    ]
    differing = contradicted(h.a, h.writer, chain(of_gradients(h.a, h.writer), *products))
    about = about_the_problem(h.a, h.writer)
    return [*about, *differing, *hessian_not_differentiated(h.p), *ended(h.p)]


def jvp_notes(j: "Jvp") -> list[tuple[str, str]]:
    """The notes on a JVP: on the problem, and on the formula of the tangent."""
    name, notes = f"{j.problem.out_name}.tangent", []
    written = None if j.node is None else j.formula
    if j.node is not None and written is None:
        notes.append(without_formula(name))
    if j.extent is not None:
        notes.append(at_these_sizes(j.w, [name], j.extent))
    formula = of_node(name, j.node, written, *(t.x for t in j.problem.tangents))
    notes += contradicted(j.a, j.w, formula)
    return [*about_the_problem(j.a, j.w), *notes, *ended(j.problem)]


def ended(problem: Problem) -> list[tuple[str, str]]:
    """The notes that formulas were not searched for, or that searches ended early."""
    if not is_large(problem):
        return out_of_time(problem)
    text = f"for {operations(problem):,} operations no formulas or structures are searched"
    note = "not-searched", f"{text} for, and those shown are not the shortest."
    return [note, *out_of_time(problem)]


def out_of_time(problem: Problem) -> list[tuple[str, str]]:
    """The note that searches were ended by the budget, if so."""
    limits = problem.limits
    if not limits.budget.spent:
        return []
    seconds = f"{limits.sizes['seconds']:,} seconds"
    text = "what is left out, or is not the shortest, takes longer (--limit seconds=N)."
    return [("not-searched", f"the search ended after {seconds}: {text}")]


def about_the_problem(a: Analysis, w: FormulaWriter) -> list[tuple[str, str]]:
    """All notes except those on the formulas of gradients."""
    return [
        *a.problem.notes,
        *_seed_notes(a),
        *_integers(a),
        *refused_calls(a.problem),
        *unused(a),
        *not_differentiated(a),
        *_kinks(a, w),
        *_not_finite(a),
        *_rounding(a, w),
        *_sums(a),
        *_euler(a.problem),
        *broadcast_losses(a.problem),
    ]


def as_data(result: Collection[tuple[str, str]]) -> list[dict[str, str]]:
    """Notes as JSON."""
    return [{"code": code, "message": message} for code, message in result]


@within_budget(lambda *_: [])
def formulas(w: FormulaWriter) -> list[tuple[str, str]]:
    """The notes on formulas that are too long, or do not always hold."""
    inputs, a = w.problem.inputs, w.analysis
    long = [x for x in w.without_closed_form() if not _is_derived(w, x)]
    too_long = [without_formula(w.gradient_name(x), _reason(w, x)) for x in long]
    undefined = [
        not_finite(f"the formula of {w.gradient_name(inputs[name])}", where)
        for name, where in w.reach.undefined.items()
    ]
    by_extent: dict[str, list[str]] = {}
    for name, extent in w.reach.extents.items():
        if name not in w.reach.undefined:
            by_extent.setdefault(extent, []).append(w.gradient_name(inputs[name]))
    sizes = [at_these_sizes(w, names, extent) for extent, names in by_extent.items()]
    sizes += _omitted_seed(w.problem)
    differing = contradicted(a, w, of_gradients(a, w))
    return [*too_long, *_undefined(a, w), *undefined, *divisions(w), *differing, *sizes]


def formulas_alone(w: FormulaWriter) -> list[tuple[str, str]]:
    """The notes for an answer that has only closed forms. If one is missing, they include the note
    that searches ended early.
    """
    notes = formulas(w)
    return [*notes, *(ended(w.problem) if any(w.without_closed_form()) else ())]


def on_formulas_of(
    sections: Collection[str], a: Analysis, w: FormulaWriter
) -> list[tuple[str, str]]:
    """The notes on the formulas in these sections, for an answer without a section of all notes:
    where a formula differs from the gradient, and where it divides by an input.
    """
    shown = {"answer", "gradient", "grad"}.intersection(sections)
    result = contradicted(a, w, of_gradients(a, w)) if shown else []
    return [*result, *(divisions(w) if shown or "jacobian" in sections else ())]


def _is_derived(w: FormulaWriter, x: Input) -> bool:
    """Whether a gradient has statements in place of a closed form."""
    a, p = w.analysis, w.problem
    if w.is_wrong(x) or p.lower_order is not None or not p.statement_values or is_large(p):
        return False
    derived = p.limits.budget.present(lambda: derivation(a), lambda: None)
    return derived is not None and derived.is_complete_for(x.name)


def _omitted_seed(p: Problem) -> list[tuple[str, str]]:
    """The note that formulas omit the seed g because the output has one element, if the output has
    more elements at larger sizes.
    """
    if not p.seed.implicit or p.out.shape == () or p.out.numel > 1:
        return []
    larger = {i.name: tuple(LARGER if n == 1 else n for n in i.shape) for i in p.inputs.values()}
    other = if_applicable(lambda: at_shapes(p, larger))
    if other is None or other.out.numel <= 1:
        return []
    size = f"{p.out_name} has one element here, of shape {text(p.out.shape)}"
    message = "its seed is 1, and formulas leave it out; at larger sizes they have it."
    return [("seed-left-out", f"{size}: {message}")]


def not_finite(formula: str, where: str) -> tuple[str, str]:
    """The note that a formula is not finite where the gradient is."""
    text = f"{formula} divides by 0 or overflows {where}."
    return "formula-not-finite", f"{text} The numbers come from PyTorch's rule, which does not."


DIVIDES = "formula-divides"


def divisions(w: FormulaWriter) -> list[tuple[str, str]]:
    """The notes that formulas divide by inputs, and do not hold where these are 0."""
    gradients: dict[tuple[str, ...], list[str]] = {}
    if not w.numbers:
        return []
    for name, numbers in w.reach.undefined_at_zero.items():
        if name not in w.reach.undefined:
            gradient = w.gradient_name(w.problem.inputs[name])
            gradients.setdefault(tuple(numbers), []).append(gradient)
    return [
        (DIVIDES, f"the {formulas_of(names)} not hold where {' or '.join(numbers)} is 0.")
        for numbers, names in gradients.items()
    ]


def formulas_of(gradients: list[str]) -> str:
    """The subject of a sentence: formula of x.grad does, or formulas of x.grad and y.grad do."""
    several = len(gradients) > 1
    return f"formula{'s' * several} of {listed(gradients)} {'do' if several else 'does'}"


def without_formula(name: str, why: str = "is too long to be read") -> tuple[str, str]:
    """The note that the formula of `name` is not shown, and why."""
    return "no-formula", f"the formula of {name} {why}."


def _reason(w: FormulaWriter, x: Input) -> str:
    """Why the formula of a gradient is not shown."""
    if w.is_wrong(x):
        return "that was found has other values: it is not shown"
    foreign = w.is_foreign(x)
    return "cannot be written in PyTorch" if foreign else "is too long to be read"


def at_these_sizes(w: FormulaWriter, names: list[str], extent: str) -> tuple[str, str]:
    """The note that the formulas of `names` hold for some sizes only, and for which."""
    nodes = walk(w.problem.roots)
    shapes = listed([_shape_of(x, x.node in nodes) for x in w.problem.inputs.values()])
    square = dict.fromkeys(f"{n.op.name}()" for n in nodes if "square" in n.op.typical_inputs)
    whole = f"{listed([*square])} {'are' if len(square) > 1 else 'is'}" if square else ""
    s, it, be = ("s", "they", "are") if len(names) > 1 else ("", "it", "is")
    holds = ELSEWHERE[extent].format(whole=whole, it=it, be=be)
    return "these-sizes", f"the formula{s} of {listed(names)} {be} right for {shapes}{holds}"


def _shape_of(x: Input, is_in_graph: bool) -> str:
    """The shape of an input as words: `x of shape (2, 3)`. For an integer input that determined the
    graph without being part of it, such as t in `x.repeat_interleave(t)`: `t as given`.
    """
    is_structural = x.node.dtype != "float" and not is_in_graph
    return f"{x.name} as given" if is_structural else f"{x.name} of shape {text(x.shape)}"


def _sums(a: Analysis) -> list[tuple[str, str]]:
    """Notes on calls of `sum` that are Python's builtin unless PyTorch's is imported."""
    return [
        (
            "python-sum",
            f"{node.span.excerpt} is PyTorch's, of all elements. "
            "Python's own sum adds up along the first dimension, as .sum(0) does.",
        )
        for node in dict.fromkeys(walk([a.problem.out, *a.problem.named.values()]))
        if node.op.name == "sum" and node.span is not None and _is_bare(node)
    ]


def _euler(problem: Problem) -> list[tuple[str, str]]:
    """A note on e ** x where e is an input without values, and was probably meant as the number."""
    e = problem.inputs.get("e")
    if e is None or e.node in problem.values:
        return []
    powers = (n for n in walk([problem.out]) if n.op.name == "pow")
    if all(n.inputs[0] is not e.node for n in powers):
        return []
    return [("e-is-an-input", "e is an input here; the power of Euler's number is exp(x).")]


def _is_bare(node: Node) -> bool:
    """Whether a call is `sum(x)` of a matrix, for which Python's builtin returns something else."""
    assert node.span is not None
    return bool(BARE_SUM.match(node.span.excerpt)) and node.parents[0].ndim > 1 and node.shape == ()


def _seed_notes(a: Analysis) -> list[tuple[str, str]]:
    if not a.problem.seed.refused:
        return []
    text = f"PyTorch would refuse {a.problem.out_name}.backward() without a seed: {NOT_SCALAR}."
    return [("implicit-seed", text)]


def _integers(a: Analysis) -> list[tuple[str, str]]:
    names = [x.name for x in a.problem.wrt if x.was_integer]
    if not names:
        return []
    contain = "contain" if len(names) > 1 else "contains"
    text = f"{listed(names)} {contain} integers, treated as floats."
    text += f" In PyTorch write 1. and not 1: {NOT_FLOATING}."
    return [("integer-values", text)]


def unused(a: Analysis) -> list[tuple[str, str]]:
    """Notes on inputs to which no gradient flows."""
    out = a.problem.out_name
    return [
        (
            "unused",
            f"no gradient flows from {out} to {x.name}: PyTorch leaves its gradient at None, and "
            "torch.autograd.grad needs allow_unused=True.",
        )
        for x in a.problem.wrt
        if a.gradient(x) is None
    ]


def _kinks(a: Analysis, w: FormulaWriter) -> list[tuple[str, str]]:
    """Notes on operations evaluated at a kink, where the derivative is a convention."""
    texts = [f"{_where(node, hit, a, w)}: {node.op.caveat}." for node, hit in kinks_hit(a)]
    return [("kink", text) for text in dict.fromkeys(texts)]


def _source_text(node: Node, a: Analysis, w: FormulaWriter) -> str:
    """The source text of an operation, or of the operation in whose expansion it occurs."""
    source = node if node.span else written_around(node, a)
    if source is None:
        return f"{node.op.name} in the gradient"
    return text_of(w.source.operation(source))


def _where(node: Node, hit: Any, a: Analysis, w: FormulaWriter) -> str:
    """The operation that is at a kink, and where; preceded by `in l1_loss(x, y), ` if it occurs in
    the expansion of that operation.
    """
    around = None if node.span else written_around(node, a)
    if around is None:
        return _hit(node, hit, a, w)
    written = text_of(w.source.operation(around))
    if node.op.torch is None:
        return f"in {written}"
    return f"in {written}, {_hit(node, hit, a, w)}"


def _hit(node: Node, hit: Any, a: Analysis, w: FormulaWriter) -> str:
    """The elements at a kink as a clause: `x[1] is exactly 0, where relu has no derivative`, or
    `maximum(a, b) at [0,2] and [1,1]`.
    """
    if node.op.family == "elementwise" and len(node.parents) == 1:
        (x,) = node.parents
        values = np.unique(a.value(x)[hit])
        if len(values) == 1:
            return _exactly(x, float(values[0]), node, hit, w)
    text = text_of(w.source.operation(node))
    return f"{text} at {_places('', hit)}" if hit.ndim else text


def _exactly(x: Node, value: float, node: Node, hit: Any, w: FormulaWriter) -> str:
    """The text for a kink of a unary function at one value."""
    operand = text_of(w.source.short(x))
    operand = w.added_names[x].text if x in w.added_names else operand
    is_named = x in w.names or x in w.added_names
    where = _places(operand, hit) if is_named else f"{operand} at {_places('', hit)}"
    if not hit.ndim:
        where = operand
    verb = "are" if np.count_nonzero(hit) > 1 else "is"
    sides = _subgradients(node, value)
    return f"{where} {verb} exactly {value:g}, where {node.op.name} has no derivative{sides}"


def _subgradients(node: Node, value: float) -> str:
    """A remark on the subgradients at a kink, ` (any value from 0 to 1 would be a subgradient)`; ""
    if the one-sided derivatives are unknown.
    """
    from .in_pytorch.stored_kinks import known

    at = f"= {value:g}"
    kink = next((k for k in known().get(node.op.name, ()) if k.at.endswith(at)), None)
    if kink is None or "inf" in kink.left + kink.right:
        return ""
    left, right = float(kink.left), float(kink.right)
    if left < right:
        return f" (any value from {kink.left} to {kink.right} would be a subgradient)"
    return f" (its slope is {kink.left} to the left and {kink.right} to the right)"


def _places(name: str, hit: Any) -> str:
    """The elements at which a mask is True, as text: `x[0,2] and x[1,1]`."""
    return _listed_first(_all_places(name, hit), "place")


def _all_places(name: str, hit: Any) -> list[str]:
    return [f"{name}[{','.join(map(str, index))}]" for index in np.argwhere(hit)]


def _listed_first(texts: list[str], what: str) -> str:
    """Texts joined by commas and "and"; of more than three texts the first three, and a count."""
    if len(texts) < 4:
        return listed(texts)
    more = len(texts) - 3
    return f"{', '.join(texts[:3])} and {more} more {what}{'s' * (more > 1)}"


@once
def _not_finite(a: Analysis) -> list[tuple[str, str]]:
    """Notes on gradients with nan or infinity, and whether PyTorch's have them too."""
    by_kind: dict[str, list[str]] = {}
    for x in a.problem.wrt:
        value = a.grad_value(x)
        if value is not None and not _finite(value):
            kinds = (k for k, test in (("nan", np.isnan), ("inf", np.isinf)) if np.any(test(value)))
            by_kind.setdefault(" and ".join(kinds), []).append(x.name)
    same = "" if not_differentiated(a) else _in_pytorch(a)
    notes = [
        ("not-finite", _not_finite_sentences(a, names, kinds, same))
        for kinds, names in by_kind.items()
    ]
    return notes or _for_any_seed(a, same) or _at_higher_order(a)


def _not_finite_sentences(a: Analysis, names: list[str], kinds: str, same: str) -> str:
    """The sentences on the gradients of some inputs, which contain nan or infinity."""
    gradients = "The gradients of" if len(names) > 1 else "The gradient of"
    hold = "hold" if len(names) > 1 else "holds"
    return (
        f"{gradients} {listed(names)} {hold} {kinds}{same}.{_culprit(a, a.evaluator)} "
        "Formulas assume that everything is finite."
    )


def _for_any_seed(a: Analysis, same: str) -> list[tuple[str, str]]:
    """Notes for a missing seed, on elements of gradients that are nan or infinite for any seed."""
    p = a.problem
    if p.seed.value is not None or p.tangents or not p.numeric:
        return []
    evaluate, notes = a.with_seed(np.ones(p.out.shape)), []
    for x in p.wrt:
        grad = a.computed(x)
        value = None if grad is None else evaluate(grad)[0]
        if not _finite(value):
            hit = ~np.isfinite(value)
            where = _places(x.name, hit) if hit.ndim else x.name
            text = f"Whatever the seed, the gradient is nan or infinite for {where}{same}."
            finite = "Formulas assume that everything is finite."
            notes.append(("not-finite", f"{text}{_culprit(a, evaluate)} {finite}"))
    return notes


def _in_pytorch(a: Analysis) -> str:
    """A clause on whether the same elements are not finite in PyTorch. Others may be if the program
    has operations that PyTorch computes in another order, such as matrix products.
    """
    if a.problem.order > 2:
        return ""
    roots = [a.problem.out, *(grad for x in a.problem.wrt if (grad := a.gradient(x)) is not None)]
    kernels = any(n.op.family == "operator" for n in walk(roots, sources))
    return IN_ANOTHER_ORDER if kernels or a.problem.order == 2 else SAME


def _at_higher_order(a: Analysis) -> list[tuple[str, str]]:
    """The note that finite derivatives of higher order may be nan in PyTorch, if so."""
    first, *further = a.problem.orders
    nodes = (n for n in walk([first.out]) if n.dtype == "float" and a.has_numbers(n))
    if not further or all(_finite(a.value(n)) for n in nodes):
        return []
    text = (
        "The program contains inf or nan. In derivatives of higher order PyTorch multiplies them by"
        " zeros that are left out here: its result may be nan where this one is a number."
    )
    return [("not-finite", text)]


@within_budget(lambda *_: [])
def _rounding(a: Analysis, w: FormulaWriter) -> list[tuple[str, str]]:
    """Notes on gradients with few correct digits because of rounding."""
    digits, more = (np.finfo(kind).precision for kind in (a.dtype, LONGER[a.dtype]))
    result = []
    for x, few, other in rounded(a):
        name = w.gradient_name(x)
        where = _places(name, few) if few.ndim else name
        value, longer_value = (number_text(array[few][0]) for array in (a.grad_value(x), other))
        it = "the first" if np.count_nonzero(few) > 1 else "it"
        text = (
            f"rounding leaves fewer than four correct digits of {where}. Computed in {digits} "
            f"digits, as here and in PyTorch, {it} is {value}; in {more} digits it would be "
            f"{longer_value}, which need not be right either."
        )
        result.append(("rounding", text))
    return result


def _finite(value: Any) -> bool:
    """Whether all numbers are finite; True for None."""
    return value is None or bool(np.all(np.isfinite(value)))


@within_budget(lambda *_: [])
def _undefined(a: Analysis, w: FormulaWriter) -> list[tuple[str, str]]:
    """Notes on formulas that are not finite where the gradient is, as x.prod() / x at 0."""
    result = []
    for x in a.problem.wrt:
        if x.name in w.reach.undefined:
            continue
        hit = _without_number(a, w, x)
        if np.any(hit):
            name = w.gradient_name(x)
            where = f"for {_places(name, hit) if hit.ndim else name}"
            result.append(not_finite(f"the formula of {name}", where))
    return result


def _without_number(a: Analysis, w: FormulaWriter, x: Input) -> Any:
    """A mask of where the formula of a gradient is nan or infinite and the gradient is not; False
    if that cannot be computed.
    """
    a = with_ones(a)  # it depends on the formula and the values, not on whether a seed is given
    grad, formula = a.computed(x), w.gradient(x)
    if grad is None or formula is None or grad.numel > MOST:
        return False
    arrays = if_applicable(lambda: (a.value(grad), formula_value(a, tree.text(formula))))
    if arrays is None or arrays[0] is None:
        return False
    return np.isfinite(arrays[0]) & ~np.isfinite(arrays[1])


def matrix_notes(a: Analysis, w: FormulaWriter, x: Input, s: Structure) -> list[tuple[str, str]]:
    """Notes on a closed form of a Jacobian that differs from its numbers."""
    return contradicted(a, w, of_matrix(a, w, x, s))


@within_budget(lambda *_: [])
def contradicted(
    a: Analysis, w: FormulaWriter, formulas: Iterable[FormulaBesideNumbers]
) -> list[tuple[str, str]]:
    """Notes on formulas that differ from the numbers beside them: where, why, and which is
    right.
    """
    return [_contradicted(a, w, *result) for result in contradictions(a, formulas)]


def _contradicted(
    a: Analysis, w: FormulaWriter, formula: FormulaBesideNumbers, c: Contradiction
) -> tuple[str, str]:
    """The note on one formula that differs from its numbers."""
    name, p = formula.name, a.problem
    number, other = (number_text(array[c.hit][0]) for array in (c.numbers, c.formula))
    first, *further = _all_places(name, c.hit) if c.hit.ndim else [name]
    text = (
        f"the formula of {formula.whose} gives {other} for {first}, where the rules give {number}"
    )
    text += f" (and differs for {_listed_first(further, 'place')})" if further else ""
    text += _with_ones(p) if name != "entry " else ""
    shape = formula.inputs[0].shape
    why = cause(a, formula.inputs, c.hit if c.hit.shape == shape else np.ones(shape, bool))
    operation = "" if why is None else _source_text(why.node, a, w)
    if why is not None:
        at = f" at {_places('', why.hit)}" if why.hit.ndim else ""
        text += f": {operation} {why.does}{at}"
    out = a.value(a.problem.orders[0].out)
    if why is not None and why.is_undefined and not (c.is_limit or np.all(np.isfinite(out))):
        kind = "nan" if np.any(np.isnan(a.value(why.node))) else "an infinity"
        message = f"PyTorch computes {kind} for {operation}, and the formula holds where that is"
        return "formula-differs", f"{text}. {message} finite."
    return "formula-differs", f"{text}. {LIMIT if c.is_limit else CURE}"


def _with_ones(p: Problem) -> str:
    if p.tangents:
        return "" if all(t.value is not None for t in p.tangents) else ", with tangents of ones"
    return ", with a seed of ones" if p.seed.refused else ""


def _culprit(a: Analysis, evaluate: Evaluator) -> str:
    """A sentence on the first operation of the reverse pass that sends a gradient that is not
    finite; "" if it has no source text.
    """
    for step in a.gradients.steps:
        if not _finite(evaluate(step.received)[0]):
            continue
        for c in step.contributions:
            if not _finite(evaluate(c.sent)[0]):
                span = step.node.span
                return f" It begins at {span.excerpt}." if span else ""
    return ""
