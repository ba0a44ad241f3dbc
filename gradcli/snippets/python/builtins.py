"""Python's built-in functions and classes, by name."""

from collections.abc import Callable, Iterator
from typing import Any

from .methods import (
    BOOL,
    BYTES,
    COMPLEX,
    DICT,
    FLOAT,
    FROZENSET,
    INT,
    LIST,
    RANGE,
    SET,
    SLICE,
    STR,
    TUPLE,
    collected,
    host_call,
    ordered,
    shown_ascii,
)
from .objects import GENERATOR, ITERATOR, PLAIN, Iterable, Super, View
from .operations import BINARY, iterator_class, plain
from .values import (
    EXCEPTIONS,
    MISSING,
    OBJECT,
    TYPE,
    Builtin,
    Class,
    ClassMethod,
    Instance,
    Property,
    Raised,
    Static,
    Unsupported,
    error,
    functions,
)

ABSENT = Instance(Class("absent"))


# ---- object --------------------------------------------------------------------------------------


def new_object(m: Any, cls: Any, *args: Any, **named: Any) -> Any:
    if cls.make is not None:
        return m.call_builtin(cls.name, cls.make, (cls, *args), named)
    return m.instance(cls, args if cls.derives_from(EXCEPTIONS["BaseException"]) else None)


def start_object(m: Any, self: Any, *args: Any, **named: Any) -> None:
    if args or named:
        raise error(
            "TypeError",
            "object.__init__() takes exactly one argument (the instance to initialize)",
        )


def start_exception(m: Any, self: Any, *args: Any, **named: Any) -> None:
    self.payload = args


OBJECT.members.update(
    functions(
        {
            "__init__": start_object,
            "__repr__": lambda m, self: m.default_repr(self),
            "__str__": lambda m, self: m.repr(self),
            "__setattr__": lambda m, self, name, to: m.set_field(self, name, to),
            "__delattr__": lambda m, self, name: m.delete_field(self, name),
            "__eq__": lambda m, a, b: True if a is b else NotImplemented,
            "__hash__": lambda m, self: object.__hash__(self),
            "__dir__": lambda m, self: directory(m, self),
        }
    )
)
OBJECT.members["__new__"] = Static(Builtin("__new__", new_object))
OBJECT.members["__init_subclass__"] = ClassMethod(Builtin("__init_subclass__", lambda m, cls: None))
EXCEPTIONS["BaseException"].members.update(
    functions(
        {
            "__init__": start_exception,
            "__str__": lambda m, self: m.message(self),
            "with_traceback": lambda m, self, traceback: self,
            "add_note": lambda m, self, note: None,
        }
    )
)
TYPE.make = lambda m, cls, *args: m.type_of(*args)
TYPE.cache["complete"] = True
TYPE.members["__or__"] = Builtin("__or__", lambda m, a, b: _union(a, b))
TYPE.members["__ror__"] = Builtin("__ror__", lambda m, a, b: _union(b, a))


def _union(a: Any, b: Any) -> tuple:
    def parts(x: Any) -> tuple:
        return x if isinstance(x, tuple) else (x,)

    return parts(a) + parts(b)


# ---- iterators -----------------------------------------------------------------------------------


def sent(m: Any, self: Any, value: Any) -> Any:
    """generator.send."""
    try:
        return self.host.send(value)
    except StopIteration as e:
        args = () if e.value is None else (e.value,)
        raise Raised(Instance(EXCEPTIONS["StopIteration"], payload=args)) from None
    except TypeError as e:
        raise error("TypeError", str(e)) from None


ITERATOR.members.update(
    functions({"__iter__": lambda m, self: self, "__next__": lambda m, self: m.next(self)})
)
GENERATOR.members.update(
    functions({"send": sent, "close": lambda m, self: self.host.close()}),
)


def lazy(name: str, items: Callable[..., Iterator[Any]]) -> Class:
    """A class of iterators such as zip; an instance yields items(m, *args), `m` the interpreter."""
    cls = iterator_class(name)
    cls.make = lambda m, cls, *args, **named: Iterable(cls, items(m, *args, **named))
    cls.cache["complete"] = True
    return cls


def _enumerated(items: Any, i: int) -> Iterator[Any]:
    for item in items:
        yield i, item
        i += 1


