"""The Hessian, a section for each pair of inputs; the Hessian times tangents."""

from collections.abc import Iterator

from ...language.problem import Input
from ...lazy import np
from ...notation import tree
from ...notation.indices.index import Notation
from ...notation.jacobians.structure import Structure
from ...notation.tree import Token
from ..blocks import (
    UNWRITTEN,
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
    typed,
    verbatim,
    words,
)
from ..formulas import by_index
from ..formulas.source_text import role_of
from ..higher.hessian import Hessian
from ..phrases import shape_text
from .jacobian import (
    SHOWN,
    TOO_LONG,
    UNCUT,
    matrix,
    picture_of,
    remarks,
    shown_structure,
    structure_row,
)

UNREAD = "Its entries are not written out in symbols; with values for every name they are numbers."


def answers(h: Hessian) -> tuple[Answer, ...]:
    """The Hessian times tangents, a line for each input."""
    return tuple(_answer(h, z) for z in h.p.wrt) if h.p.tangents else ()


def _answer(h: Hessian, z: Input) -> Answer:
    name = plain(Formula(tree.Attribute(tree.Name(z.name, role_of(z)), "hvp")))
    node = h.product(z)
    if node is None:
        return Answer(name, Tensor(np.zeros(z.shape), "answer"), plain("0"), ())
    value = h.a.value(node)
    return Answer(
        name,
        None if value is None else Tensor(value, "answer"),
        h.writer.answer_line(h.product_formula(z)),
        (),
    )


def block(h: Hessian, x: Input, z: Input, full: bool, precision: int) -> Section:
    """One block of the Hessian: rows are elements of `x`, columns elements of `z`."""
    a, w = h.gradient(x), h.words(x)
    count = x.node.numel * z.node.numel
    names = [Token(i.name, role_of(i)) for i in ((x,) if x is z else (x, z))]
    by = [names[0]] if x is z else [names[0], Token(" and "), names[1]]
    title = words(f"Hessian of {h.p.out_name} with respect to ", *by)
    flat = (x.node.ndim, z.node.ndim) != (1, 1) and count > 1
    as_matrix = f", as a matrix {x.node.numel}×{z.node.numel}" if flat else ""
    remark = words(shape_text((*x.shape, *z.shape)) + as_matrix)
    structure = shown_structure(a, w, z)
    blocks: list[Block] = [Table((structure_row(structure, count),))]
    if a.gradient(z) is None:
        what = "it" if count == 1 else "every entry"
        text = f"No gradient flows from {x.name}.grad to {z.name}: {what} is 0."
        blocks.append(Prose(words(text)))
    elif count:
        blocks += _notation(h, x, z, structure)
        blocks += _entries(h, x, z, structure, full, precision)
    return Section("hessian", title, remark, tuple(blocks))


def _notation(h: Hessian, x: Input, z: Input, structure: Structure) -> Iterator[Block]:
    """The remarks on a block, its index notation, and its product if it has no formula."""
    a, w = h.gradient(x), h.words(x)
    yield from remarks(a, w, z, structure)
    yield from _times_a_direction(h, x, z)
    index = None if by_index.is_by_element(structure.formula) else by_index.jacobian(w, z)
    if index is not None and index.plain != "0":  # 0 because of masks, as for norm(x) at 0
        yield Table((Row((_index_line(h, x, z, index),)),))


def _entries(
    h: Hessian, x: Input, z: Input, structure: Structure, full: bool, precision: int
) -> Iterator[Block]:
    """The entries of a block, or why they are not shown; for a large block also its sparsity."""
    a, w = h.gradient(x), h.words(x)
    if not full and max(x.node.numel, z.node.numel) > SHOWN:
        yield from picture_of(a, w, z, structure)
    built = matrix(a, w, z, full, precision, margin=h.moves(x), letter="H")
    if not full and any(len(entry.text) > UNCUT for row in built.entries for entry in row):
        yield Prose(plain(TOO_LONG))
    elif _has_entries(built):
        yield built._replace(product_label=_product_label(h, z))
    else:
        yield Prose(plain(UNREAD))


def _times_a_direction(h: Hessian, x: Input, z: Input) -> Iterator[Block]:
    """The formula of the product of a block with a direction, if the block has no formula."""
    product = h.along_direction(x, z)
    if product is not None:
        name = h.gradient(x).problem.seed.name
        of_name = words(f"times {name}, of the shape of {x.name}")
        yield Table((Row((of_name, (Formula(product),))),))


def _has_entries(built: Matrix[Formula]) -> bool:
    """Whether the matrix has something to show: an entry, a margin or a product with a tangent."""
    written = any(entry is not UNWRITTEN for row in built.entries for entry in row)
    return written or built.seed is not None or built.product is not None


def _product_label(h: Hessian, z: Input) -> Formula:
    """What the product of a block with the tangent is called."""
    if len(h.p.tangents) > 1:
        return verbatim(f"part of {z.name}.hvp")
    return typed(tree.Attribute(tree.Name(z.name, role_of(z)), "hvp"))


def _index_line(h: Hessian, x: Input, z: Input, index: Notation) -> Line:
    """A block of the Hessian in index notation: `∂²out/∂x[i]∂x[j] = A[i,j] + A[j,i]`."""
    assert isinstance(index.left, tree.Infix)
    sides = zip((x, z), (index.left.left, index.left.right))
    by = tuple(_with_indices(tree.Name(i.name, role_of(i)), side) for i, side in sides)
    return equality(tree.Derivative(tree.Name(h.p.out_name), by), index.right)


def _with_indices(name: tree.Name, side: tree.Tree) -> tree.Tree:
    """A name with the indices of `side`; without any for a single number."""
    return tree.Indexed(name, side.places) if isinstance(side, tree.Indexed) else name
