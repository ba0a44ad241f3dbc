"""An explanation one operation at a time: the forward pass, then the reverse pass."""

from ..notation.tree import Token
from .analysis import Analysis
from .blocks import Document, Prose, Row, Section, Table, words
from .catalogue import catalogue
from .formulas.formula_writer import writer_of
from .sections.element import element_row
from .sections.graph import passes

PASSES = ("Forward", "Backward")


class Stepping:
    """The operations of both passes, and the documents that may be requested at each."""

    def __init__(self, a: Analysis):
        self.a, self.w = a, writer_of(a)
        self._passes = [*passes(a, self.w)]

    def __len__(self) -> int:
        return len(self._passes)

    def shown(self, k: int) -> Document:
        """The k-th operation, with the name of its pass as heading."""
        _, back, make = self._passes[k]
        remark = (Token(f"{k + 1} of {len(self)}"),)
        return Document((), (Section("", words(PASSES[back]), remark, (make(),)),))

    def why(self, k: int) -> Document:
        """The catalogue page of the k-th operator."""
        node, _, _ = self._passes[k]
        return catalogue(node.op.name)

    def element(self, name: str, index: tuple[int, ...]) -> Document:
        """One element of a gradient, written out."""
        x = self.a.problem.inputs[name]
        line = None if self.a.gradient(x) is None else element_row(self.a, self.w, x, index)
        text = Table((Row((line,)),)) if line else Prose(words("It cannot be written out."))
        return Document((), (Section("", (), (), (text,)),))
