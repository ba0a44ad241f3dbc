"""Resolution of the names by which a program calls functions of libraries.

Names are defined by imports, or by assigning functions and modules of `nn`. The resulting
statements have full names of libraries.
"""

import ast
import math
from collections.abc import Iterable
from typing import NamedTuple, TypeGuard

from ...operators import lookup
from ..syntax import (
    Transformer,
    arguments_of,
    bound,
    called_name,
    dotted,
    is_false,
    is_true,
    keyword,
    name_of,
    path,
    placed_at,
    target,
    unplaced,
)
from ..vocabulary import (
    MAKER_KINDS,
    OF_TORCH,
    PYTHON,
    function_of_module,
    is_library_constant,
    library_name,
    module_of,
)

ROOTS = {"torch", "nn", "F", "math"}
KNOWN = {"torch", "numpy", "math", "jax", "scipy", "autograd"}
SEQUENTIAL = "Sequential"
MODES = {"eval", "train"}
PLAIN_NORMS = {"LayerNorm", "RMSNorm"}  # without parameters if AFFINE is False
AFFINE = "elementwise_affine"
TRAINING = "training"  # the keyword for a module's mode in its function
STARTS = {"Flatten": ("start_dim", 1)}  # defaults of modules that differ from their functions


def in_full(body: Iterable[ast.stmt], of_python: bool) -> list[ast.stmt]:
    """The statements without imports, with full names of functions. `of_python`: names such as
    `sum` are Python's builtins unless something else is imported under them.
    """
    names = _Imports(of_python)
    return [s for s in map(names.statement, body) if s is not None]


class _Imports(Transformer):
    def __init__(self, of_python: bool):
        self.of_python = of_python
        self.means: dict[str, str | ast.expr] = {}

    def statement(self, s: ast.stmt) -> ast.stmt | None:
        """The statement with full names; None if it only names a function."""
        if isinstance(s, ast.Import):
            self.means |= {
                a.asname: a.name for a in s.names if a.asname and _is_known_module(a.name)
            }
            return None
        if isinstance(s, ast.ImportFrom):
            self._import_from(s)
            return None
        if self._sets_mode(s):
            return None
        s = self.visit(s)
        name = target(s)
        for other in bound(s) if self.means else ():
            self.means.pop(other, None)
        if name is None or not isinstance(s, ast.Assign):
            return s
        if (dotted(getattr(s.value, "func", s)) or "").startswith(("torch.optim.", "optim.")):
            return None
        if not _is_function(s.value):
            return s
        self.means[name] = s.value
        return None

    def _sets_mode(self, s: ast.stmt) -> bool:
        """Whether a statement is `m.eval()` or `m.train()`; sets the mode of the module."""
        setting = _setting(s.value) if isinstance(s, ast.Expr) else None
        name = name_of(setting.module) if setting else None
        if setting is None or name is None:
            return False
        built = self.means.get(name)
        if isinstance(built, ast.Call):
            self.means[name] = _in_mode(built, setting.training)
        return True

    def _import_from(self, s: ast.ImportFrom) -> None:
        if not _is_known_module(s.module or ""):
            return
        for a in s.names:
            if a.name != "*":
                self.means[a.asname or a.name] = f"{s.module}.{a.name}"
            elif s.module == "math":
                self.means |= {n: f"math.{n}" for n in dir(math) if not n.startswith("_")}
            elif s.module == "torch":
                self.of_python = False

    def visit_Name(self, e: ast.Name) -> ast.expr:
        meaning = self.means.get(e.id)
        if meaning is None or not isinstance(e.ctx, ast.Load):
            return e
        return placed_at(path(meaning) if isinstance(meaning, str) else unplaced(meaning), e)

    def visit_IfExp(self, e: ast.IfExp) -> ast.expr:
        """The branch that is taken if there is no GPU."""
        if any(getattr(n, "attr", None) == "is_available" for n in ast.walk(e.test)):
            return self.visit(e.orelse)
        return self.generic_visit(e)  # type: ignore[return-value]

    def visit_Call(self, e: ast.Call) -> ast.expr:
        bare = e.func.id if isinstance(e.func, ast.Name) else None
        if self.of_python and bare in PYTHON and bare not in self.means:
            e.func = placed_at(path(f"builtins.{bare}"), e.func)
        self.generic_visit(e)
        called = dotted(e.func) or ""
        if called == "torch.device" and e.args:
            return e.args[0]
        if self.of_python and called.startswith("math."):  # it computes with numbers, not tensors
            e.args = [self._number(a) for a in e.args]
        setting = _setting(e)
        if setting and _is_module(setting.module):
            return _in_mode(setting.module, setting.training)
        if isinstance(e.func, ast.Call) and _function_inside(e.func):
            return placed_at(_through(e.func, e.args, e.keywords), e)
        return e

    def _number(self, e: ast.expr) -> ast.expr:
        if isinstance(e, ast.Constant):
            return e
        return placed_at(ast.Call(path("builtins.float"), [e], []), e)


