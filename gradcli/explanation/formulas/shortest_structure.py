"""The structure of a Jacobian as shown: its name at the given sizes, its closed form for any sizes.

Closed forms are read off several forms of the gradient. The shortest one that equals the Jacobian
at all trial sizes is shown.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from ...backends.numeric import Evaluator
from ...errors import if_applicable
from ...graphs import OPS, Node, Operator, as_node, intern, walk
from ...graphs.shapes import numel
from ...graphs.substitution import substitute
from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.formulas.formula import TOO_LONG, formula
from ...notation.formulas.rules.elements import as_stack
from ...notation.jacobians.patterns import (
    KRONECKERS,
    ONE_A_ROW,
    PERMUTED_BLOCKS,
    SKEW,
    is_confirmed,
)
from ...notation.jacobians.structure import Structure, jacobian_structure
from ..analysis import Analysis, within_budget
from ..jacobian import jacobian_of
from . import by_index
from .contradictions import formula_value
from .formula_writer import FormulaWriter
from .other_sizes import generic_problem
from .trial_values import random_values
from .trials import Trial, Trials, node_of

Jacobians = Sequence[tuple[Trial, Any]]  # trials with their Jacobians
# (composing) -> the structure; `composing`: whether to search for a product of Jacobians as its
# formula if the deltas give none
StructureBy = Callable[[bool], Structure]

CONFIRMED = 4_096  # entries up to which a structure is compared with the matrix
ROUNDING = 1e-15  # relative to the largest entry
CROSS = "cross_along"  # the operator of linalg.cross
ELSEWHERE = 2  # other sizes at which a closed form is tested
MOST_ROWS = 6  # largest number of output elements whose gradients are stacked
SHORT = 7  # formulas of at most this length are not shortened further
# names that are given for the formula of a matrix, whatever its entries are
PLAIN = ("dense", "low-rank update", *KRONECKERS, PERMUTED_BLOCKS)


def structure_of(a: Analysis, w: FormulaWriter, x: Input) -> Structure:
    """The structure of the Jacobian. If the Jacobian is small, the structure is compared with its
    entries, or with those at random values. The closed form is split into statements if that is
    shorter. The structure is "zero" if no gradient flows to the input. Cached.
    """
    if a.gradient(x) is None:
        p = a.problem
        sides = _count(w.like_output, p.out), _count(w.names[x.node], x.node)
        return Structure("zero", tree.Call("zeros", sides), 0, p.out.numel * x.node.numel)
    return _searched(a, w, x)


@within_budget(lambda a, _, x: Structure("unknown", None, None, a.problem.out.numel * x.node.numel))
def _searched(a: Analysis, w: FormulaWriter, x: Input) -> Structure:
    if x.name not in w.structures:
        result = _structure(a, w, x)
        if result.formula is not None and not result.blocks:
            result = result._replace(formula=w.in_statements(result.formula))
        w.structures[x.name] = result
    return w.structures[x.name]


def _structure(a: Analysis, w: FormulaWriter, x: Input) -> Structure:
    grad, p = a.gradient(x), a.problem
    assert grad is not None  # see structure_of
    if not a.jacobian(x).numeric:
        return _without_values(a, w, x, grad)
    if p.out.numel * x.node.numel > CONFIRMED:
        return _shortest(partial(_structure_from_deltas, a, w, x, grad, None), w, x, None)
    numbers = _unrounded(in_numbers(a, x))
    nonzero, finite = int(np.count_nonzero(numbers)), _finite(numbers)
    result = _shortest(partial(_structure_from_deltas, a, w, x, grad, finite), w, x, finite)
    if finite is None and result.nonzero is not None and result.nonzero < nonzero:
        return result._replace(name="dense", nonzero=nonzero)  # entries that should be 0 are nan
    return result._replace(nonzero=nonzero)


def _count(name: tree.Name, node: Node) -> tree.Tree:
    """The number of elements of a node, written in terms of a name with its shape."""
    if node.ndim == 1:
        return tree.Subscript(tree.Attribute(name, "shape"), (tree.Number(0),))
    return tree.Method(name, "numel") if node.ndim else tree.Number(1)


def _without_values(a: Analysis, w: FormulaWriter, x: Input, grad: Node) -> Structure:
    """The structure with a count that holds for any values.

    If no node branches on values, entries that cancel at random values lower the count. If nodes
    only choose positions by values, as a sort does, random values determine the name.
    """
    from .nonzero_count import bounded, branching_nodes, cancelled

    p = a.problem
    if p.out.numel * x.node.numel > CONFIRMED:
        return bounded(
            _shortest(partial(_structure_from_deltas, a, w, x, grad, None), w, x, None), p
        )
    chosen = branching_nodes(p)
    if chosen:
        picks = all(n.op.finds_indices for n in chosen)
        numbers = _finite(in_numbers(a, x)) if picks else None
        return bounded(
            _shortest(partial(_structure_from_deltas, a, w, x, grad, numbers), w, x, numbers), p
        )
    zeros = cancelled(p, x)
    numbers = _finite(np.where(zeros, 0.0, in_numbers(a, x)))
    result = _shortest(partial(_structure_from_deltas, a, w, x, grad, numbers), w, x, numbers)
    return result._replace(nonzero=min(int(np.sum(~zeros)), result.nonzero or result.total))


def _structure_from_deltas(
    a: Analysis, w: FormulaWriter, x: Input, grad: Node, numbers: Any, composing: bool
) -> Structure:
    """The structure according to the deltas of the gradient, confirmed by the numbers."""
    p, gradient = a.problem, (by_index.shortest_form(w, x) if composing else w.read_off(x)) or grad
    return jacobian_structure(
        *(p.out, x.node, gradient, p.seed.node, w.names, numbers),
        like=w.like_output,
        composing=composing,
        known=w.cache.factors,
    )


def _finite(matrix: Any) -> Any:
    """The matrix; None if an entry is nan or infinite."""
    return matrix if np.all(np.isfinite(matrix)) else None


def _unrounded(matrix: Any) -> Any:
    """A matrix with entries below the rounding error of its largest finite entry set to 0."""
    size = np.abs(matrix)
    largest = np.max(size, initial=0.0, where=np.isfinite(size))
    return np.where(size <= ROUNDING * largest, 0.0, matrix)


def in_numbers(a: Analysis, x: Input) -> Any:
    """The Jacobian as an array; at random values if the inputs have no values."""
    jacobian = a.jacobian(x)
    if jacobian.numeric:
        return jacobian.matrix
    out = a.problem.out
    result = jacobian_of(out, x.node, Evaluator(random_values(a.problem), limits=a.problem.limits))
    return result.reshape(out.numel, x.node.numel)


def without_number(a: Analysis, s: Structure, x: Input) -> int | None:
    """How many entries of the closed form are nan or infinite where those of the matrix are not;
    None if there is no closed form, or the matrix is symbolic or too large.
    """
    if s.formula is None:
        return None
    jacobian = a.jacobian(x)
    if not jacobian.numeric or numel(jacobian.size) > CONFIRMED:
        return None
    result = s.matrix(partial(formula_value, a), jacobian.matrix.shape)
    if result is None:
        return None
    return int(np.sum(~np.isfinite(result) & np.isfinite(jacobian.matrix)))


# ---- closed forms --------------------------------------------------------------------------------


def _shortest(named: StructureBy, w: FormulaWriter, x: Input, numbers: Any) -> Structure:
    """The structure with the shortest closed form that holds at all sizes, and the name of that
    form if the `numbers` here agree; without a closed form if none holds.
    """
    grad = w.analysis.gradient(x)
    if grad is not None and any(_has_no_words(n.op) for n in walk([grad])):
        return named(True)._replace(formula=_gradient_row(w, x), blocks=())
    tried = _trials_with_jacobians(w, x, w.trials.first)
    if not tried:
        return named(True)
    best, readable = _best(w.generic, x, tried) if w.generic else (None, True)
    if not readable:
        best, readable = _best_beside_ones(w, x)
    if best is None and readable:
        best, _ = _best(w, x, tried)
    if best is None:
        result = named(True)
        return result if result.name == "identity" else result._replace(formula=None, blocks=())
    return _with_form(named, best, w, numbers, tried)


def _with_form(
    named: StructureBy, best: Structure, w: FormulaWriter, numbers: Any, tried: Jacobians
) -> Structure:
    """The structure with the closed form of `best`, and with its name if that is right here."""

    def holds(name: str) -> bool:
        return name not in KRONECKERS or all(is_confirmed(name, matrix) for _, matrix in tried)

    here = numbers is None or is_confirmed(best.name, numbers)
    result = named(False)
    if not (result.name in PLAIN and here and holds(best.name)):
        result = named(True)  # a composed form may have another name
    name = best.name if result.name in PLAIN and here else result.name
    if not holds(name):
        name = "dense" if result.name in KRONECKERS else result.name
    matrices = [*(m for _, m in tried), *([] if numbers is None else [numbers])]
    if name == "dense" and all(is_confirmed(SKEW, m) for m in matrices):
        name = SKEW
    nonzero = result.nonzero
    if nonzero is not None and name in ONE_A_ROW:  # the deltas may give a larger count
        nonzero = min(nonzero, w.problem.out.numel)
    return result._replace(name=name, formula=best.formula, nonzero=nonzero, blocks=best.blocks)


def _best_beside_ones(w: FormulaWriter, x: Input) -> tuple[Structure | None, bool]:
    """The result of `_best` at generic sizes in which sizes of 1, such as one channel, are kept."""
    ones = any(n == 1 for i in w.problem.inputs.values() for n in i.shape)
    problem = generic_problem(w.problem, keeps_ones=True) if ones else None
    if problem is None:
        return None, False
    writer = FormulaWriter(type(w.analysis)(problem))
    tried = _trials_with_jacobians(w, x, Trials(w.problem, problem).first)
    return _best(writer, x, tried) if len(tried) > 1 else (None, False)  # other sizes


def _best(w: FormulaWriter, x: Input, tried: Jacobians) -> tuple[Structure | None, bool]:
    """The shortest structure, read off at the sizes of `w`, that holds in all trials, or None; and
    whether any closed form could be read off.
    """
    best: Structure | None = None
    least, readable = (TOO_LONG + 1.0, 0), False
    for other in _readings(w, x):
        if other.formula is None:
            continue
        readable = True
        length = tree.length_in_statements(other.formula), tree.size(other.formula)
        if length >= least:
            continue
        if all(other.agrees(trial.computed, matrix) for trial, matrix in tried):
            best, least = other, length
        if least[0] <= SHORT:
            break
    return best and _assuming(w, best, tried), readable


def _assuming(w: FormulaWriter, form: Structure, tried: Jacobians) -> Structure:
    """`form` with a closed form shortened by the assumptions on inputs, if that still holds."""
    if form.formula is None or not any(i.node.attrs["known"] for i in w.problem.inputs.values()):
        return form
    text = tree.text(form.formula)
    short = if_applicable(lambda: w.shortened(node_of(text, w.problem)))
    written = None if short is None else w.formula(short)
    if short is None or written is None or tree.size(written) >= tree.size(form.formula):
        return form
    result = form._replace(formula=written)
    if not all(result.agrees(trial.computed, matrix) for trial, matrix in tried):
        return form
    return result._replace(name="zero", nonzero=0) if short.op.name == "zeros" else result


def _readings(w: FormulaWriter, x: Input) -> Iterator[Structure]:
    """The structures read off each form of the gradient; for a scalar output or input also the
    gradient as a row, or the tangent as a column.
    """
    p, node = w.problem, w.problem.inputs[x.name].node
    forms = w.gradient_forms(p.inputs[x.name])
    for grad, parts in forms if p.out.shape else islice(forms, 1):
        yield jacobian_structure(
            *(p.out, node, grad, p.seed.node, w.names),
            parts=parts,
            generic_sizes=w.problem.generic_sizes,
            like=w.like_output,
            known=w.cache.factors,
        )
    rows = _rows(w, p.inputs[x.name])
    if rows is not None:
        yield Structure("dense", rows, None, p.out.numel * node.numel)
    stacked = _stacked_rows(w, p.inputs[x.name])
    if stacked is not None:
        yield Structure("dense", stacked, None, p.out.numel * node.numel)
    row = _row(w, p.inputs[x.name])
    if row is not None:
        yield Structure("row", row, None, node.numel)
    column = _column(w, p.inputs[x.name])
    if column is not None:
        yield Structure("dense", column, None, p.out.numel)


def _rows(w: FormulaWriter, x: Input) -> tree.Tree | None:
    """The gradients at all one-hot seeds as one formula; None if there is none."""
    grad = w.read_off(x)
    rows = None if grad is None else _at_identity(w.shortened(grad), w.problem.seed.node)
    return None if rows is None else formula(rows, w.names, w.problem.generic_sizes)


def _at_identity(grad: Node, seed: Node) -> Node | None:
    """The gradients at all one-hot seeds at once, which are the rows of an identity:
    `linalg.cross(eye(3), a[None])` for cross(a, x). None unless the gradient is a vector that the
    seed reaches through cross products and elementwise operations, whose rows are independent.
    """
    if seed.ndim != 1 or grad.ndim != 1:
        return None
    rows: dict[Node, Node] = {seed: OPS["eye"](n=seed.shape[0])}
    for n in walk([grad]):
        if n in rows or not any(i in rows for i in n.parents):
            continue
        by_rows = n.op.family == "elementwise" or n.op.name == CROSS
        if not by_rows or n.ndim != 1 or None in n.inputs:
            return None
        # operands that do not depend on the seed are the same for all rows; CROSS does not
        # broadcast them
        operands = [rows.get(i) or (i[None] if n.op.name == CROSS else i) for i in n.parents]
        rows[n] = intern(n.op, tuple(operands), n.attrs)
    crossed = any(n.op.name == CROSS for n in rows)
    return rows.get(grad) if crossed else None


def _stacked_rows(w: FormulaWriter, x: Input) -> tree.Tree | None:
    """The stacked gradients of the elements of an output: `stack([2 * x, A @ x])`. None unless the
    output has few elements at any sizes, or the gradient uses only single elements of the seed,
    g[0], g[1], ..., as it does if the output stacks scalars.
    """
    grad, seed = w.read_off(x), w.problem.seed.node
    if grad is None or not grad.ndim or seed.ndim != 1 or seed.shape[0] > MOST_ROWS:
        return None
    uses = {n: _picked_element(n, seed) for n in walk([grad]) if seed in n.parents}
    if None in uses.values() and w.problem.generic_sizes is None:
        return None
    rows = []
    for k in range(seed.shape[0]):
        numbers = [as_node(float(element == k)) for element in range(seed.shape[0])]
        one_hot = {n: numbers[element] for n, element in uses.items() if element is not None}
        row = w.shortened(substitute(grad, one_hot | {seed: OPS["stack"](numbers)}))
        rows.append(row if row.ndim == 1 else w.shortened(row.reshape(shape=(row.numel,))))
    by_element = [as_stack(row) for row in rows]
    elements = [row for row in by_element if row is not None]
    if len(elements) == len(rows):
        return formula(w.shortened(OPS["stack"](elements)), w.names, w.problem.generic_sizes)
    return formula(OPS["stack"](rows, dim=0), w.names, w.problem.generic_sizes)


def _picked_element(n: Node, seed: Node) -> int | None:
    """k for seed[k]; None for any other node."""
    index: tuple = n.attrs["index"] if n.op is OPS["getitem"] else ()
    is_element = len(index) == 1 and isinstance(index[0], int)
    return index[0] % seed.shape[0] if is_element else None


def _column(w: FormulaWriter, x: Input) -> tree.Tree | None:
    """The JVP along a scalar input, as the one column of its Jacobian; None if there is none."""
    from ...autodiff.forward import jvp

    p = w.problem
    tangent = None if x.node.shape or not p.out.shape else jvp(p.out, {x.node: as_node(1.0)})
    if tangent is None or any(_has_no_words(n.op) for n in walk([w.shortened(tangent)])):
        return None
    written = w.formula(tangent)
    if written is None or p.out.ndim == 1:
        return written and tree.Subscript(written, (tree.ALL, tree.NEW_DIMENSION))
    return tree.Method(written, "reshape", (tree.Number(-1), tree.Number(1)))


def _row(w: FormulaWriter, x: Input) -> tree.Tree | None:
    """The gradient of a scalar output, as the one row of its Jacobian; None if there is none."""
    grad, seed = w.read_off(x), w.problem.seed
    if w.problem.out.shape or grad is None:
        return None
    if not seed.implicit:  # the output is a gradient with one element
        grad = substitute(grad, {seed.node: as_node(1.0)})
    if any(_has_no_words(n.op) for n in walk([w.shortened(grad)])):
        return None
    return _as_row(w.formula(grad), x)


def _gradient_row(w: FormulaWriter, x: Input) -> tree.Tree | None:
    """The formula of a scalar's gradient as a row, if it is the Jacobian in all trials."""
    row = None if w.problem.out.shape else _as_row(w.gradient(x), x)
    tried = [] if row is None else _trials_with_jacobians(w, x, w.trials.first)
    form = Structure("row", row, None, x.node.numel)
    return row if tried and all(form.agrees(t.computed, matrix) for t, matrix in tried) else None


