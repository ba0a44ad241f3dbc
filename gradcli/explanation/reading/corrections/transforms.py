"""Cures of torch.func and torch.autograd.functional, and of gradcheck."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal, cures
from .cut_steps import uncut
from .cuts import requiring
from .dtypes import floating_creation
from .functions import as_function, functions, returns, uses_ctx
from .numbers import where_of_branches, where_of_expressions
from .text import Edit, dotted, keyword, method


@cures(
    r"grad_and_value\(f\)\(\*args\): Expected f\(\*args\) to return a scalar Tensor, got tensor|"
    r"The Tensor returned by the function given to hessian should contain a single element",
    "The gradient is that of a single number; the function gives several.",
)
def scalar_function(case: Case) -> Iterator[Proposal]:
    """The sum of what the function gives; else the Jacobian."""
    for value in results(case):
        yield case.appended(value, ".sum()")
    for node in case.attributes("grad"):
        yield case.renamed_to(node, "jacrev")


def results(case: Case) -> list[ast.expr]:
    """What the functions give that are transformed on the line that raises."""
    result: list[ast.expr] = []
    named = case.functions
    names = [n.id for n in case.nodes if isinstance(n, ast.Name)]
    for name in list(names):
        for s in case.assignments(name):
            value = getattr(s, "value", None)
            if value is not None:
                names += [n.id for n in ast.walk(value) if isinstance(n, ast.Name)]
                result += [n.body for n in ast.walk(value) if isinstance(n, ast.Lambda)]
    result += [n.body for n in case.nodes if isinstance(n, ast.Lambda)]
    for name in dict.fromkeys(names):
        if name in named:
            result += [r.value for r in returns(named[name]) if r.value is not None]
    return list(dict.fromkeys(result))


@cures(
    r"grad_and_value\(f\)\(\*args\): Expected f\(\*args\) to return a Tensor, got|"
    r"The outputs of the user-provided function given to \w+ must be either a Tensor|"
    r"vjp\(f, \*primals\): expected f\(\*primals\) to return only tensors|"
    r"vmap\(.*\): `.*` must only return Tensors, got type|"
    r"Expected all outputs of .* to be Tensors",
    "The function must give tensors: numbers and lists have no gradient.",
)
def function_gives(case: Case) -> Iterator[Proposal]:
    """The tensor itself."""
    for value in results(case):
        for n in ast.walk(value):
            if isinstance(n, ast.Call) and method(n) in ("item", "tolist", "numpy"):
                yield case.proposal(case.without_method(n))
            if isinstance(n, ast.Call) and dotted(n.func) == "float" and n.args:
                yield case.replaced(n, case.text.of(n.args[0]))
        if isinstance(value, ast.List):
            inner = ", ".join(case.text.of(e) for e in value.elts)
            yield case.replaced(value, f"({inner})")
        if isinstance(value, ast.Tuple):
            for call in case.calls("grad"):
                yield case.proposal(case.with_keyword(call, "has_aux", "True"))
            yield case.replaced(value, case.text.of(value.elts[0]))
        if isinstance(value, ast.Constant):
            yield case.replaced(value, f"torch.tensor({case.text.of(value)})")


@cures(
    r"Thing passed to transform API must be Tensor, got|"
    r"The inputs given to \w+ must be either a Tensor or a tuple of Tensors|"
    r"vmap\(.*\)\(<inputs>\): Got in_dim=",
    "A transform of a function takes tensors.",
)
def takes_tensors(case: Case) -> Iterator[Proposal]:
    """Numbers as tensors, lists as tuples; the function first."""
    for call in case.calls("jacobian", "hessian", "vjp", "jvp", "hvp"):
        if "function" in case.failure.message and len(call.args) >= 2:
            why = "The function comes first, and then its inputs."
            yield case.exchanged(*call.args[:2], why=why)
    for node in case.calls():
        edits: list[tuple[ast.expr, str, str]] = []
        for a in node.args:
            number = case.value(a)
            if isinstance(number, int | float):
                constant = isinstance(a, ast.Constant)
                value = f"{float(number)}" if constant else f"float({case.text.of(a)})"
                edits.append((a, f"torch.tensor({value})", f"torch.tensor([{value}])"))
            elif isinstance(a, ast.List):
                inner = ", ".join(case.text.of(e) for e in a.elts)
                comma = "," if len(a.elts) == 1 else ""
                text = case.text.of(a)
                edits.append((a, f"({inner}{comma})", f"torch.tensor({text})"))
        if edits:
            yield case.proposal(*[case.text.replacing(a, new) for a, new, _ in edits])
            yield case.proposal(*[case.text.replacing(a, new) for a, _, new in edits])


@cures(
    r"You are attempting to call Tensor.requires_grad_\(\) .*inside of a function",
    "A transform decides itself what is differentiated.",
)
def flag_in_transform(case: Case) -> Iterator[Proposal]:
    """Without it."""
    for statement in case.statements:
        for node in ast.walk(statement):
            if method(node) == "requires_grad_" and isinstance(node, ast.Call):
                if isinstance(statement, ast.Expr) and statement.value is node:
                    yield case.proposal(case.text.removing(statement))
                else:
                    yield case.proposal(case.without_method(node))


@cures(
    r"backward\(\) called inside a functorch transform",
    "Within torch.func a gradient is what torch.func.grad gives.",
)
def backward_in_transform(case: Case) -> Iterator[Proposal]:
    """torch.func.grad; or the value alone, which the transform outside differentiates."""
    for call in case.calls("backward"):
        statement = case.text.statement(call)
        yield case.proposal(
            case.text.removing(statement), note="The transform around it goes back itself."
        )


@cures(
    r"vmap: It looks like you're (either \(1\) )?(calling .item\(\)|attempting to use a Tensor in "
    r"some data-dependent control flow)",
    "vmap runs the function once for all samples: no single sample's number can be asked for.",
)
def vmap_branches(case: Case) -> Iterator[Proposal]:
    """torch.where for a branch, the tensor for its item()."""
    for node in case.nodes:
        if isinstance(node, ast.Call) and method(node) == "item":
            yield case.proposal(case.without_method(node))
        if isinstance(node, ast.Call) and dotted(node.func) in ("float", "int") and node.args:
            yield case.replaced(node, case.text.of(node.args[0]))
    yield from where_of_expressions(case)
    for statement in case.statements:
        if isinstance(statement, ast.If):
            yield from where_of_branches(case, statement)
        for outer in case.text.around(statement):
            if isinstance(outer, ast.If):
                yield from where_of_branches(case, outer)


@cures(
    r"vmap: called random operation while in randomness error mode",
    "Whether each sample has random numbers of its own is for the program to say.",
)
def vmap_random(case: Case) -> Iterator[Proposal]:
    """randomness="different"."""
    for node in case.calls("vmap", everywhere=True):
        yield case.proposal(case.with_keyword(node, "randomness", '"different"'))


@cures(
    r"vmap: inplace arithmetic\(self, \*extra_args\) is not possible",
    "A tensor made within the function has one sample's shape; what is written has all samples'.",
)
def vmap_in_place(case: Case) -> Iterator[Proposal]:
    """A new tensor from the argument: x.new_zeros... or a stack."""
    for function in case.of_type(ast.FunctionDef, everywhere=True):
        writes = [
            s
            for s in function.body
            if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Subscript)
        ]
        for w in writes:
            target = w.targets[0]
            assert isinstance(target, ast.Subscript)
            name = dotted(target.value)
            for made in function.body:
                if isinstance(made, ast.Assign) and dotted(made.targets[0]) == name:
                    new = f"{case.text.operand(made.value)} + 0 * {case.text.operand(w.value)}"
                    yield case.replaced(made.value, new)


@cures(
    r"vmap: Expected all tensors to have the same size in the mapped dimension",
    "The mapped dimension is the batch: all arguments have one of the same size.",
)
def vmap_sizes(case: Case) -> Iterator[Proposal]:
    """One of the arguments not mapped."""
    for node in case.calls("vmap", everywhere=True):
        outer = case.text.parents.get(node)
        count = len(outer.args) if isinstance(outer, ast.Call) else 2
        ranks = [
            t.ndim if (t := case.tensor(a)) is not None else 0
            for a in (outer.args if isinstance(outer, ast.Call) else [])
        ] or [0] * count
        for k in sorted(range(count), key=lambda k: (ranks[k], -k)):
            dims = ", ".join("None" if j == k else "0" for j in range(count))
            yield case.proposal(case.with_keyword(node, "in_dims", f"({dims})"))
            ones = ", ".join("1" if j == k else "0" for j in range(count))
            yield case.proposal(case.with_keyword(node, "in_dims", f"({ones})"))
        yield case.proposal(case.with_keyword(node, "in_dims", "1"))


@cures(
    r"jvp\(f, primals, tangents\): Expected (primals|tangents) to be a tuple",
    "Primals and tangents are tuples, even of one tensor.",
)
def jvp_tuples(case: Case) -> Iterator[Proposal]:
    """(x,), (v,)."""
    for call in case.calls("jvp"):
        edits = [
            case.text.replacing(a, f"({case.text.of(a)},)")
            for a in call.args[1:3]
            if not isinstance(a, ast.Tuple)
        ]
        yield from case.together(edits)


@cures(
    r"Trying to set a forward gradient that has a different size|v has invalid size|"
    r"The vector v can only be None if|v is a tuple of invalid length",
    "The vector has a number for each element: it needs the shape of what it stands beside.",
)
def direction(case: Case) -> Iterator[Proposal]:
    """Ones in that shape."""
    for call in case.calls("jvp", "vjp", "hvp", "vhp", "make_dual"):
        of_input = method(call) in ("jvp", "hvp", "vhp")
        place = 0 if method(call) == "make_dual" else 1
        if len(call.args) <= place:
            continue
        x = call.args[place]
        if method(call) == "make_dual" and len(call.args) > 1:
            yield case.replaced(call.args[1], f"torch.ones_like({case.text.of(x)})")
        if of_input and isinstance(x, ast.Tuple):
            ones = ", ".join(f"torch.ones_like({case.text.of(e)})" for e in x.elts)
            new = f"({ones},)" if len(x.elts) == 1 else f"({ones})"
        elif of_input:
            new = f"torch.ones_like({case.text.of(x)})"
        else:
            function = case.text.operand(call.args[0])
            new = f"torch.ones_like({function}({case.text.of(x)}))"
            output = [v for v in results(case) if isinstance(v, ast.Tuple)]
            if output:
                count = len(output[0].elts)
                value = case.text.of(call.args[2]) if len(call.args) > 2 else new
                both = f"({', '.join([value] * count)})"
                if len(call.args) > 2:
                    yield case.replaced(call.args[2], both)
        if len(call.args) > 2:
            yield case.replaced(call.args[2], new)
        elif keyword(call, "v"):
            yield case.proposal(case.with_keyword(call, "v", new))
        else:
            yield case.proposal(case.with_argument(call, f"v={new}"))


@cures(
    r"Expected pytree structure of cotangents to be the same",
    "Each output needs a cotangent, in the same tuple.",
)
def cotangents(case: Case) -> Iterator[Proposal]:
    """A tuple."""
    for node in case.calls():
        if len(node.args) == 1:
            text = case.text.of(node.args[0])
            for value in results(case):
                if isinstance(value, ast.Tuple):
                    inner = ", ".join([text] * len(value.elts))
                    yield case.replaced(node.args[0], f"({inner})")
            yield case.replaced(node.args[0], f"({text}, {text})")
            yield case.replaced(node.args[0], f"({text},)")


@cures(r"Trying to create a dual Tensor for forward AD but no level", "Duals live within a level.")
def level(case: Case) -> Iterator[Proposal]:
    """with dual_level()."""
    for call in case.calls("make_dual"):
        module = dotted(call.func).rpartition(".")[0]
        block = case.text.blocks[case.statement]
        rest = block[block.index(case.statement) :]
        yield case.proposal(case.text.wrapping(rest, f"with {module}.dual_level():"))


@cures(
    r"Expected primal to be floating point or complex|"
    r"only Tensors of floating point",
    "Integers have no derivative.",
)
def dual_of_integer(case: Case) -> Iterator[Proposal]:
    """Floats."""

    for call in case.calls("make_dual"):
        edits = [case.text.appending(a, ".float()") for a in call.args]
        yield case.proposal(*edits)
    yield from floating_creation(case, case.nodes)


@cures(r"Got argnum=(\d+), but only (\d+) positional inputs", "Arguments are counted from 0.")
def argnum(case: Case) -> Iterator[Proposal]:
    """The last argument there is."""
    for node in case.calls(everywhere=True):
        if named := keyword(node, "argnums"):
            yield case.replaced(named.value, str(int(case.match[2]) - 1))


@cures(
    r"Output (\d+) of the user-provided function (is independent of input|does not require grad)|"
    r"While computing the hessian, found that the jacobian",
    "strict=True refuses a derivative that is 0 because nothing depends on the input.",
)
def strict(case: Case) -> Iterator[Proposal]:
    """What cuts the graph in the function; else without strict: zeros."""
    named = {n.id for n in case.nodes if isinstance(n, ast.Name)}
    bodies: list[ast.AST] = [
        n for n in case.all_nodes if isinstance(n, ast.FunctionDef) and n.name in named
    ]
    nodes = [n for b in [*bodies, *results(case)] for n in ast.walk(b)]
    steps = [s for n in nodes if (s := uncut(case, n)) is not None]
    edits = list(dict.fromkeys(s.edit for s in steps))
    why = " ".join(dict.fromkeys(s.why for s in steps))
    for chosen in [[e] for e in edits] + ([edits] if len(edits) > 1 else []):
        yield case.proposal(*chosen, why=why)
    for node in case.calls():
        edit = case.without_keyword(node, "strict")
        if edit:
            yield case.proposal(edit, note="The derivative is then 0 there.")


@cures(
    r"gradcheck expects at least one input tensor to require gradient",
    "gradcheck compares gradients: an input must require one.",
)
def gradcheck_inputs(case: Case) -> Iterator[Proposal]:
    """requires_grad=True, in float64."""

    for call in case.calls("gradcheck", "gradgradcheck"):
        for a in call.args[1:2]:
            items = a.elts if isinstance(a, ast.Tuple | ast.List) else [a]
            edits = [
                case.text.appending(i, ".double().requires_grad_()")
                for i in items
                if not isinstance(i, ast.Constant)
            ]
            yield case.proposal(*edits)
            named = [e for i in items if (e := requiring(case, dotted(i)))]
            yield from case.together(named)


@cures(
    r"Jacobian mismatch for output (\d+) with respect to input (\d+)",
    "The backward that is written is not the derivative of the forward, or the numbers are too "
    "coarse: gradcheck needs float64.",
)
def mismatch(case: Case) -> Iterator[Proposal]:
    """float64; else PyTorch's own derivative of forward."""
    for call in case.calls("gradcheck"):
        for a in call.args[1:2]:
            items = a.elts if isinstance(a, ast.Tuple | ast.List) else [a]
            edits = [
                case.text.appending(i, ".double().detach().requires_grad_()")
                for i in items
                if (t := case.tensor(i)) is None or t.dtype.name != "float64"
            ]
            yield from case.together(edits)
    for backward in functions(case, "backward"):
        yield from differentiated(case, backward)


def differentiated(case: Case, backward: ast.FunctionDef) -> Iterator[Proposal]:
    """A wrong factor in a backward of one product: the power rule, 2 for the square."""
    for node in returns(backward):
        value = node.value
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
            saved = [
                dotted(t)
                for s in ast.walk(backward)
                if isinstance(s, ast.Assign) and "saved_tensors" in case.text.of(s.value)
                for x in s.targets
                for t in getattr(x, "elts", [x])
            ]
            for x in ast.walk(value):
                if isinstance(x, ast.Name) and x.id in saved:
                    for power in (2, 3):
                        yield case.replaced(x, f"{x.id} ** {power}")
            for n in saved:
                for factor in (2, 3):
                    at = case.text.end(value)
                    yield case.proposal(Edit(at, at, f" * {factor} * {n}"))
            for text in ("2 * ", "3 * ", "0.5 * ", "-1 * "):
                at = case.text.start(value)
                yield case.proposal(Edit(at, at, text))
        if value is not None:
            yield case.replaced(value, f"-({case.text.of(value)})")
    for forward in functions(case, "forward"):
        cls = case.text.parents[forward]
        if isinstance(cls, ast.ClassDef) and not uses_ctx(forward):
            yield from as_function(case, cls, forward)
