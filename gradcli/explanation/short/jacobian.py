"""One Jacobian with the seed in its margin, for the first input whose matrix fits on the screen."""

from ...language.problem import Input
from ...notation.tree import Token
from .. import entries
from ..blocks import Formula, Line, Prose, Section, plain, text_of, words
from ..choices import Choices
from ..formulas.source_text import role_of
from ..phrases import without_spaces
from ..sections.jacobian import READABLE, SHOWN, UNCUT, kind_of, matrix, shown_structure
from .gradients import Gradients

COLUMNS = 8  # largest number of columns of a matrix that is shown
OTHERS = 3  # further inputs whose Jacobians are described
FIRST = 2  # inputs among which one is chosen for its matrix
NOUNS = ("product", "update", "selection", "permutation")  # last words of noun phrases
WIDE = 60  # largest number of characters of a closed form that is shown
ACROSS = 66  # largest number of characters of a row of a matrix
UNKNOWN = "unknown"  # a structure that was not searched for
NOTHING = Section("jacobian", (), (), ())


def why(grads: Gradients, choices: Choices) -> Section:
    """The Jacobian, one of its columns times the seed, and the structures for other inputs."""
    p, a, w = grads.problem, grads.a, grads.w
    inputs = [x for x in p.wrt if a.gradient(x) is not None and x.node.numel]
    if not p.out.shape or not p.out.numel:
        return NOTHING
    derived = grads.derivation is not None
    tried = _in_order(inputs, choices)[: 1 if derived else FIRST]
    shown = next((x for x in tried if _fits(grads, x)), None)
    others = [x for x in inputs if x is not shown]
    sentences = (
        [_omitted_inputs(others)] if derived else [_structure(grads, x) for x in others[:OTHERS]]
    )
    title = words("Why: ", w.seed, " weighs the rows of the Jacobian")
    if shown is None:
        return NOTHING if derived else Section("jacobian", title, (), tuple(map(Prose, sentences)))
    remark = plain(f"∂{p.out_name}/∂", Token(shown.name, role_of(shown)))
    remark += plain(f", {p.out.numel}×{shown.node.numel}")
    table = matrix(a, w, shown, False, choices.precision)
    prose = [*([] if derived else [_structure(grads, shown, True)]), *sentences]
    return Section("jacobian", title, remark, (table, *(Prose(line) for line in prose if line)))


def _in_order(inputs: list[Input], choices: Choices) -> list[Input]:
    """The inputs, with the input of the requested element first."""
    followed = choices.element and choices.element[0]
    return sorted(inputs, key=lambda x: x.name != followed)


def _fits(grads: Gradients, x: Input) -> bool:
    """Whether the whole matrix can be shown legibly."""
    rows, columns = grads.problem.out.numel, x.node.numel
    if rows > SHOWN or columns > COLUMNS or rows * columns == 1:
        return False
    entry = entries.in_symbols(grads.a, grads.w, x)
    if entry is None:
        return True
    if sum(len(without_spaces(entry(0, c).text)) + 2 for c in range(columns)) > READABLE:
        return False
    widths = [
        max(len(without_spaces(entry(r, c).text)) for r in range(rows)) for c in range(columns)
    ]
    return max(widths) <= UNCUT and sum(n + 2 for n in widths) <= ACROSS


def _omitted_inputs(inputs: list[Input]) -> Line:
    """A remark on inputs whose Jacobians are not described."""
    names = " or ".join(f"-w {x.name}" for x in inputs[:OTHERS])
    return words(f"Others: --show jacobian {names}.") if inputs else ()


def _structure(grads: Gradients, x: Input, is_shown: bool = False) -> Line:
    """The sentence on the structure of a Jacobian: `It is kron(eye(2), a.T), a Kronecker product:
    24 of its 48 entries are not zero.`
    """
    p = grads.problem
    s = shown_structure(grads.a, grads.w, x)
    formula: Line = () if s.formula is None else (Formula(s.formula),)
    formula = () if len(text_of(formula)) > WIDE or s.name == UNKNOWN else formula
    block = (Token(": ", "word"), *formula) if s.blocks and formula else ()  # of one element
    formula = (*formula, Token(", ", "word")) if formula and not block else ()
    kind = kind_of(s, p.out.numel * x.node.numel)
    is_noun = kind.partition(":")[0].partition(",")[0].endswith(NOUNS)
    kind = f"a {kind}" if is_noun else kind
    if is_shown and s.nonzero == 0:
        return words("Every entry is zero.")
    if is_shown:
        verb = "It has " if kind.startswith("no ") else "It is "
        if formula and kind.startswith("no "):
            return (*words("It is "), *formula[:-1], Token(f"{kind[kind.index(':') :]}.", "word"))
        if block:
            kind, _, count = kind.partition(": ")
            return (*words(f"{verb}{kind}"), *block, Token(f"; {count}.", "word"))
        return (*words(verb), *formula, Token(f"{kind}.", "word"))
    text = f"{p.out.numel}×{x.node.numel}"
    text += "" if s.name == UNKNOWN else f", {kind.partition(':')[0]}"
    command = f" (--show jacobian -w {x.name})."
    start = words("With respect to ", Token(x.name, role_of(x)), " it is ")
    return (*start, *formula, Token(text, "word"), *block, Token(command, "word"))
