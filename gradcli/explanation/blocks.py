"""The blocks that an explanation is made of. Renderers know these and nothing else.

The set is closed: a new format writes one function for each of them. A line is made of pieces:
words and code as tokens, and formulas as trees, which a renderer hands to a writer of
`notation/typeset` or takes as text. Tensors come as arrays, of numbers or of texts, so that a
renderer can lay them out in its width.
"""

from collections.abc import Callable
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from ..notation import tree
from ..notation.tree import Token, Tree


class Formula(NamedTuple):
    """A formula within a line. Where it has a role of its own it plays that as a whole; `typed` is
    how a user wrote it, which is its text.
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
    """The elements of a tensor: an array of numbers, or an object array of texts; the `name` that
    its elements are spoken of by, `x.grad` in `x.grad[0,1]`.
    """

    array: Any
    role: str = ""
    name: str = ""


class Row(NamedTuple):
    """Cells side by side. The last one may be a tensor; `depth` indents."""

    cells: "tuple[Line | Tensor, ...]"
    depth: int = 0


class Table(NamedTuple):
    """Rows whose cells line up."""

    rows: tuple[Row, ...]


class Matrix(NamedTuple, Generic[Cell]):
    """A Jacobian: the seed in the left margin, labels of rows and columns, and seed times matrix
    below; or a tangent above it, and matrix times tangent at the right. Without the name of one
    there is no room for it.

    `skipped_rows` and `skipped_columns`: how many are shown before those left out, and how many
    these are. Its cells are formulas; an exact zero is ZERO, and what is too long to be written
    UNWRITTEN. `row_places` and `column_places` are where the elements of rows and columns stand in
    the output and in the input. Renderers of text make one whose cells are texts.
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
    """Where a matrix has entries: cells of 0 where all are zero, 2 where none is, 1 otherwise; and
    the same with smaller cells, rows of these digits, for what draws in points. What a cell of
    each means is told below.
    """

    cells: tuple[tuple[int, ...], ...]
    fine: tuple[str, ...] = ()
    legend: Line = ()
    fine_legend: Line = ()


class Prose(NamedTuple):
    """A sentence or two, to be wrapped."""

    line: Line


class Step(NamedTuple):
    """One operation on the way back: its number, what it is and receives, and what it sends."""

    number: int
    title: Line
    remark: Line
    value: Tensor | None
    sent: tuple[Row, ...]


class GraphNode(NamedTuple):
    """A node of a graph that is drawn: its label, the places of its inputs, and what flows between
    it and each of them, where that has numbers: the value that comes, and the gradient that goes
    back.
    """

    label: Line
    inputs: tuple[int, ...]
    flows: tuple[tuple[Tensor | None, Tensor | None], ...] = ()


class Pass(NamedTuple):
    """What happens at a node of a graph, on the way forward or back."""

    node: int
    back: bool
    step: Step


class Graph(NamedTuple):
    """A graph to be drawn: nodes in order, inputs first, the last one being the output; `passes`
    are what happens at them in the order of execution, where that is to be followed.
    """

    nodes: tuple[GraphNode, ...]
    passes: tuple[Pass, ...] = ()


class Note(NamedTuple):
    """Something to know, with its code."""

    code: str
    line: Line


class Code(NamedTuple):
    """Lines of a programming language."""

    text: str
    language: str


Block = Table | Matrix | Picture | Prose | Step | Graph | Note | Code


class Section(NamedTuple):
    """A heading with a remark beside it, and what stands below. `name` is what --show calls it;
    `extra`: only a page has room for it.
    """

    name: str
    title: Line
    remark: Line
    blocks: tuple[Block, ...]
    extra: bool = False


class Answer(NamedTuple):
    """What was asked, in one line: `a.grad = `, numbers where there are some, the formula."""

    name: Line
    value: Tensor | None
    formula: Line
    remark: Line


class Document(NamedTuple):
    """An explanation: the answers, a line each, then sections that say why. `more` are options that
    show more of it; `command` is the line that makes it again, or nothing; `question` is the
    program, for where nobody sees what was asked. `briefly` are sections that suffice where an
    answer has to be short, in this order; without one, all of them.
    """

    answers: tuple[Answer, ...]
    sections: tuple[Section, ...]
    more: tuple[str, ...] = ()
    command: str = ""
    question: str = ""
    briefly: tuple[str, ...] = ()


# What documents are made for, as far as formats differ: lines that are read; equations, which have
# both of their sides; code that is pasted; a page, which has room for all that there is.
Use = Literal["lines", "equations", "code", "page"]


class Reply(NamedTuple):
    """What is answered, made when it is asked for: `documents` for people, for the use that a
    format makes of them, and `data` for programs, which JSON can be made of; `keyed` where its keys
    are known, and not names of a user.
    """

    documents: Callable[[Use], list[Document]]
    data: Callable[[], Any]
    keyed: bool = True


def without_extras(made: Document) -> Document:
    """A document for what is no page."""
    return made._replace(sections=tuple(s for s in made.sections if not s.extra))


def said_otherwise(made: Any, say: Callable[[str], str]) -> Any:
    """Blocks whose words, which are no code and no names, are said in other words."""
    if isinstance(made, Token):
        return made._replace(text=say(made.text)) if made.role == "word" else made
    if not isinstance(made, tuple) or isinstance(made, Formula):
        return made
    parts = [said_otherwise(part, say) for part in made]
    return type(made)(*parts) if hasattr(made, "_fields") else tuple(parts)


def plain(*pieces: str | Piece) -> Line:
    """A line of pieces without a role, or with the one they bring."""
    return tuple(Token(p) if isinstance(p, str) else p for p in pieces)


def words(*pieces: str | Piece) -> Line:
    """A line of words, as against a formula or a name: renderers need not set them as code."""
    return tuple(Token(p, "word") if isinstance(p, str) else p for p in pieces)


def typed(written: Tree) -> Formula:
    """A formula whose text is known from now on."""
    return Formula(written, "", (*tree.tokens(written),))


def verbatim(text: str) -> Formula:
    """A number, or words, that stand as they are."""
    return Formula(tree.Verbatim(text), "", (Token(text),))


def element(base: Tree, place: tuple[int, ...]) -> Formula:
    """`a[0,1]`: one element of what has the name; the name alone for a single number."""
    return typed(tree.Indexed(base, tuple(map(tree.Number, place))) if place else base)


def mentioned(written: Tree, text: str = "") -> Formula:
    """A formula among words, which is read there as the text that it is."""
    return Formula(written, "", (Token(text or tree.text(written), "word"),))


def equality(*sides: Tree) -> Line:
    """Formulas with a sign of equality between them."""
    line: Line = ()
    for side in sides:
        line += (*(EQUALS,) * bool(line), Formula(side))
    return line


def statements(written: Tree) -> Line:
    """A formula as a line: statements for what has a name in it, and what they lead to."""
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
