"""The head of the short answer: the program's last statement, its inputs, and the seed."""

from collections.abc import Iterator

from ...fields import ASSUMPTIONS
from ...language.problem import Input, Problem
from ...language.wrt import NOT_SCALAR
from ...notation.tree import Derivative, Name, Token
from ..analysis import Analysis
from ..blocks import (
    Block,
    Line,
    Prose,
    Row,
    Section,
    Table,
    Tensor,
    mentioned,
    plain,
    words,
)
from ..formulas.formula_writer import FormulaWriter
from ..formulas.source_text import role_of
from ..phrases import fits, is_constant, is_short, listed, number_text, shape_text
from ..sections.inputs import assumption, choice, free_sizes
from ..sections.seed import call, loss_name, remarks, row
from .lines import COMPACT, brief

FEW = 4  # inputs are listed if there are at most so many
WIDE = 60  # largest number of characters of the numbers of an input that are shown


def program(a: Analysis, w: FormulaWriter) -> Section:
    """The output, the inputs if they are few, and the assumed sizes."""
    p = a.problem
    title, value = w.source.titled(p.out, whole=True), a.value(p.out)
    if value is not None and not p.out.shape:
        title += (Token(" = "), Token(number_text(value), "number"))
    inputs = [*p.inputs.values()]
    few = len(inputs) <= FEW
    blocks: list[Block] = _values(inputs) if few else []
    blocks += [Prose(words(text)) for text in _assumed(inputs, p)]
    if p.seed.implicit:
        blocks.append(Prose(_implied(a, w)))
    shaped = any(x.shape for x in inputs) or p.out.shape
    is_open = len(p.statement_values) < 2 and shaped and any(x.value is None for x in inputs)
    remark = _shapes(a, inputs) if few and is_open else ()
    return Section("inputs", title, remark, tuple(blocks))


def _shapes(a: Analysis, inputs: list[Input]) -> Line:
    """The shapes of inputs and output in one line: `x 2×3 · a 3×4 → out 2×4`."""
    line: Line = ()
    for x in inputs:
        line += (Token(" · ") if line else Token(""), Token(x.name, role_of(x)))
        line += (Token(f" {shape_text(x.shape)}"),)
    p = a.problem
    return (*line, Token(f" → {p.out_name} {shape_text(p.out.shape)}"))


def _values(inputs: list[Input]) -> list[Block]:
    """The values of small inputs; scalars share a line."""
    valued = [x for x in inputs if x.value is not None]
    short_values = [x for x in valued if x.node.ndim <= 2 and is_short(x.value, WIDE)]
    single, numbers = [x for x in short_values if not x.shape], Line()
    for x in single:
        numbers += (Token(" · " if numbers else ""), Token(x.name, role_of(x)))
        numbers += (Token(" = "), Token(number_text(x.value), "number"))
    blocks: list[Block] = [Prose(numbers)] if single else []
    rows = [
        Row((plain(Token(x.name, role_of(x))), plain(shape_text(x.shape)), Tensor(x.value)))
        for x in short_values
        if x.shape
    ]
    return [*blocks, Table(tuple(rows))] if rows else blocks


def _assumed(inputs: list[Input], p: Problem) -> Iterator[str]:
    """Sentences on assumptions: those of the request, then inferred ranks and sizes."""
    for name, properties in p.assume.items():
        yield f"assumed: {name} is {listed([f'{word}{ASSUMPTIONS[word]}' for word in properties])}"
    for x in inputs:
        if x.supposed:
            yield f"{x.name} holds example values: give your own with -v {x.name}=[...]"
    numbers = [x for x in inputs if not x.supposed and not x.assumed and assumption(x, p)]
    if numbers:
        one = "is a number" if len(numbers) == 1 else "are numbers"
        text = listed([x.name for x in numbers])
        yield f"assumed: {text} {one} (choose with {choice(numbers[0], p)})"
    sized = [x for x in inputs if not x.supposed and x.assumed]
    if sized:
        yield f"assumed: {_free(sized)} (choose with {choice(sized[0], p)})"


def _free(inputs: list[Input]) -> str:
    """A clause on sizes that were chosen freely: `the 3 of x and a, the 4 of b are arbitrary`."""
    names: dict[tuple[int, ...], list[str]] = {}
    for x in inputs:
        names.setdefault(free_sizes(x), []).append(x.name)
    text, met = list[str](), set[int]()
    for sizes, of in names.items():
        new = [str(n) for n in sizes if n not in met]
        met.update(sizes)
        text += [f"the {listed(new)} of {listed(of)}"] if new else []
    return f"{', '.join(text)} {'is' if len(met) == 1 else 'are'} arbitrary"


def _implied(a: Analysis, w: FormulaWriter) -> Line:
    out, back = a.problem.out_name, call(a.problem)
    return words(
        f"a single number: {back} needs no seed, as ",
        w.seed,
        " = ",
        mentioned(Derivative(Name(out), (Name(out),))),
        " = 1",
    )


def seed(a: Analysis, w: FormulaWriter) -> Section:
    """The section of the seed; without blocks if it is implicit."""
    p = a.problem
    if p.seed.implicit:
        return Section("seed", (), (), ())
    text = words(
        w.seed,
        " is ",
        mentioned(Derivative(Name(loss_name(p)), (Name(p.out_name),))),
        f": what the rest of a computation would send back, a weight for "
        f"each element of {p.out_name}.",
    )
    sentences = [_refused(a, w)] if p.seed.refused else [text, *remarks(a, w)]
    blocks: list[Block] = [Table((_seed_row(a, w),)), *map(Prose, sentences)]
    return Section("seed", words("Seed"), plain(call(p)), tuple(blocks))


def _seed_row(a: Analysis, w: FormulaWriter) -> Row:
    """The row of the seed; its numbers are abbreviated if they do not fit or are all equal."""
    name, shape, value = row(a, w).cells
    if not isinstance(value, Tensor) or is_short(value.array, WIDE):
        return Row((name, shape, value))
    is_shown = fits(value.array, COMPACT) and not is_constant(value.array)
    return Row((name, shape, value if is_shown else brief(value.array)))


def _refused(a: Analysis, w: FormulaWriter) -> Line:
    p = a.problem
    return words(
        f'PyTorch refuses {call(p)} without a seed: "{NOT_SCALAR}". Give one with '
        "--grad; here it stays a symbol, ",
        w.seed,
        ".",
    )
