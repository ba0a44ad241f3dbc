"""Claims as they are typed: `W = g.T @ x`, over inputs, what the program names, and the seed."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import GradcliError, Span, did_you_mean
from ...graphs import Node, as_node
from ...language.build import Builder
from ...language.problem import Problem
from ...language.program import Program, read_program
from ...language.values import Reader

ORIGIN = "--claim"
GRAD = re.compile(r"\.grad(?=\s*=(?!=))")  # in W.grad = ...
PREFIXES = ("", "d", "d_", "grad_")  # what people put before a name for its gradient
SUFFIX = "_grad"  # what W.grad is read as
FORM = 'a claim is written "W = g.T @ x"; steps that come before it end with ;'

Given = Mapping[str, str] | str | Sequence[str]


class Claim(NamedTuple):
    """That the gradient of `name`, an input or an intermediate, is what `program` comes to.

    `formula` is it as it was typed, without the steps before it.
    """

    name: str
    program: Program
    formula: str

    @property
    def text(self) -> str:
        """The formula after the steps that it needs."""
        segment = self.program.source.segment
        steps = [(", ".join(s.names), segment(s.value)) for s in self.program.statements[:-1]]
        return "; ".join([*(f"{names} = {value}" for names, value in steps), self.formula])

    def written(self, formula: str) -> str:
        """`d = g * h; W = x.T @ d`: a formula as a claim about the same."""
        steps, semicolon, last = formula.rpartition("; ")
        return f"{steps}{semicolon}{self.name} = {last}"


def read_claims(given: Given, problem: Problem) -> list[Claim]:
    """Claims from texts `W = g.T @ x`, or from formulas by name.

    Raises GradcliError for what cannot be read, or is about nothing that has a gradient.
    """
    if isinstance(given, Mapping):
        return [c for name, formula in given.items() for c in _claims(formula, problem, name)]
    texts = [given] if isinstance(given, str) else given
    return [claim for text in texts for claim in _claims(text, problem)]


def _claims(text: str, problem: Problem, name: str | None = None) -> list[Claim]:
    """What a text claims in its last statement, and before it."""
    last = _claim(text, problem, name)
    before = _before(last.program, problem)
    return [c._replace(program=p) for c, p in ((c, _pruned(c.program)) for c in (*before, last))]


def _pruned(program: Program) -> Program:
    """The statements that the last one needs, and the last."""
    kept = program.statements[-1:]
    for statement in reversed(program.statements[:-1]):
        if set(statement.names) & names_in(program._replace(statements=kept)):
            kept = (statement, *kept)
    return program._replace(statements=kept)


def _before(program: Program, problem: Problem) -> Iterator[Claim]:
    """Statements that are claims of their own: of `dW`, or of anything that no later one uses."""
    source, statements = program.source, program.statements
    for k, (names, value) in enumerate(statements[:-1]):
        so_far = program._replace(statements=statements[: k + 1])
        own = next((n for n in names if _is_of_an_input(n, problem)), None)
        used = set(names) & _used_after(k, program)
        if own is not None or not used:
            name = _target(own or names[0], problem, source.span(value))
            yield Claim(name, so_far, source.segment(value))


def _is_of_an_input(name: str, problem: Problem) -> bool:
    """Whether `dW` is the gradient of an input W; W itself may be a step."""
    return name not in targets(problem) and any(n in problem.inputs for n in _meant(name))


def _used_after(k: int, program: Program) -> set[str]:
    return names_in(program._replace(statements=program.statements[k + 1 :]))


def _claim(text: str, problem: Problem, name: str | None = None) -> Claim:
    if not isinstance(text, str):
        raise GradcliError("syntax", f"a claim is a text, not {text!r}", hint=FORM)
    program = _parsed(text, problem)
    source, last = program.source, program.statements[-1]
    start = _start(program)
    about = re.search(r"(\w+)(?:\.grad)?\s*=[\s(]*$", source.text[:start])
    span = source.span(last.value)
    if name is None and about is not None:
        name, span = last.names[0], Span(source.text, *about.span(1), ORIGIN)
    if name is None and len(problem.wrt) > 1:
        inputs = ", ".join(x.name for x in problem.wrt)
        said = f"the claim does not say whose gradient it is: {inputs} have one"
        raise GradcliError("syntax", said, hint=FORM, span=span)
    name = _target(name or problem.wrt[0].name, problem, span)
    return Claim(name, program, source.text[start:].strip())


def _parsed(text: str, problem: Problem) -> Program:
    """The program of a claim; `W.grad = ...` is read as `W_grad = ...`."""
    typed = text.strip()
    if not typed:
        raise GradcliError("syntax", "the claim is empty", hint=FORM)
    named = GRAD.sub(SUFFIX, typed)
    try:
        program = read_program(named, problem.limits, ORIGIN)
    except GradcliError as error:
        if error.span is not None and error.span.text == named:
            error.span = error.span._replace(text=typed)
        raise
    if program.source.text == named:
        program.source.text = typed
    return program


def _start(program: Program) -> int:
    """Where the formula begins, with the brackets around it."""
    source = program.source
    start = source.span(program.statements[-1].value).start
    while opening := re.search(r"\(\s*$", source.text[:start]):
        start = opening.start()
    return start


def _target(name: str, problem: Problem, span: Span) -> str:
    """Whose gradient is meant: W by W, dW, d_W, grad_W and W.grad."""
    known = targets(problem)
    for plain in _meant(name):
        if plain in known:
            if known[plain].dtype == "float":
                return plain
            said = f"{plain} picks elements or holds True and False: it has no gradient"
            raise GradcliError("not-differentiable", said, span=span)
    near = did_you_mean(name, known) or f"the inputs are {', '.join(problem.inputs)}"
    said = f"the claim is about {name}, and the expression has no {name}"
    raise GradcliError("unused-option", said, hint=near, span=span)


def _meant(name: str) -> list[str]:
    """What `name` may be the gradient of."""
    return [name.removeprefix(p) for p in PREFIXES if name.startswith(p)] + [
        name.removesuffix(SUFFIX)
    ]


def targets(problem: Problem) -> dict[str, Node]:
    """What a gradient can be claimed of: inputs, and what the program names."""
    return problem.names | {x.name: x.node for x in problem.inputs.values()}


def names_in(program: Program) -> set[str]:
    """All names that a formula uses."""
    parts = (e for s in program.statements for e in ast.walk(s.value))
    return {e.id for e in parts if isinstance(e, ast.Name)}


def built(program: Program, problem: Problem, values: dict[Node, Any] | None = None) -> Node:
    """The formula of a claim as graph, with the shapes of this problem; what it picks is said by
    these `values`, or by those of the problem.

    Raises GradcliError, with the place in the claim.
    """
    scope: dict[str, Any] = {"out": problem.out, problem.out_name: problem.out}
    scope |= problem.constants | targets(problem) | {problem.seed.name: problem.seed.node}
    builder = Builder(
        program,
        scope,
        values=problem.values if values is None else values,
        limits=problem.limits,
        draws=Reader(problem.limits, 0, None),
    )
    try:
        found = builder.run()
    except GradcliError as error:
        if error.code == "unknown-name" and error.hint is None:
            error.hint = f"a claim can use {', '.join(scope)}"
        raise
    if not isinstance(found, Node | int | float):
        span = program.source.span(program.statements[-1].value)
        raise GradcliError("value", "the claim is not a tensor", span=span)
    return as_node(found)
