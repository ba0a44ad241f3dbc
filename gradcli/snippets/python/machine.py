"""The interpreter of pasted programs: compiles their syntax tree to closures, and runs these.

A program cannot leave the interpreter: its values have only the attributes in this package's
tables, and Python itself never executes its text.
"""

import ast
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from .attributes import PROGRAM, Attributes
from .budget import NESTED, Budget
from .builtins import BUILTINS
from .calls import Calls
from .methods import PLAIN_CLASSES, update
from .objects import PLAIN, Function
from .operations import Operations, plain
from .scopes import Scope, size
from .statements import Statements
from .texts import Texts
from .values import (
    EXCEPTIONS,
    MISSING,
    OBJECT,
    Absent,
    Builtin,
    Class,
    ClassMethod,
    Exhausted,
    Instance,
    Module,
    Raised,
    Static,
    Unsupported,
    UnsupportedModule,
    error,
)

# largest depth of Python's own stack: a call of the program takes about twenty frames
HOST_DEPTH = 60_000
OUTPUT = 5_000_000  # largest number of characters that a program may print
WARNING_MESSAGE = Class("WarningMessage", module="warnings")
Observer = Callable[[str, Any, int], None]


class Failure(NamedTuple):
    """An exception that ended a program, or one input of an interactive session. `line` is the
    innermost line of the program in its traceback.
    """

    type: str
    message: str
    line: int
    value: Instance | None = None
    lines: tuple[int, ...] = ()  # lines of the traceback, innermost first
    names: Mapping[str, Any] = {}  # local variables of the function that raised it


class Warned(NamedTuple):
    """A warning of a program."""

    category: str
    message: str
    line: int


class Refusal(NamedTuple):
    """What the interpreter does not support, and the line at which it stopped the program."""

    what: str
    line: int

    @property
    def reason(self) -> str:
        """A sentence for the user, without the period."""
        return f"{self.what} is not supported"


SHORTER = {  # how to stay within each budget; no option increases them
    "time": "fewer iterations of its loops, or smaller tensors",
    "steps": "fewer iterations of its loops",
    "memory": "smaller values",
    "depth": "calls that are nested less deeply",
    "output": "printing less",
}


class Spent(NamedTuple):
    """The budget that was used up, and what the program `does`, at the line where it stopped."""

    kind: str
    does: str
    line: int

    @property
    def what(self) -> str:
        """The budget and its use, as a clause."""
        return f"the program was stopped: it {self.does}; try {SHORTER[self.kind]}"

    @property
    def reason(self) -> str:
        """A sentence for the user, without the period."""
        return self.what.capitalize()


class Outcome(NamedTuple):
    """The result of running a program.

    A session continues after an error: `exception` is the first exception, and `later` has the
    others. `scope` (the global names) and `printed` are those at the first exception, or at the
    end.
    """

    stdout: str
    exception: Failure | None
    warnings: list[Warned]
    unsupported: Refusal | None
    scope: dict[str, Any]
    exhausted: Spent | None = None
    stderr: str = ""
    later: Sequence[Failure] = ()
    printed: str = ""  # stdout up to the end, or up to the first exception

    @property
    def errors(self) -> list[Failure]:
        """All exceptions, in the order in which they were raised."""
        return [] if self.exception is None else [self.exception, *self.later]


