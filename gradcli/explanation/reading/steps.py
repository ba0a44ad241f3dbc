"""The brief explanation of one backward pass of a program: seed, formulas, values. Also, functions
on the operations (grad_fns) of a pass.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ...errors import GradcliError
from ...graphs.shapes import text
from ...language.posing import pose
from ...language.problem import Input
from ...lazy import np
from ...limits import Limits
from ...notation import tree
from ...pasted.problems import BackwardProblem, Unexplained, pose_backward
from ...snippets.eager.tensor import Record, Tensor
from ...snippets.eager.views import readable
from ...snippets.reading import Reading
from ...snippets.trace import Backward
from ..analysis import Analysis
from ..formulas.formula_writer import writer_of
from ..notes import contradicted
from ..phrases import number_text, sentence
from ..short.gradients import Gradients

MOST_RECORDS = 60  # longer passes come from loops; they get no formulas


class Gradient(NamedTuple):
    """The gradient of one leaf: its formula, "" if it has none, and its value.

    With a `place`, an index such as "[1, 2]", the formula is for these elements; the others are 0.
    """

    name: str
    formula: str
    value: Any
    place: str = ""


class Explained(NamedTuple):
    """A backward pass: the program that computes its output, the seed in words, the gradients of
    intermediate values as statements `h.grad = ...`, and those of leaves.
    """

    program: str
    seed: str
    derived: tuple[str, ...]
    gradients: tuple[Gradient, ...]
    remarks: tuple[str, ...]


def explained(
    back: Backward, reached: Container[Tensor] = (), limits: Limits | None = None
) -> Explained:
    """The explanation of a backward pass, with formulas if gradcli's language can express the pass.
    Leaves in `reached`, to which another pass sends gradients, are not reported as unreached.
    """
    try:
        problem = pose_backward(back, most=MOST_RECORDS)
        analysis = analysis_of(problem, limits)
        return _of_analysis(back, problem, analysis, reached)
    except (Unexplained, GradcliError) as reason:
        remark = f"No formula here: {reason}."
        return Explained("", _seed(back), (), tuple(_in_numbers(back)), (remark,))


def _in_numbers(back: Backward) -> Iterator[Gradient]:
    """The gradients that the program computed, without formulas."""
    for tensor, value in back.results.items():
        name = back.paths.get(tensor) or back.called.get(tensor)
        if name and value is not None and value.dtype.kind == "f":
            yield Gradient(name, "", value)


def analysis_of(problem: BackwardProblem, limits: Limits | None = None) -> Analysis:
    """The analysis of a backward pass that was converted to a problem of gradcli's language."""
    seed = problem.seed
    if seed is not None and _is_one(seed):  # formulas omit the factor 1
        seed = None
    leaves = (*problem.leaves, *problem.wrt)  # includes inputs that the output does not depend on
    given = {"values": problem.values, "grad": seed, "wrt": problem.wrt, "leaves": leaves}
    return Analysis(pose(problem.text, **given, limits=limits))


def _is_one(seed: Any) -> bool:
    return seed.size == 1 and bool(seed.item() == 1)


def _of_analysis(
    back: Backward, problem: BackwardProblem, analysis: Analysis, reached: Container[Tensor]
) -> Explained:
    """The explanation of a backward pass that was converted to a problem, with formulas."""
    result, values = Gradients(analysis, writer_of(analysis)), analysis.grad_values()
    gradients = []
    remarks: list[str] = []
    for x in analysis.problem.wrt:
        value, leaf = values[x.name], problem.leaves[x.name]
        sent = back.results.get(leaf)
        if value is not None:
            gradients.append(_gradient(result, x, value))
            remarks += _added_up(back, leaf, x.name)
        elif sent is not None:  # PyTorch's second derivative of relu, for example, is 0, not None
            gradients.append(Gradient(x.name, f"zeros_like({x.name})", sent))
        elif leaf not in reached:
            remarks.append(f"{x.name} gets no gradient: the output does not depend on it.")
    derived = _derived(result)
    remarks += _with_ones(back, problem)
    remarks += _meanings_of_names(problem, result)
    remarks += [
        sentence(text) for _, text in contradicted(analysis, result.w, result.beside_numbers())
    ]
    return Explained(problem.text, _seed(back), derived, tuple(gradients), tuple(remarks))


def _gradient(result: Gradients, x: Input, value: Any) -> Gradient:
    written = result.formula(x)
    if written is None:
        return Gradient(x.name, "", value)
    index, written = _nonzero_part(written)
    return Gradient(x.name, tree.text(result.w.in_statements(written)), value, index)


