"""The blocks that an explanation consists of, the only input of renderers.

The set is closed: a new format needs one function for each block. A line consists of pieces: words
and code as tokens, and formulas as trees, which a renderer passes to a writer of
`notation/typeset` or uses as text. Tensors are arrays of numbers or of texts, so that a renderer
can lay them out in its width.
"""

from collections.abc import Callable, Iterator
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from ..notation import tree
from ..notation.tree import Token, Tree


class Formula(NamedTuple):
    """A formula within a line. A `role` applies to the whole formula. `typed` is the user's
    spelling; if there is one, it is the text of the formula.
    """

    tree: Tree
    role: str = ""
    typed: tuple[Token, ...] = ()

    @property
    def tokens(self) -> list[Token]:
        """The formula as pieces of text."""
        if self.typed:
            return [*self.typed]
        return [Token(tree.text(self.tree), self.role)] if self.role else tree.tokens(self.tree)

    @property
    def text(self) -> str:
        """The formula as text."""
        return "".join([token.text for token in self.tokens])


Piece = Token | Formula
Line = tuple[Piece, ...]
Cell = TypeVar("Cell", Formula, str)
EQUALS, THEN = Token(" = "), Token("; ")
ZERO = Formula(tree.Number(0), "", (Token("·"),))  # in a matrix
UNWRITTEN = Formula(tree.Verbatim("?"), "", (Token("?"),))


class Tensor(NamedTuple):
    """The elements of a tensor: an array of numbers, or an object array of texts. `name` is the
    prefix of the names of its elements, `x.grad` in `x.grad[0,1]`.
    """

    array: Any
    role: str = ""
    name: str = ""


class Row(NamedTuple):
    """Cells side by side. The last one may be a tensor; `depth` indents."""

    cells: "tuple[Line | Tensor, ...]"
    depth: int = 0


class Table(NamedTuple):
    """Rows whose cells are aligned in columns."""

    rows: tuple[Row, ...]


class Matrix(NamedTuple, Generic[Cell]):
    """A Jacobian: the seed in the left margin, labels of rows and columns, and seed times matrix
    below; or a tangent above it, and matrix times tangent at the right. A part whose name is None
    is not shown.

    `skipped_rows` and `skipped_columns`: how many are shown before the skipped ones, and how many
    are skipped. Cells are formulas: ZERO for an exact zero, UNWRITTEN for an entry that is too
    long. `row_places` and `column_places` are the multi-indices of rows in the output and of
    columns in the input. Renderers of text convert the cells to texts.
    """

    seed_name: Cell | None
    seed: tuple[Cell, ...] | None
    row_labels: tuple[Cell, ...]
    column_labels: tuple[Cell, ...]
    entries: tuple[tuple[Cell, ...], ...]
    product_label: Cell
    product: tuple[Cell, ...] | None
    product_name: Cell
    skipped_rows: tuple[int, int]
    skipped_columns: tuple[int, int]
    input_role: str
    row_places: tuple[tuple[int, ...], ...] = ()
    column_places: tuple[tuple[int, ...], ...] = ()
    tangent_name: Cell | None = None
    tangent: tuple[Cell, ...] | None = None
    result_name: Cell | None = None
    result: tuple[Cell, ...] | None = None


class Picture(NamedTuple):
    """The sparsity pattern of a matrix, in cells that each cover a block of entries: 0 if all of
    them are zero, 2 if none is, 1 otherwise. `fine` is the same pattern with smaller cells, a text
    of digits for each row, for renderers that draw pixels. The legends say how much a cell covers.
    """

    cells: tuple[tuple[int, ...], ...]
    fine: tuple[str, ...] = ()
    legend: Line = ()
    fine_legend: Line = ()


class Prose(NamedTuple):
    """A sentence or two, to be wrapped. `explains` names what they explain; of several blocks of an
    answer that explain the same thing only the first is shown.
    """

    line: Line
    explains: str = ""


class Step(NamedTuple):
    """One operation of the reverse pass: its number, its title, its upstream gradient, and the
    gradients of its inputs.
    """

    number: int
    title: Line
    remark: Line
    value: Tensor | None
    sent: tuple[Row, ...]


class GraphNode(NamedTuple):
    """A node of a drawn graph: its label, the positions of its inputs, and for each input the value
    that it passes forward and the gradient that it receives, where these have numbers.
    """

    label: Line
    inputs: tuple[int, ...]
    flows: tuple[tuple[Tensor | None, Tensor | None], ...] = ()


class Pass(NamedTuple):
    """The forward or the backward of an operation, at its node of a graph."""

    node: int
    back: bool
    step: Step


class Graph(NamedTuple):
    """A graph to be drawn: nodes in topological order, the output last; `passes` are the operations
    of both passes in the order of execution, for a page that steps through them.
    """

    nodes: tuple[GraphNode, ...]
    passes: tuple[Pass, ...] = ()


class Note(NamedTuple):
    """A remark, with its code."""

    code: str
    line: Line


class Code(NamedTuple):
    """Lines of a programming language."""

    text: str
    language: str