def zipped(m: Any, *values: Any, strict: Any = False) -> Iterator[Any]:
    for value in values:
        if not m.iterable(value):
            text = f"'{m.type_name(value)}' object is not iterable"
            raise error("TypeError", text)
    return _zipped(m, [iter(m.iterate(v)) for v in values], m.truth(strict))


def _zipped(m: Any, sources: list[Iterator[Any]], strict: bool) -> Iterator[Any]:
    while sources:
        m.spend()
        row: list[Any] = []
        for i, source in enumerate(sources):
            try:
                row.append(next(source))
            except StopIteration:
                if strict and i:
                    before = "argument 1" if i == 1 else f"arguments 1-{i}"
                    text = f"zip() argument {i + 1} is shorter than {before}"
                    raise error("ValueError", text) from None
                if strict:
                    _check_ended(sources)
                return
        yield tuple(row)


def _check_ended(sources: list[Iterator[Any]]) -> None:
    for i, source in enumerate(sources[1:], 2):
        if next(source, ABSENT) is not ABSENT:
            before = "argument 1" if i == 2 else f"arguments 1-{i - 1}"
            raise error("ValueError", f"zip() argument {i} is longer than {before}")


def mapped(m: Any, function: Any, *values: Any) -> Iterator[Any]:
    rows = zipped(m, *values)
    return (m.call(function, row) for row in rows)


def filtered(m: Any, function: Any, values: Any) -> Iterator[Any]:
    items = m.iterate(values)

    def passing() -> Iterator[Any]:
        for item in items:
            m.spend()
            if m.truth(item if function is None else m.call(function, (item,))):
                yield item

    return passing()


def reverse_order(m: Any, values: Any) -> Iterator[Any]:
    items = plain(values)
    if isinstance(items, View):
        items = list(items.host)
    if type(items) in (list, tuple, str, range, dict, bytes):
        return reversed(items)
    function = m.special(values, "__reversed__")
    if function is not MISSING:
        return iter(m.iterate(m.call(function, (values,))))
    if m.special(values, "__getitem__") is MISSING or type(items) in PLAIN:
        raise error("TypeError", f"'{m.type_name(values)}' object is not reversible")
    size = m.length(values)
    return (m.get_item(values, i) for i in range(size - 1, -1, -1))


# ---- functions -----------------------------------------------------------------------------------


def printed(
    m: Any, *values: Any, sep: Any = None, end: Any = None, file: Any = None, flush: Any = False
) -> None:
    for name, value in (("sep", sep), ("end", end)):
        if value is not None and type(value) is not str:
            raise error("TypeError", f"{name} must be None or a string, not {m.type_name(value)}")
    text = (" " if sep is None else sep).join([m.text(v) for v in values])
    text += "\n" if end is None else end
    file = m.output if file is None else file
    if file is None:
        m.write(text)
    else:
        m.call(m.get(file, "write"), (text,))


