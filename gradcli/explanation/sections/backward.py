"""The reverse pass, in PyTorch's order: the gradients that each operation receives and sends."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...autodiff.reverse import Contribution
from ...autodiff.reverse import Step as Pass
from ...graphs import Node
from ...notation import tree
from ...notation.tree import Name, Token, Tree
from ...operators.shaping import summed_axes
from ..analysis import Analysis
from ..blocks import (
    EQUALS,
    Block,
    Formula,
    Line,
    Note,
    Row,
    Section,
    Step,
    Tensor,
    plain,
    text_of,
    tokens_of,
    words,
)
from ..formulas.formula_writer import FormulaWriter
from ..formulas.generic_steps import generic_step
from ..phrases import label, middle, number_text

TIMES = {2: "twice", 3: "three times", 4: "four times"}


class Names(NamedTuple):
    """Names of upstream gradients, such as `h.grad`, and names added for unnamed values."""

    received: Mapping[Node, Tree]
    added: Mapping[Node, str]
    numbered: Mapping[Node, Name] = {}  # names such as r4 of the gradients of unnamed values


def backward(a: Analysis, w: FormulaWriter, most: int, names: Names | None = None) -> Section:
    """The section of the reverse pass: a step for every operation, and for every node at which
    several gradients are added; at most about `most` steps.
    """

    def make(step: tuple[Node, Callable[[], Step]]) -> Block:
        return step[1]()

    blocks = middle(
        steps(a, w, names), most, make, lambda n: Note("", plain(f"… {n:,} more steps"))
    )
    return Section("backward", words("Backward"), (), tuple(blocks))


def of_program(a: Analysis) -> Names:
    """The names of the gradients of named values of the program."""
    p = a.problem
    received = {step.node: step.received for step in a.gradients.steps}
    named = () if p.lower_order else p.named.items()
    return Names({received[n]: Name(f"{name}.grad") for name, n in named if n in received}, {})


def steps(
    a: Analysis, w: FormulaWriter, names: Names | None = None
) -> list[tuple[Node, Callable[[], Step]]]:
    """The node of each step, in order, with a function that creates the step, because only few of
    many steps are shown. The sum of a fan-out comes just before the step of its node.
    """
    numbered: dict[Node, Name] = {}
    names = (names or of_program(a))._replace(numbered=numbered)
    arrived: dict[Node, list[Contribution]] = {}
    out: list[tuple[Node, Callable[[], Step]]] = []

    def add_fan_out(node: Node, total: Node) -> None:
        if len(arrived.get(node, ())) > 1:
            make = partial(_fan_out, len(out) + 1, node, arrived[node], total, a, w, names)
            out.append((node, make))

    for k, step in enumerate(a.gradients.steps):
        add_fan_out(step.node, step.received)
        if step.received not in names.received and step.received is not a.problem.seed.node:
            numbered.setdefault(step.received, w.numbered(len(out) + 1))
        out.append((step.node, partial(_operation, len(out) + 1, k, a, w, names)))
        for c in step.contributions:
            arrived.setdefault(c.to, []).append(c)
    for x in a.problem.wrt:
        grad = a.gradient(x)
        if grad is not None:
            add_fan_out(x.node, grad)
    return out


def _operation(number: int, k: int, a: Analysis, w: FormulaWriter, names: Names) -> Step:
    """The step of operation k of the reverse pass."""
    step = a.gradients.steps[k]
    received = _received(step.received, a, w, names)
    generic, text = generic_step(w, k)
    rules = [_rule(c, text, generic, received) for c in text.contributions]
    sent = zip(step.contributions, rules, strict=True)
    rows = tuple(row for c, rule in sent for row in _sent(c, rule, step, a, w, received, names))
    title = w.source.titled(step.node, whole=False)
    if step.node in names.added:
        title = (Token(names.added[step.node]), EQUALS, *title)
    return Step(
        number,
        title,
        words("receives ", received),
        _tensor(step.received, a),
        rows,
    )


def _received(node: Node, a: Analysis, w: FormulaWriter, names: Names) -> Token:
    """The upstream gradient of an operation: the seed, `h.grad`, or a numbered one."""
    if node is a.problem.seed.node:
        return w.seed
    name = names.numbered.get(node)
    return Token(tree.text(names.received[node] if name is None else name))


def _short_text(node: Node, w: FormulaWriter, names: Names) -> Line:
    """A node in short: its name, or its operation."""
    return (Token(names.added[node]),) if node in names.added else w.source.short(node)


def _sent(
    c: Contribution,
    formula: Line,
    step: Pass,
    a: Analysis,
    w: FormulaWriter,
    received: Token,
    names: Names,
) -> list[Row]:
    """The gradient sent to an input: the rule, and any sum over broadcast dimensions."""
    to = words("to ", *_short_text(c.to, w, names), _operand_side(c, step.node))
    same = c.local is step.received
    if c.sent is c.local or c.sent.op.name != "sum_to_size":
        spread = same and c.sent.op.name == "expand"
        named = _name_of(c.sent, names) if spread or not same else ()
        rule = words(received, ", repeated") if spread else formula
        return [_row(to, (*named, *rule), c.sent, a)]
    axes = summed_axes(c.local.shape, c.to.shape)
    dims = f"dimension{'s' * (len(axes) > 1)} {', '.join(map(str, axes))}"
    name = text_of(w.source.short(c.to))
    repair = words(
        f"{name} was broadcast over {dims}, "
        f"so its gradient sums over {'them' if len(axes) > 1 else 'it'}"
    )
    if same:
        return [_row(to, repair, c.sent, a)]
    value = _tensor(c.sent, a)
    summed = Row((repair,) if value is None else (repair, value), 2)
    return [_row(to, formula, c.local, a), summed]


def _name_of(sent: Node, names: Names) -> Line:
    """The start `r4 = ` of the line with the gradient that step 4 receives."""
    return (Formula(names.numbered[sent]), EQUALS) if sent in names.numbered else ()


def _operand_side(c: Contribution, node: Node) -> Token:
    """Which operand a contribution belongs to, if the text of the operand is ambiguous."""
    twice = node.inputs.count(c.to) > 1
    if not twice or len(node.inputs) != 2:
        return Token("")
    return Token(" (left)" if c.slot == 0 else " (right)", "word")


def _rule(c: Contribution, step: Pass, w: FormulaWriter, received: Token) -> Line:
    """The rule as a formula, in which `y` is the operation's output if that has no name."""
    extra = {step.received: Name(received.text, received.role)}
    own = step.node not in w.names
    if own:
        extra[step.node] = Name(w.output_name)
    spread = c.sent.op.name == "expand" and c.local is not step.received
    line = w.formula_line(c.sent if spread else c.local, extra)  # has the shape of the numbers
    if line == (Formula(extra[step.received]),):
        return plain(Token(received.text, received.role), Token(", unchanged", "word"))
    uses_y = own and any(t.text == w.output_name for t in tokens_of(line))
    return (*line, Token(f" with {w.output_name} the output", "word")) if uses_y else line


