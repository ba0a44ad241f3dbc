"""The cost: FLOP of passes, full Jacobians, tensors saved for backward."""

from collections.abc import Collection

from ...graphs import Node
from ...notation.jacobians.structure import jacobian_structure
from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import Line, Prose, Row, Section, Table, plain, text_of, words
from ..cost import Cost, FullJacobian, cost, size_of
from ..formulas.formula_writer import FormulaWriter
from ..formulas.nonzero_count import bounded
from ..formulas.source_text import role_of
from ..phrases import amount, count_text, item_size, listed, memory, middle, shape_text, size_words
from .jacobian import KINDS

MOST_READERS = 3  # largest number of operations that are named as readers of a tensor
LONGEST_LABEL = 26  # largest number of characters of a label


def costs(a: Analysis, w: FormulaWriter, most: int) -> list[Section]:
    """Tables of passes, Jacobians, and saved tensors; at most about `most` rows of the latter."""
    result = cost(a)
    remark = plain(f"from shapes alone, in {a.dtype}")
    return [
        Section("cost", words("Cost"), remark, (_passes(a, result), *_assumed(a))),
        Section("cost", words("Full Jacobian"), (), tuple(_jacobians(a, w, result))),
        Section("cost", words("Saved for backward"), (), tuple(_memory(a, w, result, most))),
    ]


def _assumed(a: Analysis) -> list[Prose]:
    """A remark that sizes were chosen freely."""
    shapes = [f"{x.name} {shape_text(x.shape)}" for x in a.problem.inputs.values() if x.assumed]
    if not shapes:
        return []
    first = shapes[0].split()[0]
    text = f"Sizes that cannot be inferred are assumed: {listed(shapes)}."
    return [Prose(words(f"{text} Give them with -s {first}=..."))]


# ---- passes --------------------------------------------------------------------------------------


def _passes(a: Analysis, c: Cost) -> Table:
    """The FLOP of the forward pass, and those added by a VJP and a JVP."""
    names = [x.name for x in a.problem.wrt]
    grads = listed([f"{name}.grad" for name in names])
    each = f"of {names[0]}" if len(names) == 1 else "for each input"
    rows = (
        ("forward pass", amount(c.forward, "FLOP"), f"for {a.problem.out_name}"),
        ("VJP", f"+ {amount(c.vjp.times(1), 'FLOP')}", f"one pass back, for {grads}"),
        ("JVP", f"+ {amount(c.jvp.times(1), 'FLOP')}", f"one pass forward, with a tangent {each}"),
    )
    return Table(tuple(Row(tuple(map(words, row))) for row in rows))


# ---- Jacobians -----------------------------------------------------------------------------------


def _jacobians(a: Analysis, w: FormulaWriter, c: Cost) -> list[Table]:
    rows: list[Row] = []
    for j in c.jacobians:
        size = size_words(j.entries, item_size("float", a.dtype))
        name = words("wrt ", Token(j.x.name, role_of(j.x)))
        rows += [Row((name, words(size))), *_structure(a, w, j), *_passes_needed(j)]
    return [Table(tuple(rows))]


def _structure(a: Analysis, w: FormulaWriter, j: FullJacobian) -> list[Row]:
    """`block-diagonal    1,000 nonzero entries`, read off the index notation of the gradient."""
    p, grad = a.problem, a.gradient(j.x)
    if grad is None or 1 in (j.rows, j.columns):
        return []
    result = jacobian_structure(p.out, j.x.node, grad, p.seed.node, w.names, None)
    result = bounded(result, p)
    if result.nonzero is None or result.nonzero >= j.entries:
        return []
    kind = "sparse" if result.name == "dense" else KINDS.get(result.name, result.name)
    bound = "at most " if result.at_most else ""
    entries = "entry" if result.nonzero == 1 else "entries"
    text = f"{bound}{count_text(result.nonzero)} nonzero {entries}"
    return [Row((words(kind), words(text)), 1)]


def _passes_needed(j: FullJacobian) -> list[Row]:
    """The passes for a full Jacobian row by row and column by column, the cheaper way first."""
    ways = [
        (j.back.times(j.rows), j.rows, "back", "row"),
        (j.forward.times(j.columns), j.columns, "forward", "column"),
    ]
    return [
        Row(
            (
                words(f"{line} by {line}"),
                words(f"{count_text(count)} pass{'es' * (count != 1)} {way}"),
                words(amount(flops, "FLOP")),
            ),
            1,
        )
        for flops, count, way, line in sorted(ways)
    ]


# ---- saved tensors -------------------------------------------------------------------------------


def _memory(a: Analysis, w: FormulaWriter, c: Cost, most: int) -> list[Table | Prose]:
    """A row for each saved tensor: its text, shape and size, and the operations that read it."""
    if not c.saved:
        return [Prose(words("Nothing: no derivative rule needs a value of the forward pass."))]
    rows = middle(
        list(c.saved_tensors.items()),
        most,
        lambda item: _saved_row(*item, a, w),
        lambda n: Row((words(f"… {n:,} more"),)),
    )
    return [Table(tuple(rows)), Prose(words(_together(a, c.saved_tensors)))]


def _saved_row(node: Node, readers: list[Node], a: Analysis, w: FormulaWriter) -> Row:
    shown = [_label(w.source.operation(reader), reader) for reader in readers[:MOST_READERS]]
    read_by = words("for ") + shown[0]
    for line in shown[1:]:
        read_by += (Token(", ", "word"), *line)
    if len(readers) > MOST_READERS:
        read_by += words(f" and {len(readers) - MOST_READERS:,} more")
    size = words(memory(size_of(node, a.dtype)))
    return Row((_label(w.source.short(node), node), plain(shape_text(node.shape)), size, read_by))


def _label(line: Line, node: Node) -> Line:
    """A line, or the name of the operation if the line is long: `layer_norm(…)`."""
    return line if len(text_of(line)) <= LONGEST_LABEL else plain(f"{node.op.name}(…)")


def _together(a: Analysis, kept: Collection[Node]) -> str:
    """A sentence on the memory of all saved tensors: `Together 397 MB: 266 MB of inputs, and 131 MB
    kept only for backward.`
    """
    inputs = sum(size_of(n, a.dtype) for n in kept if n.op.family == "leaf")
    others = sum(size_of(n, a.dtype) for n in kept if n.op.family != "leaf")
    if not inputs and not others:
        return "Together 0 bytes: these tensors are empty."
    if not others:
        return f"Together {memory(inputs)}, all of it inputs."
    if not inputs:
        return f"Together {memory(others)}, kept only for backward."
    return (
        f"Together {memory(inputs + others)}: {memory(inputs)} of inputs, and {memory(others)} "
        "kept only for backward."
    )
