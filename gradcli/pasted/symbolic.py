"""Programs with undefined names as texts of gradcli's expression language: the names are inputs.

Statements whose names are all defined are run; those that depend on an input are copied. A call
that computes a gradient, such as `y.backward(v)`, determines the output, the seed and the inputs in
`wrt`.
"""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..errors import EXPRESSION, GradcliError
from ..language.syntax import Source
from ..snippets.eager.tensor import Tensor
from ..snippets.python.machine import executed
from ..snippets.python.values import MISSING
from ..snippets.reading import USUAL, counting_operations, machine
from ..snippets.source import programs, tree_of

SEEDS = ("grad_tensors", "grad_outputs", "gradient")
OUTPUTS = ("tensors", "outputs")
# statements that the expression language does not have
FOREIGN = (ast.For, ast.While, ast.If, ast.FunctionDef, ast.ClassDef, ast.AugAssign)
TRANSFORMS = re.compile(r"\b((?:autograd\.functional|torch\.func)\.\w+)\(")
OF_PYTHON = re.compile(r"(?<![.\w])((sum|max|min|round|float|int|abs)\(|math\.)")
MARKS = ("requires_grad_", "requires_grad")


class Call(NamedTuple):
    """A statement that computes a gradient: source nodes of the output, the seed and the inputs in
    `wrt`; None if missing.
    """

    statement: ast.stmt
    output: ast.expr
    seed: ast.expr | None
    wrt: ast.expr | None


def single_program(text: str) -> str | None:
    """The programs in a text as one, with line numbers kept; None if it is not Python."""
    lines: list[str] = []
    for program in programs(text):
        own = program.source.split("\n")
        lines += [""] * (len(own) - len(lines))
        lines[: len(own)] = [a or b for a, b in zip(own, lines)]
    source = "\n".join(lines)
    return None if tree_of(source) is None else source


def refuse_transforms(text: str) -> None:
    """Refuse functions that differentiate a function, such as torch.func.grad."""
    if transform := TRANSFORMS.search(text):
        message = f"{transform[1]} takes a function, which is not differentiated here"
        hint = 'use the command for it: gradcli jacobian "x ** 2", hessian, jvp'
        raise GradcliError("not-differentiable", message, hint=hint)


def undefined(source: str) -> set[str]:
    """The undefined names on which a program's first backward pass depends."""
    tree = ast.parse(source)
    if any(isinstance(s, ast.ImportFrom) and s.names[0].name == "*" for s in ast.walk(tree)):
        return set()
    call = next(_calls(tree.body), None)
    body = tree.body if call is None else tree.body[: tree.body.index(call.statement) + 1]
    loaded: set[str] = set()
    bound = {*dir(builtins), *USUAL, "Variable", "__name__", "__file__"}
    for n in (n for s in body for n in ast.walk(s)):
        if isinstance(n, ast.Name):
            (loaded if isinstance(n.ctx, ast.Load) else bound).add(n.id)
        elif isinstance(n, ast.FunctionDef | ast.ClassDef):
            bound.add(n.name)
        elif isinstance(n, ast.arg):
            bound.add(n.arg)
        elif isinstance(n, ast.alias):
            bound.add((n.asname or n.name).partition(".")[0])
        elif isinstance(n, ast.ExceptHandler) and n.name:
            bound.add(n.name)
    return loaded - bound


def is_text(source: str) -> bool:
    """Whether the expression language has the statements before a program's backward pass."""
    body = ast.parse(source).body
    call = next(_calls(body), None)
    body = body if call is None else body[: body.index(call.statement)]
    return not any(isinstance(n, FOREIGN) or _changes(n) for s in body for n in ast.walk(s))


def in_language(request: dict[str, Any], source: str) -> dict[str, Any]:
    """The request with the program's expression, values, seed and `wrt`. Raises GradcliError."""
    reader = _Symbolic(source)
    reader.read()
    if not reader.leaves and reader.call is None:
        return request | {"expr": reader.whole()}
    return reader.request(request)


