"""A Jacobian-vector product: the tangents, the forward pass, the Jacobian times each tangent."""

from typing import Any

from ...graphs import Node
from ...language.problem import Input
from ...lazy import np
from ...notation.tree import Attribute, Infix, Name, Token
from .. import entries
from ..blocks import (
    EQUALS,
    Answer,
    Block,
    Formula,
    Line,
    Matrix,
    Prose,
    Row,
    Section,
    Table,
    Tensor,
    equality,
    plain,
    tokens_of,
    typed,
    words,
)
from ..formulas.source_text import role_of
from ..higher.jvp import Jvp
from ..phrases import listed, middle, shape_text
from .jacobian import matrix, remarks, shown_structure, structure_row


def answers(j: Jvp) -> tuple[Answer, ...]:
    """The tangent of the output, in one line."""
    name = plain(Formula(Attribute(Name(j.problem.out_name), "tangent")))
    if j.node is None:
        return (Answer(name, Tensor(np.zeros(j.problem.out.shape), "answer"), plain("0"), ()),)
    value = j.a.value(j.node)
    number = None if value is None else Tensor(value, "answer")
    return (Answer(name, number, j.w.answer_line(j.formula), ()),)


def tangents(j: Jvp) -> Section:
    """A row for every input: its tangent, or that it has none."""
    out, directions = j.problem.out_name, j.problem.tangents
    rows = [Row(_tangent(j, x)) for x in j.problem.inputs.values() if x.node.dtype == "float"]
    blocks: list[Block] = [Table(tuple(rows))]
    text = [
        f"The tangent of {out} is the derivative of {out} along them: how fast each element "
        "changes as the inputs move."
    ]
    if all(t.value is None for t in directions):
        names, first = listed([t.name for t in directions]), directions[0].x.name
        symbols, it = ("is a symbol", "it") if len(directions) == 1 else ("are symbols", "them")
        text.append(f"{names} {symbols}: give {it} numbers with --tangent {first}=...")
    blocks.append(Prose(words(" ".join(text))))
    return Section("tangents", words("Tangents"), (), tuple(blocks))


def _tangent(j: Jvp, x: Input) -> tuple[Line | Tensor, ...]:
    name = plain(Token(x.name, role_of(x)))
    shape = plain(shape_text(x.shape))
    t = j.tangent(x)
    if t is None:
        return (name, shape, words("0: no tangent was given, so it is held constant"))
    text = words("moves along ", Token(t.name, "seed"))
    if t.text is not None:
        text += (Token(" = "), *j.w.source.with_roles(plain(t.text)))
    value = None if t.value is None else j.a.value(t.value)
    return (name, shape, text) if value is None else (name, shape, text, Tensor(value, "seed"))


def forward(j: Jvp, most: int) -> Section:
    """A row for every operation with a tangent."""
    moving = [n for n in j.w.source.operations() if n in j.along]
    rows = middle(
        moving,
        most,
        lambda node: _operation(j, node),
        lambda n: Row((words(f"… {n:,} more operations"),)),
    )
    blocks = (Table(tuple(rows)),) if rows else ()
    return Section("forward", words("Forward, with tangents"), (), blocks)


def _operation(j: Jvp, node: Node) -> Row:
    value = j.a.value(j.along[node])
    whole = node is j.problem.out and not j.received(node)
    rule = j.w.line(j.formula) if whole else _rule(*j.generic_tangent(node))
    text = (Formula(j.called[node]), EQUALS, *rule)
    cells = (j.w.source.titled(node, whole=False), text)
    return Row(cells if value is None else (*cells, Tensor(value)))


def _rule(j: Jvp, node: Node) -> Line:
    """The tangent of an operation in terms of those of its inputs; `y` is the operation's output if
    that has no name.
    """
    own = Name(j.w.output_name)
    unnamed = {} if node in j.w.names else {node: own}
    line = j.w.line(j.w.formula(j.along[node], j.received(node) | unnamed, j.later(node)))
    if unnamed and any(token.text == own.text for token in tokens_of(line)):
        line += (Token(f" with {own.text} the output", "word"),)
    return line


# ---- the Jacobian --------------------------------------------------------------------------------


def jacobian(j: Jvp, x: Input, full: bool, precision: int) -> Section:
    """The Jacobian for one input, its tangent above and the product at the right."""
    t = j.tangent(x)
    assert t is not None
    out, a = j.problem.out, j.a
    title = words(f"Jacobian of {j.problem.out_name} with respect to ", Token(x.name, role_of(x)))
    remark = plain(shape_text((*out.shape, *x.shape)))
    total = out.numel * x.node.numel
    structure = shown_structure(a, j.w, x)
    blocks: list[Block] = [Table((structure_row(structure, total),))]
    if a.gradient(x) is not None and total:
        blocks += remarks(a, j.w, x, structure)
        blocks.append(_times(j, matrix(a, j.w, x, full, precision, margin=False), x, precision))
    return Section("jacobian", title, remark, tuple(blocks))


def _times(j: Jvp, matrix: Matrix[Formula], x: Input, precision: int) -> Matrix[Formula]:
    """The matrix with a tangent above it, and their product at the right."""
    t = j.tangent(x)
    assert t is not None
    part = j.part(x)
    product = Infix("·", Name("J"), Name(t.name, "seed"))
    value, result = (None if n is None else j.a.value(n) for n in (t.node, part))
    return matrix._replace(
        tangent_name=typed(Name(t.name, "seed")),
        tangent=_shown(value, matrix.skipped_columns, len(matrix.column_labels), precision),
        result_name=None if result is None else typed(product),
        result=_shown(result, matrix.skipped_rows, len(matrix.row_labels), precision),
    )


def _shown(value: Any, skipped: tuple[int, int], count: int, precision: int) -> Any:
    """The elements for the rows or columns that are shown."""
    if value is None:
        return None
    flat, (before, missing) = np.ravel(value), skipped
    visible = np.concatenate([flat[:before], flat[before + missing :]]) if missing else flat
    assert len(visible) == count
    return entries.numbers(visible, precision)


def product(j: Jvp) -> Section:
    """The tangent of the output: formula, index notation, numbers."""
    out = j.problem.out_name
    title = words(f"Tangent of {out}")
    if j.node is None:
        names = listed([t.x.name for t in j.problem.tangents])
        text = f"{out} does not depend on {names}: its tangent is 0."
        return Section("gradient", title, (), (Prose(words(text)),))
    rows = [Row((words("formula"), j.w.line(j.formula)))]
    index = j.index
    if index is not None:
        rows.append(Row((words("index"), equality(index.left, index.right))))
    value = j.a.value(j.node)
    if value is not None:
        rows.append(Row((words("numbers"), Tensor(value, "answer"))))
    return Section("gradient", title, (), (Table(tuple(rows)),))
