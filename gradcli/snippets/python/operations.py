"""Operators, comparisons, truth, iteration and indexing, according to Python's data model.

"Host" means the Python that runs gradcli, "program" the one that it interprets.
"""

import itertools
import operator
from collections.abc import Callable, Iterator
from collections.abc import Iterable as HostIterable
from typing import Any

from .budget import MOST_BITS
from .objects import CONTAINERS, ITERATOR, PLAIN, SCALARS, Hashed, Iterable, View
from .values import (
    EXCEPTIONS,
    MISSING,
    Class,
    Exhausted,
    Instance,
    Raised,
    Unsupported,
    error,
)

INTERPRETER_ERRORS = (Raised, Unsupported, Exhausted)
MANY = 2_000  # a for loop over an iterator counts as unbounded after this many items


class Operator:
    """A binary operator: its symbol, Python's function, and the names of its special methods."""

    __slots__ = ("host", "in_place", "method", "reflected", "sign")

    def __init__(self, sign: str, name: str, host: Callable[[Any, Any], Any]):
        self.sign, self.host = sign, host
        self.method, self.reflected, self.in_place = f"__{name}__", f"__r{name}__", f"__i{name}__"


BINARY = {
    "Add": Operator("+", "add", operator.add),
    "Sub": Operator("-", "sub", operator.sub),
    "Mult": Operator("*", "mul", operator.mul),
    "MatMult": Operator("@", "matmul", operator.matmul),
    "Div": Operator("/", "truediv", operator.truediv),
    "FloorDiv": Operator("//", "floordiv", operator.floordiv),
    "Mod": Operator("%", "mod", operator.mod),
    "Pow": Operator("** or pow()", "pow", operator.pow),
    "LShift": Operator("<<", "lshift", operator.lshift),
    "RShift": Operator(">>", "rshift", operator.rshift),
    "BitAnd": Operator("&", "and", operator.and_),
    "BitOr": Operator("|", "or", operator.or_),
    "BitXor": Operator("^", "xor", operator.xor),
}
COMPARED = {  # symbol, method, reflected method, Python's function
    "Eq": ("==", "__eq__", "__eq__", operator.eq),
    "NotEq": ("!=", "__ne__", "__ne__", operator.ne),
    "Lt": ("<", "__lt__", "__gt__", operator.lt),
    "LtE": ("<=", "__le__", "__ge__", operator.le),
    "Gt": (">", "__gt__", "__lt__", operator.gt),
    "GtE": (">=", "__ge__", "__le__", operator.ge),
}
UNARY = {
    "USub": ("-", "__neg__", operator.neg),
    "UAdd": ("+", "__pos__", operator.pos),
    "Invert": ("~", "__invert__", operator.invert),
}


def translated(e: BaseException) -> BaseException:
    """Convert an exception of the host into the corresponding exception of the program. The
    interpreter's own exceptions (INTERPRETER_ERRORS) are returned unchanged.
    """
    if isinstance(e, INTERPRETER_ERRORS):
        return e
    if isinstance(e, MemoryError):
        return Exhausted("memory", "makes a value that is too large")
    if isinstance(e, RecursionError):
        return error("RecursionError", "maximum recursion depth exceeded")
    for cls in type(e).__mro__:
        if cls.__name__ in EXCEPTIONS and cls.__name__ not in ("Exception", "BaseException"):
            return Raised(Instance(EXCEPTIONS[cls.__name__], payload=tuple(e.args)))
    return Unsupported(f"this operation ({type(e).__name__}: {e})")


def plain(value: Any) -> Any:
    """The built-in value of an instance whose class derives from a built-in class, such as a dict
    for a Counter. Exceptions and all other values unchanged.
    """
    if isinstance(value, Instance) and type(value.payload) in PLAIN and value.payload is not None:
        return value if value.cls.derives_from(EXCEPTIONS["BaseException"]) else value.payload
    return value


