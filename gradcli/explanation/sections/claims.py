"""Claims: a line for each, right or wrong; for a wrong one the first wrong element, and a
correction.
"""

from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import Block, Line, Row, Section, Table, plain, words
from ..claims import report
from ..claims.verdict import Verdict, verdicts
from ..phrases import shape_text


def claims(a: Analysis) -> Section:
    """A line for every claim, followed by details if it is wrong."""
    blocks: list[Block] = []
    for verdict in verdicts(a):
        blocks.append(Table((_headline(verdict),)))
        exception = report.exception(verdict)
        if exception is not None:
            blocks.append(Table((_row("but", words(exception)),)))
        if not verdict.ok:
            blocks.append(Table(tuple(_details(verdict))))
    return Section("claims", words("Claims"), (), tuple(blocks))


def _headline(v: Verdict) -> Row:
    w = report.writer(v.findings[0])
    claim = w.source.with_roles(plain(v.claim.written(v.claim.text)))
    text = f"✓ right: {report.extent(v)}" if v.ok else f"✗ wrong: {report.reason(v)}"
    return Row((claim, words(text)))


def _details(v: Verdict) -> list[Row]:
    """Shape, first wrong element, correction, the right formula."""
    rows = [*_shape_rows(v), *_element_rows(v)]
    condition = report.right_where(v)
    if condition is not None:
        rows.append(_row("but", words(condition)))
    mended = report.mended_line(v)
    rows += [_row("mended", mended)] * bool(mended)
    return rows if report.is_as_right(v) else [*rows, _row("right", report.right_line(v))]


def _row(name: str, line: Line) -> Row:
    return Row((words(name), line), 1)


def _shape_rows(v: Verdict) -> list[Row]:
    finding = v.wrong
    assert finding is not None
    at, should = report.shapes_text(finding.point.shapes), shape_text(finding.right.shape)
    if finding.error is not None:
        text = f"should be {should}, as {v.claim.name} is, where {at}"
        return [_row("fails", words(report.failure(finding))), _row("shape", words(text))]
    if finding.shape == finding.right.shape:
        return []
    text = f"{shape_text(finding.shape)}, and {v.claim.name} has {should}, where {at}"
    if finding.broadcasts:
        text += ". A gradient has the shape of what it is the gradient of: nothing is broadcast"
    return [_row("shape", words(text))]


def _element_rows(v: Verdict) -> list[Row]:
    result = report.first_wrong(v)
    if result is None:
        return []
    claimed, right = report.equations(result)
    return [*_equation("claimed", result.name, claimed), *_equation("but is", result.name, right)]


def _equation(what: str, name: str, lines: list[Line]) -> list[Row]:
    """An element of the claim in symbols, `claimed  W.grad[0] = 2·g[0]·x[0]`, and below it in
    numbers, `= 2·0.5·0.3 = 0.3`.
    """
    heads = [(what, Token(f"{name} = ")), *(("", Token("= ")) for _ in lines[1:])]
    return [_row(head, (lead, *line)) for (head, lead), line in zip(heads, lines)]