def _is_known_module(module: str) -> bool:
    return module.split(".")[0] in KNOWN


def _is_function(value: ast.expr) -> bool:
    """Whether a value is a function of a library, or a module of nn without parameters."""
    if isinstance(value, ast.Call):
        return _function_inside(value) is not None
    words = dotted(value) or ""
    elsewhere = library_name(words)
    if elsewhere is not None:
        return not is_library_constant(elsewhere)
    module = module_of(words)
    if module is None or words == module or words.split(".")[0] not in ROOTS:
        return False
    rest = words[len(module) + 1 :]
    return len(rest) > 1 and (lookup(rest) is not None or rest in MAKER_KINDS)


def _through(module: ast.Call, args: list[ast.expr], keywords: list[ast.keyword]) -> ast.expr:
    """The call of the function of a module; for a Sequential, nested calls."""
    inside = _function_inside(module)
    if inside == SEQUENTIAL:
        for inner in module.args:
            assert isinstance(inner, ast.Call)
            args, keywords = [_through(inner, args, keywords)], []
        return args[0]
    func = placed_at(path(f"{'torch' if inside in OF_TORCH else 'F'}.{inside}"), module)
    if inside == "clone":  # Identity ignores its arguments
        return ast.Call(func, args, keywords)
    module_keywords = [k for k in module.keywords if k.arg != AFFINE]
    if _is_dropout(module):
        module_keywords += [ast.keyword("inplace", a) for a in module.args[1:]]
        module = placed_at(ast.Call(module.func, module.args[:1], []), module)
    name, start = STARTS.get(called_name(module) or "", ("", None))
    if name and not module.args and not keyword(module, name):
        module_keywords.append(ast.keyword(name, ast.Constant(start)))
    arguments = list(map(_as_shape, module.args)) if _is_plain_norm(module) else module.args
    return ast.Call(func, [*args, *arguments], [*module_keywords, *keywords])


def _is_plain_norm(e: ast.Call) -> bool:
    """Whether it is nn.LayerNorm(shape, elementwise_affine=False), which has no parameters."""
    keywords = {k.arg: k.value for k in e.keywords}
    plain = AFFINE in keywords and is_false(keywords[AFFINE]) and keywords.keys() <= {AFFINE, "eps"}
    return plain and len(e.args) == 1 and called_name(e) in PLAIN_NORMS


def _as_shape(e: ast.expr) -> ast.expr:
    """A number as a tuple of one."""
    return placed_at(ast.Tuple([e], ast.Load()), e) if isinstance(e, ast.Constant) else e


def _function_inside(e: ast.Call) -> str | None:
    """The function that a module such as nn.MSELoss() calls; SEQUENTIAL for a Sequential of
    them.
    """
    if not (dotted(e.func) or "").startswith(("torch.nn.", "nn.")):
        return None
    name = called_name(e) or ""
    if name == SEQUENTIAL:
        inside = [isinstance(m, ast.Call) and _function_inside(m) for m in e.args]
        return SEQUENTIAL if e.args and not e.keywords and all(inside) else None
    return function_of_module(name, without_parameters=not (_is_plain_norm(e) or _is_dropout(e)))


def _is_module(e: ast.AST) -> TypeGuard[ast.Call]:
    """Whether an expression constructs a module of nn."""
    name = dotted(e.func) or "" if isinstance(e, ast.Call) else ""
    return name.startswith(("torch.nn.", "nn.")) and name.rpartition(".")[2][:1].isupper()


def _is_dropout(e: ast.AST) -> bool:
    return _is_module(e) and "Dropout" in (called_name(e) or "")


class _Setting(NamedTuple):
    """A module, and whether it is set to train."""

    module: ast.expr
    training: bool


def _setting(e: ast.expr) -> _Setting | None:
    """The module and the mode that `m.train()`, `m.train(False)` or `m.eval()` sets; or None."""
    if not isinstance(e, ast.Call) or not isinstance(e.func, ast.Attribute):
        return None
    arguments = arguments_of(e)
    if e.func.attr not in MODES or not all(is_true(a) or is_false(a) for a in arguments):
        return None
    return _Setting(e.func.value, e.func.attr == "train" and all(map(is_true, arguments)))


def _in_mode(module: ast.Call, training: bool) -> ast.Call:
    """A module in a mode; among modules without parameters, it matters for dropout only."""
    if called_name(module) == SEQUENTIAL:
        inner = [_in_mode(m, training) if _is_module(m) else m for m in module.args]
        return placed_at(ast.Call(module.func, inner, module.keywords), module)
    if not _is_dropout(module):
        return module
    keywords = [k for k in module.keywords if k.arg != TRAINING]
    keywords.append(ast.keyword(TRAINING, ast.Constant(training)))
    return placed_at(ast.Call(module.func, module.args, keywords), module)
