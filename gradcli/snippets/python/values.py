"""Values of a program, and the classes that say what they can do.

Python's plain values (None, bool, int, float, complex, str, bytes, list, tuple, dict, set,
frozenset, range, slice, Ellipsis) stand for themselves. Everything else is an `Object`, whose `cls`
is a `Class` of the program: a table of members. A program reaches these tables and nothing of the
host: no attribute of a host object is ever read because a program names it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol


class Machine(Protocol):
    """What the members of a class may ask of the machine that runs the program."""

    line: int  # of the text, counted from 1, where the program stands; 0 within a library
    place: int  # the same; within a library, the line of the text that called it

    def call(self, function: Any, args: Iterable[Any] = (), named: Mapping[str, Any] = {}) -> Any:
        """What a value of the program gives when it is called."""

    def get(self, value: Any, name: str) -> Any:
        """An attribute; raises the program's AttributeError where there is none."""

    def set(self, value: Any, name: str, to: Any) -> None:
        """Give an attribute a value."""

    def class_of(self, value: Any) -> "Class":
        """The class of any value, plain ones too."""

    def call_name(self, function: Any) -> str:
        """How messages name a function that is called."""

    def is_instance(self, value: Any, of: "Class") -> bool:
        """Whether the class of a value is `of`, or derives from it."""

    def text(self, value: Any) -> str:
        """What str() gives."""

    def repr(self, value: Any) -> str:
        """What repr() gives."""

    def format(self, value: Any, spec: str) -> str:
        """What format() gives."""

    def truth(self, value: Any) -> bool:
        """What bool() gives."""

    def iterate(self, value: Any) -> Iterable[Any]:
        """What a for loop goes through."""

    def write(self, text: str) -> None:
        """Add to what the program prints."""

    def warn(self, category: "Class", message: str) -> None:
        """Add a warning, as warnings.warn does."""

    def spend(self, steps: int = 1, memory: int = 0) -> None:
        """Count work and bytes against the budget; raises Exhausted where it is used up."""


class Object:
    """A value that is none of Python's plain ones."""

    __slots__ = ()
    cls: "Class"


class Class(Object):
    """A class of the program: its name, the classes that it derives from, its members."""

    __slots__ = ("bases", "cache", "make", "members", "module", "mro", "name", "shown")

    def __init__(
        self,
        name: str,
        bases: "tuple[Class, ...]" = (),
        members: Mapping[str, Any] | None = None,
        *,
        module: str = "",
        make: Callable[..., Any] | None = None,
        shown: str = "",
    ):
        """`make(m, cls, *args, **named)` gives a new instance, as `__new__` does; inherited.
        `shown` is what messages call it, where that is not its name.
        """
        self.name, self.module, self.shown = name, module, shown or name
        self.bases = bases or ((OBJECT,) if name != "object" else ())
        self.members: dict[str, Any] = dict(members or {})
        self.mro = linearised(self)
        inherited: Any = next((b.make for b in self.bases if b.make), None)
        self.make: Callable[..., Any] | None = make or inherited
        self.cache: dict[str, Any] = {}

    @property
    def cls(self) -> "Class":  # type: ignore[override]
        """The class of classes."""
        return TYPE

    def lookup(self, name: str) -> Any:
        """The member of this name, in the method resolution order; MISSING if there is none."""
        for cls in self.mro:
            member = cls.own(name)
            if member is not MISSING:
                return member
        return MISSING

    def own(self, name: str) -> Any:
        """The member of this name that the class itself has, or MISSING."""
        return self.members.get(name, MISSING)

    def derives_from(self, other: "Class") -> bool:
        """Whether it is `other`, or a subclass."""
        return other in self.mro

    @property
    def full_name(self) -> str:
        """Its name with its module, as repr() shows it."""
        return f"{self.module}.{self.name}" if self.module else self.name

    def __repr__(self) -> str:
        return f"<class {self.full_name}>"


class Missing:
    """No such member."""


MISSING = Missing()


def linearised(cls: Class) -> tuple[Class, ...]:
    """The method resolution order (C3, as in Python). Raises TypeError where there is none."""
    sequences = [list(b.mro) for b in cls.bases] + [list(cls.bases)]
    order = [cls]
    while any(sequences):
        sequences = [s for s in sequences if s]
        tails = {c for s in sequences for c in s[1:]}
        head = next((s[0] for s in sequences if s[0] not in tails), None)
        if head is None:
            raise TypeError("Cannot create a consistent method resolution order (MRO)")
        order.append(head)
        sequences = [[c for c in s if c is not head] for s in sequences]
    return tuple(order)


OBJECT = Class("object")
TYPE = Class("type")


class Instance(Object):
    """An instance of a class that a program, or a library in its own words, has defined."""

    __slots__ = ("cls", "fields", "payload")

    def __init__(self, cls: Class, payload: Any = None):
        """`payload` is what a built-in base class holds: the arguments of an exception."""
        self.cls = cls
        self.fields: dict[str, Any] = {}
        self.payload = payload


class Builtin(Object):
    """A function of the host: `function(m, *args, **named)`. In a class it is a method."""

    __slots__ = ("function", "module", "name")
    cls = Class("builtin_function_or_method")

    def __init__(self, name: str, function: Callable[..., Any], module: str = ""):
        self.name, self.function, self.module = name, function, module