class Interpreter(Operations, Texts, Attributes, Calls):
    """The interpreter; its base classes implement calls, attributes, operators and texts."""

    def __init__(
        self,
        modules: Callable[[str], Module | None] = lambda name: None,
        builtins: Mapping[str, Any] | None = None,
        budget: Budget | None = None,
        on_assign: Observer | None = None,
        on_print: Callable[[int, str], None] | None = None,
    ):
        self.modules, self.builtins = modules, {**BUILTINS, **(builtins or {})}
        self.budget = budget or Budget()
        self.on_assign, self.on_print = on_assign, on_print
        self.on_answer: Callable[[int, str], None] | None = None
        self.on_error: Callable[[], None] = lambda: None  # called at the first error of a session
        self.line = self.outer = self.depth = self.nested = self.left = 0
        self.loops = 0  # nesting depth of running loops that may never end
        self.globals: dict[str, Any] = {}
        self.printed: list[str] = []
        self.errors: list[str] = []
        self.characters = 0
        self.output: Any = None  # the file that print() writes to, if not stdout
        self.warned: list[Warned] = []
        self.filters: list[tuple[str, Class | None]] = []  # warning filters, newest first
        self.recording: list[list[Any]] = []  # lists of active warnings.catch_warnings(record=True)
        self.handled: list[Instance] = []  # exceptions that are being handled
        self.writing: list[int] = []
        self.overlays: dict[int, tuple[Module, dict[str, Any]]] = {}
        self.identities: dict[int, tuple[int, Any]] = {}
        self.imported: dict[str, Module] = {}
        self.stars: list[Module] = []  # modules imported by `*`, last first

    @property
    def place(self) -> int:
        """The current line of the program; inside a library, the line that called it."""
        return self.line or self.outer

    # ---- budget, output, warnings ----------------------------------------------------------------

    def refill(self) -> None:
        """Add slices from the budget to `left` until it is not negative."""
        while self.left < 0:
            self.left += self.budget.refill(self.loops > 0 or self.depth > NESTED)

    def spend(self, steps: int = 1, memory: int = 0) -> None:
        """Count steps and bytes against the budget. Raises Exhausted if it is used up."""
        if memory:
            self.budget.spend_memory(memory)
            steps += memory >> 11  # allocating 2 kB takes as long as a step
        self.left -= steps
        if self.left < 0:
            self.refill()

    def write(self, text: str) -> None:
        """Write to the program's stdout."""
        self.characters += len(text)
        if self.characters > OUTPUT:
            raise Exhausted("output", f"prints more than the {OUTPUT:,} characters allowed")
        self.printed.append(text)
        if self.on_print is not None:
            self.on_print(self.place, text)

    def write_error(self, text: str) -> None:
        """Write to the program's stderr."""
        self.characters += len(text)
        if self.characters > OUTPUT:
            raise Exhausted("output", f"prints more than the {OUTPUT:,} characters allowed")
        self.errors.append(text)

    def warn(self, category: Class, message: str, once: bool = False) -> None:
        """Issue a warning, unless filtered: once for each line, or `once` in a program."""
        if once and any(w.message == message for w in self.warned):
            return
        action = next(
            (a for a, cls in self.filters if cls is None or category.derives_from(cls)), "default"
        )
        if action == "ignore":
            return
        if action == "error":
            raise error(category, message)
        if self.recording:
            caught = Instance(WARNING_MESSAGE)
            text = Instance(category, payload=(message,))
            caught.fields.update(message=text, category=category, lineno=self.place)
            self.recording[-1].append(caught)
            return
        warned = Warned(category.name, message, self.place)
        if action == "always" or warned not in self.warned:
            self.warned.append(warned)

    # ---- values ----------------------------------------------------------------------------------

    def class_of(self, value: Any) -> Class:
        """The class of any value."""
        cls = PLAIN_CLASSES.get(type(value))
        return value.cls if cls is None else cls

    def identity(self, value: Any) -> int:
        """The result of id(): unique for each value, and the same in every run."""
        if id(value) not in self.identities:
            number = 0x7F0000000000 + 0x30 * (len(self.identities) + 1)
            self.identities[id(value)] = (number, value)
        return self.identities[id(value)][0]

    def is_mapping(self, value: Any) -> bool:
        """Whether a value can be unpacked by `**`."""
        host = plain(value)
        return type(host) is dict or (type(host) not in PLAIN and self.has(host, "keys"))

    def update(self, target: dict, values: Any) -> None:
        """Add the items of a mapping to a dict."""
        update(self, target, values)

    def call_name(self, function: Any) -> str:
        """The name of a called function in Python's messages, such as __main__.f."""
        if isinstance(function, Function):
            return f"{PROGRAM}.{function.code.qualname}"
        return self.method_name(function)

    # ---- exceptions ------------------------------------------------------------------------------

    def is_exception(self, value: Any) -> bool:
        """Whether a value can be raised."""
        return isinstance(value, Instance) and value.cls.derives_from(EXCEPTIONS["BaseException"])

    def raising(self, value: Instance) -> Raised:
        """A Raised for an exception of the program; with its traceback if it was raised before."""
        raised = Raised(value)
        raised.lines = value.fields.get("__traceback__", [])
        return raised

    def caught(self, raised: Raised) -> Instance:
        """The exception of a Raised, for its handler; its traceback is stored in the exception."""
        if not raised.lines:
            raised.lines.append(self.line)
        raised.value.fields["__traceback__"] = raised.lines
        return raised.value

    def entered(self, context: Any) -> tuple[Any, Any]:
        """Enter a context manager. Returns its `__exit__`, and the result of its `__enter__`."""
        enter, leave = self.special(context, "__enter__"), self.special(context, "__exit__")
        for method, more in ((enter, ""), (leave, " (missed __exit__ method)")):
            if method is MISSING:
                text = f"'{self.type_name(context)}' object does not support the context manager "
                raise error("TypeError", f"{text}protocol{more}")
        return leave, self.call(enter, (context,))

    def left_by(self, leave: Any, context: Any, raised: Raised) -> bool:
        """Leave a context manager with an exception; returns whether it is suppressed."""
        line, value = self.line, self.caught(raised)
        swallowed = self.truth(self.call(leave, (context, value.cls, value, None)))
        if not swallowed:
            self.line = line
        return swallowed

    # ---- modules and classes ---------------------------------------------------------------------

    def module(self, name: str) -> Module:
        """The module of an import statement."""
        if name not in self.imported:
            module = self.modules(name)
            if module is None:
                raise Unsupported(f"the module {name}")
            self.imported[name] = module
        return self.imported[name]

    def starred(self, name: str) -> Any:
        """A name that `from module import *` imports; MISSING if no such module has it."""
        result = (m.lookup(name) for m in self.stars if not name.startswith("_"))
        return next((value for value in result if value is not MISSING), MISSING)

    def member(self, module: Module, name: str) -> Any:
        """A name imported by `from module import name`."""
        try:
            value = self.of_module(module, name)
        except Unsupported as e:
            inner = self.modules(f"{module.name}.{name}")
            if inner is None or isinstance(inner, UnsupportedModule):
                return Absent(e.what)
            return inner
        if value is MISSING:
            inner = self.modules(f"{module.name}.{name}")
            if inner is None:
                text = f"cannot import name '{name}' from '{module.name}' (unknown location)"
                raise error("ImportError", text)
            return inner
        return value

    def in_body(self, body: Callable[[dict], Any], frame: dict) -> None:
        """Run the body of a class statement in `frame`."""
        line = self.line
        self.depth += 1
        try:
            body(frame)
        except Raised as e:
            e.lines.append(self.line)
            raise
        finally:
            self.depth -= 1
            self.line = line

    def make_class(
        self, name: str, bases: list[Any], members: dict, named: dict[str, Any], doc: str | None
    ) -> Class:
        """The class that a class statement defines."""
        meta = named.pop("metaclass", None)
        if isinstance(meta, Class) and {"__call__", "__new__", "__init__"} & meta.members.keys():
            raise Unsupported(f"the metaclass {meta.name}")
        parents = [b for b in bases if b is not OBJECT]
        for base in parents:
            if not isinstance(base, Class):
                raise Unsupported(f"the base class {self.text(base)}")
            if base.name in ("bool", "NoneType", "range", "slice") and not base.module:
                text = f"type '{base.name}' is not an acceptable base type"
                raise error("TypeError", text)
        members = {k: Static(v) if type(v) is Builtin else v for k, v in members.items()}
        for method in ("__init_subclass__", "__class_getitem__"):
            if isinstance(members.get(method), Function):
                members[method] = ClassMethod(members[method])
        if isinstance(members.get("__new__"), Function):
            members["__new__"] = Static(members["__new__"])
        if doc is not None:
            members["__doc__"] = doc
        try:
            cls = Class(name, tuple(parents), members, module=PROGRAM)
        except TypeError as e:
            shown = ", ".join(b.name for b in parents)
            raise error("TypeError", f"{e} for bases {shown}") from None
        if any(base.name == "ABC" for base in cls.mro):
            cls.cache["abstract"] = True
        for key, member in list(members.items()):
            if isinstance(member, Instance) and member.cls.lookup("__set_name__") is not MISSING:
                self.call(member.cls.lookup("__set_name__"), (member, cls, key))
        for base in cls.mro[1:]:
            if "__init_subclass__" in base.members:
                self.call(base.members["__init_subclass__"], (cls,), named)
                break
        return cls


