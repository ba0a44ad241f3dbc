"""Claims as they are typed: `W = g.T @ x`, over inputs, what the program names, and the seed."""

import ast
import re
from collections.abc import Mapping, Sequence
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
FORM = 'a claim is written "W = g.T @ x"; steps that come before it end with ;'

Given = Mapping[str, str] | str | Sequence[str]


class Claim(NamedTuple):
    """That the gradient of `name`, an input or an intermediate, is what `program` comes to.

    `text` is the formula as it was typed, after its steps.
    """

    name: str
    program: Program
    text: str

    def written(self, formula: str) -> str:
        """`d = g * h; W = x.T @ d`: a formula as a claim about the same."""
        steps, semicolon, last = formula.rpartition("; ")
        return f"{steps}{semicolon}{self.name} = {last}"


def read_claims(given: Given, problem: Problem) -> list[Claim]:
    """Claims from texts `W = g.T @ x`, or from formulas by name.

    Raises GradcliError for what cannot be read, or is about nothing that has a gradient.
    """
    if isinstance(given, Mapping):
        return [_claim(formula, problem, name) for name, formula in given.items()]
    return [_claim(text, problem) for text in ([given] if isinstance(given, str) else given)]


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
    steps = [f"{', '.join(s.names)} = {source.segment(s.value)}" for s in program.statements[:-1]]
    return Claim(name, program, "; ".join([*steps, source.text[start:].strip()]))


def _parsed(text: str, problem: Problem) -> Program:
    """The program of a claim; the `.grad` of `W.grad = ...` counts as blanks."""
    typed = text.strip()
    if not typed:
        raise GradcliError("syntax", "the claim is empty", hint=FORM)
    blanked = GRAD.sub(lambda m: " " * len(m[0]), typed)
    try:
        program = read_program(blanked, problem.limits, ORIGIN)
    except GradcliError as error:
        if error.span is not None and error.span.text == blanked:
            error.span = error.span._replace(text=typed)
        raise
    if program.source.text == blanked:
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
    """Whose gradient is meant: W by W, dW, d_W and grad_W."""
    known = targets(problem)
    for prefix in PREFIXES:
        plain = name.removeprefix(prefix)
        if name.startswith(prefix) and plain in known:
            if known[plain].dtype == "float":
                return plain
            said = f"{plain} picks elements or holds True and False: it has no gradient"
            raise GradcliError("not-differentiable", said, span=span)
    near = did_you_mean(name, known) or f"the inputs are {', '.join(problem.inputs)}"
    said = f"the claim is about {name}, and the expression has no {name}"
    raise GradcliError("unused-option", said, hint=near, span=span)


def targets(problem: Problem) -> dict[str, Node]:
    """What a gradient can be claimed of: inputs, and what the program names."""
    return problem.names | {x.name: x.node for x in problem.inputs.values()}


def names_in(program: Program) -> set[str]:
    """All names that a formula uses."""
    parts = (e for s in program.statements for e in ast.walk(s.value))
    return {e.id for e in parts if isinstance(e, ast.Name)}


def built(program: Program, problem: Problem) -> Node:
    """The formula of a claim as graph, with the shapes of this problem.

    Raises GradcliError, with the place in the claim.
    """
    scope: dict[str, Any] = {"out": problem.out, problem.out_name: problem.out}
    scope |= problem.constants | targets(problem) | {problem.seed.name: problem.seed.node}
    builder = Builder(
        program,
        scope,
        values=problem.values,
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