def _added_up(back: Backward, leaf: Tensor, name: str) -> Iterator[str]:
    """A remark that a gradient is added to the previous .grad of a leaf."""
    before = back.before.get(leaf)
    if before is not None and back.kind == "backward":
        held = f"held {_short(before)} already: the two are"
        cleared = "was set to 0 before: else the two would be"
        yield f"{name}.grad {held if before.any() else cleared} added up."


def _nonzero_part(written: tree.Tree) -> tuple[str, tree.Tree]:
    """The index of the nonzero elements and the formula for them, of a formula such as
    zeros_like(x).index_put(...); "" and the whole formula for others.
    """
    if not (isinstance(written, tree.Method) and isinstance(written.base, tree.Call)):
        return "", written
    named, args = dict(written.named), written.args
    if not written.base.function.endswith("zeros_like"):
        return "", written
    if written.name == "index_put" and not named and isinstance(args[0], tree.Listing):
        index = [_number(item) for item in args[0].items]
        if index and all(index):
            return f"[{', '.join(index)}]", args[1]
    if written.name == "slice_scatter" and not {*named} - {"start", "end"}:
        ends = (tree.text(named[n]) if n in named else "" for n in ("start", "end"))
        return f"[{':'.join(ends)}]", args[0]
    return "", written


def _number(item: tree.Tree) -> str:
    """The number in a formula `tensor(1)`, as text; "" for other formulas."""
    if not (isinstance(item, tree.Call) and item.function.endswith("tensor")):
        return ""
    return tree.text(item.args[0]) if isinstance(item.args[0], tree.Number) else ""


def _derived(result: Gradients) -> tuple[str, ...]:
    """Statements for values of the program that have no names, and for intermediate gradients."""
    derivation = result.derivation
    if derivation is None:
        return ()
    added = [f"{s.names_text} = {s.value}" for s in derivation.added(derivation.lines)]
    return (*added, *(f"{line.gradient_name} = {line.text}" for line in derivation.back))


def _meanings_of_names(problem: BackwardProblem, result: Gradients) -> Iterator[str]:
    """Remarks on names in the formulas that the program does not define."""
    derivation = result.derivation
    inner = derivation.added(derivation.lines) if derivation else []
    names = [name for s in inner for name in s.names]
    names += [name for name, later in problem.unnamed.items() if not later]
    for later in dict.fromkeys(filter(None, problem.unnamed.values())):
        earlier = [name for name, of in problem.unnamed.items() if of == later]
        what = "is an earlier value" if len(earlier) == 1 else "are earlier values"
        yield f"{_listed(earlier)} {what} of {later}."
    if names:
        arrays = {n: problem.values[n] for n in names if n in problem.values}
        values = [f"{n} = {_short(a, 'of shape ' + text(a.shape))}" for n, a in arrays.items()]
        verb, what = ("stands", "a value") if len(names) == 1 else ("stand", "values")
        end = f" ({', '.join(values)})" if values else ""
        yield f"{_listed(names)} {verb} for {what} that the program does not name{end}."


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _short(array: Any, otherwise: str = "numbers") -> str:
    written = _nested(array.tolist())
    return written if len(written) < 60 else otherwise


def _nested(numbers: Any) -> str:
    if not isinstance(numbers, list):
        return str(numbers) if isinstance(numbers, bool) else number_text(numbers)
    return f"[{', '.join(map(_nested, numbers))}]"


def _seed(back: Backward) -> str:
    (output, *_), (seed, *_) = back.outputs, back.seeds
    name = back.called.get(output, "the output")
    if _is_one(seed.data):
        return f"{name} is a single number: the seed is 1."
    of_shape = f"of the shape of {name}, {text(seed.shape)}"
    start = f"The seed, {of_shape}, is {_short(seed.data)}"
    if back.seed_names[0]:
        start = f"The seed is {back.seed_names[0]}, {of_shape}, {_short(seed.data)}"
    if _are_ones(seed.data):
        return f"{start}: the gradient is that of {name}.sum()."
    at = np.argwhere(seed.data)
    if len(at) == 1 and seed.data[tuple(at[0])] == 1:
        index = ", ".join(map(str, at[0]))
        return f"{start}: it picks a row of the Jacobian, the gradient of {name}[{index}]."
    return f"{start}."


def _are_ones(seed: Any) -> bool:
    return bool((seed == 1).all())


