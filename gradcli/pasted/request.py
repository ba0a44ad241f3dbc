"""Converts PyTorch programs to requests with an expression.

A program is run. Its last backward pass, or else its last value, becomes the expression, with the
program's arrays, seed and names in `wrt`. A program with undefined names is not run but translated
(`symbolic.py`). A request is a dict with the keys "expr", "values", "grad", "wrt" and others.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import GradcliError, Span, if_applicable
from ..language.wrt import NO_WAY
from ..lazy import np
from ..snippets.eager.views import readable

if TYPE_CHECKING:
    from ..snippets.pages import Read
    from ..snippets.python.machine import Outcome
    from ..snippets.trace import Backward
    from .problems import BackwardProblem

MARKED = r"requires_grad|Parameter|nn\.[A-Z]"  # text of programs that have leaves
DEVICE = r"\bdevice\s*=\s*([A-Za-z]\w*)|\.to\(\s*([A-Za-z]\w*)\s*\)"
ZEROED = r"zero_grad\(|\.grad\.zero_\("
READ = "gradcli read explains the whole program"


def in_language(request: dict[str, Any]) -> dict[str, Any]:
    """The request with the program replaced by its expression.

    Raises GradcliError `raises` if PyTorch raises an error, `unsupported` if the program uses a
    feature that is not supported.
    """
    from ..limits import Limits

    limits = request.get("limits") or Limits()
    limits.check("length", len(request["expr"]), "the program")
    return _Request(request, limits).understood()


class _Request:
    def __init__(self, request: dict[str, Any], limits: Any):
        self.request, self.limits, self.text = request, limits, request["expr"]
        self.values: dict[str, Any] = dict(request.get("values") or {})
        self.wrt: list[str] = list(request.get("wrt") or ())

    def understood(self) -> dict[str, Any]:
        """The request with the program replaced by its expression."""
        from . import arrays, symbolic

        symbolic.refuse_transforms(self.text)
        program = symbolic.single_program(self.text)
        if program is None:  # not Python: the expression parser reports the error
            return self.request
        if arrays.is_of_arrays(program):
            return arrays.in_language(self.request, program)
        devices = {name for pair in re.findall(DEVICE, program) for name in pair}
        lacking = symbolic.undefined(program) - devices
        if lacking and (symbolic.is_text(program) or not lacking <= self.values.keys()):
            return symbolic.in_language(self.request, program)
        read = self._run()
        failure = read.reading.outcome.exception
        if failure is not None and failure.type == "NameError" and not read.reading.backwards:
            return symbolic.in_language(self.request, program)
        return self._request_of(read)

    # ---- running ---------------------------------------------------------------------------------

    def _run(self, start: int = 0) -> "Read":
        """Run the program; `start` is the random seed if it sets none."""
        from ..snippets.pages import read_all
        from .inserted import Inserted

        marked = bool(re.search(MARKED, self.text))
        devices = {a or b: "cpu" for a, b in re.findall(DEVICE, self.text)}

        def is_leaf(name: str) -> bool:
            return not marked or name in self.wrt

        setting = Inserted(self._arrays(), is_leaf, devices, start)
        read = read_all(self.text, setting)[-1]
        for name in self.values:
            if not re.search(rf"\b{name}\b", self.text):
                message = f"the program has no {name}"
                raise GradcliError("unused-option", message)
        for name in setting.computed:
            message = f"{name} is computed by the program: only an input can be given a value"
            raise GradcliError("unused-option", message)
        return read

    def _arrays(self) -> Mapping[str, Any]:
        """The values of the request as arrays."""
        if not self.values:
            return {}
        from ..language.arguments.values import Reader

        reader = Reader(self.limits, self.request.get("random_seed", 0), self.request.get("stdin"))
        self.values = {name: reader.read(v, name) for name, v in self.values.items()}
        return self.values

    # ---- the result ------------------------------------------------------------------------------

    def _request_of(self, read: "Read") -> dict[str, Any]:
        """The request for a program that was run. Raises GradcliError if it raised."""
        backs, self.trace = read.reading.backwards, read.reading.trace
        self._check_outcome(read.reading.outcome, bool(backs))
        back, problem = self._posed(backs or [self._value(read)])
        shapes = dict(self.request.get("shapes") or {})
        shapes |= self._random(read, problem)
        values = {n: self._exact(n, v) for n, v in problem.values.items() if n not in shapes}
        result = {
            "expr": problem.text,
            "shapes": shapes,
            "values": values,
            "wrt": self.wrt or problem.wrt,
            "leaves": tuple({**problem.leaves, **dict.fromkeys(problem.wrt)}),
            "notes": _notes(read, back, problem) if backs else (),
        }
        if problem.seed is not None and self.request.get("grad", "") is None:
            result["grad"] = problem.seed
        return self.request | result

    def _check_outcome(self, outcome: "Outcome", has_backward: bool) -> None:
        """Raise GradcliError for a program that did not end, is not supported, or raised; an
        unknown name is ignored after a call of backward().
        """
        if outcome.exhausted is not None:
            line, what = outcome.exhausted.line, outcome.exhausted.what
            raise GradcliError("limit", f"line {line}: {what}", span=self._span(line))
        refusal = outcome.unsupported
        if refusal is not None:
            message = f"line {refusal.line}: gradcli does not support {refusal.what}"
            raise GradcliError("unsupported", message, hint=READ, span=self._span(refusal.line))
        failure = outcome.exception
        if failure is not None and failure.message == NO_WAY:
            self._refuse_without_leaf(failure.line)
        if failure is not None and not (failure.type == "NameError" and has_backward):
            message = f"line {failure.line}: PyTorch raises {failure.type}: {failure.message}"
            hint = "gradcli read FILE explains why, and what to change"
            raise GradcliError("raises", message, hint=hint, span=self._span(failure.line))

    def _random(self, read: "Read", problem: "BackwardProblem") -> dict[str, Any]:
        """The shapes of inputs drawn without a seed: a second run gives them other values."""
        if not read.reading.trace.unseeded:
            return {}
        again = self._run(start=1)
        backs = again.reading.backwards
        posed = if_applicable(lambda: self._posed(backs or [self._value(again)]))
        if posed is None:
            return {}
        other = posed[1].values
        floats = {n: v for n, v in problem.values.items() if v.dtype.kind == "f"}
        return {
            n: v.shape
            for n, v in floats.items()
            if n in other and not np.array_equal(v, other[n], equal_nan=True)
        }

    def _exact(self, name: str, value: Any) -> Any:
        """The value as the user typed it, if the program only rounded it to float32."""
        given = self.values.get(name)
        if given is None or given.shape != value.shape or not np.allclose(given, value, 1e-6):
            return value
        return given

    def _posed(self, backs: "list[Backward]") -> "tuple[Backward, BackwardProblem]":
        """The last backward pass that involves the names in `wrt`, and its problem."""
        from .problems import Unexplained, pose_backward

        errors: list[GradcliError] = []
        for back in reversed(backs):
            try:
                problem = pose_backward(back, self.wrt)
                if not self.wrt:
                    self._check_leaves(back, problem)
                return back, problem
            except Unexplained as reason:
                message = f"no formula for this gradient: {reason}"
                span = self._span(back.line)
                raise GradcliError("unsupported", message, hint=READ, span=span) from None
            except GradcliError as error:
                errors.append(error)
        raise errors[0]

    def _check_leaves(self, back: "Backward", problem: "BackwardProblem") -> None:
        """Refuse a program in which no variable refers to a leaf any more."""
        leaves = problem.leaves.items()
        if back.wanted is not None or not leaves:
            return
        if any(t in back.paths or back.bound.get(n) is t for n, t in leaves):
            return
        lost = next((n for _, t in leaves if (n := back.called.get(t)) in back.bound), None)
        computed = (n for n, t in back.bound.items() if readable(t) and t.record is not None)
        name = lost or next(computed, problem.wrt[0])
        if lost:
            message = f"{name} is assigned again, and is no longer a leaf"
            hint = "give the computed tensor another name: h = ..., and use h instead of "
            hint += f"{name} from there on"
        else:
            message = f"{name} is computed from a tensor that requires a gradient, so it is no leaf"
            hint = f"leave out requires_grad=True, and call {name}.requires_grad_() afterwards"
        message += f": PyTorch leaves {name}.grad at None"
        lines = [a.line for a in self.trace.assignments if a.name == name]
        raise GradcliError(
            "not-differentiable", message, hint=hint, span=self._span(max(lines, default=back.line))
        )

    def _value(self, read: "Read") -> "Backward":
        """The last value of the program, as if backward() were called on it."""
        from ..snippets.eager.tensor import Tensor
        from .inserted import LAST

        value = read.reading.outcome.scope.get(LAST)
        line = len(self.text.splitlines())
        if not isinstance(value, Tensor):
            message, hint = "the last statement must be one tensor", "or call backward() on one"
            raise GradcliError("arguments", message, hint=hint, span=self._span(line))
        if not value.requires_grad:
            self._refuse_without_leaf(line)
        return read.reading.trace.backward_from(line, "value", [value], [], None)

    def _refuse_without_leaf(self, line: int) -> NoReturn:
        """Refuse an output that depends on no tensor that requires a gradient."""
        message = "the output depends on no tensor that requires a gradient"
        hint = f"write requires_grad=True where an input is created\nPyTorch: {NO_WAY}"
        raise GradcliError("not-differentiable", message, hint=hint, span=self._span(line))

    def _span(self, line: int) -> Span | None:
        """The span of a line; None in a program of one line."""
        lines = self.text.splitlines(keepends=True)
        if len(lines) < 2 or not 0 < line <= len(lines):
            return None
        start = sum(map(len, lines[: line - 1]))
        bare = lines[line - 1].strip()
        start += lines[line - 1].index(bare)
        return Span(self.text, start, start + len(bare))


def _changed_later(back: "Backward", problem: "BackwardProblem") -> Iterator[str]:
    """The names of leaves whose final `.grad` is not the old one plus this gradient."""
    for name, tensor in problem.leaves.items():
        result, before = back.results.get(tensor), back.before.get(tensor)
        if result is not None:
            left = result if before is None else before + result
            if tensor.grad is None or tensor.grad.data.tolist() != left.tolist():
                yield name


def _notes(
    read: "Read", back: "Backward", problem: "BackwardProblem"
) -> tuple[tuple[str, str], ...]:
    """Codes and sentences on parts of a program that an answer omits."""
    backs, source = read.reading.backwards, read.reading.source
    results = []
    had = [n for n, t in problem.leaves.items() if back.before.get(t) is not None]
    if len(backs) > 1:
        text = f"the program runs backward {len(backs)} times; this is line {back.line}'s gradient"
        added = (
            f", which PyTorch adds to the earlier value of {', '.join(f'{n}.grad' for n in had)}"
        )
        results.append(("several-backward-passes", f"{text}{added if had else ''}. {READ}."))
    if back.kind == "backward" and back is backs[-1] and not re.search(ZEROED, source):
        for name in _changed_later(back, problem):
            text = f"this is the gradient of backward(); the program changes {name}.grad later."
            results.append(("after-backward", text))
    retained = {n for t, n in back.names.items() if t.retains_grad}
    for name in sorted(retained):
        text = f"{name}.grad is retained too, and is not shown: ask for it by -w {name}."
        results.append(("retain-grad", text))
    if re.search(r"materialize_grads\s*=\s*True", source) and any(
        r is None for r in back.results.values()
    ):
        text = "materialize_grads=True replaces a gradient of None by zeros; here it stays None"
        results.append(("materialized", f"{text}, because a gradient can also be zero."))
    failure = read.reading.outcome.exception
    if failure is not None:
        text = f"the program stops at line {failure.line}, after backward(): {failure.message}."
        results.append(("after-backward", text))
    return tuple(results)
