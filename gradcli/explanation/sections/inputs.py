"""The inputs: shapes, values, and which were inferred."""

from ...language.problem import Input, Problem
from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import Line, Row, Section, Table, Tensor, plain, words
from ..formulas.source_text import role_of
from ..phrases import listed, shape_text


def inputs(a: Analysis) -> Section:
    """A row for every input."""
    rows = tuple(_row(x, a) for x in a.problem.inputs.values())
    return Section("inputs", words("Inputs"), (), (Table(rows),))


def _row(x: Input, a: Analysis) -> Row:
    value = Tensor(x.value) if x.value is not None else words("symbolic")
    cells: tuple[Line | Tensor, ...] = (
        plain(Token(x.name, role_of(x))),
        plain(shape_text(x.shape)),
        value,
    )
    assumed = assumption(x, a.problem)
    if assumed:
        return Row((*cells, words(assumed)))
    order = next((q.order for q in a.problem.orders[:-1] if x.node is q.seed.node), 0)
    return Row((*cells, words(f"the seed of order {order}")) if order else cells)


def assumption(x: Input, p: Problem) -> str:
    """A remark on inferred sizes, and the option that gives them; empty if all are given."""
    if x.supposed:
        return f"example values: give your own with -v {x.name}=[...]"
    if x.inferred and not x.shape and not x.assumed:
        return f"assumed: a number (choose with {choice(x, p)})"
    if not x.assumed:
        return ""
    sizes = free_sizes(x)
    are = "is" if len(sizes) == 1 else "are"
    text = listed([*map(str, sizes)])
    return f"assumed: the {text} {are} arbitrary (choose with {choice(x, p)})"


def free_sizes(x: Input) -> tuple[int, ...]:
    """The sizes of an input that were chosen freely."""
    return tuple(dict.fromkeys(x.shape[d] for d in x.assumed))


def choice(x: Input, p: Problem) -> str:
    """An option that gives an input another shape: a number becomes a vector as long as the rows of
    the output, or of an input.
    """
    other = "x".join(str(n + 2 if d in x.assumed else n) for d, n in enumerate(x.shape))
    shapes = (p.out.shape, *(i.shape for i in p.inputs.values()))
    length = next((shape[-1] for shape in shapes if shape), 2)
    return f"-s {x.name}={other or length}"
