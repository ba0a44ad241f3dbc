"""The built-in types of interpreted programs (int, str, list, ...): constructors and methods."""

import operator
from collections.abc import Callable, Iterable
from functools import cmp_to_key
from typing import Any

from .objects import (
    ELLIPSIS,
    NONE_TYPE,
    NOT_IMPLEMENTED,
    PLAIN,
    SCALARS,
    View,
)
from .operations import BINARY, COMPARED, UNARY, plain, translated
from .texts import ascii_only
from .values import MISSING, OBJECT, Builtin, Class, Property, Raised, Static, error, functions

MISSING_ARGUMENT = object()
SIZED = frozenset({str, bytes, list, tuple, dict, set, frozenset})


def host_call(m: Any, function: Callable, args: Iterable[Any], named: dict[str, Any]) -> Any:
    """Call a function of Python on built-in values; its exceptions become the program's."""
    values = [plain(a) for a in args]
    for value in values:
        if type(value) in SIZED and len(value) > 100:
            m.spend(len(value) // 100)
    try:
        return function(*values, **named)
    except Exception as e:
        if isinstance(e, TypeError):
            raise named_by_class(m, e, values) from None
        raise translated(e) from None


def named_by_class(m: Any, e: TypeError, values: Iterable[Any]) -> BaseException:
    """Python's TypeError, with the names of the interpreter's classes replaced by the program's."""
    text = str(e)
    for value in values:
        if type(value) not in PLAIN:
            text = text.replace(type(value).__name__, m.type_name(value))
    return error("TypeError", text)


def host_methods(kind: type, names: str) -> dict[str, Builtin]:
    """Methods computed by Python's own, whose results are no larger than the arguments."""

    def method(name: str) -> Builtin:
        function = getattr(kind, name)

        def call(m: Any, *args: Any, **named: Any) -> Any:
            result = host_call(m, function, args, named)
            if type(result) in (list, str) and len(result) > 64:
                m.spend(
                    len(result) // 64, 60 * len(result) if type(result) is list else len(result)
                )
            return result

        return Builtin(name, call)

    return {name: method(name) for name in names.split()}


def dunders(kind: type) -> dict[str, Builtin]:
    """The operators of a built-in type as special methods, such as `__add__`."""
    table: dict[str, Callable] = {}
    for op in BINARY.values():
        if hasattr(kind, op.method):
            table[op.method] = _operator_method(op)
        if hasattr(kind, op.reflected):
            table[op.reflected] = _operator_method(op, swapped=True)
    for name, (_, method, _, _) in COMPARED.items():
        if getattr(kind, method) is not getattr(object, method):
            table[method] = _comparison_method(name)
    for name, (_, method, _) in UNARY.items():
        if hasattr(kind, method):
            table[method] = lambda m, a, name=name: m.unary(name, plain(a))
    table["__repr__"] = lambda m, a: m.repr(plain(a))
    if kind is str:
        table["__str__"] = lambda m, a: plain(a)
    table["__format__"] = lambda m, a, spec: m.format(plain(a), spec)
    table["__hash__"] = lambda m, a: m.hash(plain(a))
    if hasattr(kind, "__len__"):
        table["__len__"] = lambda m, a: m.length(plain(a))
        table["__getitem__"] = lambda m, a, key: m.get_item(plain(a), key)
        table["__contains__"] = lambda m, a, item: m.contains(plain(a), item)
        table["__iter__"] = lambda m, a: m.iterator(plain(a))
    if hasattr(kind, "__bool__"):
        table["__bool__"] = lambda m, a: m.truth(plain(a))
    if hasattr(kind, "__setitem__"):
        table["__setitem__"] = lambda m, a, key, to: m.set_item(plain(a), key, to)
        table["__delitem__"] = lambda m, a, key: m.delete_item(plain(a), key)
    for name in ("__int__", "__float__", "__index__", "__abs__", "__round__", "__trunc__"):
        if hasattr(kind, name):
            method = getattr(kind, name)
            table[name] = lambda m, *args, method=method: host_call(m, method, args, {})
    return functions(table)


def _operator_method(op: Any, *, swapped: bool = False) -> Callable:
    def method(m: Any, a: Any, b: Any) -> Any:
        a, b = plain(a), plain(b)
        if type(a) not in PLAIN or type(b) not in PLAIN:
            return NotImplemented
        if op.sign == "*" and type(a) is int and type(b) in (str, bytes, list, tuple):
            return NotImplemented  # the sequence is repeated by its own __rmul__
        if type(a) is str and op.sign == "%" and not swapped:
            return m.percent(a, b)
        try:
            return m.plain_binary(op, b, a) if swapped else m.plain_binary(op, a, b)
        except Raised as e:
            if e.value.cls.name == "TypeError":
                return NotImplemented
            raise

    return method


def _comparison_method(name: str) -> Callable:
    def method(m: Any, a: Any, b: Any) -> Any:
        a, b = plain(a), plain(b)
        if type(a) not in PLAIN or type(b) not in PLAIN:
            return NotImplemented
        try:
            return m.compare(name, a, b)
        except Raised as e:
            if e.value.cls.name == "TypeError":
                return NotImplemented
            raise

    return method


# ---- constructors of built-in types --------------------------------------------------------------


def wrapping(make: Callable[..., Any]) -> Callable[..., Any]:
    """A constructor for a built-in class and its subclasses, for which it returns an Instance that
    wraps the built-in value.
    """

    def derived(m: Any, cls: Class, *args: Any, **named: Any) -> Any:
        if "complete" in cls.cache:
            return make(m, *args, **named)
        if mutable(cls):
            kind = next(k for k in (list, dict, set) if any(c.name == k.__name__ for c in cls.mro))
            return m.instance(cls, kind())
        return m.instance(cls, make(m, *args, **named))

    return derived


def mutable(cls: Class) -> bool:
    """Whether a class derives from list, dict or set, whose `__init__` fills the instance."""
    return any(base.name in ("list", "dict", "set") and not base.module for base in cls.mro)


def make_int(m: Any, value: Any = 0, base: Any = MISSING_ARGUMENT) -> int:
    """int(value, base)."""
    if base is not MISSING_ARGUMENT:
        return host_call(m, int, (plain(value), base), {})
    number = m.number(value, "__int__")
    if type(number) not in SCALARS:
        raise error(
            "TypeError",
            "int() argument must be a string, a bytes-like object or a real number, not "
            f"'{m.type_name(value)}'",
        )
    return host_call(m, int, (number,), {})


def make_float(m: Any, value: Any = 0.0) -> float:
    number = m.number(value, "__float__")
    if type(number) not in SCALARS:
        raise error(
            "TypeError",
            f"float() argument must be a string or a real number, not '{m.type_name(value)}'",
        )
    return host_call(m, float, (number,), {})


def make_complex(m: Any, real: Any = 0, imag: Any = 0) -> complex:
    if type(plain(real)) is str:
        return host_call(m, complex, (real,), {})
    return host_call(m, complex, (m.number(real, "__float__"), m.number(imag, "__float__")), {})


def make_str(m: Any, value: Any = "", *encoding: Any, **named: Any) -> str:
    if encoding or named:
        return host_call(m, str, (value, *encoding), named)
    return m.text(value)


def make_bytes(m: Any, value: Any = b"", *encoding: Any) -> bytes:
    if type(value) is int:
        m.spend(0, value)
    return host_call(m, bytes, (value, *encoding), {})


def collected(m: Any, values: Any = ()) -> list[Any]:
    """The items of an iterable as a list, counted against the budget."""
    if isinstance(values, range):
        m.spend(len(values) // 16, 36 * len(values))
        return list(values)
    if type(values) in (list, tuple, str):
        m.spend(len(values) // 16, 8 * len(values))
        return list(values)
    items = []
    for item in m.iterate(values):
        m.spend(1, 40)
        items.append(item)
    return items


def make_set(m: Any, values: Any = ()) -> set[Any]:
    items = collected(m, values)
    m.spend(2 * len(items))
    return {m.key(v) for v in items}


def make_dict(m: Any, values: Any = (), /, **named: Any) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    update(m, result, values, **named)
    return result


def update(m: Any, target: dict, values: Any = (), /, **named: Any) -> None:
    """dict.update(values, **named)."""
    values = plain(values)
    if type(values) is dict:
        m.spend(len(values), 100 * len(values))
        target.update(values)
    elif type(values) not in PLAIN and m.has(values, "keys"):
        for key in m.iterate(m.call(m.get(values, "keys"))):
            target[m.key(key)] = m.get_item(values, key)
    else:
        for i, pair in enumerate(m.iterate(values)):
            m.spend(1, 100)
            if not m.iterable(pair):
                text = f"cannot convert dictionary update sequence element #{i} to a sequence"
                raise error("TypeError", text)
            items = collected(m, pair)
            if len(items) != 2:
                raise error(
                    "ValueError",
                    f"dictionary update sequence element #{i} has length {len(items)}; "
                    "2 is required",
                )
            target[m.key(items[0])] = items[1]
    target.update(named)


def make_range(m: Any, *args: Any) -> range:
    if not args:
        raise error("TypeError", "range expected at least 1 argument, got 0")
    return host_call(m, range, [m.index(a) for a in args], {})


# ---- lists ---------------------------------------------------------------------------------------


def ordered(m: Any, items: list[Any], key: Any = None, reverse: Any = False) -> list[Any]:
    """The items sorted by `key`, as sorted() does."""
    m.spend(4 * len(items), 16 * len(items))
    keys = items if key is None else [m.call(key, (item,)) for item in items]
    kinds = set(map(type, keys))
    down = m.truth(reverse)
    if kinds <= {int, float, bool} or kinds == {str}:
        order = sorted(range(len(items)), key=keys.__getitem__, reverse=down)
    else:

        def compared(i: int, j: int) -> int:
            """-1, 0 or 1 for two items, by the program's `<`."""
            m.spend()
            return -1 if m.less(keys[i], keys[j]) else int(m.less(keys[j], keys[i]))

        order = sorted(range(len(items)), key=cmp_to_key(compared), reverse=down)
    return [items[i] for i in order]


def list_sort(m: Any, self: Any, *, key: Any = None, reverse: Any = False) -> None:
    target = plain(self)
    target[:] = ordered(m, list(target), key, reverse)


def list_append(m: Any, self: Any, item: Any) -> None:
    m.spend(0, 8)
    plain(self).append(item)


def list_extend(m: Any, self: Any, values: Any) -> None:
    if not m.iterable(values):
        raise error("TypeError", f"'{m.type_name(values)}' object is not iterable")
    plain(self).extend(collected(m, values))


def list_pop(m: Any, self: Any, index: Any = -1) -> Any:
    target = plain(self)
    if not target:
        raise error("IndexError", "pop from empty list")
    m.spend(len(target) // 256)
    return host_call(m, list.pop, (target, m.index(index)), {})


def list_insert(m: Any, self: Any, index: Any, item: Any) -> None:
    m.spend(len(plain(self)) // 256, 8)
    plain(self).insert(m.index(index), item)


def position(m: Any, self: Any, item: Any, *bounds: Any) -> int:
    i = place_of(m, self, item, *bounds)
    if i is not None:
        return i
    if type(plain(self)) is list:
        raise error("ValueError", f"{m.repr(item)} is not in list")
    raise error("ValueError", "tuple.index(x): x not in tuple")


def place_of(m: Any, self: Any, item: Any, *bounds: Any) -> int | None:
    """The index of the first occurrence of an item in a list or a tuple; None if it is absent."""
    target = plain(self)
    start, stop, _ = (
        slice(*[m.index(b) for b in (*bounds, len(target))[:2]] or [0]).indices(len(target))
        if bounds
        else (0, len(target), 1)
    )
    for i in range(start, stop):
        m.spend()
        if target[i] is item or m.equal(target[i], item):
            return i
    return None


def list_remove(m: Any, self: Any, item: Any) -> None:
    i = place_of(m, self, item)
    if i is None:
        raise error("ValueError", "list.remove(x): x not in list")
    del plain(self)[i]


def occurrences(m: Any, self: Any, item: Any) -> int:
    m.spend(len(plain(self)))
    return sum(1 for x in plain(self) if x is item or m.equal(x, item))


def list_reverse(m: Any, self: Any) -> None:
    m.spend(len(plain(self)) // 100)
    plain(self).reverse()


def list_add(m: Any, self: Any, values: Any) -> Any:
    list_extend(m, self, values)
    return self


LIST_METHODS: dict[str, Callable] = {
    "__init__": lambda m, self, values=(): _fill(plain(self), list, collected(m, values)),
    "append": list_append,
    "extend": list_extend,
    "insert": list_insert,
    "pop": list_pop,
    "remove": list_remove,
    "index": position,
    "count": occurrences,
    "sort": list_sort,
    "reverse": list_reverse,
    "copy": lambda m, self: collected(m, plain(self)),
    "clear": lambda m, self: plain(self).clear(),
    "__iadd__": list_add,
}


def _fill(target: Any, kind: type, values: Any) -> None:
    target.clear()
    if kind is list:
        target.extend(values)
    else:
        target.update(values)


# ---- dicts and sets ------------------------------------------------------------------------------

KEYS, VALUES, ITEMS = Class("dict_keys"), Class("dict_values"), Class("dict_items")


def dict_pop(m: Any, self: Any, key: Any, *default: Any) -> Any:
    target = plain(self)
    if m.key(key) not in target and len(default) == 1:
        return default[0]
    return host_call(m, dict.pop, (target, key), {})


def dict_setdefault(m: Any, self: Any, key: Any, default: Any = None) -> Any:
    m.spend(0, 100)
    return plain(self).setdefault(m.key(key), default)


def dict_copy(m: Any, self: Any) -> Any:
    m.spend(len(plain(self)), 100 * len(plain(self)))
    return dict(plain(self))


def dict_item(m: Any, self: Any, key: Any) -> Any:
    """self[key]; for a missing key in a subclass, the result of its `__missing__`."""
    target = plain(self)
    if self is not target and m.key(key) not in target:
        missing = m.special(self, "__missing__")
        if missing is not MISSING:
            return m.call(missing, (self, key))
    return m.get_item(target, key)


DICT_METHODS: dict[str, Callable] = {
    "__getitem__": dict_item,
    "__init__": lambda m, self, values=(), /, **named: update(m, plain(self), values, **named),
    "keys": lambda m, self: View(KEYS, plain(self).keys()),
    "values": lambda m, self: View(VALUES, plain(self).values()),
    "items": lambda m, self: View(ITEMS, plain(self).items()),
    "get": lambda m, self, key, default=None: plain(self).get(m.key(key), default),
    "pop": dict_pop,
    "popitem": lambda m, self: host_call(m, dict.popitem, (plain(self),), {}),
    "setdefault": dict_setdefault,
    "update": lambda m, self, values=(), /, **named: update(m, plain(self), values, **named),
    "copy": dict_copy,
    "clear": lambda m, self: plain(self).clear(),
}


def combined(name: str) -> Callable:
    """A method of sets whose arguments may be any iterables."""

    def method(m: Any, self: Any, *others: Any) -> Any:
        target = plain(self)
        sets = [make_set(m, o) for o in others]
        m.spend(len(target), 60 * (len(target) + sum(map(len, sets))))
        return getattr(type(target), name)(target, *sets)

    return method


SET_COMBINED = "union intersection difference issubset issuperset isdisjoint symmetric_difference"
SET_UPDATES = "update intersection_update difference_update symmetric_difference_update"


def set_add(m: Any, self: Any, item: Any) -> None:
    m.spend(0, 60)
    plain(self).add(m.key(item))


def set_remove(m: Any, self: Any, item: Any) -> None:
    host_call(m, set.remove, (plain(self), m.key(item)), {})


SET_METHODS: dict[str, Callable] = {
    "__init__": lambda m, self, values=(): _fill(plain(self), set, make_set(m, values)),
    "add": set_add,
    "remove": set_remove,
    "discard": lambda m, self, item: plain(self).discard(m.key(item)),
    "pop": lambda m, self: host_call(m, set.pop, (plain(self),), {}),
    "clear": lambda m, self: plain(self).clear(),
    "copy": lambda m, self: make_set(m, plain(self)),
    **{name: combined(name) for name in f"{SET_COMBINED} {SET_UPDATES}".split()},
}


# ---- strings -------------------------------------------------------------------------------------


def str_join(m: Any, self: Any, values: Any) -> str:
    items = [plain(v) for v in collected(m, values)]
    for i, item in enumerate(items):
        if type(item) is not str:
            name = m.type_name(item)
            text = f"sequence item {i}: expected str instance, {name} found"
            raise error("TypeError", text)
    m.spend(0, sum(map(len, items)) + len(plain(self)) * len(items))
    return plain(self).join(items)


def padded(name: str) -> Callable:
    """A method of strings with a width, such as ljust."""

    def method(m: Any, self: Any, width: Any, *fill: Any) -> str:
        m.spend(0, max(0, m.index(width)))
        return host_call(m, getattr(str, name), (self, m.index(width), *fill), {})

    return method


def str_replace(m: Any, self: Any, old: Any, new: Any, *count: Any) -> str:
    text = plain(self)
    if type(plain(old)) is str and type(plain(new)) is str:
        m.spend(len(text) // 64, len(text) + len(plain(new)) * (text.count(plain(old))))
    return host_call(m, str.replace, (text, old, new, *count), {})


def str_expandtabs(m: Any, self: Any, tabsize: Any = 8) -> str:
    m.spend(0, plain(self).count("\t") * max(0, m.index(tabsize)))
    return host_call(m, str.expandtabs, (self, m.index(tabsize)), {})


STR_PLAIN = (
    "upper lower title capitalize swapcase casefold strip lstrip rstrip split rsplit splitlines "
    "partition rpartition startswith endswith find rfind index rindex count isdigit isalpha "
    "isalnum isspace isupper islower isnumeric isdecimal isidentifier istitle isascii "
    "removeprefix removesuffix encode translate"
)
STR_METHODS: dict[str, Callable] = {
    "join": str_join,
    "replace": str_replace,
    "expandtabs": str_expandtabs,
    "format": lambda m, self, /, *args, **named: m.format_template(plain(self), args, named),
    "format_map": lambda m, self, named: m.format_template(plain(self), (), plain(named)),
    **{name: padded(name) for name in ("ljust", "rjust", "center", "zfill")},
}


# ---- the classes ---------------------------------------------------------------------------------


def properties(names: str) -> dict[str, Property]:
    """Attributes of built-in values whose values are built-in, too, such as `real`."""

    def reader(name: str) -> Property:
        get = operator.attrgetter(name)
        return Property(Builtin(name, lambda m, self: get(plain(self))))

    return {name: reader(name) for name in names.split()}


def plain_class(
    kind: type, make: Callable | None = None, members: dict | None = None, *bases: Class
) -> Class:
    """The Class of a built-in type."""
    cls = Class(
        kind.__name__,
        bases or (OBJECT,),
        {**dunders(kind), **(members or {})},
        make=wrapping(make) if make else None,
    )
    cls.cache["complete"] = True
    return cls


def constructor(name: str, function: Callable) -> Static:
    """A static method that returns a built-in value, such as str.maketrans."""
    return Static(Builtin(name, function))


OBJECT_NUMBER = "real imag"
INT = plain_class(
    int,
    make_int,
    {
        **host_methods(int, "bit_length bit_count conjugate as_integer_ratio"),
        **properties(f"{OBJECT_NUMBER} numerator denominator"),
    },
)
BOOL = plain_class(bool, lambda m, value=False: m.truth(value), {}, INT)
FLOAT = plain_class(
    float,
    make_float,
    {
        **host_methods(float, "is_integer hex as_integer_ratio conjugate"),
        **properties(OBJECT_NUMBER),
    },
)
COMPLEX = plain_class(
    complex,
    make_complex,
    {**host_methods(complex, "conjugate"), **properties(OBJECT_NUMBER)},
)
STR = plain_class(
    str,
    make_str,
    {
        **host_methods(str, STR_PLAIN),
        **functions(STR_METHODS),
        "maketrans": constructor("maketrans", lambda m, *a: host_call(m, str.maketrans, a, {})),
    },
)
BYTES = plain_class(bytes, make_bytes, host_methods(bytes, "decode hex startswith endswith"))
LIST = plain_class(list, collected, {**functions(LIST_METHODS), "__hash__": None})
TUPLE = plain_class(
    tuple,
    lambda m, values=(): tuple(collected(m, values)),
    functions({"index": position, "count": occurrences}),
)
DICT = plain_class(
    dict,
    make_dict,
    {
        **functions(DICT_METHODS),
        "__hash__": None,
        "fromkeys": constructor(
            "fromkeys",
            lambda m, keys, value=None: {m.key(k): value for k in collected(m, keys)},
        ),
    },
)
SET = plain_class(set, make_set, {**functions(SET_METHODS), "__hash__": None})
FROZENSET = plain_class(
    frozenset,
    lambda m, values=(): frozenset(make_set(m, values)),
    functions({name: combined(name) for name in SET_COMBINED.split()}),
)
RANGE = plain_class(
    range,
    make_range,
    {
        **properties("start stop step"),
        **functions(
            {
                "index": lambda m, self, item: host_call(m, range.index, (self, m.index(item)), {}),
                "count": lambda m, self, item: int(m.contains(plain(self), item)),
            }
        ),
    },
)
SLICE = plain_class(
    slice,
    lambda m, *args: host_call(m, slice, args, {}),
    {**properties("start stop step"), **host_methods(slice, "indices"), "__hash__": None},
)
PLAIN_CLASSES: dict[type, Class] = {
    type(None): NONE_TYPE,
    type(...): ELLIPSIS,
    type(NotImplemented): NOT_IMPLEMENTED,
    int: INT,
    bool: BOOL,
    float: FLOAT,
    complex: COMPLEX,
    str: STR,
    bytes: BYTES,
    list: LIST,
    tuple: TUPLE,
    dict: DICT,
    set: SET,
    frozenset: FROZENSET,
    range: RANGE,
    slice: SLICE,
}
for _cls in (KEYS, VALUES, ITEMS):
    _cls.members.update(
        functions(
            {
                "__len__": lambda m, self: len(self.host),
                **{
                    op.method: lambda m, a, b, op=op: op.host(set(a.host), make_set(m, b))
                    for op in BINARY.values()
                    if op.sign in "&|-^"
                },
                "__eq__": lambda m, a, b: m.equal(make_set(m, a), make_set(m, b)),
            }
        )
    )


def shown_ascii(m: Any, value: Any) -> str:
    """The result of ascii()."""
    return ascii_only(m.repr(value))