def total(m: Any, values: Any, start: Any = 0) -> Any:
    if type(start) is str:
        raise error("TypeError", "sum() can't sum strings [use ''.join(seq) instead]")
    if type(values) in (list, tuple) and {int, float, bool}.issuperset(map(type, values)):
        m.spend(len(values) // 4)
        return host_call(m, sum, (values, start), {})
    add, result = BINARY["Add"], start
    for item in m.iterate(values):
        m.spend(6)
        result = m.binary(add, result, item)
    return result


def extreme(name: str, comparison: str) -> Callable:
    """min() or max()."""

    def function(m: Any, *values: Any, key: Any = None, default: Any = ABSENT) -> Any:
        if not values:
            raise error("TypeError", f"{name} expected at least 1 argument, got 0")
        items = m.iterate(values[0]) if len(values) == 1 else values
        best, best_key = ABSENT, None
        for item in items:
            m.spend(3)
            item_key = item if key is None else m.call(key, (item,))
            if best is ABSENT or m.truth(m.compare(comparison, item_key, best_key)):
                best, best_key = item, item_key
        if best is ABSENT:
            if default is ABSENT:
                raise error("ValueError", f"{name}() arg is an empty sequence")
            return default
        return best

    return function


def absolute(m: Any, value: Any) -> Any:
    number = plain(value)
    if type(number) in PLAIN:
        return host_call(m, abs, (number,), {})
    function = m.special(value, "__abs__")
    if function is MISSING:
        raise error("TypeError", f"bad operand type for abs(): '{m.type_name(value)}'")
    return m.call(function, (value,))


def rounded(m: Any, value: Any, digits: Any = None) -> Any:
    number = plain(value)
    if type(number) in PLAIN:
        return host_call(m, round, (number,) if digits is None else (number, m.index(digits)), {})
    function = m.special(value, "__round__")
    if function is MISSING:
        text = f"type {m.type_name(value)} doesn't define __round__ method"
        raise error("TypeError", text)
    return m.call(function, (value,) if digits is None else (value, digits))


def power(m: Any, base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is None:
        return m.binary(BINARY["Pow"], base, exponent)
    return host_call(m, pow, (base, exponent, modulus), {})


def division(m: Any, a: Any, b: Any) -> Any:
    quotient = m.binary(BINARY["FloorDiv"], a, b)
    return quotient, m.binary(BINARY["Mod"], a, b)


def attribute(m: Any, value: Any, name: Any, *default: Any) -> Any:
    if type(name) is not str:
        raise error("TypeError", "attribute name must be string, not '" + m.type_name(name) + "'")
    if not default:
        return m.get(value, name)
    try:
        return m.get(value, name)
    except Raised as e:
        if e.value.cls.derives_from(EXCEPTIONS["AttributeError"]):
            return default[0]
        raise


def following(m: Any, iterator: Any, *default: Any) -> Any:
    if not default:
        return m.next(iterator)
    try:
        return m.next(iterator)
    except Raised as e:
        if e.value.cls.derives_from(EXCEPTIONS["StopIteration"]):
            return default[0]
        raise


def iterator(m: Any, value: Any, *sentinel: Any) -> Any:
    if not sentinel:
        return m.iterator(value)

    def calls() -> Iterator[Any]:
        while True:
            m.spend()
            item = m.call(value)
            if m.equal(item, sentinel[0]):
                return
            yield item

    return Iterable(iterator_class("callable_iterator"), calls())


def subclass(m: Any, cls: Any, of: Any) -> bool:
    if not isinstance(cls, Class):
        raise error("TypeError", "issubclass() arg 1 must be a class")
    return m.is_subclass(cls, of)


def fields_of(m: Any, *values: Any) -> Any:
    if not values:
        raise Unsupported("vars() without an argument")
    fields = getattr(values[0], "fields", None) if type(values[0]) not in PLAIN else None
    if fields is None:
        raise error("TypeError", "vars() argument must have __dict__ attribute")
    return fields


def directory(m: Any, *values: Any) -> list[str]:
    if not values:
        raise Unsupported("dir() without an argument")
    value = values[0]
    if type(value) not in PLAIN and hasattr(value, "members"):
        names = set(value.members)
    else:
        names = {n for cls in m.class_of(value).mro for n in cls.members}
    fields = None if type(value) in PLAIN else getattr(value, "fields", None)
    return sorted(names | set(fields or ()))


def parent(m: Any, cls: Any, start: Any = None, owner: Any = None) -> Super:
    """super(start, owner). For super() without arguments, the compiler passes both."""
    if start is None:
        raise error("RuntimeError", "super(): no arguments")
    kind = owner if isinstance(owner, Class) else m.class_of(owner)
    if not isinstance(start, Class) or not kind.derives_from(start):
        text = "super(type, obj): obj must be an instance or subtype of type"
        raise error("TypeError", text)
    return Super(start, owner)


def without_parent(m: Any, *args: Any) -> None:
    """super.__init__ of the super object itself, not of the parent class: an error."""
    if not args:
        text = "descriptor '__init__' of 'super' object needs an argument"
        raise error("TypeError", text)
    kind = m.class_of(args[0]).name
    text = f"descriptor '__init__' requires a 'super' object but received a '{kind}'"
    raise error("TypeError", text)


def refused(name: str) -> Callable:
    """A built-in function that is not supported, as it could leave the interpreter."""

    def function(m: Any, *args: Any, **named: Any) -> Any:
        raise Unsupported(f"{name}()")

    return function


def shown_number(function: Callable) -> Callable:
    return lambda m, value: host_call(m, function, (m.index(value),), {})


def ended(m: Any, code: Any = None) -> None:
    raise Raised(Instance(EXCEPTIONS["SystemExit"], payload=() if code is None else (code,)))


FUNCTIONS: dict[str, Callable] = {
    "abs": absolute,
    "all": lambda m, values: all(m.spend() or m.truth(v) for v in m.iterate(values)),
    "any": lambda m, values: any(m.spend() or m.truth(v) for v in m.iterate(values)),
    "ascii": shown_ascii,
    "bin": shown_number(bin),
    "callable": lambda m, value: m.callable(value),
    "chr": shown_number(chr),
    "delattr": lambda m, value, name: m.delete(value, name),
    "dir": directory,
    "divmod": division,
    "exit": ended,
    "format": lambda m, value, spec="": m.format(value, spec),
    "getattr": attribute,
    "hasattr": lambda m, value, name: m.has(value, name),
    "hash": lambda m, value: m.hash(value),
    "hex": shown_number(hex),
    "id": lambda m, value: m.identity(value),
    "isinstance": lambda m, value, of: m.is_instance(value, of),
    "issubclass": subclass,
    "iter": iterator,
    "len": lambda m, value: m.length(value),
    "max": extreme("max", "Gt"),
    "min": extreme("min", "Lt"),
    "next": following,
    "oct": shown_number(oct),
    "ord": lambda m, value: host_call(m, ord, (value,), {}),
    "pow": power,
    "print": printed,
    "quit": ended,
    "repr": lambda m, value: m.repr(value),
    "round": rounded,
    "setattr": lambda m, value, name, to: m.set(value, name, to),
    "sorted": lambda m, values, *, key=None, reverse=False: ordered(
        m, collected(m, values), key, reverse
    ),
    "sum": total,
    "vars": fields_of,
    **{
        name: refused(name)
        for name in [
            "__import__",
            "breakpoint",
            "compile",
            "eval",
            "exec",
            "globals",
            "help",
            "input",
            "locals",
            "memoryview",
            "open",
        ]
    },
}


def special_class(cls: Class, make: Callable) -> Class:
    """One of the interpreter's classes, such as property, with a constructor for programs."""
    cls.make = make
    cls.cache["complete"] = True
    return cls


PROPERTY = special_class(
    Property.cls,
    lambda m, cls, fget=None, fset=None, fdel=None, doc=None: Property(fget, fset, fdel),
)
PROPERTY.members.update(
    functions(
        {
            "getter": lambda m, self, fget: Property(fget, self.fset, self.fdel),
            "setter": lambda m, self, fset: Property(self.fget, fset, self.fdel),
            "deleter": lambda m, self, fdel: Property(self.fget, self.fset, fdel),
        }
    )
)
SUPER = special_class(Super.cls, parent)
SUPER.members.update(functions({"__init__": without_parent}))
BUILTINS: dict[str, Any] = {
    **functions(FUNCTIONS),
    **EXCEPTIONS,
    "IOError": EXCEPTIONS["OSError"],
    "EnvironmentError": EXCEPTIONS["OSError"],
    "object": OBJECT,
    "type": TYPE,
    "int": INT,
    "bool": BOOL,
    "float": FLOAT,
    "complex": COMPLEX,
    "str": STR,
    "bytes": BYTES,
    "list": LIST,
    "tuple": TUPLE,
    "dict": DICT,
    "set": SET,
    "frozenset": FROZENSET,
    "range": RANGE,
    "slice": SLICE,
    "super": SUPER,
    "property": PROPERTY,
    "staticmethod": special_class(Static.cls, lambda m, cls, function: Static(function)),
    "classmethod": special_class(ClassMethod.cls, lambda m, cls, function: ClassMethod(function)),
    "enumerate": lazy(
        "enumerate", lambda m, values, start=0: _enumerated(m.iterate(values), m.index(start))
    ),
    "zip": lazy("zip", zipped),
    "map": lazy("map", mapped),
    "filter": lazy("filter", filtered),
    "reversed": lazy("reversed", reverse_order),
    "NotImplemented": NotImplemented,
    "Ellipsis": ...,
    "__name__": "__main__",
    "__doc__": None,
    "__debug__": True,
    "__file__": "program.py",
}