class _Symbolic:
    """The statements of a program that are not run, the arrays of its inputs, and its leaves."""

    def __init__(self, source: str):
        self.source = Source(source, EXPRESSION)
        self.m = machine(source, imports=True)[0]
        self.body = ast.parse(source).body
        self.left: list[str] = []
        self.values: dict[str, Any] = {}
        self.leaves: dict[str, None] = {}
        calls = list(_calls(self.body))
        if len(calls) > 1:
            text = "backward() is called more than once, and gradients add up from call to call"
            hint = "paste one call at a time; or give every input a value: the program is then run"
            raise self._error("unsupported", text, hint, calls[1].statement)
        self.call = calls[0] if calls else None
        if self.call is not None and self.call.statement is self.body[0]:
            self._require_expression(self.call)

    def _require_expression(self, call: "Call") -> None:
        """Raise GradcliError if a program is a backward pass from a name that nothing computes."""
        if isinstance(call.output, ast.Name):
            name = call.output.id
            text = f"backward() is called on {name}, which the program does not compute"
            hint = f"paste the lines before it too, or type what {name} is: (x * x).sum()"
            raise self._error("unknown-name", text, hint, call.statement)

    def read(self) -> None:
        """Process the statements before the one that computes a gradient."""
        for statement in self.body:
            if self.call is not None and statement is self.call.statement:
                return
            self._statement(statement)

    def whole(self) -> str:
        """All statements as source text."""
        return self._as_program([self._segment(s) for s in self.body])

    def request(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request of the program."""
        text = self._text()
        chosen, shapes = dict(request.get("values") or {}), request.get("shapes") or {}
        known = _names(ast.parse(text)) | self.leaves.keys()
        values = {n: v for n, v in self.values.items() if n in known and n not in shapes}
        result: dict[str, Any] = {"expr": text, "values": values | chosen}
        result["leaves"] = tuple(n for n in self.leaves if n in values)
        result["wrt"] = request.get("wrt") or self._wrt() or tuple(self.leaves)
        if request.get("grad", "") is None and self.call is not None and self.call.seed is not None:
            result["grad"] = self._seed(self.call.seed)
        return request | result

    # ---- statements ------------------------------------------------------------------------------

    def _statement(self, statement: ast.stmt) -> None:
        """Run a statement, or copy it to the text if it does not run; an assignment of a computed
        value is both run and copied.
        """
        marked = _marked(statement)
        if marked is not None and marked not in self.m.globals:
            self.leaves[marked] = None
            return
        ran = self._runs(statement)
        names = list(_names_stored(statement))
        if isinstance(statement, ast.Import | ast.ImportFrom) or not ran:
            self.left.append(self._segment(statement))
        if not ran:
            for name in names:
                self.m.globals.pop(name, None)
            return
        if marked is not None:
            names = [marked]
        tensors = {n: v for n in names if isinstance(v := self.m.globals.get(n), Tensor)}
        for name, tensor in tensors.items():
            if tensor.record is None:
                from .problems import in_decimals

                self.values[name] = in_decimals(tensor.data)
                (self.leaves.setdefault if tensor.requires_grad else self.leaves.pop)(name, None)
        computed = any(t.record is not None for t in tensors.values())
        if isinstance(statement, ast.Assign) and (computed or not tensors):
            self.left.append(self._segment(statement))

    def _runs(self, statement: ast.stmt) -> bool:
        """Run a statement if all of its names are defined, and return whether it was run. Raises
        GradcliError `raises`.
        """
        with counting_operations(self.m):
            outcome = executed(self.m, ast.Module([statement], []), echo="")
        failure = outcome.exception
        if failure is not None and failure.type != "NameError":
            text = f"PyTorch raises {failure.type}: {failure.message}"
            raise self._error("raises", text, "gradcli read explains why", statement)
        return not (failure or outcome.unsupported or outcome.exhausted)

    def _segment(self, node: ast.AST) -> str:
        return self.source.segment(node)

    def _error(self, code: str, message: str, hint: str, node: ast.AST) -> GradcliError:
        return GradcliError(code, message, hint=hint, span=self.source.span(node))

    # ---- the gradient that is computed -----------------------------------------------------------

    def _text(self) -> str:
        """The statements that were kept; the last one computes the output."""
        left = list(self.left)
        if self.call is not None:
            output = self._segment(self.call.output)
            if isinstance(self.call.output, ast.Name):
                last = ast.parse(left[-1]).body[-1] if left else None
                if output not in (_names_stored(last) if last else ()):
                    left.append(f"{output} = {output}")
            else:
                left.append(f"({output})" if "\n" in output else output)
        return self._as_program(left)

    def _as_program(self, statements: Sequence[str]) -> str:
        """Statements as one text. After `import torch`, which is added if they call functions such
        as sum() or math.exp(), these are Python's and not the language's.
        """
        text = "\n".join(statements)
        imports = any(s.startswith(("import ", "from ")) for s in statements)
        return text if imports or not OF_PYTHON.search(text) else f"import torch\n{text}"

    def _seed(self, seed: ast.expr) -> Any:
        """The seed as an array; as source text if it depends on an input."""
        if isinstance(seed, ast.Constant) and seed.value is None:
            return None
        name = ast.Assign([ast.Name("_", ast.Store())], seed)
        ran = self._runs(ast.fix_missing_locations(ast.copy_location(name, seed)))
        value = self.m.globals.get("_", MISSING) if ran else MISSING
        if value is MISSING:
            return self._segment(seed)
        if not isinstance(value, Tensor):
            text = "PyTorch requires a tensor here, not a number or a list"
            raise self._error("arguments", text, f"write torch.tensor({ast.unparse(seed)})", seed)
        from .problems import in_decimals

        return in_decimals(value.data)

    def _wrt(self) -> tuple[str, ...]:
        """The names of the inputs that the call differentiates with respect to."""
        wrt = None if self.call is None else self.call.wrt
        if wrt is None:
            return ()
        parts = wrt.elts if isinstance(wrt, ast.List | ast.Tuple) else [wrt]
        for part in parts:
            if not isinstance(part, ast.Name):
                text = "the inputs of a gradient must be names here"
                hint = "give it a name before the output is computed from it: h = ..."
                raise self._error("unsupported", text, hint, part)
        return tuple(p.id for p in parts if isinstance(p, ast.Name))


# ---- syntax --------------------------------------------------------------------------------------


def _calls(body: Sequence[ast.stmt]) -> Iterator[Call]:
    """The top-level statements that compute a gradient."""
    for statement in body:
        value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
        if isinstance(value, ast.Subscript):
            value = value.value
        if isinstance(value, ast.Call) and (call := _asking(statement, value)):
            yield call


def _asking(statement: ast.stmt, e: ast.Call) -> Call | None:
    """The call of backward or grad as a Call; None for other calls."""
    path = ast.unparse(e.func)
    called = path.rpartition(".")[2]
    of_module = path in ("torch.autograd.backward", "autograd.backward")
    is_grad = path in ("torch.autograd.grad", "autograd.grad")
    if called != "backward" and not is_grad:
        return None
    args, named = list(e.args), {k.arg: k.value for k in e.keywords}
    if of_module or is_grad:
        output = args.pop(0) if args else next((named[n] for n in OUTPUTS if n in named), None)
    elif isinstance(e.func, ast.Attribute) and isinstance(statement, ast.Expr):
        output = e.func.value
    else:
        return None
    wrt = args.pop(0) if is_grad and args else named.get("inputs")
    seed = args[0] if args else next((named[n] for n in SEEDS if n in named), None)
    if output is None or (is_grad and wrt is None):
        return None
    return Call(statement, _only(output), seed and _only(seed), wrt)


def _only(e: ast.expr) -> ast.expr:
    """The only tensor of a list of tensors."""
    alone = isinstance(e, ast.List | ast.Tuple) and len(e.elts) == 1
    return e.elts[0] if alone and not isinstance(e.elts[0], ast.Constant) else e  # type: ignore


def _marked(statement: ast.stmt) -> str | None:
    """The name x in `x.requires_grad_()` or `x.requires_grad = True`; None for others."""
    if isinstance(statement, ast.Assign):
        target: ast.AST = statement.targets[0]
        on = isinstance(statement.value, ast.Constant) and statement.value.value is True
    else:
        value = statement.value if isinstance(statement, ast.Expr) else None
        target = value.func if isinstance(value, ast.Call) else statement
        on = True
    if on and isinstance(target, ast.Attribute) and target.attr in MARKS:
        return target.value.id if isinstance(target.value, ast.Name) else None
    return None


def _changes(n: ast.AST) -> bool:
    """Whether a node changes a tensor in place: `x[0] = y`, `x.add_(y)`."""
    if isinstance(n, ast.Subscript | ast.Attribute) and isinstance(n.ctx, ast.Store):
        return not isinstance(n, ast.Attribute) or n.attr not in MARKS
    called = n.func.attr if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) else ""
    return called.endswith("_") and called not in (*MARKS, "ix_")


def _names_stored(statement: ast.AST) -> set[str]:
    names = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(n.ctx, ast.Store)}


def _names(tree: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
