"""The graph alone, in each of its formats."""

import json

from ..explanation.analysis import Analysis
from ..explanation.arrays import jsonable
from ..explanation.blocks import Document, Graph
from ..explanation.formulas.wording import Wording
from ..explanation.question import question
from ..explanation.sections.graph import graph
from .environment import Environment
from .graphs import dot, mermaid


def render_graph(
    analysis: Analysis, format: str, environment: Environment, command: str = ""
) -> str:
    """The graph as a tree, Mermaid, dot, Markdown or JSON."""
    if format == "json":
        from ..explanation.data import Data

        return json.dumps(jsonable(Data(analysis)("graph")), ensure_ascii=False)
    section = graph(analysis, Wording(analysis))
    block = section.blocks[0]
    assert isinstance(block, Graph)
    if format == "mermaid":
        return mermaid(block)
    if format == "markdown":
        from .formats import render_document

        asked = question(analysis.problem, backward=False)
        alone = section._replace(title=(), remark=(), blocks=(block,))
        page = Document((), (alone,), command=command, question=asked)
        return render_document(page, format, environment)
    if format == "dot":
        return dot(block)
    from .terminal import render_terminal

    return render_terminal(Document((), (section,)), environment).strip("\n")