Block = Table | Matrix | Picture | Prose | Step | Graph | Note | Code


class Section(NamedTuple):
    """A heading, a remark on the same line, and the blocks below. `name` is its name for --show;
    `extra`: it is shown on pages only.
    """

    name: str
    title: Line
    remark: Line
    blocks: tuple[Block, ...]
    extra: bool = False


class Answer(NamedTuple):
    """One result in a line: its name `a.grad`, numbers if it has any, the formula."""

    name: Line
    value: Tensor | None
    formula: Line
    remark: Line


class Document(NamedTuple):
    """An explanation: the answers, a line each, then the sections.

    `more` are options that show more; `command` is the command line that reproduces the document,
    or ""; `question` is the program, for formats that show it. `briefly` names the sections, in
    order, of a short answer; if empty, all of them.
    """

    answers: tuple[Answer, ...]
    sections: tuple[Section, ...]
    more: tuple[str, ...] = ()
    command: str = ""
    question: str = ""
    briefly: tuple[str, ...] = ()


# The kinds of formats whose documents differ: lines of text; equations, with both of their sides;
# code to be pasted; a page, which shows everything.
Use = Literal["lines", "equations", "code", "page"]


class Reply(NamedTuple):
    """An answer, computed on demand: `documents` for renderers, by the kind of format, and `data`
    for JSON. `keyed`: whether the keys of `data` are fixed, rather than names that users chose.
    """

    documents: Callable[[Use], list[Document]]
    data: Callable[[], Any]
    keyed: bool = True


def without_extras(document: Document) -> Document:
    """The document without the sections that only pages show."""
    return document._replace(sections=tuple(s for s in document.sections if not s.extra))


def respelled(block: Any, respell: Callable[[str], str]) -> Any:
    """A block, or a tuple of blocks, with `respell` applied to its words, not to code and names."""
    if isinstance(block, Token):
        return block._replace(text=respell(block.text)) if block.role == "word" else block
    if not isinstance(block, tuple) or isinstance(block, Formula):
        return block
    parts = [respelled(part, respell) for part in block]
    return type(block)(*parts) if hasattr(block, "_fields") else tuple(parts)


def notes_respelled(
    notes: list[dict[str, str]], respell: Callable[[str], str]
) -> list[dict[str, str]]:
    """Notes, as data, with `respell` applied to their messages."""
    return [note | {"message": respell(note["message"])} for note in notes]


def plain(*pieces: str | Piece) -> Line:
    """A line of pieces; strings become tokens without a role."""
    return tuple(Token(p) if isinstance(p, str) else p for p in pieces)


def words(*pieces: str | Piece) -> Line:
    """A line of pieces; strings become words, which renderers do not set as code."""
    return tuple(Token(p, "word") if isinstance(p, str) else p for p in pieces)


def typed(written: Tree) -> Formula:
    """A formula with the tokens of its text computed."""
    return Formula(written, "", (*tree.tokens(written),))


def verbatim(text: str) -> Formula:
    """A formula that consists of this text."""
    return Formula(tree.Verbatim(text), "", (Token(text),))


def element(base: Tree, index: tuple[int, ...]) -> Formula:
    """`a[0,1]`: the element of `base` at `index`; `base` itself for a single number."""
    return typed(tree.Indexed(base, tuple(map(tree.Number, index))) if index else base)


def mentioned(written: Tree, text: str = "") -> Formula:
    """A formula within a sentence, whose text is set as words."""
    return Formula(written, "", (Token(text or tree.text(written), "word"),))


def equality(*sides: Tree) -> Line:
    """Formulas joined by equals signs."""
    line: Line = ()
    for side in sides:
        line += (*(EQUALS,) * bool(line), Formula(side))
    return line


def statements(written: Tree) -> Line:
    """A formula as a line; a Block as its statements followed by its result."""
    if not isinstance(written, tree.Block):
        return (Formula(written),)
    before = [(*equality(name, value), THEN) for name, value in written.statements]
    return (*(piece for line in before for piece in line), Formula(written.result))


def tokens_of(line: Line) -> list[Token]:
    """The pieces of text of a line, its formulas written as text."""
    return [t for p in line for t in (p.tokens if isinstance(p, Formula) else (p,))]


def is_words(line: Line) -> bool:
    """Whether a line is nothing but words."""
    return all(token.role in ("word", "seed") for token in tokens_of(line))


def text_of(line: Line) -> str:
    """The text of a line."""
    return "".join(token.text for token in tokens_of(line))


MOST_COLOURED = 4  # inputs with different colours


def input_roles(document: Any) -> list[str]:
    """The roles of inputs, in order of appearance."""
    return [*dict.fromkeys(role for role in _roles(document) if role.startswith("input:"))]


def _roles(part: Any) -> Iterator[str]:
    """The roles of all tokens in a document."""
    if isinstance(part, Token | Matrix):
        yield part.role if isinstance(part, Token) else part.input_role
    elif isinstance(part, Formula):
        yield from (token.role for token in part.tokens)
    elif isinstance(part, tuple):
        for field in part:
            yield from _roles(field)