def run(
    source: str,
    modules: Callable[[str], Module | None] = lambda name: None,
    builtins: Mapping[str, Any] | None = None,
    budget: Budget | None = None,
    *,
    echo: str = "",
    on_assign: Observer | None = None,
    on_print: Callable[[int, str], None] | None = None,
) -> Outcome:
    """Run a program.

    With `echo`, the value of the last expression is printed as in a session, and the values of
    earlier ones are passed to `on_answer`: "all" of them, or with "cells" the last one of each
    notebook cell.
    """
    return run_on(Interpreter(modules, builtins, budget, on_assign, on_print), source, echo)


def run_on(
    m: Interpreter,
    source: str,
    echo: str = "",
    change: Callable[[ast.Module], ast.Module] | None = None,
) -> Outcome:
    """Run a program on a new interpreter `m`; `change` transforms the syntax tree before."""
    try:
        tree = parsed(source)
    except (SyntaxError, ValueError) as e:
        failure = Failure(type(e).__name__, getattr(e, "msg", str(e)), getattr(e, "lineno", 1) or 1)
        return Outcome("", failure, [], None, {})
    except (RecursionError, MemoryError):
        return Outcome(
            "", None, [], None, {}, Spent("depth", "is nested deeper than is allowed", 1)
        )
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, HOST_DEPTH))
    try:
        return executed(m, change(tree) if change else tree, echo)
    finally:
        sys.setrecursionlimit(limit)