class Wrapper(Builtin):
    """A function of the host around one of the program, as decorators make: a method, too, in a
    class of the program."""

    __slots__ = ()


class Bound(Object):
    """A method and the value that it is called on."""

    __slots__ = ("function", "owner")
    python = Class("method")

    def __init__(self, function: Any, owner: Any):
        self.function, self.owner = function, owner

    @property
    def cls(self) -> Class:  # type: ignore[override]
        """The class: another one where the method is Python's own, and not written in Python."""
        own = self.function
        return own.cls if isinstance(own, Builtin) and "." not in own.name else self.python


class Property(Object):
    """An attribute that is computed: `get`, `put` and `drop` are called with the instance."""

    __slots__ = ("drop", "get", "put")
    cls = Class("property")

    def __init__(self, get: Any, put: Any = None, drop: Any = None):
        self.get, self.put, self.drop = get, put, drop


class Static(Object):
    """A function in a class that takes no instance."""

    __slots__ = ("function",)
    cls = Class("staticmethod")

    def __init__(self, function: Any):
        self.function = function


class ClassMethod(Object):
    """A function in a class that takes the class."""

    __slots__ = ("function",)
    cls = Class("classmethod")

    def __init__(self, function: Any):
        self.function = function


class Module(Object):
    """A module: `members`, or `find(name)` for those that are made when asked for (or MISSING)."""

    __slots__ = ("find", "members", "name")
    cls = Class("module")

    def __init__(
        self,
        name: str,
        members: Mapping[str, Any] | None = None,
        find: Callable[[str], Any] = lambda name: MISSING,
    ):
        self.name, self.members, self.find = name, dict(members or {}), find

    def lookup(self, name: str) -> Any:
        """The member of this name, or MISSING."""
        if name not in self.members:
            member = self.find(name)
            if member is MISSING:
                return MISSING
            self.members[name] = member
        return self.members[name]


class Absent(Object):
    """What a program imports and the machine does not have: any use of it is refused."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    @property
    def cls(self) -> "Class":  # type: ignore[override]
        raise Unsupported(self.name)


class Unread(Module):
    """A module that is known by name alone: its members are refused."""

    __slots__ = ()

    def __init__(self, name: str):
        super().__init__(name, {}, self.refused)

    def refused(self, name: str) -> Any:
        """No member of it is known."""
        raise Unsupported(f"{self.name}.{name}")


def functions(table: Mapping[str, Callable[..., Any]]) -> dict[str, Builtin]:
    """Members of a module or a class, from functions of the host by name."""
    return {name: Builtin(name, function) for name, function in table.items()}


# ---- what goes wrong -----------------------------------------------------------------------------


class Raised(Exception):
    """An exception of the program on its way: an Instance of an exception class.

    `lines` are the lines of the text that it has passed, the innermost first; `frame` are the names
    of the innermost function of the program, if it comes from one.
    """

    def __init__(self, value: Instance):
        super().__init__(value.cls.name)
        self.value = value
        self.lines: list[int] = []
        self.frame: dict[Any, Any] | None = None

    def passes(self, line: int, frame: dict[Any, Any]) -> None:
        """It leaves a function at a line, 0 in one of the library."""
        if line and not any(self.lines):
            self.frame = frame
        self.lines.append(line)


class Unsupported(Exception):
    """Something that a program uses and the machine does not know: no exception of the program.

    `what` names it as the user would; the machine adds the `line`. A try of the program never
    catches it.
    """

    def __init__(self, what: str, line: int | None = None):
        super().__init__(what)
        self.what, self.line = what, line


class Exhausted(Exception):
    """The budget of a program is used up: which one, and what the program `does` with it."""

    def __init__(self, kind: str, does: str):
        super().__init__(kind, does)
        self.kind, self.does = kind, does


def _hierarchy() -> dict[str, Class]:
    """Python's exception classes by name."""
    classes: dict[str, Class] = {}
    for base, names in {
        "": "BaseException",
        "BaseException": "Exception GeneratorExit KeyboardInterrupt SystemExit",
        "Exception": "ArithmeticError AssertionError AttributeError BufferError EOFError "
        "ImportError LookupError MemoryError NameError OSError ReferenceError RuntimeError "
        "StopIteration SyntaxError TypeError ValueError Warning",
        "ArithmeticError": "FloatingPointError OverflowError ZeroDivisionError",
        "ImportError": "ModuleNotFoundError",
        "LookupError": "IndexError KeyError",
        "NameError": "UnboundLocalError",
        "OSError": "FileNotFoundError PermissionError TimeoutError",
        "RuntimeError": "NotImplementedError RecursionError",
        "ValueError": "UnicodeError",
        "Warning": "DeprecationWarning FutureWarning RuntimeWarning SyntaxWarning UserWarning",
    }.items():
        for name in names.split():
            classes[name] = Class(name, (classes[base],) if base else (OBJECT,))
    return classes


EXCEPTIONS = _hierarchy()


def error(kind: str | Class, message: str) -> Raised:
    """An exception of the program: `raise error("ValueError", "...")`."""
    cls = EXCEPTIONS[kind] if isinstance(kind, str) else kind
    return Raised(Instance(cls, payload=(message,)))