def _row(to: Line, formula: Line, node: Node, a: Analysis) -> Row:
    value = _tensor(node, a)
    return Row((to, formula) if value is None else (to, formula, value), 1)


def _tensor(node: Node, a: Analysis) -> Tensor | None:
    value: Any = a.value(node)
    return None if value is None else Tensor(value, "seed" if node is a.problem.seed.node else "")


def _fan_out(
    number: int,
    node: Node,
    arrived: list[Contribution],
    total: Node,
    a: Analysis,
    w: FormulaWriter,
    names: Names,
) -> Step:
    """The sum of the gradients from several uses, with one element of it written out."""
    often = TIMES.get(len(arrived), f"{len(arrived)} times")
    title = words(*_short_text(node, w, names), f", used {often}")
    remark = "the two add up" if len(arrived) == 2 else f"the {len(arrived)} add up"
    to = f" to {names.numbered[total].text}" if total in names.numbered else ""
    return Step(number, title, words(remark + to, _sum(arrived, a)), _tensor(total, a), ())


def _sum(arrived: list[Contribution], a: Analysis) -> str:
    """One element of a sum of gradients, written out: ` (4 + 4 at [0,1])`."""
    values = [a.value(c.sent) for c in arrived]
    if any(v is None or not v.size for v in values) or len(values) > 4:
        return ""
    index = _index_to_show(values)
    terms = " + ".join(number_text(v.flat[index]) for v in values).replace("+ -", "- ")
    return (
        f" ({terms} at {label('', values[0].shape, index)})" if values[0].shape else f" ({terms})"
    )


def _index_to_show(values: list[Any]) -> int:
    """The first flat index at which no summand is 0 or 1; 0 if there is none."""
    return next(
        (k for k in range(values[0].size) if all(v.flat[k] not in (0, 1) for v in values)), 0
    )