def parsed(source: str) -> ast.Module:
    """The syntax tree of a program. Raises the SyntaxErrors that Python raises: the program is also
    compiled, but never executed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source, "<program>")
        compile(source, "<program>", "exec", dont_inherit=True)
    return tree


def executed(m: Interpreter, tree: ast.Module, echo: str) -> Outcome:
    """Run a syntax tree; exceptions are part of the outcome."""
    errors: list[Failure] = []
    refusal = exhausted = at_first = None
    try:
        for failure in execute(m, tree, echo):
            if at_first is None:
                at_first = visible(m), "".join(m.printed)
                m.on_error()
            errors.append(failure)
    except Unsupported as e:
        refusal = Refusal(e.what, e.line or m.place)
    except Exhausted as e:
        exhausted = Spent(e.kind, e.does, m.place)
    except RecursionError:
        exhausted = Spent("depth", "nests calls deeper than is allowed", m.place)
    except MemoryError:
        exhausted = Spent("memory", "makes a value that is too large", m.place)
    except Exception as e:
        refusal = Refusal(f"this program ({type(e).__name__}: {e})", m.place)
    stdout, stderr = "".join(m.printed), "".join(m.errors)
    scope, printed = at_first or (visible(m), stdout)
    first = errors[0] if errors else None
    return Outcome(stdout, first, m.warned, refusal, scope, exhausted, stderr, errors[1:], printed)


def visible(m: Interpreter) -> dict[str, Any]:
    """The program's global names and their values."""
    return {k: v for k, v in m.globals.items() if isinstance(k, str)}


def execute(m: Interpreter, tree: ast.Module, echo: str) -> Iterator[Failure]:
    """Run the statements of a program. Yields the exceptions that end its inputs: one at most, but
    in a session one for each input.
    """
    compiler = Statements(m, Scope("module"))
    for statements in inputs(tree.body, echo):
        try:
            for node in statements:
                m.spend(1 + size(node) // 50)
                if not isinstance(node, ast.Expr) or not echo:
                    compiler.statement(node)(m.globals)
                elif node is tree.body[-1]:
                    shown(m, valued(m, compiler, node))
                else:
                    value = valued(m, compiler, node)
                    if echo == "all" or node is statements[-1]:
                        answer(m, value)
        except Raised as e:
            failure = failed(m, e)
            if failure is None:
                return
            yield failure


def inputs(body: Sequence[ast.stmt], echo: str) -> Iterator[list[ast.stmt]]:
    """The statements of each input: the whole program; in a session a line or compound statement;
    in a notebook a cell, which ends with an empty line.
    """
    result: list[ast.stmt] = []
    for node in body:
        end = (result[-1].end_lineno or result[-1].lineno) if result else math.inf
        if echo and node.lineno > end + (echo == "cells"):
            yield result
            result = []
        result.append(node)
    yield result


def shown(m: Interpreter, value: Any) -> None:
    """Print the value of the last expression of a session."""
    if value is not None:
        m.write(m.repr(value) + "\n")


def valued(m: Interpreter, compiler: Statements, node: ast.Expr) -> Any:
    """The value of an expression statement."""
    compiler.place(node)
    m.line = node.lineno
    return compiler.expression(node.value)(m.globals)


def answer(m: Interpreter, value: Any) -> None:
    """Pass repr(value) to `on_answer`, if that is set."""
    if value is None or m.on_answer is None:
        return
    with suppress(Raised, Unsupported):
        m.on_answer(m.place, m.repr(value) + "\n")


def failed(m: Interpreter, raised: Raised) -> Failure | None:
    """The Failure for an exception that ended a program; None for a SystemExit with status 0."""
    value = raised.value
    line = next((n for n in raised.lines if n), m.place)
    if value.cls.derives_from(EXCEPTIONS["SystemExit"]) and (
        not value.payload or value.payload[0] in (None, 0)
    ):
        return None
    try:
        message = m.text(value)
    except (Raised, Unsupported, Exhausted):
        message = "<exception str() failed>"
    lines = tuple(n for n in raised.lines if n) or (line,)
    names = {k: v for k, v in (raised.frame or {}).items() if isinstance(k, str)}
    return Failure(value.cls.name, message, line, value, lines, names)
