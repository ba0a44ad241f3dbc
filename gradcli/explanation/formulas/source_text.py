"""The user's program as text: operations as they were written."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property

from ...graphs import Node, walk
from ...graphs.shapes import Shape
from ...language.problem import Input, Problem
from ...language.vocabulary import CONSTANTS, MODULES
from ...notation import tree
from ...notation.formulas.formula import formula, is_large, too_long
from ...notation.tree import Name, Token, Tree
from ...operators import is_defined
from ..analysis import within_budget
from ..blocks import EQUALS, Formula, Line, Piece, text_of, tokens_of

WORDS_OF_MODULES = {word for module in MODULES for word in module.split(".")}
LONGEST = 72  # largest number of characters of an operation that is written out


def role_of(x: Input) -> str:
    """The role of an input's name in a Token or Formula, by which renderers choose its colour."""
    return f"input:{x.name}"


def is_known(word: str) -> bool:
    """Whether a word is the name of a function, of a module, or of a constant such as pi."""
    return is_defined(word) or word in CONSTANTS or word in WORDS_OF_MODULES


class SourceText:
    """The nodes of a problem's graph as text, in the user's spelling where they have one. `names`
    are the names of nodes; where a node is an operand, its name may stand for it.
    """

    def __init__(self, problem: Problem, names: Mapping[Node, Name]):
        self.problem, self.names = problem, names

    @within_budget(lambda self, node: text_of(self.operation(node)))
    def of(self, node: Node) -> str:
        """The source text of a node. A node that is not in the source, such as those of gradients,
        is written as a formula, or if that is too long, as its operation alone.
        """
        if node.span is None:
            if is_large(node, self.names) or too_long(written := formula(node, self.names)):
                return text_of(self.operation(node))
            return tree.text(written)
        return node.span.in_one_line

    def short(self, node: Node) -> Line:
        """A node in short: its name, or its operation with `·` for unnamed operands."""
        if node in self.names:
            name = self.names[node]
            return (Formula(name),)
        return self.operation(node)

    def operation(self, node: Node) -> Line:
        """The operation of a node, with `·` for unnamed operands: `relu(·)`, `· + b`. If the node
        is not in the source, operands that are in it are written out, unless the line becomes
        longer than LONGEST.
        """
        if node.span is None:
            inner = [i for i in node.parents if i.op.family != "leaf" and i.span is None]
            written = self._formula(node, inner)
            is_long = len(tree.beginning(written, LONGEST + 1)) > LONGEST
            return (Formula(self._short_formula(node) if is_long else written),)
        return self._with_formula(self._operation(node), self._short_formula(node))

    def _with_formula(self, line: Line, written: Tree | None) -> Line:
        """A line of source text together with its formula, for renderers that typeset; the line
        itself if there is no formula.
        """
        return line if written is None else (Formula(written, "", tuple(tokens_of(line))),)

    def _short_formula(self, node: Node) -> Tree:
        """An operation as a formula, with `·` for unnamed operands."""
        return self._formula(node, [i for i in node.parents if i.op.family != "leaf"])

    def _formula(self, node: Node, inner: Collection[Node]) -> Tree:
        """An operation as a formula, with `·` for those of `inner` that have no name. Long programs
        have many names, so `formula` gets only those that this formula may need.
        """
        operands = [i for p in node.parents for i in (p, *p.parents)]
        names = self._needed_anywhere | {i: self.names[i] for i in operands if i in self.names}
        names |= {i: Name("·") for i in inner if i not in self.names}
        return formula(node, {n: m for n, m in names.items() if n is not node})

    @cached_property
    def _needed_anywhere(self) -> dict[Node, Name]:
        """The names that the formula of any node may need, whatever its operands are.

        These are names that shadow a function, a module or a constant, and two named nodes of each
        shape and dtype. A size is written as x.shape[0], which needs a named node of that shape;
        one would not be enough, because it may be the node that the formula is for.
        """
        alike = Counter[tuple[Shape, str]]()
        result = {}
        for node, name in self.names.items():
            alike[node.shape, node.dtype] += 1
            if alike[node.shape, node.dtype] <= 2 or any(map(is_known, tree.words_in_use([name]))):
                result[node] = name
        return result

    def _operation(self, node: Node, opened: Collection[Node] = ()) -> Line:
        """The source text of a node with `·` for its operands; an operand in `opened` is written as
        its operation instead, with `·` for its own operands. Inputs and constants are not replaced.
        """
        assert node.span is not None
        text, start, end, _ = node.span
        pieces: list[Piece] = []
        position = start
        for child in self._operands_within(node):
            pieces.append(Token(text[position : child.span.start]))  # type: ignore[union-attr]
            pieces += self._operation(child) if child in opened else (Token("·"),)
            position = child.span.end  # type: ignore[union-attr]
        pieces.append(Token(text[position:end]))
        return self.with_roles(tuple(pieces))

    def _opened(self, node: Node) -> Line:
        """The operation of a node, with the operations of its operands written out if it is spelled
        with a sign such as `-`: `relu(·) - exp(·)` instead of `· - ·`. This needs operands that
        are operations in the source and have no names.
        """
        operands = node.parents
        if node.span is None or any(i.span is None or i in self.names for i in operands):
            return self.operation(node)
        if not node.op.spelling or any(i.op.family == "leaf" for i in operands):
            return self.operation(node)
        inner = [i for p in operands for i in p.parents if i.op.family != "leaf"]
        return self._with_formula(self._operation(node, operands), self._formula(node, inner))

    def _operands_within(self, node: Node) -> list[Node]:
        """The operands whose source text lies inside that of the node, from left to right, without
        inputs and constants, and without operands that lie inside another.
        """
        span = node.span
        spans: dict[tuple[int, int], Node] = {}
        for i in node.parents:
            s = i.span
            if (
                s is not None
                and span is not None
                and s.text == span.text
                and span.start <= s.start
                and s.end <= span.end
                and s != span
            ):
                spans.setdefault((s.start, s.end), i)
        outermost, reach = [], -1
        for (start, end), i in sorted(spans.items()):
            if start >= reach and i.op.family != "leaf":
                outermost.append(i)
                reach = end
        return outermost

    def with_roles(self, line: Line) -> Line:
        """The line with the role of an input for each word that is an input's name, which renderers
        colour by it. Formulas, tokens that have a role, and names that are called are unchanged.
        """
        out: list[Piece] = []
        for token in line:
            if isinstance(token, Formula) or token.role or token.text == "·":
                out.append(token)
                continue
            for piece in re.split(r"(\b[A-Za-z_]\w*\b(?!\s*\())", token.text):
                x = self.problem.inputs.get(piece)
                if piece:
                    out.append(Token(piece, role_of(x) if x else ""))
        return tuple(out)

    def titled(self, node: Node, whole: bool) -> Line:
        """An operation as text, after the name of its result if it has one: `h = relu(·)`. With
        `whole`, operands are written out in place of `·` if the text is short enough.
        """
        does = self._written_out(node) if whole else self.operation(node)
        p = self.problem
        name = Name(p.out_name) if node is p.out else self.names.get(node)
        if name is None or text_of(does) == name.text:
            return does
        return (Formula(name), EQUALS, *does)

    def _written_out(self, node: Node) -> Line:
        """A node with all its operands written out, or only one level of them if that is longer
        than LONGEST.
        """
        text = self.of(node)
        if len(text) > LONGEST:
            return self._opened(node)
        return self._with_formula(self.with_roles((Token(text),)), self._whole(node))

    def _whole(self, node: Node) -> Tree | None:
        """A node as a formula, with all operands written out; None if these are too many."""
        if is_large(node, self.names):
            return None
        return formula(node, {n: m for n, m in self.names.items() if n is not node})

    def operations(self, nodes: Collection[Node] | None = None) -> list[Node]:
        """Those of `nodes` that are operations, not inputs or constants; by default of all nodes of
        the forward pass, in the order in which they are computed.
        """
        order = walk([self.problem.out]) if nodes is None else nodes
        return [n for n in order if n.op.family != "leaf"]
