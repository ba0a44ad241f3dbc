"""Values of interpreted programs, and their classes.

Built-in values (None, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset,
range, slice, Ellipsis) represent themselves. Any other value is an `Object`, whose `cls` is a
`Class`: a table of members. An attribute `x.name` of a program is looked up in these tables, never
as an attribute of the Python object.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol


class Machine(Protocol):
    """The interpreter: the first argument `m` of functions that implement members of classes."""

    line: int  # current line of the program, from 1; 0 within a library
    place: int  # inside a library, the line of the program that called it; else `line`

    def call(self, function: Any, args: Iterable[Any] = (), named: Mapping[str, Any] = {}) -> Any:
        """Call a value of the program."""

    def get(self, value: Any, name: str) -> Any:
        """Get an attribute. Raises the program's AttributeError if there is none."""

    def set(self, value: Any, name: str, to: Any) -> None:
        """Set an attribute."""

    def class_of(self, value: Any) -> "Class":
        """The class of any value, including built-in ones."""

    def call_name(self, function: Any) -> str:
        """The name of a called function in messages."""

    def is_instance(self, value: Any, of: "Class") -> bool:
        """Whether the class of a value is `of`, or derives from it."""

    def text(self, value: Any) -> str:
        """The result of str()."""

    def repr(self, value: Any) -> str:
        """The result of repr()."""

    def format(self, value: Any, spec: str) -> str:
        """The result of format()."""

    def truth(self, value: Any) -> bool:
        """The result of bool()."""

    def iterate(self, value: Any) -> Iterable[Any]:
        """The items of a value, as a Python iterable."""

    def write(self, text: str) -> None:
        """Write to the program's stdout."""

    def warn(self, category: "Class", message: str, once: bool = False) -> None:
        """Issue a warning, as warnings.warn does."""

    def spend(self, steps: int = 1, memory: int = 0) -> None:
        """Count steps and bytes against the budget. Raises Exhausted if it is used up."""


class Object:
    """A value that Python's built-in types do not represent."""

    __slots__ = ()
    cls: "Class"


class Class(Object):
    """A class of the program: its name, base classes and members."""

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
        """`make(m, cls, *args, **named)` creates an instance, as `__new__` does; subclasses inherit
        it. `shown` is the name in messages, if it differs from `name`.
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
        """The metaclass: type."""
        return TYPE

    def lookup(self, name: str) -> Any:
        """The member of this name, in the method resolution order; MISSING if there is none."""
        for cls in self.mro:
            member = cls.own(name)
            if member is not MISSING:
                return member
        return MISSING

    def own(self, name: str) -> Any:
        """The member of this name in the class itself, or MISSING."""
        return self.members.get(name, MISSING)

    def derives_from(self, other: "Class") -> bool:
        """Whether the class is `other`, or a subclass of it."""
        return other in self.mro

    @property
    def full_name(self) -> str:
        """The name with its module, as in repr()."""
        return f"{self.module}.{self.name}" if self.module else self.name

    def __repr__(self) -> str:
        return f"<class {self.full_name}>"


class Missing:
    """The class of MISSING, the result of a lookup that finds no member."""


MISSING = Missing()


def linearised(cls: Class) -> tuple[Class, ...]:
    """The method resolution order of a class (C3). Raises TypeError if there is none."""
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
    """An instance of a class. `fields` is its `__dict__`."""

    __slots__ = ("cls", "fields", "payload")

    def __init__(self, cls: Class, payload: Any = None):
        """`payload` is the value of a built-in base class, such as an exception's arguments."""
        self.cls = cls
        self.fields: dict[str, Any] = {}
        self.payload = payload


class Builtin(Object):
    """A function that gradcli implements, called as `function(m, *args, **named)` with the
    interpreter `m`. As a member of a class of gradcli, it is a method.
    """

    __slots__ = ("function", "module", "name")
    cls = Class("builtin_function_or_method")

    def __init__(self, name: str, function: Callable[..., Any], module: str = ""):
        self.name, self.function, self.module = name, function, module


class Wrapper(Builtin):
    """A Builtin that wraps a function of the program, as lru_cache does. Unlike other Builtins, it
    becomes a method in classes of the program, too.
    """

    __slots__ = ()


class Bound(Object):
    """A bound method: a function and the value of `self`."""

    __slots__ = ("function", "owner")
    method_class = Class("method")

    def __init__(self, function: Any, owner: Any):
        self.function, self.owner = function, owner

    @property
    def cls(self) -> Class:  # type: ignore[override]
        """The class of the method: that of built-in methods or, for methods that PyTorch writes in
        Python, whose names have a dot (`Tensor.backward`), that of Python's methods.
        """
        own = self.function
        return own.cls if isinstance(own, Builtin) and "." not in own.name else self.method_class


class Property(Object):
    """A property; the attributes are those of Python's property."""

    __slots__ = ("fdel", "fget", "fset")
    cls = Class("property")

    def __init__(self, fget: Any, fset: Any = None, fdel: Any = None):
        self.fget, self.fset, self.fdel = fget, fset, fdel


class Static(Object):
    """A static method."""

    __slots__ = ("function",)
    cls = Class("staticmethod")

    def __init__(self, function: Any):
        self.function = function


class ClassMethod(Object):
    """A class method."""

    __slots__ = ("function",)
    cls = Class("classmethod")

    def __init__(self, function: Any):
        self.function = function


class Module(Object):
    """A module. `find(name)` creates a member on first use, or returns MISSING."""

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
    """The value of an imported name that is not supported. Any use of it raises Unsupported."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    @property
    def cls(self) -> "Class":  # type: ignore[override]
        raise Unsupported(self.name)


class UnsupportedModule(Module):
    """A module that can be imported, but whose members are not supported."""

    __slots__ = ()

    def __init__(self, name: str):
        super().__init__(name, {}, self.refused)

    def refused(self, name: str) -> Any:
        """Raises Unsupported, for any name."""
        raise Unsupported(f"{self.name}.{name}")


def functions(table: Mapping[str, Callable[..., Any]]) -> dict[str, Builtin]:
    """Builtins for Python functions, by name: the members of a module or class."""
    return {name: Builtin(name, function) for name, function in table.items()}


# ---- errors --------------------------------------------------------------------------------------


class Raised(Exception):
    """An exception of the program, as a Python exception: `value` is an Instance of an exception
    class.

    `lines` has the lines of its traceback, innermost first. `frame` has the local variables of the
    innermost function of the program, None at module level.
    """

    def __init__(self, value: Instance):
        super().__init__(value.cls.name)
        self.value = value
        self.lines: list[int] = []
        self.frame: dict[Any, Any] | None = None

    def passes(self, line: int, frame: dict[Any, Any]) -> None:
        """Add a line to the traceback; 0 for a line inside a library."""
        if line and not any(self.lines):
            self.frame = frame
        self.lines.append(line)


class Unsupported(Exception):
    """Raised where a program uses a feature that the interpreter does not support.

    It is not an exception of the program, and no try statement of the program catches it. `what`
    names the feature in the user's words; the interpreter adds the `line`.
    """

    def __init__(self, what: str, line: int | None = None):
        super().__init__(what)
        self.what, self.line = what, line


class Exhausted(Exception):
    """Raised if a budget of the program is used up: its `kind`, and what the program `does`, such
    as "takes more steps than is allowed".
    """

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
    """An exception to be raised in the program: `raise error("ValueError", "...")`."""
    cls = EXCEPTIONS[kind] if isinstance(kind, str) else kind
    return Raised(Instance(cls, payload=(message,)))