def _as_row(written: tree.Tree | None, x: Input) -> tree.Tree | None:
    """The formula of a gradient in the shape of a row."""
    if written is None or x.node.ndim == 1:
        return written and tree.Subscript(written, (tree.NEW_DIMENSION,))
    return tree.Method(written, "reshape", (tree.Number(1), tree.Number(-1)))


def _has_no_words(op: Operator) -> bool:
    """Whether an operator cannot be written, such as the derivative of CTC loss."""
    return not (op.torch or op.expand or op.spelling or op.index or op.family == "leaf")


def _trials_with_jacobians(w: FormulaWriter, x: Input, trials: Iterable[Trial]) -> Jacobians:
    """These trials and a few at other sizes, each with its Jacobian as a matrix; without trials in
    which a dimension is squeezed or the output is not finite, as logdet(X) may be.
    """
    unsqueezed = (trial for trial in w.trials.elsewhere if not trial.squeezed)
    elsewhere = islice(filter(None, (_with_jacobian(t, x) for t in unsqueezed)), ELSEWHERE)
    return [*filter(None, (_with_jacobian(trial, x) for trial in trials)), *elsewhere]


def _with_jacobian(trial: Trial, x: Input) -> tuple[Trial, Any] | None:
    """A trial and its Jacobian; None if that is too large, not finite, or rounding decides it, as
    that of logdet(X @ X.T) for an X with more rows than columns.
    """
    out, node = trial.problem.out, trial.problem.inputs[x.name].node
    if out.numel * node.numel > CONFIRMED or not trial.is_conclusive(x.name):
        return None
    evaluate, value = trial.evaluate, trial.problem.orders[0].out
    arrays = if_applicable(lambda: (jacobian_of(out, node, evaluate), *evaluate(value)))
    if arrays is None or not all(np.all(np.isfinite(array)) for array in arrays):
        return None
    return trial, arrays[0].reshape(out.numel, node.numel)
