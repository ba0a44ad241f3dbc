"""Claims as users type them. `W = g.T @ x` claims that the gradient of W is g.T @ x. The right side
may use inputs, names of the program, and the seed (the gradient of the output), here g.

The gradient of W may also be written dW, W.grad, grad_W, dL/dW, ∂L/∂W and ∇W.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ...autodiff.reverse import cached_backward
from ...errors import GradcliError, Span, did_you_mean, if_applicable, short_repr
from ...graphs import OPS, Node, as_node
from ...language.arguments.option_texts import values_apart
from ...language.arguments.values import Reader
from ...language.building.build import Builder
from ...language.building.calls import FUNCTIONS
from ...language.building.operands import List
from ...language.built import no_tensor
from ...language.names import free_names
from ...language.problem import Problem
from ...language.program import Program, Statement, read_again, read_program
from ...language.syntax import Source
from ...language.vocabulary import function
from ..phrases import listed

ORIGIN = "--claim"
LEFT = re.compile(r"[^=;\n]*=(?!=)")  # the left side of a claim
FORM = 'a claim is written "W = g.T @ x"; steps that come before it end with ;'

PREFIXES = ("", "d", "d_", "grad_")  # before a name
SUFFIX = "_grad"  # after it
QUOTIENT = re.compile(r"d\w*?_d(\w+)")  # dL/dW as a name
SEEDS = ("grad_out", "grad_outputs", "gout")  # the seed, whatever the output is called

GRAD = re.compile(r"(?<=\w)\.grad\b(?!\(|\.conv\dd_)")  # not nn.grad.conv2d_input
NABLA = re.compile(r"∇(?=_?[^\W\d])")
# `∂L/∂W` anywhere; `dL/dW` on the left side of a claim.
FRACTION = r"{d}(?:\w*|\(\w+\))[ ]?/[ ]?{d}[^\W\d]\w*"
CLAIMED = rf"(?:^|(?<=[;\n]))[ ]*{FRACTION.format(d='d')}(?=\s*[:+]?=[^=])"
FRACTIONS = re.compile(f"{FRACTION.format(d='∂')}|{CLAIMED}")
# `x^T`, `xᵀ` and `x'`; not within string literals.
TRANSPOSED = re.compile(
    r"""(?P<text>(?<![\w)\]'])(?:"[^"\n]*"|'[^'\n]*'))"""
    r"""|[ ]?\^[ ]?(?:T\b|⊤|\\(?:top|intercal)\b|\{(?:T|⊤|\\top|\\intercal)\})"""
    r"""|[ᵀ⊤]|(?<=[\w)\]'])'"""
)
# `W:`, `W :=` and `W +=` at the start of a statement.
HEAD = re.compile(r"(^|[;\n])([ ]*)(\w+)([ ]*)(:=?|\+=)(?=[^=])")

ClaimTexts = Mapping[str, str] | str | Sequence[str]


class Claim(NamedTuple):
    """The claim that the gradient of `name`, an input or an intermediate, is the value of
    `program`.

    `formula` is the source text of the claim without the steps before it. An earlier statement may
    assign to the name of an input, such as A in `A = g @ B.T; B = A.T @ g`. Then A means the input
    in `program` and the assigned value in `stepwise`; `both` lists such names.
    """

    name: str
    program: Program
    formula: str
    both: Sequence[str] = ()
    stepwise: Program | None = None

    @property
    def text(self) -> str:
        """The steps that the formula needs, followed by the formula."""
        segment = self.program.source.segment
        steps = list(zip(self.program.assigned, self.program.values))[:-1]
        texts = [f"{', '.join(names)} = {segment(value)}" for names, value in steps]
        return "; ".join([*texts, self.formula])

    @property
    def with_steps(self) -> "Claim | None":
        """The claim in which names of inputs denote the values that earlier statements assigned to
        them; None if no statement does.
        """
        if self.stepwise is None:
            return None
        return self._replace(program=self.stepwise, stepwise=None)

    @property
    def reading(self) -> str:
        """How the claim is understood if a name is both an input and assigned by an earlier
        statement: `A is the input`, or `A is the step before`; "" if there is no such name.
        """
        if not self.both:
            return ""
        which = "the input" if self.stepwise else "the step before"
        one = len(self.both) == 1
        return f"{listed(self.both)} {'is' if one else 'are'} {which}{'' if one else 's'}"

    def written(self, formula: str) -> str:
        """The text of a claim that this gradient is `formula`, with the statements that the formula
        needs: `d = g * h; W.grad = x.T @ d`.
        """
        steps, semicolon, last = formula.rpartition("; ")
        return f"{steps}{semicolon}{self.name}.grad = {last}"


def read_claims(claims: ClaimTexts, problem: Problem) -> list[Claim]:
    """Claims from texts `W = g.T @ x`, or from formulas by name.

    Raises GradcliError if a claim cannot be read, or is about something without a gradient.
    """
    if isinstance(claims, Mapping):
        return [c for name, formula in claims.items() for c in _claims(formula, problem, name)]
    texts = [claims] if isinstance(claims, str) else claims
    return [claim for text in texts for claim in _claims(text, problem)]


def _claims(text: str, problem: Problem, name: str | None = None) -> list[Claim]:
    """The claims of a text: its last statement, and earlier ones that are claims themselves."""
    last = _claim(text, problem, name)
    result = [
        _with_needed_statements(c, problem) for c in (*_earlier_claims(last.program, problem), last)
    ]
    for claim in result:
        _check_names(claim.program, problem)
    return result


def _with_needed_statements(claim: Claim, problem: Problem) -> Claim:
    """A claim with only the statements that it needs. An input's name on a right side is the input,
    even after a statement that claims its gradient.
    """
    program = claim.program
    last = len(program.values) - 1
    claim_steps = [k for k in range(last) if _claims_inputs(k, program, problem)]
    plain = program.only(k for k in range(last + 1) if k not in claim_steps)
    names = [n for k in claim_steps if k in program.needed for n in program.assigned[k]]
    stepwise = program.only(program.needed) if names else None
    return claim._replace(program=plain.only(plain.needed), both=names, stepwise=stepwise)


def _earlier_claims(program: Program, problem: Problem) -> Iterator[Claim]:
    """The earlier statements that are claims: on an input, or with a value not used later."""
    source = program.source
    for k, (names, value) in enumerate(list(zip(program.assigned, program.values))[:-1]):
        so_far = program.only(range(k + 1))
        input_name = next((n for n in names if _is_of_an_input(n, problem)), None)
        step = set(names) & program.only(range(k + 1, len(program.values))).used
        if not step or (input_name is not None and input_name not in _named_after(k, program)):
            name = _target(input_name or names[0], problem, source.span(value))
            yield Claim(name, so_far, source.segment(value))


def _is_of_an_input(name: str, problem: Problem) -> bool:
    """Whether `name` (such as W or dW) denotes the gradient of an input W, and is not itself an
    intermediate of the program.
    """
    may_be_gradient = name in problem.inputs or name not in targets(problem)
    return may_be_gradient and any(n in problem.inputs for n in differentiated_names(name))


def _claims_inputs(k: int, program: Program, problem: Problem) -> bool:
    """Whether a statement assigns to inputs only, and no later one assigns to them again."""
    names = {*program.assigned[k]}
    return names <= {*problem.inputs} and not names & _named_after(k, program)


def _named_after(k: int, program: Program) -> set[str]:
    return {n for names in program.assigned[k + 1 :] for n in names}


def _claim(text: str, problem: Problem, name: str | None) -> Claim:
    if not isinstance(text, str):
        raise GradcliError("syntax", f"a claim must be a text, got {short_repr(text)}", hint=FORM)
    program = _parsed(text, problem)
    source, start = program.source, program.start
    about = re.search(r"([\w.]+)\s*=[\s(]*$", source.text[:start])
    span, names = program.span, program.assigned[-1]
    if name is None and (about is not None or names != ("out",)):
        name = names[0]
        span = span if about is None else Span(source.text, *about.span(1), ORIGIN)
    if name is None and len(problem.wrt) > 1:
        inputs = ", ".join(x.name for x in problem.wrt)
        message = f"the claim does not say whose gradient it is: {inputs} have one"
        raise GradcliError("syntax", message, hint=FORM, span=span)
    name = _target(name or problem.wrt[0].name, problem, span)
    return Claim(name, program, source.text[start:].strip())


def _parsed(text: str, problem: Problem) -> Program:
    """The program of a claim; `W.grad = ...` is read as `W_grad = ...`."""
    typed = text.strip()
    if not typed:
        raise GradcliError("syntax", "the claim is empty", hint=FORM)
    named = as_names(typed)
    try:
        program = read_program(named, problem.limits, ORIGIN)
    except GradcliError as error:
        if error.span is not None and error.span.text == named and len(named) == len(typed):
            error.span = error.span._replace(text=typed)
            is_step = re.search(r"[;\n]", named[error.span.end :])
            is_claimed = not is_step and LEFT.match(named, error.span.start)
            error.hint = FORM if is_claimed else error.hint
        raise
    same_columns = typed.isascii() and len(named) == len(typed)
    source = Source(typed, ORIGIN) if same_columns else program.source
    statements = [s for t in program.statements for s in _split_assignment(t, source)]
    return program._replace(source=source, statements=tuple(statements))


def _split_assignment(s: Statement, source: Source) -> Iterator[Statement]:
    """The statements `a = b` and `b = a` for `a, b = b, a`. Other statements are unchanged."""
    values = s.value.elts if isinstance(s.value, ast.Tuple) else []
    bare = values and source.span(values[0]).start == source.span(s.value).start
    if not bare or len(values) != len(s.names):
        yield s
        return
    for name, value in zip(s.names, values):
        yield Statement((name,), value)


def _target(name: str, problem: Problem, span: Span) -> str:
    """The name whose gradient `name` denotes: W for W, dW, d_W, grad_W and W.grad. Raises
    GradcliError if the problem has no such name, or it has no gradient.
    """
    nodes = targets(problem)
    for plain in differentiated_names(name):
        if plain in nodes:
            if nodes[plain].dtype == "float":
                return plain
            message = f"{plain} holds indices or booleans: it has no gradient"
            raise GradcliError("not-differentiable", message, span=span)
    near = did_you_mean(name, nodes) or f"the inputs are {', '.join(problem.inputs)}"
    message = f"the claim is about {name}, and the expression has no {name}"
    raise GradcliError("unused-option", message, hint=near, span=span)


def targets(problem: Problem) -> dict[str, Node]:
    """The nodes whose gradient can be claimed, by name: inputs, and names of the program."""
    return problem.scope


def uses_seed(program: Program, problem: Problem) -> bool:
    """Whether a formula uses the seed, by its name or as the gradient of the output."""
    return problem.seed.name in program.used or bool(_seeds(program, problem))


def _seeds(program: Program, problem: Problem) -> list[str]:
    """The names in a formula that mean the seed, such as dout and grad_output."""
    other_names = {problem.seed.name, *problem.constants, *targets(problem)}
    outputs = {problem.out_name, "out", "output"} - {*intermediates(problem)}
    return [n for n in program.used - other_names if means_seed(n, outputs)]


def intermediates(problem: Problem) -> dict[str, Node]:
    """The values between the inputs and the output, by name."""
    ends = {problem.out, *(i.node for i in problem.inputs.values())}
    return {n: node for n, node in targets(problem).items() if node not in ends}


def _gradients(program: Program, problem: Problem) -> dict[str, Node | None]:
    """The gradients of intermediates that a formula uses, as h.grad in `x.grad = h.grad @ a.T`."""
    known = intermediates(problem)
    named = {
        name: known[plain]
        for name in program.used - {*targets(problem), *_seeds(program, problem)}
        for plain in [*differentiated_names(name)]
        if plain in known and name != plain
    }
    if not named:
        return {}
    gradients = cached_backward(problem.out, problem.seed.node, tuple(named.values())).of
    return {name: gradients[node] for name, node in named.items() if gradients[node] is not None}


def _cure(error: GradcliError, problem: Problem, scope: Mapping[str, Any]) -> str | None:
    """A hint for an undefined name."""
    span = error.span
    name = "" if span is None else span.excerpt
    if any(n in targets(problem) for n in differentiated_names(as_names(name))):
        return f"define it in an earlier step: {name} = ...; ..."
    seed = problem.seed.name
    names = ", ".join(n for n in scope if n != seed)
    return error.hint or f"a claim can use {names}, and {seed}, the seed"


def _builder(program: Program, problem: Problem, values: dict[Node, Any]) -> Builder:
    """A builder for a formula of a claim, with the names that it may use."""
    scope: dict[str, Any] = {"out": problem.out, problem.out_name: problem.out}
    scope |= problem.constants | targets(problem) | {problem.seed.name: problem.seed.node}
    scope |= dict.fromkeys(_seeds(program, problem), problem.seed.node)
    scope |= _gradients(program, problem)
    limits = problem.limits
    return Builder(program, scope, values=values, limits=limits, draws=Reader(limits, 0, None))


def _check_names(program: Program, problem: Problem) -> None:
    """Raise GradcliError for unknown operators, names and functions, even in parts that building
    would not reach because of an earlier shape mismatch.
    """
    builder = _builder(program, problem, {})
    unknown = {*free_names(program, tuple(builder.scope))} - builder.scope.keys()
    for e in program.syntax:
        if isinstance(e, ast.BinOp):
            builder.check_operator(e)
        if isinstance(e, ast.Name) and e.id in unknown:
            try:
                builder.visit(e)
            except GradcliError as error:
                error.hint = _cure(error, problem, builder.scope)
                raise
        if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id not in FUNCTIONS:
            function(e.func.id, builder.source.span(e.func))


def built(program: Program, problem: Problem, values: dict[Node, Any] | None = None) -> Node:
    """The formula of a claim as a graph at the shapes of this problem. Indices and masks are
    evaluated at `values`, by default the values of the problem.

    Raises GradcliError with a span in the claim.
    """
    builder = _builder(program, problem, problem.values if values is None else values)
    result = _stacked(builder.run())
    if not isinstance(result, Node | int | float):
        span = program.span
        hint = no_tensor(result, program).hint
        raise GradcliError("value", "the claim is not a tensor", span=span, hint=hint)
    return as_node(result)


def _stacked(result: Any) -> Any:
    """A list of numbers and tensors, as [2 * x[0], 1], as their stack; others unchanged."""
    if not isinstance(result, List) or not result:
        return result
    parts = [_stacked(part) for part in result]
    is_listed = all(isinstance(part, Node | int | float) for part in parts)
    return OPS["stack"]([as_node(part) for part in parts]) if is_listed else result


def reread(text: str) -> Program | None:
    """The program of a generated formula; None if it cannot be parsed."""
    return if_applicable(partial(read_again, text, ORIGIN))


# ---- spellings -----------------------------------------------------------------------------------


def as_names(text: str) -> str:
    """A claim with a Python identifier of the same length for every gradient: `dL_dW = x.T @ g` for
    `dL/dW = x.T @ g`.

    If W has no earlier assignment, `W: ...`, `W := ...` and `W += ...` become assignments of the
    same length. A comma between claims becomes a semicolon. Every notation of a transpose becomes
    `x.T`.
    """
    text = TRANSPOSED.sub(lambda result: result["text"] or ".T", text)
    for above in {result[0].partition("/")[0].strip() for result in FRACTIONS.finditer(text)}:
        fraction = rf"(?<![\w∂.]){re.escape(above)}[ ]?/[ ]?[d∂][^\W\d]\w*"
        text = re.sub(fraction, lambda f: re.sub(r"\W", "_", f[0].replace("∂", "d")), text)
    text = GRAD.sub(SUFFIX, NABLA.sub("d", text))
    return ";".join(values_apart(HEAD.sub(_equated, text)))


def _equated(head: re.Match[str]) -> str:
    before, space, name, gap, sign = head.groups()
    again = re.search(rf"(?<!\w){name}\s*[+:]?=", head.string[: head.start()])
    return head[0] if again else f"{before}{space}{name}{gap}{'=':>{len(sign)}}"


def differentiated_names(name: str) -> Iterator[str]:
    """The names of which `name` may denote the gradient."""
    yield from (name.removeprefix(p) for p in PREFIXES if name.startswith(p))
    yield name.removesuffix(SUFFIX)
    quotient = QUOTIENT.fullmatch(name)
    if quotient is not None:
        yield quotient[1]


def means_seed(name: str, outputs: set[str]) -> bool:
    """Whether `name` denotes the gradient of the output, which has the names `outputs`."""
    return name in SEEDS or not outputs.isdisjoint([*differentiated_names(name)][1:])