def _with_ones(back: Backward, problem: BackwardProblem) -> Iterator[str]:
    """A remark on the gradients for a seed of ones, if the program's seed is another one."""
    seed = problem.seed
    if seed is None or back.kind != "backward" or np.count_nonzero(seed) < 2 or _are_ones(seed):
        return
    values = analysis_of(problem._replace(seed=np.ones_like(seed))).grad_values()
    for x in problem.wrt:
        if values[x] is not None and len(written := _nested(values[x].tolist())) < 60:
            yield f"With ones as the seed {x}.grad would be {written}."


MOST = 2000  # visited nodes


def records(back: Backward) -> Iterator[Record]:
    """The grad_fns from which the outputs of a backward pass were computed, latest first."""
    return records_behind(t.record for t in back.outputs if readable(t))


def records_behind(starts: Iterable[Any]) -> Iterator[Record]:
    """The given grad_fns, and those from which they were computed."""
    seen: set[Record] = set()
    stack = [r for r in starts if isinstance(r, Record)]
    while stack and len(seen) < MOST:
        record = stack.pop()
        if record in seen:
            continue
        seen.add(record)
        yield record
        stack += [e.record for e in record.edges if e and isinstance(e.record, Record)]


def computed_by(reading: Reading) -> Iterator[Record]:
    """The grad_fns of the tensors that a program has named, and those before them."""
    return records_behind(a.tensor.record for a in reading.trace.assignments if readable(a.tensor))


def operands(record: Record) -> list[Tensor]:
    """The tensor operands of an operation; [] if they are not known."""
    call = record.call
    given = call[1] if isinstance(call, tuple) and len(call) == 3 else ()
    return [t for t in given if isinstance(t, Tensor)] if isinstance(given, tuple) else []


def layer_operands(record: Record) -> list[Tensor]:
    """The tensors that were passed to a layer such as linear, of which an operation is a part;
    those of the operation itself if it is no such part.
    """
    return list(record.composed.operands) if record.composed else operands(record)


COMPARING = ("Sub", "MseLoss", "L1Loss", "SmoothL1", "Huber")


def is_spread(record: Record) -> bool:
    """Whether a loss such as mse_loss broadcasts (n, 1) and (n,), so that it compares all pairs.
    A difference of a column and a 1×n matrix, or of two views of one tensor, is meant.
    """
    given = operands(record)
    if not record.name.startswith(COMPARING) or len(given) != 2:
        return False
    a, b = given
    meant = a.ndim == b.ndim or np.may_share_memory(a.data, b.data)
    return _column_and_row(a.shape, b.shape) and not (meant and record.name.startswith("Sub"))


def is_added_to_row(record: Record) -> bool:
    """Whether an operation adds shapes (n, 1) and (n,), which gives an n×n matrix."""
    row, *column = sorted((t.shape for t in operands(record)), key=len)[:2] or [()]
    added = record.name.startswith("Add") and len(row) == 1 < row[0]
    return added and [c[-2:] for c in column] == [(*row, 1)]


def is_weighted_by_row(record: Record) -> bool:
    """Whether an operation multiplies a column, such as losses, by a vector of the same size, such
    as their weights, which gives a matrix; a column that was reshaped to be one is meant.
    """
    if not record.name.startswith("Mul") or len(given := operands(record)) != 2:
        return False
    row, column = sorted(given, key=lambda t: t.ndim)
    made = column.record.name if isinstance(column.record, Record) else ""
    meant = made.startswith(("Unsqueeze", "View", "UnsafeView", "Reshape"))
    return row.ndim == 1 and _column_and_row(row.shape, column.shape) and not meant


def _column_and_row(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether one shape is (n, 1) and the other (n,) or (1, n), with n > 1."""
    return any(
        len(column) == 2 and column[0] > 1 == column[1] and row in ((column[0],), (1, column[0]))
        for column, row in ((a, b), (b, a))
    )


def result(record: Record) -> Tensor | None:
    """The output of an operation; None if it is not known."""
    call = record.call
    output = call[2] if isinstance(call, tuple) and len(call) == 3 else None
    return output if isinstance(output, Tensor) else None


def operation(record: Record) -> str:
    """The name of an operation as programs write it: log_softmax for LogSoftmaxBackward0."""
    if record.composed:
        return record.composed.function
    name = record.name.partition("Backward")[0]
    known = {"Addmm": "the layer", "Mm": "@", "Mv": "@"}
    return known.get(name) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
