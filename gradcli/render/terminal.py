"""Explanations for terminals, and without colour for pipes, laid out by rich.

Colours identify tensors: the seed has one colour everywhere, each input has its own, zeros are dim.
No information is in colour only.
"""

import re
from collections.abc import Sequence
from itertools import compress

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from ..explanation.blocks import (
    EQUALS,
    Answer,
    Block,
    Code,
    Document,
    Formula,
    Graph,
    Line,
    Matrix,
    Note,
    Picture,
    Prose,
    Row,
    Section,
    Step,
    Table,
    Tensor,
    input_roles,
    is_words,
    tokens_of,
)
from ..notation.tree import Token
from .ascii import in_ascii, parts_in_ascii
from .broken import broken
from .environment import Environment
from .matrix import (
    column_width,
    cut,
    drawn,
    fitted,
    in_groups,
    in_signs_of_ascii,
    longest_entry,
    shortened,
    texts,
)
from .ruled import Column, Unwrapped, ruled
from .tensors import tensor_lines
from .wrapping import wrapped

# These of the 256 colours are legible on white and on black, with a contrast of 4.5:1 to both. Only
# lines, zeros and ellipses are dim: terminals make dim text too pale to read.
SEED = "bold color(163)"
INPUTS = ("color(29)", "color(63)", "color(131)", "color(98)")
STYLES = {
    "seed": SEED,
    "answer": "bold",
    "number": "",
    "heading": "bold",
}
GAP = 4  # columns between cells
ENDLESS = 1_000_000  # columns of a line that is never wrapped
ENOUGH = 24  # columns needed to wrap words
NOTE = 16  # columns of the code of a note
NUMBERED = re.compile(r"\d+\. ")  # the start of a paragraph in a list
SENT = 6  # columns by which the gradients that a step sends are indented

Widths = list[tuple[int | None, int]]  # column index and width; None for a gap
Cells = tuple[Text, Text, Text, Text]  # left of a matrix, row label, entries, result


def render_terminal(document: Document, environment: Environment) -> str:
    """The document in `environment.width` columns."""
    page = Page(environment)
    console = _console(environment, environment.width)
    with console.capture() as captured:
        console.print(Group(*page.document(document)), crop=False)
    text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
    return in_ascii(text) if environment.ascii else text


def render_lines(lines: Sequence[Line], environment: Environment) -> str:
    """Lines of tokens in colour, not wrapped."""
    page, console = Page(environment), _console(environment, ENDLESS)
    with console.capture() as captured:
        for line in lines:
            console.print(page.text(line), soft_wrap=True)
    text = captured.get().rstrip("\n")
    return in_ascii(text) if environment.ascii else text


