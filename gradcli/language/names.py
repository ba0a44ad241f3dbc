"""The names of a program: which are inputs, and which are functions and constants."""

import ast
from collections.abc import Collection

from ..errors import GradcliError
from ..sized_cache import sized_cache
from .foreign import DERIVATIVE
from .libraries import only_of_tensors
from .program import Program
from .syntax import arguments_of, dotted
from .vocabulary import (
    CONSTANTS,
    DTYPES,
    LAYOUTS,
    is_library_constant,
    is_of_module,
    library_name,
    module_of,
    name_in_module,
)
from .vocabulary import LIBRARIES as PREFIXES

BARE_CONSTANTS = {"pi", "inf", "nan", "Ellipsis"}
# As in x.to(float), and after `from torch import float64`; `half` or `long` may be inputs.
BARE_DTYPES = {"float", "int", "bool", *(name for name in DTYPES if name[-1].isdigit())}
BARE = BARE_CONSTANTS | BARE_DTYPES
WORDS = {"true": "True", "false": "False", "none": "None", "null": "None"}
TORCH = {"torch", "F", "nn", "linalg", "special", "fft"}
LIBRARIES = {"numpy", "jax", "scipy", "torch"}


def library_path(node: ast.expr, user_names: Collection[str], called: bool) -> str | None:
    """The name of a library's function, constant or dtype that `node` spells.

    PyTorch's names are returned without their module, names of other libraries with it.
    `user_names` are the names of the user: `F.T` is a transpose if F is an input.
    """
    path = dotted(node)
    if path is None or "." not in path or path.split(".")[0] in user_names:
        return None
    elsewhere = library_name(path)
    if elsewhere is not None:
        return elsewhere if called or is_library_constant(elsewhere) else None
    module = module_of(path)
    if path == module:  # torch.Tensor is called as a function too
        module = path.rsplit(".", 1)[0]
    rest = path[len(module) + 1 :] if module else ""
    is_name = called or rest in CONSTANTS or rest in DTYPES or rest in LAYOUTS
    if not rest or "." in rest or not is_name:
        return None
    return name_in_module(rest, module) if called and module else rest


@sized_cache(1_000_000, lambda _, program, *__: len(program.source.text))
def libraries_of(program: Program) -> frozenset[str]:
    """The libraries whose functions a program calls with a prefix: numpy, jax, scipy, torch.

    If there are none, those that it imports, unless it imports PyTorch. In a program with methods
    that only tensors have, a call with numbers only, such as np.sqrt(2), does not count.
    """
    calls = [e for e in program.syntax if isinstance(e, ast.Call)]
    if any(_is_method_of_tensors(e) for e in calls):
        calls = [e for e in calls if not _is_of_numbers(e)]
    paths = [path for e in calls if "." in (path := dotted(e.func) or "")]
    roots = [(library_name(path) or path).split(".")[0] for path in paths]
    called = frozenset("torch" if root in TORCH else root for root in roots) & LIBRARIES
    imported = {"numpy" if name == "autograd" else name for name in program.imported} & LIBRARIES
    return called or frozenset(() if "torch" in imported else imported)


def _is_method_of_tensors(e: ast.Call) -> bool:
    if not isinstance(e.func, ast.Attribute) or library_name(dotted(e.func) or "") is not None:
        return False
    return only_of_tensors(e.func.attr)


def _is_of_numbers(e: ast.Call) -> bool:
    """Whether a library's function is called with literal numbers only."""
    if library_name(dotted(e.func) or "") is None:
        return False
    parts = [n for a in arguments_of(e) for n in ast.walk(a)]
    names = {n.id for n in parts if isinstance(n, ast.Name)}
    return names <= PREFIXES.keys() and not any(isinstance(n, ast.List) for n in parts)


def uses_constants(program: Program) -> bool:
    """Whether a program uses a constant of NumPy or JAX, such as np.pi."""
    paths = (dotted(e) or "" for e in program.syntax if isinstance(e, ast.Attribute))
    return any(is_library_constant(name) for p in paths if (name := library_name(p)))


@sized_cache(1_000_000, lambda _, program, *__: len(program.source.text))
def free_names(program: Program, inputs: tuple[str, ...]) -> tuple[str, ...]:
    """The names that are used before they are assigned, in order of appearance. `inputs` are the
    names with a shape or a value, which are inputs even if they are also names of constants.
    """
    result: dict[str, None] = {}
    bound: set[str] = set()
    user_names = set(inputs)
    for value, assigned in zip(program.values, program.assigned):
        names = _loaded(value, user_names)
        names.sort(key=lambda n: (n.lineno, n.col_offset))
        for n in names:
            if n.id not in bound and (n.id not in BARE or n.id in inputs):
                result[n.id] = None
                user_names.add(n.id)
        bound.update(assigned)
        user_names.update(assigned)
    return tuple(result)


def _loaded(root: ast.expr, user_names: Collection[str]) -> list[ast.Name]:
    """The names in an expression that denote values."""
    names: list[ast.Name] = []
    stack: list[ast.AST] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.BinOp):
            stack += (node.left, node.right)
        elif isinstance(node, ast.Call):
            stack += arguments_of(node)
            if isinstance(node.func, ast.Name):
                names += [node.func] if node.func.id in user_names else []
            elif library_path(node.func, user_names, called=True) is None:
                f = node.func
                stack.append(f.value if isinstance(f, ast.Attribute) else f)
        elif isinstance(node, ast.Attribute):
            library = library_path(node, user_names, called=False) or is_of_module(node, user_names)
            if not library:
                stack.append(node.value)
        elif isinstance(node, ast.Name):
            names.append(node)
        elif not isinstance(node, ast.Constant):
            children = ast.iter_child_nodes(node)
            stack += (c for c in children if isinstance(c, ast.expr | ast.comprehension))
    return names


def check_words(program: Program, inputs: Collection[str], shaped: Collection[str]) -> None:
    """Raise GradcliError `unknown-name` for `keepdim=true`, unless `true` is an input."""
    words = {name for name in WORDS if name in inputs and name not in shaped}
    for e in program.syntax if words else ():
        if isinstance(e, ast.Name) and e.id in words:
            message = f"there is no {e.id}"
            hint = f"did you mean {WORDS[e.id]}? or give an input of this name a shape: -s {e.id}=2"
            raise GradcliError("unknown-name", message, span=program.source.span(e), hint=hint)


def check_derivative(program: Program, inputs: Collection[str], shaped: Collection[str]) -> None:
    """Raise GradcliError `syntax` for `y = x ** 2; dy/dx`, unless dy and dx are `shaped` inputs."""
    e = program.result
    if not isinstance(e, ast.BinOp) or not isinstance(e.op, ast.Div):
        return
    sides = [side.id for side in (e.left, e.right) if isinstance(side, ast.Name)]
    plain = [
        name.removeprefix("d") for name in sides if name not in shaped and name.startswith("d")
    ]
    named = {name for names in program.assigned[:-1] for name in names}
    if len(plain) == 2 and plain[0] in named and plain[1] in {*inputs, *named}:
        hint = f"leave {'/'.join(sides)} out: the last expression is differentiated"
        raise GradcliError("syntax", DERIVATIVE, span=program.source.span(e), hint=hint)
