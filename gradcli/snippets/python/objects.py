"""Classes of the interpreter's values: functions, generators, iterators, dict views, super()."""

from collections.abc import Callable
from collections.abc import Iterator as HostIterator
from typing import Any

from .values import Class, Instance, Object

FUNCTION = Class("function")


class Code:
    """The compiled form of a def or lambda: its parameters and its body.

    `names` has the positional parameters, then the keyword-only ones; `star` and `stars` are the
    names of *args and **kwargs. `simple`: a call needs no matching of defaults or keywords.
    """

    __slots__ = (
        "body",
        "doc",
        "generator",
        "keyword_only",
        "line",
        "name",
        "names",
        "positional_only",
        "qualname",
        "simple",
        "star",
        "stars",
        "value",
    )

    def __init__(self, name: str, qualname: str, line: int):
        self.name, self.qualname, self.line = name, qualname, line
        self.doc: str | None = None
        self.names: tuple[str, ...] = ()
        self.positional_only = 0
        self.keyword_only: tuple[str, ...] = ()
        self.star: str | None = None
        self.stars: str | None = None
        self.simple = True
        self.generator = False
        self.body: Callable[[dict], Any] = lambda frame: None
        self.value: Callable[[dict], Any] | None = None  # the expression of a lambda

    def renamed(self, name: str) -> "Code":
        """A copy with another name."""
        other = Code(name, name, self.line)
        for slot in self.__slots__:
            if slot not in ("name", "qualname"):
                setattr(other, slot, getattr(self, slot))
        return other


class Function(Object):
    """A function of the program. `closure` is the frame in which it was defined."""

    __slots__ = ("closure", "code", "defaults", "fields", "keyword_defaults")
    cls = FUNCTION

    def __init__(self, code: Code, closure: dict, defaults: tuple, keyword_defaults: dict):
        self.code, self.closure = code, closure
        self.defaults, self.keyword_defaults = defaults, keyword_defaults
        self.fields: dict[str, Any] = {}


class Iterable(Object):
    """An iterator of the program. `host` is the Python iterator that yields its items."""

    __slots__ = ("cls", "host")

    def __init__(self, cls: Class, host: HostIterator[Any]):
        self.cls, self.host = cls, host


class Generator(Iterable):
    """A generator of the program. `host` is the Python generator that runs its body."""

    __slots__ = ("name",)

    def __init__(self, host: Any, name: str):
        super().__init__(GENERATOR, host)
        self.name = name


class View(Object):
    """A view of a dict, such as dict.keys(); `host` is Python's view."""

    __slots__ = ("cls", "host")

    def __init__(self, cls: Class, host: Any):
        self.cls, self.host = cls, host


class Super(Object):
    """The value of super(): attributes of `owner` are looked up after `start` in its MRO."""

    __slots__ = ("owner", "start")
    cls = Class("super")

    def __init__(self, start: Class, owner: Any):
        self.start, self.owner = start, owner


class Hashed(Instance):
    """An instance whose class defines `__eq__` or `__hash__`, so that Python's dicts and sets call
    these methods of the program.
    """

    __slots__ = ("machine",)

    def __init__(self, cls: Class, payload: Any, machine: Any):
        super().__init__(cls, payload)
        self.machine = machine

    def __hash__(self) -> int:
        return self.machine.hash(self)

    def __eq__(self, other: object) -> bool:
        return self is other or self.machine.equal(self, other)


ITERATOR = Class("iterator")
GENERATOR = Class("generator", (ITERATOR,))
NONE_TYPE = Class("NoneType")
ELLIPSIS = Class("ellipsis")
NOT_IMPLEMENTED = Class("NotImplementedType")
SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})
CONTAINERS = frozenset({list, tuple, dict, set, frozenset, range, slice})
PLAIN = SCALARS | CONTAINERS | {type(...), type(NotImplemented)}
