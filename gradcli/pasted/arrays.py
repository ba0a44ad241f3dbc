"""Programs of NumPy and JAX as texts of gradcli's expression language. They have no backward(); an
array literal, `x = np.array([1.0, 2.0])`, becomes an input with these values.
"""

import ast
from collections import Counter
from typing import Any

LIBRARIES = {"numpy", "jax", "scipy", "autograd"}
MAKERS = {"array", "asarray"}
OF_PYTORCH = {"torch", "backward", "requires_grad", "requires_grad_"}


def is_of_arrays(source: str) -> bool:
    """Whether a program imports NumPy, SciPy, JAX or autograd, and uses nothing of PyTorch."""
    modules, names = set[str](), set[str]()
    for e in ast.walk(ast.parse(source)):
        match e:
            case ast.Import(names=aliases):
                modules |= {a.name.partition(".")[0] for a in aliases}
            case ast.ImportFrom(module=str(name)):
                modules.add(name.partition(".")[0])
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                names.add(name)
    return bool(modules & LIBRARIES) and OF_PYTORCH.isdisjoint(modules | names)


def in_language(request: dict[str, Any], source: str) -> dict[str, Any]:
    """The request with the program's array literals as values of its inputs; values in the request
    take precedence.
    """
    body = ast.parse(source).body
    stored = Counter(
        e.id
        for e in ast.walk(ast.Module(body, []))
        if isinstance(e, ast.Name) and isinstance(e.ctx, ast.Store)
    )
    written = {s: _written(s) for s in body}
    inputs = {s: m for s, m in written.items() if m is not None and stored[m[0]] == 1}
    if not inputs:
        return request
    rest = [s for s in body if s not in inputs]
    values = dict(inputs.values()) | dict(request.get("values") or {})
    return request | {"expr": ast.unparse(ast.Module(rest, [])), "values": values}


def _written(s: ast.stmt) -> tuple[str, Any] | None:
    """The name and the numbers of `x = np.array([1.0, 2.0])`; None for other statements."""
    if not isinstance(s, ast.Assign) or not isinstance(s.value, ast.Call):
        return None
    target, call = s.targets[0], s.value
    is_maker = (
        isinstance(call.func, ast.Attribute) and call.func.attr in MAKERS and len(call.args) == 1
    )
    if not is_maker or call.keywords or not isinstance(target, ast.Name) or len(s.targets) > 1:
        return None
    try:
        return target.id, ast.literal_eval(call.args[0])
    except ValueError:
        return None
