"""The scope of each name, decided before a program runs, as in Python."""

import ast
from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BINDING = (
    *(ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler),
    *(ast.Import, ast.ImportFrom, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
)  # kinds of nodes that may bind a name


class Scope:
    """The body of a module, function, comprehension or class, or the "cell" in which methods find
    `__class__`.

    At run time, a scope is a dict, called a frame; `frame[0]` is the frame of `parent`.
    """

    def __init__(self, kind: str, parent: "Scope | None" = None, qualname: str = ""):
        self.kind, self.parent, self.qualname = kind, parent, qualname
        self.names: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.first: str | None = None  # the first parameter, for super() without arguments

    def resolve(self, name: str) -> tuple[str, int]:
        """Where a name is stored: ("local", 0), ("up", n) for n frames up, or ("global", 0)."""
        if self.kind == "module" or name in self.globals:
            return "global", 0
        if name in self.names and name not in self.nonlocals:
            return "local", 0
        depth, scope = 1, self.parent
        while scope is not None and scope.kind != "module":
            if scope.kind != "class":
                if name in scope.globals:
                    return "global", 0
                if name in scope.names and name not in scope.nonlocals:
                    return "up", depth
            depth, scope = depth + 1, scope.parent
        return "global", 0

    def inner_name(self, name: str) -> str:
        """The `__qualname__` of a function or class that is defined in this scope."""
        if self.kind == "module" or name in self.globals:
            return name
        inside = "" if self.kind == "class" else ".<locals>"
        return f"{self.qualname}{inside}.{name}"

    def function(self) -> "Scope":
        """The nearest scope that is no comprehension, where `:=` in one binds its name."""
        scope: Scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope


class Bindings(NamedTuple):
    """The names that a statement binds in its scope, and those it declares global or nonlocal."""

    names: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]


def stored_on_node(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """Cache the results of a function on the syntax nodes themselves, as every interpreter compiles
    the same statements of a library.
    """
    attribute = f"_{function.__name__}"

    @wraps(function)
    def wrapper(node: Any) -> T:
        try:
            return getattr(node, attribute)
        except AttributeError:
            result = function(node)
            setattr(node, attribute, result)
            return result

    return wrapper


def bind(scope: Scope, nodes: Iterable[ast.AST]) -> None:
    """Add the names that the statements bind to a scope."""
    for names, of_module, outer in map(bindings, nodes):
        scope.names |= names
        scope.globals |= of_module
        scope.nonlocals |= outer


@stored_on_node
def bindings(node: ast.AST) -> Bindings:
    """The names that a statement or target binds in its scope, without those of inner scopes."""
    inner = own_nodes(node)
    return Bindings(
        frozenset(name for n in inner if isinstance(n, BINDING) for name in bound(n)),
        frozenset(name for n in inner if isinstance(n, ast.Global) for name in n.names),
        frozenset(name for n in inner if isinstance(n, ast.Nonlocal) for name in n.names),
    )


def bound(node: ast.AST) -> Iterable[str]:
    """The names that a node itself binds, without those that its children bind."""
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()):
            return (node.id,)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (node.name,)
        case ast.ExceptHandler(name=str(name)):
            return (name,)
        case ast.Import() | ast.ImportFrom():
            return [a.asname or a.name.partition(".")[0] for a in node.names]
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return (name,)
        case ast.MatchMapping(rest=str(name)):
            return (name,)
    return ()


def own_nodes(node: ast.AST) -> list[ast.AST]:
    """A node and its descendants, except those in inner scopes, in no particular order."""
    nodes = [node]
    for n in nodes:
        if isinstance(n, FUNCTIONS):
            nodes += [*n.args.defaults, *(d for d in n.args.kw_defaults if d)]
            nodes += getattr(n, "decorator_list", [])
        elif isinstance(n, ast.ClassDef):
            nodes += [*n.decorator_list, *n.bases, *(k.value for k in n.keywords)]
        elif isinstance(n, COMPREHENSIONS):
            nodes += [n.generators[0].iter, *walruses(n)]
        else:
            nodes += children(n)
    return nodes


def children(node: ast.AST) -> list[ast.AST]:
    """The same as `ast.iter_child_nodes`, without contexts and operators, in less time."""
    result = list[ast.AST]()
    for name in _fields(type(node)):  # type: ignore[arg-type]
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            result.append(value)
        elif isinstance(value, list):
            result += [v for v in value if isinstance(v, ast.AST)]
    return result


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a class of syntax nodes, without contexts and operators."""
    return tuple(name for name in kind._fields if name not in ("ctx", "op", "ops"))


@stored_on_node
def size(node: ast.AST) -> int:
    """The number of expressions and statements in a syntax tree."""
    nodes = [node]
    for n in nodes:
        nodes += children(n)
    return sum(isinstance(n, ast.expr | ast.stmt) for n in nodes)


def walruses(comprehension: ast.AST) -> list[ast.expr]:
    """The targets of `:=` in a comprehension, which belong to the enclosing scope."""
    return [n.target for n in ast.walk(comprehension) if isinstance(n, ast.NamedExpr)]


@stored_on_node
def yields(node: ast.AST) -> bool:
    """Whether a statement contains a yield that belongs to the enclosing function."""
    return any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(node))
