"""Jacobians as HTML tables, with the gradient in the shape of the input below, and the sum for each
of its elements.
"""

import re
from html import escape
from itertools import groupby

from ...explanation.blocks import UNWRITTEN, ZERO, Formula, Matrix
from ...explanation.phrases import element_name
from ..matrix import cut, texts
from .markup import Markup, tag

LONG_TERM = 24  # characters of a term that may be broken
HINT = (
    '<p class="hint" hidden>Point at an element, or reach it by Tab and the arrow keys, to see its '
    "column and its weights. A click or Enter selects it, and stores it in the address.</p>"
)


class MatrixFigure:
    """A Jacobian of one document."""

    def __init__(self, block: Matrix[Formula], markup: Markup):
        self.block, self.formulas, self.markup = texts(block), block.entries, markup
        self.shown = cut(block, None, markup.environment)
        self.names = _element_names(block, self.block)

    def figure(self) -> str:
        """The table, a remark on omitted parts, and the gradient."""
        block, shown = self.block, self.shown
        head = self.row(
            tag("th", self.markup.span(block.seed_name or "", "seed"), scope="col"),
            "<td></td>",
            [self.column_head(c) for c in shown.columns],
            tag("th", self.markup.span(block.result_name or "", "seed"), scope="col"),
        )
        if block.tangent is not None:
            weights = [self.weight("…" if c is None else block.tangent[c]) for c in shown.columns]
            name = tag("th", self.markup.span(block.tangent_name or "", "seed"), scope="row")
            head += self.row("<td></td>", name, weights, "<td></td>")
        body = "".join(self.body_row(r) for r in shown.rows)
        foot = self.foot()
        table = f'<table class="matrix"><thead>{head}</thead><tbody>{body}</tbody>{foot}</table>'
        below = self.elements() if self.names else ""
        left_out = f'<p class="remark">{escape(shown.left_out)}</p>' if shown.left_out else ""
        of = block.product_label if self.names else None
        inside = f'<div class="scroll">{table}</div>{left_out}{below}'
        return tag("figure", inside, class_="jacobian", data_of=of)

    def row(self, left: str, name: str, cells: list[str], right: str) -> str:
        sides = left if self.block.seed_name else "", right if self.block.result_name else ""
        return f"<tr>{sides[0]}{name}{''.join(cells)}{sides[1]}</tr>"

    def column_head(self, c: int | None) -> str:
        if c is None:
            return "<td>…</td>"
        block = self.block
        inside = self.markup.span(block.column_labels[c], block.input_role)
        return tag("th", inside, scope="col", data_el=self.names[c] if self.names else None)

    def weight(self, text: str, of: str | None = None) -> str:
        return tag("td", escape(text), class_="seed", data_el=of)

    def body_row(self, r: int | None) -> str:
        """A row for an element of the output: its element of the seed, its name, its entries."""
        block, columns = self.block, self.shown.columns
        if r is None:
            gap = ["<td>…</td>"] * len(columns)
            return self.row("<td>⋮</td>", "<td>…</td>", gap, "<td>⋮</td>")
        index = block.row_places[r] if block.row_places else ()
        seeded = element_name(block.seed_name or "", index) if self.names else None
        left = self.weight(block.seed[r], seeded) if block.seed else "<td></td>"
        name = tag("th", escape(block.row_labels[r]), scope="row")
        cells = [self.entry(self.formulas[r], c) for c in columns]
        result = f'<td class="answer">{escape(block.result[r])}</td>' if block.result else ""
        return self.row(left, name, cells, result)

    def entry(self, row: tuple[Formula, ...], c: int | None) -> str:
        if c is None:
            return "<td>…</td>"
        of = self.names[c] if self.names else None
        kind = "zero" if row[c] == ZERO else None
        return tag("td", self.markup.coloured(row[c]), class_=kind, data_el=of)

    def foot(self) -> str:
        """Seed times matrix."""
        block, columns = self.block, self.shown.columns
        if block.product is None:
            return ""
        cells = [
            "<td>…</td>"
            if c is None
            else tag("td", escape(block.product[c]), data_el=self.names[c] if self.names else None)
            for c in columns
        ]
        left = f'<td class="seed">{escape(block.product_name)}</td>'
        name = tag("th", self.markup.span(block.product_label, block.input_role), scope="row")
        return f"<tfoot>{self.row(left, name, cells, '<td></td>')}</tfoot>"

    def elements(self) -> str:
        """The gradient, whose elements can be pointed at, and its elements as sums."""
        block, names = self.block, self.names
        sums = [self.sum(c) for c in range(len(names))]
        first = next((c for c in range(len(names)) if self.terms(c)), 0)
        items = "".join(tag("li", s, data_sum=name) for s, name in zip(sums, names, strict=True))
        every = f"<details><summary>Every element</summary><ol>{items}</ol></details>"
        name = self.markup.span(block.product_label, block.input_role)
        return (
            f'<div class="elements"><div><p class="caption">{name}</p>'
            f'<div class="scroll">{self.grid()}</div></div>'
            f'<div class="sums"><p class="sum" role="status">{sums[first]}</p>{HINT}{every}'
            "</div></div>"
        )

    def grid(self) -> str:
        """The elements of the gradient in its shape, or in one row if some are omitted."""
        block, names = self.block, self.names
        places = block.column_places
        shaped = not block.skipped_columns[1] and len(places[0]) == 2
        cell = {
            index: tag(
                "td",
                escape(block.product[c]) if block.product else escape(",".join(map(str, index))),
                title=names[c],
                data_el=names[c],
                class_=None if block.product else "place",
            )
            for c, index in enumerate(places)
        }
        if not shaped:
            body = f"<tr>{''.join(cell.values())}</tr>"
        else:
            rows = groupby(places, lambda index: index[0])
            body = "".join(f"<tr>{''.join(cell[p] for p in row)}</tr>" for _, row in rows)
        label = f"{block.product_label}: arrow keys go from element to element"
        body = f"<tbody>{body}</tbody>"
        return tag("table", body, class_="tensor", role="grid", aria_label=label)

    def sum(self, c: int) -> str:
        """An element of seed times matrix as a sum: `x.grad[0,0] = 1·a[0,0] + 2·a[0,1] = 10`."""
        block, name = self.block, self.names[c]
        terms = [self.term(w, e) for w, e in self.terms(c)]
        terms += ["…"] * bool(block.skipped_rows[1])
        text = f"{self.markup.span(name, block.input_role)} = {' + '.join(terms) or '0'}"
        if not block.product or not terms:
            return f"<code>{text}</code>"
        total = f"<strong>{escape(block.product[c])}</strong>"
        if block.product[c] != "nan" and any(e.text == "nan" for _, e in self.terms(c)):
            return f"<code>{text}</code>, which is nan; backward, in one pass, gives {total}"
        return f"<code>{text} = {total}</code>"

    def terms(self, c: int) -> list[tuple[str, Formula]]:
        """The nonzero entries of a column, with their weights."""
        column = (row[c] for row in self.formulas)
        seed = self.block.seed or ()
        return [(w, e) for w, e in zip(seed, column, strict=True) if e is not ZERO]

    def term(self, weight: str, entry: Formula) -> str:
        kind = "short" if len(weight + entry.text) < LONG_TERM else None
        left, right = _brackets(weight), _brackets(entry.text)
        factors = self.markup.span(left.format(weight), "seed"), self.markup.coloured(entry)
        return tag("span", f"{factors[0]}·{right.format(factors[1])}", class_=kind)


def _element_names(formulas: Matrix[Formula], block: Matrix[str]) -> list[str]:
    """The names of the gradient's elements that correspond to columns; empty if there is no seed,
    or entries are not written out.
    """
    unwritten = any(UNWRITTEN in row for row in formulas.entries)
    if not block.seed or not block.column_places or unwritten:
        return []
    return [element_name(block.product_label, index) for index in block.column_places]


def _brackets(text: str) -> str:
    """A text as a factor: sums and negative numbers in parentheses."""
    bare = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text)
    return "({})" if text.startswith("-") or re.search(r" [-+] ", bare) else "{}"