def _console(environment: Environment, width: int) -> Console:
    return Console(
        width=width,
        color_system="256" if environment.color else None,
        force_terminal=environment.color,
        force_jupyter=False,  # which would otherwise print
        no_color=not environment.color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


class Page:
    """Blocks as text for one environment."""

    def __init__(self, environment: Environment):
        self.environment = environment
        self.roles: dict[str, str] = {}
        self.entry_tokens: dict[str, Line] = {}  # of the matrix that is shown, by text
        self.ellipsis = "..." if environment.ascii else "…"

    def document(self, document: Document) -> list[RenderableType]:
        """All sections, separated by blank lines."""
        met = input_roles(document)
        few = len(met) <= len(INPUTS)
        self.roles = dict(zip(met, INPUTS)) if few else dict.fromkeys(met, "")
        out: list[RenderableType] = [self.answer(a) for a in document.answers]
        for section in document.sections:
            out += [Text("")] * bool(out) + self.section(section)
        if document.more:
            out.append(Text(self.options(document.more)))
        return out

    def options(self, more: Sequence[str]) -> str:
        """The options that show more, `More: --full`, wrapped only between options."""
        lines = ["  More:"]
        for option in more:
            gap = " " if lines[-1].endswith("More:") else "  "
            if len(lines[-1] + gap + option) > self.environment.width:
                lines.append("       ")
                gap = " "
            lines[-1] += gap + option
        return "\n".join(lines)

    # ---- pieces ----------------------------------------------------------------------------------

    def style(self, role: str) -> str:
        """The style of a role; inputs get colours in order of appearance."""
        if role.startswith("input:"):
            return self.roles.setdefault(role, INPUTS[len(self.roles) % len(INPUTS)])
        return STYLES.get(role, "")

    def text(self, line: Line) -> Text:
        """A line of tokens."""
        out, tokens = Text(overflow="fold"), tokens_of(line)
        texts = [token.text for token in tokens]
        shown = parts_in_ascii(texts) if self.environment.ascii else texts
        for token, text in zip(tokens, shown, strict=True):
            out.append(text, self.style(token.role))
        return out

    def tensor(self, tensor: Tensor, width: int) -> Text:
        """A tensor in at most `width` columns."""
        return Text(
            "\n".join(
                tensor_lines(
                    tensor.array, max(width, 12), self.environment, tensor.role != "answer"
                )
            ),
            self.style(tensor.role),
            overflow="fold",
        )

    # ---- blocks ----------------------------------------------------------------------------------

    def answer(self, answer: Answer) -> RenderableType:
        """The line of an answer: its name, numbers and formula, as in `a.grad = [[2, 8, 18], [32,
        50, 72]]  2 * g * a, with the seed g = a`.
        """
        head = self.text((*answer.name, Token(" = ")))
        formula = self.text(answer.formula)
        remark = self.text(answer.remark)
        if answer.remark and answer.value is None:
            formula.append("    ")
        if answer.value is None:
            room = self.environment.width - cell_len(head.plain)
            return self.beside(head, broken(formula + remark, room))
        value = self.tensor(answer.value, self.environment.width - cell_len(head.plain))
        text = formula + (Text(", ") + remark if answer.remark else Text(""))
        lines = value.plain.split("\n")
        if (
            len(lines) == 1
            and cell_len(head.plain) + cell_len(value.plain) + GAP + cell_len(text.plain)
            <= self.environment.width
        ):
            return head + value + Text(" " * GAP) + text
        return Group(self.beside(head, value), Padding(text, (0, 0, 0, 2)))

    def section(self, section: Section) -> list[RenderableType]:
        """A heading with its remark at the right, and the blocks."""
        title = self.text(section.title)
        title.stylize(STYLES["heading"])
        remark = self.text(section.remark)
        room = self.environment.width - cell_len(title.plain) - cell_len(remark.plain)
        if section.remark and room < 2:
            title = title + Text("\n  ") + remark
        elif section.remark:
            title = title + Text(" " * min(room, max(2, 50 - cell_len(title.plain)))) + remark
        if section.blocks and all(isinstance(b, Step | Note) for b in section.blocks):
            return [title, Padding(self.steps(section.blocks), (0, 0, 0, 2))]
        out: list[RenderableType] = [title] if section.title else []
        for k, block in enumerate(section.blocks):
            after = k and isinstance(section.blocks[k - 1], Matrix)
            out += [*[Text("")] * bool(after), self.block(block)]
        return out

    def block(self, block: Block) -> RenderableType:
        """Any block, indented under its heading."""
        built = getattr(self, type(block).__name__.lower())(block)
        return built if isinstance(built, Unwrapped) else Padding(built, (0, 0, 0, 2))

    @property
    def width(self) -> int:
        """The columns that are available to a block."""
        return self.environment.width - 2

    def prose(self, block: Prose) -> RenderableType:
        """A paragraph; a numbered one is aligned after its number."""
        text = self.text(block.line)
        text.overflow = "fold"
        number = NUMBERED.match(text.plain)
        return self.beside(text[: number.end()], text[number.end() :]) if number else text

    def note(self, block: Note, wide: int = NOTE) -> RenderableType:
        """The line of a note: its code, such as `kink`, and the sentence in column `wide`."""
        if not block.code:
            return self.text(block.line)
        return self.beside(Text(f"{block.code}  ".ljust(wide), "bold"), self.text(block.line))

    def code(self, block: Code) -> Unwrapped:
        """Lines of code; long ones are broken inside brackets."""
        return Unwrapped(list(map(Text, wrapped(block.text, self.width).split("\n"))))

    def picture(self, block: Picture) -> RenderableType:
        """A sparsity pattern in characters."""
        pattern = Text(drawn(block), no_wrap=True, overflow="crop")
        return Group(pattern, self.prose(Prose(block.legend))) if block.legend else pattern

    def beside(self, head: Text, body: Text) -> RenderableType:
        """`body` to the right of `head`, with its lines aligned."""
        if "\n" not in body.plain and cell_len(head.plain + body.plain) <= self.width:
            return Text.assemble(head, body)
        if not head.plain.strip():
            return Padding(body, (0, 0, 0, cell_len(head.plain)))
        grid = Grid.grid(padding=0)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(head, body)
        return grid

    def table(self, block: Table) -> RenderableType:
        """Rows with aligned cells; a last cell that does not fit goes on the next line."""
        widths = self.column_widths(block.rows)
        return Group(*(self.row(row, widths) for row in block.rows))

    def column_widths(self, rows: tuple[Row, ...]) -> list[int]:
        """The width of each column except the last one of a row, at most half of the page."""
        widths: list[int] = []
        for row in rows:
            for column, cell in enumerate(row.cells[:-1]):
                wide = cell_len(self.cell(cell, self.width).plain.split("\n")[0])
                widths += [0] * (column + 1 - len(widths))
                if wide <= self.width // 2:
                    widths[column] = max(widths[column], wide)
        return widths

    def cell(self, cell: Line | Tensor, width: int) -> Text:
        """The text of a cell."""
        return self.tensor(cell, width) if isinstance(cell, Tensor) else self.text(cell)

    def row(self, row: Row, widths: list[int]) -> RenderableType:
        """The cells of one row; cells that do not fit go on the next line, indented."""
        indent = 2 * row.depth
        equation = self.long_equation(row.cells, indent)
        if equation is not None:
            return equation
        head = Text(" " * indent)
        for column, cell in enumerate(row.cells):
            room = self.width - cell_len(head.plain)
            text = self.cell(cell, room)
            fits = self.fits(text, room)
            wraps = not isinstance(cell, Tensor) and is_words(cell) and room >= ENOUGH
            below = self.is_better_below(row, column, text, indent + 4)
            if column and (below or (not wraps and not fits)):
                head.rstrip()
                return self.above(head, row.cells[column:], indent + 4)
            if column == len(row.cells) - 1 or "\n" in text.plain or not fits:
                rest = row.cells[column + 1 :]
                first = self.beside(head, self.in_lines(cell, text, room))
                return self.above(first, rest, indent + 4) if rest else first
            width = widths[column] if column < len(widths) else 0
            pad = max(width - cell_len(text.plain), 0) + GAP
            head = head + text + Text(" " * pad)
        head.rstrip()
        return Group(head)

    def in_lines(self, cell: Line | Tensor, text: Text, room: int) -> Text:
        """The text of a cell, with a long formula broken at its operators."""
        return text if isinstance(cell, Tensor) or is_words(cell) else broken(text, room)

    def is_better_below(self, row: Row, column: int, text: Text, indent: int) -> bool:
        """Whether a cell with words or numbers would be wrapped next to the cells before it, but
        fits on one line below them.
        """
        cell, room = row.cells[column], self.width - indent
        if isinstance(cell, Tensor):
            return (
                "\n" in text.plain
                and "\n" not in self.tensor(cell, room).plain
                and (cell.array.ndim == 1)
            )
        beside = sum(cell_len(self.cell(c, room).plain) + GAP for c in row.cells[:column])
        is_one_line = beside + cell_len(text.plain) > self.width and self.fits(text, room)
        return is_one_line and len(row.cells) == 2 and beside > ENOUGH and is_words(cell)

    def above(
        self, first: RenderableType, cells: Sequence[Line | Tensor], indent: int
    ) -> RenderableType:
        """A line, and cells below it, each on an indented line of its own."""
        room = self.width - indent
        below = [self.in_lines(cell, self.cell(cell, room), room) for cell in cells]
        return Group(first, *(Padding(text, (0, 0, 0, indent)) for text in below))

    def long_equation(self, cells: tuple[Line | Tensor, ...], indent: int) -> RenderableType | None:
        """An equation `name = ...` in several lines, aligned after the equals sign, followed by the
        other cells of its row. None if the first cell is no equation, or the row fits on a line.
        """
        lines = [tokens_of(cell) for cell in cells if not isinstance(cell, Tensor)]
        sign = next((k for k, token in enumerate(lines[0]) if token == EQUALS), 0)
        if len(lines) < len(cells) or not sign:
            return None
        texts = [self.text(tuple(line)) for line in (lines[0][sign + 1 :], *lines[1:])]
        head = Text(" " * indent) + self.text(tuple(lines[0][: sign + 1]))
        if self.fits(head + texts[0], self.width):
            return None
        body = Text(" " * GAP).join(texts)
        return self.beside(head, broken(body, self.width - cell_len(head.plain)))

    def fits(self, text: Text, room: int) -> bool:
        """Whether a cell fits into `room` columns."""
        return max(cell_len(line) for line in text.plain.split("\n")) <= room

    def steps(self, blocks: tuple[Block, ...]) -> RenderableType:
        """Steps and notes, with aligned cells."""
        rows = {k: self.step_rows(b) for k, b in enumerate(blocks) if isinstance(b, Step)}
        heads = self.column_widths(tuple(head for head, _ in rows.values()))
        sent = self.column_widths(tuple(row for _, below in rows.values() for row in below))
        if len(heads) == len(sent) == 2:  # the numbers of both in one column
            behind = SENT + sum(sent) - sum(heads)
            heads = [heads[0], heads[1] + max(behind, 0)]
        wide = max(NOTE, *(len(f"{b.code}  ") for b in blocks if isinstance(b, Note)), 0)
        out: list[RenderableType] = []
        for k, block in enumerate(blocks):
            if k in rows:
                head, below = rows[k]
                out += [self.row(head, heads), *(self.row(row, sent) for row in below)]
            elif isinstance(block, Note):
                out.append(self.note(block, wide))
        return Group(*out)

    def step_rows(self, block: Step) -> tuple[Row, tuple[Row, ...]]:
        """A numbered operation, and the gradients that it sends below it."""
        head: Line = (Token(f"{block.number}  ".rjust(4)), *block.title)
        cells = (head, block.remark) if block.value is None else (head, block.remark, block.value)
        depth = SENT // 2 - 1
        return Row(cells), tuple(row._replace(depth=row.depth + depth) for row in block.sent)

    def graph(self, block: Graph) -> RenderableType:
        """The output, and below it as a tree the nodes that it is computed from, each once."""
        from rich.tree import Tree as Drawing

        drawing = Drawing(self.text(block.nodes[-1].label), guide_style="dim")
        drawn = {len(block.nodes) - 1}
        stack = [(drawing, k) for k in reversed(block.nodes[-1].inputs)]
        while stack:
            parent, k = stack.pop()
            node = block.nodes[k]
            again = k in drawn and node.inputs
            added = parent.add(self.text(node.label) + Text("  (above)" if again else ""))
            drawn.add(k)
            stack += [] if again else [(added, i) for i in reversed(node.inputs)]
        return drawing

    def matrix(self, formulas: Matrix[Formula]) -> RenderableType:
        """The columns that fit next to each other; if everything is shown, all columns, in several
        parts if lines may not exceed the page.
        """
        self.entry_tokens = {f.text: (*tokens_of((f,)),) for row in formulas.entries for f in row}
        block = texts(formulas)
        block = in_signs_of_ascii(block) if self.environment.ascii else block
        room = self.width - self.beside_matrix(block) - len(self.ellipsis) + 1
        if self.environment.full:
            return self.whole_matrix(block, room if self.environment.fixed else None)
        longest = room if len(block.column_labels) == 1 else longest_entry(room)
        block = shortened(fitted(block, room, longest), longest, self.ellipsis)
        shown = cut(block, room, self.environment)
        lines = self.matrix_lines(block, shown.rows, shown.columns)
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(*lines, *self.left_out(shown.left_out))

    def whole_matrix(self, block: Matrix[str], room: int | None) -> Unwrapped:
        """All columns, in groups that fit into `room` characters if that is not None."""
        shown, short = cut(block, None, self.environment), block
        groups = [shown.columns]
        if room is not None:
            short = shortened(block, room - 2, self.ellipsis)
            groups = in_groups(shown.columns, short, room)
        lines = [line for group in groups for line in self.matrix_lines(short, shown.rows, group)]
        cut_off = "" if short == block else "Entries are cut where they are longer than a line."
        return Unwrapped([*lines, *self.left_out(shown.left_out), *self.left_out(cut_off)])

    def left_out(self, sentence: str) -> list[Text]:
        """The remark on omitted rows and columns, if there is one."""
        return [Text(sentence)] if sentence else []

    def matrix_lines(
        self, block: Matrix[str], rows: Sequence[int | None], columns: Sequence[int | None]
    ) -> list[Text]:
        """The seed, a rule, labels, a rule, entries; below another rule, seed times matrix; a
        tangent between labels and entries, and matrix times tangent at the right.
        """
        widths = [(k, 0 if k is None else column_width(block, k)) for k in columns]
        parts = [
            [self.head_cells(block, widths)],
            *([[self.tangent_cells(block, widths)]] if block.tangent is not None else []),
            [self.row_cells(block, k, widths) for k in rows],
            *([[self.product_cells(block, widths)]] if block.product is not None else []),
        ]
        kinds = (Column(right=True), Column(), Column(padded=True), Column(right=True))
        kept = (bool(block.seed_name), True, True, bool(block.result_name))
        cells = [[tuple(compress(row, kept)) for row in part] for part in parts]
        return [Text(""), *ruled(cells, tuple(compress(kinds, kept)))]

    def head_cells(self, block: Matrix[str], widths: Widths) -> Cells:
        """The names of the seed and the result, and the labels of columns."""
        seed = self.style("seed")
        labels = self.entries(widths, block.column_labels, block.input_role)
        result = Text(block.result_name or "", seed)
        return Text(block.seed_name or "", seed), Text(""), labels, result

    def tangent_cells(self, block: Matrix[str], widths: Widths) -> Cells:
        """The name of the tangent, and its elements."""
        name = Text(block.tangent_name or "", self.style("seed"))
        return Text(""), name, self.entries(widths, block.tangent or (), "seed"), Text("")

    def row_cells(self, block: Matrix[str], k: int | None, widths: Widths) -> Cells:
        """An element of the seed, a row's label, its entries, an element of the result."""
        if k is None:
            dots = Text(":" if self.environment.ascii else "⋮")
            return dots, Text(self.ellipsis), Text(""), dots
        weight = Text("" if block.seed is None else block.seed[k], self.style("seed"))
        result = Text("" if block.result is None else block.result[k], self.style("answer"))
        return weight, Text(block.row_labels[k]), self.entries(widths, block.entries[k], ""), result

    def product_cells(self, block: Matrix[str], widths: Widths) -> Cells:
        """The name of seed times matrix, its meaning, and its elements."""
        name, label = Text(block.product_name, self.style("seed")), block.product_label
        elements = self.entries(widths, block.product or (), "answer")
        return name, Text(label, self.style(block.input_role)), elements, Text("")

    def beside_matrix(self, block: Matrix[str]) -> int:
        """The columns that a matrix needs for everything but its entries."""
        margin = max([len(block.seed_name or ""), *map(len, block.seed or ())])
        margin = max(margin, len(block.product_name) if block.product else 0)
        labels = max(len(block.product_label), *map(len, block.row_labels))
        right = max([len(block.result_name or ""), *map(len, block.result or ())])
        return margin + labels + right + 6 + 3 * bool(block.result_name)

    def entries(self, widths: Widths, row: tuple[str, ...], role: str) -> Text:
        """One row of entries, right-aligned in columns of these widths."""
        out = Text()
        for column, (k, width) in enumerate(widths if row else []):
            gap = "  " if column else ""
            if k is None:
                out.append(gap + self.ellipsis, "dim")
                continue
            style = "dim" if row[k] in ("·", ".") else self.style(role)
            out.append(gap + " " * (width - len(row[k])))
            out.append_text(self.entry(row[k], style))
        return out

    def entry(self, text: str, style: str) -> Text:
        """An entry, with its names in their colours unless the entry is cut or has a style."""
        tokens = () if style else self.entry_tokens.get(text, ())
        return self.text(tokens) if len(tokens) > 1 else Text(text, style)