class Operations:
    """The part of the interpreter that implements operators."""

    line: int
    loops: int

    # implemented by other base classes of the interpreter
    class_of: Callable[[Any], Class]
    call: Callable[..., Any]
    spend: Callable[..., None]
    get: Callable[[Any, str], Any]
    percent: Callable[[str, Any], str]

    def type_name(self, value: Any) -> str:
        """The name of a value's class, as shown in error messages."""
        return self.class_of(value).shown

    def special(self, value: Any, name: str) -> Any:
        """The special method `name` of a value's class; MISSING if there is none."""
        return self.class_of(value).lookup(name)

    # ---- arithmetic ------------------------------------------------------------------------------

    def binary(self, op: Operator, a: Any, b: Any, sign: str | None = None) -> Any:
        """a op b."""
        if (type(a) in PLAIN and type(b) in PLAIN) or (type(a) is str and op.sign == "%"):
            return self.plain_binary(op, a, b, sign)
        result = self.dispatch(a, b, op.method, op.reflected)
        if result is not NotImplemented:
            return result
        for sequence, times in ((a, b), (b, a)) if op.sign == "*" else ():
            repeated = type(sequence) in (str, list, tuple, bytes) and type(times) not in PLAIN
            if repeated and self.special(times, "__index__") is not MISSING:
                return self.plain_binary(op, sequence, self.index(times))
        raise self.unsupported_operands(op, a, b, sign)

    def dispatch(
        self, a: Any, b: Any, method: str, reflected: str, *, compared: bool = False
    ) -> Any:
        """Call the operands' special methods in Python's order, and return the first result that is
        not NotImplemented; NotImplemented if there is none.
        """
        left, right = self.class_of(a), self.class_of(b)
        forward, reflected_method = left.lookup(method), right.lookup(reflected)
        reflected_first = (
            left is not right
            and right.derives_from(left)
            and reflected_method is not MISSING
            and reflected_method is not left.lookup(reflected)
        )
        attempts = [(forward, a, b)]
        if compared or left is not right:
            attempts.append((reflected_method, b, a))
        for function, owner, operand in reversed(attempts) if reflected_first else attempts:
            if function is not MISSING and function is not None:
                result = self.call(function, (owner, operand))
                if result is not NotImplemented:
                    return result
        return NotImplemented

    def unsupported_operands(self, op: Operator, a: Any, b: Any, sign: str | None) -> Raised:
        """The TypeError for operands whose types an operator does not support."""
        left, right = self.type_name(a), self.type_name(b)
        if op.sign == "+" and type(a) in (str, list, tuple):
            return error("TypeError", f'can only concatenate {left} (not "{right}") to {left}')
        if op.sign == "+" and type(getattr(a, "payload", None)) is tuple and "." in left:
            return error("TypeError", f"can only concatenate tuple (not {right}) to {left}")
        for sequence, other, times in ((a, right, b), (b, left, a)):
            kind = type(getattr(sequence, "payload", sequence))
            if op.sign == "*" and kind in (str, list, tuple, bytes):
                index = self.class_of(times).lookup("__index__")
                if index is not MISSING:
                    self.call(index, (times,))  # raises the error of __index__
                return error("TypeError", f"can't multiply sequence by non-int of type '{other}'")
        shown = sign or op.sign
        return error(
            "TypeError", f"unsupported operand type(s) for {shown}: '{left}' and '{right}'"
        )

    def plain_binary(self, op: Operator, a: Any, b: Any, sign: str | None = None) -> Any:
        """The result of an operator on built-in values, counted against the budget."""
        if op.sign == "%" and type(a) is str:
            return self.percent(a, b)
        self.check_size(op.sign, a, b)
        try:
            return op.host(a, b)
        except Exception as e:
            if sign and isinstance(e, TypeError):
                e = TypeError(str(e).replace(f"for {op.sign}:", f"for {sign}:"))
            raise translated(e) from None

    def check_size(self, sign: str, a: Any, b: Any) -> None:
        """Refuse a result that would be too large, before it is computed."""
        ta, tb = type(a), type(b)
        if ta in (int, bool) and tb in (int, bool):
            bits = 0
            if sign.startswith("**"):
                bits = a.bit_length() * b if b > 0 and abs(a) > 1 else 0
            elif sign == "<<":
                bits = a.bit_length() + b if a else 0
            elif sign == "*":
                bits = a.bit_length() + b.bit_length()
            elif sign in ("//", "%"):
                bits = a.bit_length()
            if bits > MOST_BITS:
                raise Exhausted("memory", "makes an integer of more than 120,000 digits")
            if bits > 2000:
                self.spend(bits // 50)
        elif sign == "*" and (ta in (int, bool) or tb in (int, bool)):
            times, sequence = (a, b) if ta in (int, bool) else (b, a)
            if type(sequence) in (str, bytes, list, tuple):
                each = 1 if type(sequence) in (str, bytes) else 8
                self.spend(memory=max(0, times) * len(sequence) * each)
        elif sign == "+" and ta is tb and ta in (str, bytes, list, tuple):
            self.spend(memory=(len(a) + len(b)) * (1 if ta in (str, bytes) else 8))
        elif ta in (set, frozenset) or ta is dict:
            self.spend(len(a), 64 * len(a))

    def in_place(self, op: Operator, a: Any, b: Any) -> Any:
        """The value that `a op= b` assigns: `a` itself, changed, or a new value."""
        sign = ("**" if op.method == "__pow__" else op.sign) + "="
        if type(a) in PLAIN:
            if type(a) is list and op.sign == "+":
                items = list(self.iterate(b))
                self.spend(len(items), 8 * len(items))
                a.extend(items)
                return a
            if type(a) in (set, dict) and type(b) is type(a) and op.sign in "|&-^":
                return self.set_in_place(op, a, b)
            return self.binary(op, a, b, sign)
        function = self.special(a, op.in_place)
        if function is not MISSING:
            result = self.call(function, (a, b))
            if result is not NotImplemented:
                return result
        return self.binary(op, a, b, sign)

    def set_in_place(self, op: Operator, a: Any, b: Any) -> Any:
        """`a |= b` and similar operators, which change a set or a dict in place."""
        result = self.plain_binary(op, a, b)
        if result is not a:
            a.clear()
            a.update(result)
        return a

    def unary(self, name: str, a: Any) -> Any:
        """-a, +a, ~a."""
        sign, method, host = UNARY[name]
        if type(a) in PLAIN and callable(host):
            try:
                return host(a)
            except TypeError as e:
                raise translated(e) from None
        function = self.special(a, method)
        if function is MISSING:
            raise error("TypeError", f"bad operand type for unary {sign}: '{self.type_name(a)}'")
        return self.call(function, (a,))

    # ---- comparison ------------------------------------------------------------------------------

    def compare(self, name: str, a: Any, b: Any) -> Any:
        """a < b and other comparisons. The result may be any value, such as a tensor."""
        sign, method, reflected, host = COMPARED[name]
        ta, tb = type(a), type(b)
        if ta in SCALARS and tb in SCALARS:
            if ta in (str, bytes) and len(a) > 1000:
                self.spend(len(a) // 1000)
            try:
                return host(a, b)
            except TypeError as e:
                raise translated(e) from None
        if ta in PLAIN and tb in PLAIN:
            return self.compare_containers(name, a, b)
        result = self.dispatch(a, b, method, reflected, compared=True)
        if result is not NotImplemented:
            return result
        if name == "NotEq":
            result = self.dispatch(a, b, "__eq__", "__eq__", compared=True)
            return a is not b if result is NotImplemented else not self.truth(result)
        if name == "Eq":
            return a is b
        raise self.unorderable(sign, a, b)

    def unorderable(self, sign: str, a: Any, b: Any) -> Raised:
        """The TypeError for values that cannot be ordered."""
        return error(
            "TypeError",
            f"'{sign}' not supported between instances of "
            f"'{self.type_name(a)}' and '{self.type_name(b)}'",
        )

    def compare_containers(self, name: str, a: Any, b: Any) -> bool:
        """Compare built-in values: lists and tuples by the first pair of different items, dicts
        item by item, others by the host's operator.
        """
        _, _, _, host = COMPARED[name]
        if type(a) in (list, tuple) and type(b) is type(a):
            self.spend(10 + 5 * min(len(a), len(b)))
            if name in ("Eq", "NotEq") and len(a) != len(b):
                return name == "NotEq"
            for x, y in zip(a, b):
                if x is not y and not self.equal(x, y):
                    if name in ("Eq", "NotEq"):
                        return name == "NotEq"
                    return self.truth(self.compare(name, x, y))
            return host(len(a), len(b))
        if type(a) is dict and type(b) is dict and name in ("Eq", "NotEq"):
            self.spend(1 + len(a))
            same = len(a) == len(b) and all(
                k in b and (v is b[k] or self.equal(v, b[k])) for k, v in a.items()
            )
            return same == (name == "Eq")
        try:
            return host(a, b)
        except TypeError as e:
            raise translated(e) from None

    def equal(self, a: Any, b: Any) -> bool:
        """Whether a == b is true."""
        if type(a) in SCALARS and type(b) in SCALARS:
            return a == b
        return self.truth(self.compare("Eq", a, b))

    def less(self, a: Any, b: Any) -> bool:
        """Whether a < b is true."""
        return self.truth(self.compare("Lt", a, b))

    def contains(self, container: Any, item: Any) -> bool:
        """item in container."""
        kind = type(container)
        if kind in (list, tuple):
            self.spend(len(container) // 8)
            if type(item) in SCALARS and SCALARS.issuperset(map(type, container)):
                return item in container
            return any(item is x or self.equal(x, item) for x in container)
        if kind is range and type(item) not in (int, bool):
            for number in container:
                self.spend(2)
                if self.equal(number, item):
                    return True
            return False
        if kind in PLAIN:
            if kind in (str, bytes):
                self.spend(len(container) // 500)
            if kind in (dict, set, frozenset):
                self.key(item)
            try:
                return item in container
            except Exception as e:
                raise translated(e) from None
        if isinstance(container, View):
            return any(item is x or self.equal(x, item) for x in container.host)
        function = self.special(container, "__contains__")
        if function is not MISSING:
            return self.truth(self.call(function, (container, item)))
        if not self.iterable(container):
            raise error(
                "TypeError", f"argument of type '{self.type_name(container)}' is not iterable"
            )
        return any(item is x or self.equal(x, item) for x in self.iterate(container))

    def truth(self, value: Any) -> bool:
        """The result of bool()."""
        if type(value) in PLAIN:
            return value is not NotImplemented and bool(value)
        function = self.special(value, "__bool__")
        if function is not MISSING:
            result = self.call(function, (value,))
            if type(result) is not bool:
                raise error(
                    "TypeError",
                    f"__bool__ should return bool, returned {self.type_name(result)}",
                )
            return result
        if self.special(value, "__len__") is not MISSING:
            return self.length(value) > 0
        return len(value.host) > 0 if isinstance(value, View) else True

    # ---- sizes, hashes, keys ---------------------------------------------------------------------

    def length(self, value: Any) -> int:
        """The result of len()."""
        if isinstance(value, View):
            return len(value.host)
        if type(value) in CONTAINERS or type(value) in (str, bytes):
            try:
                return len(value)
            except (TypeError, OverflowError) as e:
                raise translated(e) from None
        if isinstance(value, Class) and "__members__" in value.members:  # an enumeration class
            return len(value.members["__members__"])
        function = MISSING if type(value) in PLAIN else self.special(value, "__len__")
        if function is MISSING:
            raise error("TypeError", f"object of type '{self.type_name(value)}' has no len()")
        return self.index(self.call(function, (value,)))

    def hash(self, value: Any) -> int:
        """The result of hash()."""
        if type(value) in PLAIN:
            self.key(value)
            try:
                return hash(value)
            except TypeError as e:
                raise translated(e) from None
        for cls in self.class_of(value).mro:
            function = cls.members.get("__hash__", MISSING)
            # a class of the program with __eq__ but no __hash__ is unhashable; tensors, which are
            # not Hashed, are hashed by identity
            if function is MISSING and "__eq__" in cls.members and isinstance(value, Hashed):
                function = None
            if function is None:
                raise error("TypeError", f"unhashable type: '{self.type_name(value)}'")
            if function is not MISSING:
                return hash(self.call(function, (value,)))
        return object.__hash__(value)

    def key(self, value: Any) -> Any:
        """`value`, if it can be a dict key. Raises the program's TypeError for an unhashable
        built-in value.

        The items of a tuple or frozenset are visited first and counted against the budget, because
        a nested tuple with shared items can take exponential time to hash.
        """
        kind = type(value)
        if kind in (tuple, frozenset):
            self.spend(5 + 2 * len(value))
            for item in value:
                self.key(item)
        elif kind in (list, dict, set, slice):
            raise error("TypeError", f"unhashable type: '{kind.__name__}'")
        return value

    def index(self, value: Any) -> int:
        """A value as an int, converted by `__index__`."""
        if type(value) in (int, bool):
            return int(value)
        number = plain(value)
        function = MISSING if type(number) in PLAIN else self.special(value, "__index__")
        if function is MISSING:
            if type(number) in (int, bool):
                return int(number)
            raise error(
                "TypeError", f"'{self.type_name(value)}' object cannot be interpreted as an integer"
            )
        return int(self.call(function, (value,)))

    # ---- iteration -------------------------------------------------------------------------------

    def iterable(self, value: Any) -> bool:
        """Whether a value is iterable."""
        if type(value) in PLAIN:
            return type(value) in (str, bytes) or type(value) in CONTAINERS - {slice}
        if isinstance(value, Iterable | View):
            return True
        cls = self.class_of(value)
        result = cls.lookup("__iter__")
        if result is MISSING:
            result = cls.lookup("__getitem__")
        return result is not MISSING and result is not None

    def iterate(self, value: Any) -> HostIterable[Any]:
        """The items of a value, as a Python iterable."""
        kind = type(value)
        if kind in (list, tuple, str, range, bytes):
            return value
        if kind in (dict, set, frozenset):
            return guarded(value)
        if isinstance(value, Iterable):
            return value.host
        if isinstance(value, View):
            return guarded(value.host)
        if isinstance(value, Class) and "__members__" in value.members:
            return list(value.members["__members__"].values())
        function = MISSING if kind in PLAIN else self.special(value, "__iter__")
        if function is not MISSING and function is not None:
            return self.by_next(self.call(function, (value,)))
        if kind not in PLAIN and self.special(value, "__getitem__") is not MISSING:
            places = ((value, place) for place in itertools.count())
            return self.repeated_calls(self.special(value, "__getitem__"), places, "IndexError")
        raise error("TypeError", f"'{self.type_name(value)}' object is not iterable")

    def loop_items(self, value: Any) -> HostIterable[Any]:
        """The items of a for loop, which counts as unbounded after MANY items of an iterator."""
        items = self.iterate(value)
        return items if isinstance(items, list | tuple | range | str) else self.unbounded(items)

    def unbounded(self, items: HostIterable[Any]) -> Iterator[Any]:
        """Yield the items. After the first MANY, the loop counts as unbounded (`self.loops`): the
        stricter limit SHORT of the budget applies. The iterator is not closed, because the program
        may use it further.
        """
        rest = iter(items)
        for item in itertools.islice(rest, MANY):
            yield item
        self.loops += 1
        try:
            for item in rest:
                yield item
        finally:
            self.loops -= 1

    def by_next(self, iterator: Any) -> HostIterable[Any]:
        """The items of an iterator of the program, by calls of its `__next__`."""
        if isinstance(iterator, Iterable):
            return iterator.host
        function = MISSING if type(iterator) in PLAIN else self.special(iterator, "__next__")
        if function is MISSING:
            name = self.type_name(iterator)
            raise error("TypeError", f"iter() returned non-iterator of type '{name}'")
        return self.repeated_calls(function, itertools.repeat((iterator,)), "StopIteration")

    def repeated_calls(self, function: Any, calls: HostIterable[tuple], end: str) -> Iterator[Any]:
        """The results of calling a function with the arguments in `calls` until it raises `end`."""
        for args in calls:
            self.spend()
            try:
                item = self.call(function, args)
            except Raised as e:
                if e.value.cls.derives_from(EXCEPTIONS[end]):
                    return
                raise
            yield item

    def iterator(self, value: Any) -> Any:
        """The result of iter()."""
        if isinstance(value, Iterable):
            return value
        if type(value) not in PLAIN and not isinstance(value, View | Class):
            function = self.special(value, "__iter__")
            if function is not MISSING and function is not None:
                return self.call(function, (value,))
        host = self.iterate(value)
        return Iterable(iterator_class(type(value)), iter(host))

    def next(self, iterator: Any) -> Any:
        """The result of next()."""
        if isinstance(iterator, Iterable):
            try:
                return next(iterator.host)
            except StopIteration as e:
                args = () if e.value is None else (e.value,)
                raise Raised(Instance(EXCEPTIONS["StopIteration"], payload=args)) from None
            except (RuntimeError, ValueError) as e:
                raise translated(e) from None
        function = MISSING if type(iterator) in PLAIN else self.special(iterator, "__next__")
        if function is MISSING:
            raise error("TypeError", f"'{self.type_name(iterator)}' object is not an iterator")
        return self.call(function, (iterator,))

    def unpack(self, value: Any, count: int, starred: int | None = None) -> list[Any]:
        """The items of a value for `count` targets; the starred one (an index) gets a list."""
        if type(value) not in (list, tuple):
            if not self.iterable(value):
                name = self.type_name(value)
                raise error("TypeError", f"cannot unpack non-iterable {name} object")
            items = []
            for item in self.iterate(value):
                self.spend(1, 8)
                items.append(item)
                if starred is None and len(items) > count:
                    break
            value = items
        if starred is None:
            if len(value) > count:
                raise error("ValueError", f"too many values to unpack (expected {count})")
            if len(value) < count:
                raise error(
                    "ValueError",
                    f"not enough values to unpack (expected {count}, got {len(value)})",
                )
            return value
        if len(value) < count - 1:
            raise error(
                "ValueError",
                f"not enough values to unpack (expected at least {count - 1}, got {len(value)})",
            )
        end = len(value) - (count - 1 - starred)
        return [*value[:starred], list(value[starred:end]), *value[end:]]

    # ---- indexing --------------------------------------------------------------------------------

    def get_item(self, value: Any, key: Any) -> Any:
        """value[key]."""
        kind = type(value)
        if kind in PLAIN:
            key = self.plain_key(value, key)
            try:
                item = value[key]
            except Exception as e:
                raise self.subscript_error(e, key) from None
            if type(key) is slice and kind is not range:
                self.spend(len(item) // 16, 8 * len(item))
            return item
        if isinstance(value, Class):
            function = value.lookup("__class_getitem__")
            if "__members__" in value.members:
                return self.get_item(value.members["__members__"], key)
            return value if function is MISSING else self.call(function, (value, key))
        function = self.special(value, "__getitem__")
        if function is MISSING:
            raise error("TypeError", f"'{self.type_name(value)}' object is not subscriptable")
        return self.call(function, (value, key))

    def plain_key(self, value: Any, key: Any) -> Any:
        """A key for a built-in container: a value with `__index__` is converted to an int."""
        kind = type(key)
        if kind in (int, str):
            return key
        if type(value) is dict:
            return self.key(key)
        if kind is slice:
            parts = (key.start, key.stop, key.step)
            if all(type(p) in PLAIN for p in parts):
                return key
            return slice(*(p if p is None else self.index(p) for p in parts))
        if kind not in PLAIN and self.special(key, "__index__") is not MISSING:
            return self.index(key)
        return key

    def subscript_error(self, e: Exception, key: Any) -> BaseException:
        """The program's exception for an exception that the host raised for value[key]. A TypeError
        shows the name that the key's class has in the program.
        """
        if isinstance(e, TypeError) and type(key) not in PLAIN:
            old, new = type(key).__name__, self.type_name(key)
            return error("TypeError", str(e).replace(old, new))
        return translated(e)

    def set_item(self, value: Any, key: Any, to: Any) -> None:
        """value[key] = to."""
        kind = type(value)
        if kind in PLAIN:
            key = self.plain_key(value, key)
            if type(key) is slice and kind is list:
                if not self.iterable(to):
                    raise error("TypeError", "can only assign an iterable")
                to = list(self.iterate(to))
                self.spend(len(to), 8 * len(to))
            elif kind is dict:
                self.spend(0, 100)
            try:
                value[key] = to
            except Exception as e:
                raise self.subscript_error(e, key) from None
            return
        function = self.special(value, "__setitem__")
        if function is MISSING:
            name = self.type_name(value)
            raise error("TypeError", f"'{name}' object does not support item assignment")
        self.call(function, (value, key, to))

    def delete_item(self, value: Any, key: Any) -> None:
        """del value[key]."""
        if type(value) in PLAIN:
            key = self.plain_key(value, key)
            try:
                del value[key]
            except Exception as e:
                raise self.subscript_error(e, key) from None
            return
        function = self.special(value, "__delitem__")
        if function is MISSING:
            name = self.type_name(value)
            raise error("TypeError", f"'{name}' object doesn't support item deletion")
        self.call(function, (value, key))

    # ---- numbers ---------------------------------------------------------------------------------

    def number(self, value: Any, method: str) -> Any:
        """The result of the special method `method` (`__float__`, `__int__`, `__complex__`), or
        else of `__index__`. Built-in values, and values without either method, are returned
        unchanged.
        """
        value = plain(value)
        if type(value) in PLAIN:
            return value
        function = self.special(value, method)
        if function is MISSING:
            function = self.special(value, "__index__")
        return value if function is MISSING else self.call(function, (value,))


def guarded(container: Any) -> Iterator[Any]:
    """The items of a dict or set; a change of its size raises the program's RuntimeError."""
    host = iter(container)
    while True:
        try:
            item = next(host)
        except StopIteration:
            return
        except RuntimeError as e:
            raise translated(e) from None
        yield item


_ITERATORS: dict[str, Class] = {}


def iterator_class(kind: type | str) -> Class:
    """The class of iterators over the built-in type `kind`, or with the name `kind`."""
    name = kind if isinstance(kind, str) else _iterator_name(kind)
    if name not in _ITERATORS:
        _ITERATORS[name] = Class(name, (ITERATOR,))
    return _ITERATORS[name]


def _iterator_name(kind: type) -> str:
    names: dict[type, str] = {
        list: "list_iterator",
        tuple: "tuple_iterator",
        str: "str_ascii_iterator",
        range: "range_iterator",
        dict: "dict_keyiterator",
        set: "set_iterator",
    }
    return names.get(kind, "iterator")
