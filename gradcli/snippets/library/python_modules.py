"""A module of the standard library, or one that can only be imported; None if the name is unknown.
Each program gets a new one.
"""

import functools
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from ..eager.mode import MODE
from ..python.builtins import BUILTINS, lazy, total
from ..python.classes import (
    DATACLASSES,
    ENUMS,
    NAMED_TUPLE,
    make_named_tuple,
)
from ..python.methods import DICT, ITEMS, KEYS, VALUES, collected, host_call, ordered, update
from ..python.objects import FUNCTION, PLAIN, Function, Generator, Iterable, View
from ..python.operations import BINARY, COMPARED, iterator_class, plain
from ..python.values import (
    EXCEPTIONS,
    MISSING,
    OBJECT,
    Builtin,
    Class,
    Instance,
    Module,
    Property,
    Raised,
    Unsupported,
    UnsupportedModule,
    Wrapper,
    error,
    functions,
)
from .regular_expressions import re_module

# ---- math ----------------------------------------------------------------------------------------

INTEGERS = frozenset(["comb", "factorial", "gcd", "isqrt", "lcm", "perm"])


def number_function(name: str, function: Callable) -> Callable:
    """The function `name` of math, for all values of the program that convert to numbers."""

    def call(m: Any, *args: Any, **named: Any) -> Any:
        values = [real(m, a) if name not in INTEGERS else m.index(a) for a in args]
        if name in ("comb", "factorial", "perm") and values and abs(values[0]) > 10_000:
            raise Unsupported(f"math.{name} of a number above 10,000")
        return host_call(m, function, values, named)

    return call


def real(m: Any, value: Any) -> Any:
    """A value as a number, an iterable as a list of numbers. Raises the program's TypeError."""
    number = m.number(value, "__float__")
    if type(number) in (list, tuple, range) or isinstance(number, Iterable):
        return [m.number(x, "__float__") for x in collected(m, number)]
    if type(number) not in PLAIN:
        raise error("TypeError", f"must be real number, not {m.type_name(number)}")
    return number


def math_module() -> Module:
    members: dict[str, Any] = {}
    for name in dir(math):
        value = getattr(math, name)
        if not name.startswith("_"):
            members[name] = (
                Builtin(name, number_function(name, value)) if callable(value) else value
            )
    members["fsum"] = Builtin(
        "fsum", lambda m, values: host_call(m, math.fsum, (real(m, values),), {})
    )
    members["prod"] = Builtin(
        "prod",
        lambda m, values, *, start=1: functools.reduce(
            lambda a, b: m.binary(BINARY["Mult"], a, b), m.iterate(values), start
        ),
    )
    return Module("math", members)


# ---- time, random --------------------------------------------------------------------------------


def time_module() -> Module:
    """The module time; its clocks advance by a millisecond at each call, reproducibly."""
    ticks = itertools.count(1)

    def clock(start: float) -> Callable:
        return lambda m: start + next(ticks) / 1000

    return Module(
        "time",
        functions(
            {
                "time": clock(1_700_000_000.0),
                "perf_counter": clock(100.0),
                "monotonic": clock(100.0),
                "process_time": clock(0.0),
                "time_ns": lambda m: 1_700_000_000_000_000_000 + next(ticks) * 1_000_000,
                "sleep": lambda m, seconds: None,
            }
        ),
    )


DRAWS = (
    "random randint randrange uniform gauss normalvariate expovariate betavariate triangular "
    "getrandbits"
)


class Random:
    """Python's random generator; the seed is 0 unless the program sets one."""

    def __init__(self) -> None:
        import random  # imported on first use, as that takes ten milliseconds

        self.generator, self.seeded = random.Random(MODE.start), False

    def draw(self, m: Any, name: str, *args: Any, **named: Any) -> Any:
        """Call a method of the generator."""
        MODE.unseeded |= not self.seeded
        return host_call(m, getattr(self.generator, name), args, named)

    def seed(self, m: Any, a: Any = None, version: Any = 2) -> None:
        """random.seed. Without an argument, the seed is 0 and not a random one as in Python."""
        self.seeded = a is not None
        host_call(m, self.generator.seed, (a if self.seeded else MODE.start, version), {})

    def choice(self, m: Any, values: Any) -> Any:
        """random.choice."""
        size = m.length(values)
        if not size:
            raise error("IndexError", "Cannot choose from an empty sequence")
        return m.get_item(values, self.draw(m, "choice", range(size)))

    def choices(
        self, m: Any, values: Any, weights: Any = None, *, cum_weights: Any = None, k: Any = 1
    ) -> Any:
        """random.choices."""
        weights, count = None if weights is None else collected(m, weights), m.index(k)
        m.spend(count, 8 * count)
        given = collected(m, values), weights
        return self.draw(m, "choices", *given, cum_weights=cum_weights, k=count)

    def sample(self, m: Any, values: Any, k: Any) -> Any:
        """random.sample."""
        return self.draw(m, "sample", collected(m, values), m.index(k))

    def function(self, name: str) -> Callable:
        """A method of this generator as a function `(m, *args)` of the program."""
        if name in OWN_METHODS:
            return getattr(self, name)
        return lambda m, *args, **named: self.draw(m, name, *args, **named)


OWN_METHODS = ("seed", "choice", "choices", "sample")
METHODS = (*DRAWS.split(), "shuffle", *OWN_METHODS)


def random_class() -> Class:
    """random.Random: a separate generator."""

    def make(m: Any, cls: Class, seed: Any = None) -> Instance:
        own = Random()
        own.seed(m, seed)
        return m.instance(cls, own)

    def method(name: str) -> Callable:
        return lambda m, self, *args, **named: self.payload.function(name)(m, *args, **named)

    return Class("Random", members=functions({n: method(n) for n in METHODS}), make=make)


def random_module() -> Module:
    """random."""
    generator = Random()
    members = functions({name: generator.function(name) for name in METHODS})
    return Module("random", {**members, "Random": random_class()})


# ---- copy ----------------------------------------------------------------------------------------


def shallow(m: Any, value: Any) -> Any:
    kind = type(value)
    if kind in (list, dict, set):
        m.spend(len(value), 100 * len(value))
        return kind(value)
    if kind in PLAIN:
        return value
    function = m.special(value, "__copy__")
    if function is not MISSING:
        return m.call(function, (value,))
    if not isinstance(value, Instance):
        return value
    other = m.instance(value.cls, value.payload)
    if type(value.payload) in (list, dict, set):
        other.payload = type(value.payload)(value.payload)
    other.fields.update(value.fields)
    return other


def deep(m: Any, value: Any, memo: Any = None) -> Any:
    """copy.deepcopy. `memo` has the copies so far, by the identity of the original."""
    memo = {} if memo is None else memo
    kind = type(value)
    if kind not in (list, dict, set, tuple) and kind in PLAIN:
        return value
    key = m.identity(value)
    if key in memo:
        return memo[key]
    m.spend(1 + 2 * (len(value) if kind in PLAIN else 0), 100)
    if kind is list:
        items: list[Any] = []
        memo[key] = items
        items.extend([deep(m, v, memo) for v in value])
        return items
    if kind is set:
        memo[key] = {deep(m, v, memo) for v in value}
        return memo[key]
    if kind is dict:
        pairs: dict[Any, Any] = {}
        memo[key] = pairs
        for k, v in value.items():
            pairs[deep(m, k, memo)] = deep(m, v, memo)
        return pairs
    if kind is tuple:
        parts = tuple([deep(m, v, memo) for v in value])
        same = all(a is b for a, b in zip(parts, value))
        memo[key] = value if same else parts
        return memo[key]
    function = m.special(value, "__deepcopy__")
    if function is not MISSING:
        memo[key] = m.call(function, (value, memo))
        return memo[key]
    if not isinstance(value, Instance):
        return value
    other = memo[key] = m.instance(value.cls, deep(m, value.payload, memo))
    other.fields.update({k: deep(m, v, memo) for k, v in value.fields.items()})
    return other


# ---- collections ---------------------------------------------------------------------------------


WRITTEN_IN_C = ("OrderedDict", "defaultdict", "deque")  # shown as collections.NAME


def derived(name: str, base: Class, members: dict[str, Callable]) -> Class:
    shown = f"collections.{name}" if name in WRITTEN_IN_C else name
    return Class(name, (base,), functions(members), module="collections", shown=shown)


def start_default(
    m: Any, self: Any, factory: Any = None, values: Any = (), /, **named: Any
) -> None:
    if factory is not None and not m.callable(factory):
        raise error("TypeError", "first argument must be callable or None")
    self.fields["default_factory"] = factory
    update(m, self.payload, values, **named)


def missing_default(m: Any, self: Any, key: Any) -> Any:
    factory = self.fields["default_factory"]
    if factory is None:
        raise Raised(Instance(EXCEPTIONS["KeyError"], payload=(key,)))
    value = self.payload[m.key(key)] = m.call(factory)
    return value


def count(m: Any, self: Any, values: Any = (), /, **named: Any) -> None:
    _add_counts(m, self, values, named, 1)


def _add_counts(m: Any, self: Any, values: Any, named: dict[str, Any], sign: int) -> None:
    mapping = plain(values)
    pairs = mapping.items() if type(mapping) is dict else ((v, 1) for v in m.iterate(values))
    for key, times in (*pairs, *named.items()):
        m.spend(3, 60)
        self.payload[m.key(key)] = self.payload.get(key, 0) + sign * times


def _combined(m: Any, a: Any, b: Any, function: Callable[[Any, Any], Any]) -> Any:
    """The Counter of the positive function(a[k], b[k]); NotImplemented if `b` is no Counter."""
    if not (isinstance(b, Instance) and b.cls.derives_from(COUNTER)):
        return NotImplemented
    keys = {**a.payload, **b.payload}
    m.spend(len(keys), 60 * len(keys))
    counts = {k: function(a.payload.get(k, 0), b.payload.get(k, 0)) for k in keys}
    return m.call(COUNTER, ({k: n for k, n in counts.items() if n > 0},))


def elements(m: Any, self: Any) -> Iterator[Any]:
    counts = self.payload.items()
    return (k for k, n in counts for _ in range(m.index(n)) if m.spend() is None)


def most_common(m: Any, self: Any, n: Any = None) -> list:
    pairs = sorted(self.payload.items(), key=lambda kv: kv[1], reverse=True)
    return pairs if n is None else pairs[: m.index(n)]


def repr_ordered(m: Any, self: Any) -> str:
    if not self.payload:
        return "OrderedDict()"
    if sys.version_info >= (3, 12):
        return f"OrderedDict({m.repr(self.payload)})"
    return f"OrderedDict({m.repr(list(self.payload.items()))})"


def move_to_end(m: Any, self: Any, key: Any, last: Any = True) -> None:
    value = m.get_item(self.payload, key)
    del self.payload[key]
    items = list(self.payload.items())
    self.payload.clear()
    self.payload.update([*items, (key, value)] if m.truth(last) else [(key, value), *items])


def popitem_ordered(m: Any, self: Any, last: Any = True) -> Any:
    if not self.payload:
        raise error("KeyError", "dictionary is empty")
    key = next(reversed(self.payload)) if m.truth(last) else next(iter(self.payload))
    return key, self.payload.pop(key)


def equal_ordered(m: Any, self: Any, other: Any) -> bool:
    """OrderedDict.__eq__: the order of items matters if both are OrderedDicts."""
    if isinstance(other, Instance) and other.cls.derives_from(ORDERED):
        return m.equal(list(self.payload.items()), list(other.payload.items()))
    return m.equal(self.payload, other)


ORDERED_KEYS, ORDERED_VALUES, ORDERED_ITEMS = (
    Class(f"odict_{kind}", (base,))
    for kind, base in (("keys", KEYS), ("values", VALUES), ("items", ITEMS))
)
ORDERED: Class = derived(
    "OrderedDict",
    DICT,
    {
        "__eq__": equal_ordered,
        "__ne__": lambda m, self, other: not equal_ordered(m, self, other),
        "copy": shallow,
        "__repr__": repr_ordered,
        "move_to_end": move_to_end,
        "popitem": popitem_ordered,
        "keys": lambda m, self: View(ORDERED_KEYS, self.payload.keys()),
        "values": lambda m, self: View(ORDERED_VALUES, self.payload.values()),
        "items": lambda m, self: View(ORDERED_ITEMS, self.payload.items()),
    },
)
DEFAULT = derived(
    "defaultdict",
    DICT,
    {
        "__init__": start_default,
        "copy": shallow,
        "__missing__": missing_default,
        "__repr__": lambda m, self: (
            f"defaultdict({m.repr(self.fields['default_factory'])}, {m.repr(self.payload)})"
        ),
    },
)
COUNTER = derived(
    "Counter",
    DICT,
    {
        "__init__": count,
        "copy": shallow,
        "update": count,
        "__missing__": lambda m, self, key: 0,
        "most_common": most_common,
        "subtract": lambda m, self, values=(), /, **named: _add_counts(m, self, values, named, -1),
        "__add__": lambda m, a, b: _combined(m, a, b, lambda x, y: x + y),
        "__sub__": lambda m, a, b: _combined(m, a, b, lambda x, y: x - y),
        "__and__": lambda m, a, b: _combined(m, a, b, min),
        "__or__": lambda m, a, b: _combined(m, a, b, max),
        "__pos__": lambda m, self: _combined(m, self, self, lambda x, y: x),
        "__neg__": lambda m, self: _combined(m, self, self, lambda x, y: -x),
        "total": lambda m, self: total(m, list(self.payload.values())),
        "elements": lambda m, self: Iterable(iterator_class("chain"), elements(m, self)),
        "__repr__": lambda m, self: (
            f"Counter({m.repr(dict(most_common(m, self)))})" if self.payload else "Counter()"
        ),
    },
)


def start_deque(m: Any, self: Any, values: Any = (), maxlen: Any = None) -> None:
    self.fields["maxlen"] = maxlen
    self.payload = []
    for value in m.iterate(values):
        deque_append(m, self, value)


def deque_append(m: Any, self: Any, value: Any) -> None:
    m.spend(1, 8)
    self.payload.append(value)
    if self.fields["maxlen"] is not None and len(self.payload) > self.fields["maxlen"]:
        del self.payload[0]


def deque_appendleft(m: Any, self: Any, value: Any) -> None:
    m.spend(1 + len(self.payload) // 256, 8)
    self.payload.insert(0, value)
    if self.fields["maxlen"] is not None and len(self.payload) > self.fields["maxlen"]:
        del self.payload[-1]


def deque_extend(m: Any, self: Any, values: Any) -> None:
    for value in list(self.payload) if values is self else m.iterate(values):
        deque_append(m, self, value)


def deque_extendleft(m: Any, self: Any, values: Any) -> None:
    for value in m.iterate(values):
        deque_appendleft(m, self, value)


def deque_copy(m: Any, self: Any) -> Any:
    return m.call(self.cls, (list(self.payload), self.fields["maxlen"]))


def deque_sum(m: Any, self: Any, other: Any) -> Any:
    if not (isinstance(other, Instance) and other.cls.derives_from(DEQUE)):
        text = f'can only concatenate deque (not "{m.type_name(other)}") to deque'
        raise error("TypeError", text)
    result = deque_copy(m, self)
    deque_extend(m, result, other.payload)
    return result


def deque_added(m: Any, self: Any, values: Any) -> Any:
    deque_extend(m, self, values)
    return self


def deque_times(m: Any, self: Any, n: Any) -> Any:
    items = m.binary(BINARY["Mult"], self.payload, n)
    return m.call(self.cls, (items, self.fields["maxlen"]))


def deque_equals(m: Any, self: Any, other: Any) -> Any:
    if not (isinstance(other, Instance) and other.cls.derives_from(DEQUE)):
        return NotImplemented
    return m.equal(self.payload, other.payload)


def of_list(name: str) -> Callable:
    """A method that deques share with lists."""

    def method(m: Any, self: Any, *args: Any) -> Any:
        if name in ("index", "remove") and not m.contains(self.payload, args[0]):
            raise error("ValueError", f"{m.repr(args[0])} is not in deque")
        return m.call(m.get(self.payload, name), args)

    return method


def deque_pop(at: int) -> Callable:
    def pop(m: Any, self: Any) -> Any:
        if not self.payload:
            raise error("IndexError", "pop from an empty deque")
        m.spend(1 + len(self.payload) // 256)
        return self.payload.pop(at)

    return pop


def rotate(m: Any, self: Any, n: Any = 1) -> None:
    if self.payload:
        n = m.index(n) % len(self.payload)
        self.payload[:] = self.payload[-n:] + self.payload[:-n] if n else self.payload


def repr_deque(m: Any, self: Any) -> str:
    maxlen = self.fields["maxlen"]
    return f"deque({m.repr(self.payload)}{'' if maxlen is None else f', maxlen={maxlen}'})"


DEQUE = derived(
    "deque",
    OBJECT,
    {
        "__init__": start_deque,
        "append": deque_append,
        "appendleft": deque_appendleft,
        "pop": deque_pop(-1),
        "popleft": deque_pop(0),
        "extend": deque_extend,
        "extendleft": deque_extendleft,
        "clear": lambda m, self: self.payload.clear(),
        "rotate": rotate,
        **{name: of_list(name) for name in ("count", "index", "remove", "reverse", "insert")},
        "copy": deque_copy,
        "__copy__": deque_copy,
        "__add__": deque_sum,
        "__iadd__": deque_added,
        "__mul__": deque_times,
        "__contains__": lambda m, self, value: m.contains(self.payload, value),
        "__reversed__": lambda m, self: m.iterator(self.payload[::-1]),
        "__bool__": lambda m, self: bool(self.payload),
        "__eq__": deque_equals,
        "__len__": lambda m, self: len(self.payload),
        "__iter__": lambda m, self: m.iterator(self.payload),
        "__getitem__": lambda m, self, i: m.get_item(self.payload, i),
        "__setitem__": lambda m, self, i, to: m.set_item(self.payload, i, to),
        "__repr__": repr_deque,
    },
)


def start_chain(m: Any, self: Any, *maps: Any) -> None:
    self.fields["maps"] = list(maps) or [{}]


def chain_get(m: Any, self: Any, key: Any) -> Any:
    for inner in self.fields["maps"]:
        if m.contains(inner, key):
            return m.get_item(inner, key)
    raise Raised(Instance(EXCEPTIONS["KeyError"], payload=(key,)))


def chain_items(m: Any, self: Any) -> dict[Any, Any]:
    """All items of a ChainMap in one dict; earlier mappings take precedence."""
    result: dict[Any, Any] = {}
    for inner in reversed(self.fields["maps"]):
        update(m, result, inner)
    return result


CHAIN_MAP: Class = derived(
    "ChainMap",
    OBJECT,
    {
        "__init__": start_chain,
        "__getitem__": chain_get,
        "__setitem__": lambda m, self, key, to: m.set_item(self.fields["maps"][0], key, to),
        "__contains__": lambda m, self, key: any(m.contains(d, key) for d in self.fields["maps"]),
        "__len__": lambda m, self: len(chain_items(m, self)),
        "__iter__": lambda m, self: m.iterator(chain_items(m, self)),
        "keys": lambda m, self: View(KEYS, chain_items(m, self).keys()),
        "values": lambda m, self: View(VALUES, chain_items(m, self).values()),
        "items": lambda m, self: View(ITEMS, chain_items(m, self).items()),
        "get": lambda m, self, key, default=None: chain_items(m, self).get(m.key(key), default),
        "new_child": lambda m, self, other=None: m.call(
            CHAIN_MAP, ({} if other is None else other, *self.fields["maps"])
        ),
        "__repr__": lambda m, self: f"ChainMap({', '.join(map(m.repr, self.fields['maps']))})",
    },
)


# ---- itertools, functools, operator --------------------------------------------------------------


def counted(m: Any, start: Any = 0, step: Any = 1) -> Iterator[Any]:
    while True:
        m.spend()
        yield start
        start = m.binary(BINARY["Add"], start, step)


def repeated(m: Any, value: Any, times: Any = None) -> Iterator[Any]:
    source = itertools.count() if times is None else range(m.index(times))
    return (value for _ in source if m.spend() is None)


def cycled(m: Any, values: Any) -> Iterator[Any]:
    return (item for item in itertools.cycle(m.iterate(values)) if m.spend(1, 8) is None)


def chained(m: Any, values: Any) -> Iterator[Any]:
    return (item for value in values for item in m.iterate(value) if m.spend() is None)


def sliced(m: Any, values: Any, *bounds: Any) -> Iterator[Any]:
    limits = [None if b is None else m.index(b) for b in bounds]
    items = (v for v in m.iterate(values) if m.spend() is None)
    return host_call(m, itertools.islice, (items, *limits), {})


def combined(function: Callable) -> Callable:
    """A function of itertools that consumes all of its iterables when called, as in Python."""

    def call(m: Any, *values: Any, **named: Any) -> Iterator[Any]:
        lists = [v if v is None or type(v) is int else collected(m, v) for v in values]
        return counted_rows(m, host_call(m, function, lists, named))

    return call


def counted_rows(m: Any, rows: Iterator[tuple]) -> Iterator[tuple]:
    """The rows of an iterator; each costs one step, and one for each of its items."""
    return (row for row in rows if m.spend(1 + len(row)) is None)


def pairs(m: Any, values: Any) -> Iterator[Any]:
    return counted_rows(m, itertools.pairwise(m.iterate(values)))


def zipped_longest(m: Any, *values: Any, fillvalue: Any = None) -> Iterator[Any]:
    return counted_rows(m, itertools.zip_longest(*map(m.iterate, values), fillvalue=fillvalue))


def accumulated(m: Any, values: Any, func: Any = None, *, initial: Any = None) -> Iterator[Any]:
    items = iter(m.iterate(values))

    def steps() -> Iterator[Any]:
        state = next(items, MISSING) if initial is None else initial
        if state is MISSING:
            return
        yield state
        for item in items:
            m.spend()
            add = BINARY["Add"]
            state = m.binary(add, state, item) if func is None else m.call(func, (state, item))
            yield state

    return steps()


def while_true(m: Any, function: Any, values: Any) -> Iterator[Any]:
    return itertools.takewhile(lambda v: m.truth(m.call(function, (v,))), m.iterate(values))


def while_not_true(m: Any, function: Any, values: Any) -> Iterator[Any]:
    return itertools.dropwhile(lambda v: m.truth(m.call(function, (v,))), m.iterate(values))


def not_true(m: Any, function: Any, values: Any) -> Iterator[Any]:
    return itertools.filterfalse(
        lambda v: m.truth(v if function is None else m.call(function, (v,))), m.iterate(values)
    )


class GroupKey:
    """A key of itertools.groupby, compared as the program compares it."""

    def __init__(self, m: Any, value: Any):
        self.m, self.value = m, value

    def __eq__(self, other: Any) -> bool:
        return self.value is other.value or self.m.equal(self.value, other.value)


def grouped(m: Any, values: Any, key: Any = None) -> Iterator[Any]:
    def key_of(v: Any) -> GroupKey:
        return GroupKey(m, v if key is None else m.call(key, (v,)))

    groups = itertools.groupby(m.iterate(values), key_of)
    return ((k.value, Generator(group, "_grouper")) for k, group in groups)


def teed(m: Any, values: Any, n: Any = 2) -> tuple[Generator, ...]:
    """itertools.tee."""
    m.spend(1, 100 * abs(m.index(n)))
    copies = host_call(m, itertools.tee, (m.iterate(values), m.index(n)), {})
    return tuple(Generator(t, "_tee") for t in copies)


def itertools_module() -> Module:
    chain = lazy("chain", lambda m, *values: chained(m, values))
    chain.members["from_iterable"] = Builtin(
        "from_iterable",
        lambda m, values: Iterable(chain, chained(m, m.iterate(values))),
    )
    members: dict[str, Callable] = {
        "accumulate": accumulated,
        "combinations": combined(itertools.combinations),
        "combinations_with_replacement": combined(itertools.combinations_with_replacement),
        "compress": lambda m, values, selectors: (
            v for v, s in zip(m.iterate(values), m.iterate(selectors), strict=False) if m.truth(s)
        ),
        "count": counted,
        "cycle": cycled,
        "dropwhile": while_not_true,
        "filterfalse": not_true,
        "groupby": lambda m, iterable, key=None: grouped(m, iterable, key),
        "islice": sliced,
        "pairwise": pairs,
        "permutations": combined(itertools.permutations),
        "product": combined(itertools.product),
        "repeat": repeated,
        "starmap": lambda m, function, values: (
            m.call(function, tuple(collected(m, v))) for v in m.iterate(values)
        ),
        "takewhile": while_true,
        "zip_longest": zipped_longest,
    }
    made = {k: lazy(k, v) for k, v in members.items()}
    for cls in (*made.values(), chain):
        cls.shown = f"itertools.{cls.name}"
    return Module("itertools", {**made, **functions({"tee": teed}), "chain": chain})


def reduce(m: Any, function: Any, values: Any, *initial: Any) -> Any:
    items = iter(m.iterate(values))
    state = initial[0] if initial else next(items, MISSING)
    if state is MISSING:
        raise error("TypeError", "reduce() of empty iterable with no initial value")
    for item in items:
        m.spend()
        state = m.call(function, (state, item))
    return state


def make_partial(m: Any, cls: Class, function: Any, *args: Any, **named: Any) -> Instance:
    """functools.partial; as in Python, a partial of a partial is flattened."""
    if isinstance(function, Instance) and function.cls is cls:
        function, first, given = function.payload
        args, named = (*first, *args), {**given, **named}
    return m.instance(cls, [function, args, named])


def call_partial(m: Any, self: Any, *args: Any, **named: Any) -> Any:
    function, first, given = self.payload
    return m.call(function, (*first, *args), {**given, **named})


def repr_partial(m: Any, self: Any) -> str:
    function, first, given = self.payload
    texts = [m.repr(function), *map(m.repr, first), *(f"{k}={m.repr(v)}" for k, v in given.items())]
    return f"functools.partial({', '.join(texts)})"


PARTIAL = Class(
    "partial",
    (OBJECT,),
    {
        **functions({"__call__": call_partial, "__repr__": repr_partial}),
        "func": Property(Builtin("func", lambda m, self: self.payload[0])),
        "args": Property(Builtin("args", lambda m, self: self.payload[1])),
        "keywords": Property(Builtin("keywords", lambda m, self: self.payload[2])),
    },
    module="functools",
    make=make_partial,
)


def named_as(m: Any, wrapper: Any, wrapped: Any) -> Any:
    """functools.update_wrapper: copy name and docstring of `wrapped` to `wrapper`."""
    if isinstance(wrapper, Function) and isinstance(wrapped, Function):
        code = wrapper.code = wrapper.code.renamed(wrapped.code.name)
        code.doc, wrapper.fields["__wrapped__"] = wrapped.code.doc, wrapped
        wrapper.fields.update(wrapped.fields)
    return wrapper


def cached(m: Any, maxsize: Any = 128, typed: Any = False) -> Any:
    """functools.lru_cache, with or without arguments."""
    if typed:
        raise Unsupported("lru_cache with typed=True")
    if maxsize is None or type(maxsize) in (int, bool):
        size = None if maxsize is None else max(int(maxsize), 0)
        return Builtin("lru_cache", lambda m, function: Memo(function, size))
    if not m.callable(maxsize):
        text = "Expected first argument to be an integer, a callable, or None"
        raise error("TypeError", text)
    return Memo(maxsize, 128)


class Memo(Wrapper):
    """A function with a cache of its results: all, or the `maxsize` most recently used."""

    __slots__ = ("hits", "maxsize", "misses", "results", "wrapped")
    cls = Class("_lru_cache_wrapper", module="functools")

    def __init__(self, function: Any, maxsize: int | None):
        self.wrapped, self.maxsize = function, maxsize
        self.clear()
        name = getattr(getattr(function, "code", None), "name", "function")
        super().__init__(name, self.cached_call)

    def clear(self) -> None:
        """Empty the cache."""
        self.results: dict[Any, Any] = {}  # least recently used first
        self.hits = self.misses = 0

    def cached_call(self, m: Any, *args: Any, **named: Any) -> Any:
        """The result of a call, from the cache if it is there."""
        key: Any = m.key((args, tuple(named.items())))
        if len(args) == 1 and not named and type(args[0]) in (int, str):
            key = args[0]  # as in CPython: f(1) and f(1.0) are different calls
        if key in self.results:
            self.hits += 1
            self.results[key] = self.results.pop(key)
            return self.results[key]
        self.misses += 1
        m.spend(1, 200)
        result = m.call(self.wrapped, args, named)
        self.results[key] = result
        if self.maxsize is not None and len(self.results) > self.maxsize:
            del self.results[next(iter(self.results))]
        return result


def _cache_info(m: Any, self: Memo) -> Any:
    kind = make_named_tuple(m, "CacheInfo", ["hits", "misses", "maxsize", "currsize"])
    return m.call(kind, (self.hits, self.misses, self.maxsize, len(self.results)))


def _cache_clear(m: Any, self: Memo) -> None:
    self.clear()


Memo.cls.members.update(functions({"cache_info": _cache_info, "cache_clear": _cache_clear}))
Memo.cls.members["__wrapped__"] = Property(Builtin("__wrapped__", lambda m, self: self.wrapped))


def cached_property(m: Any, cls: Class, function: Any) -> Property:
    def get(m: Any, self: Any) -> Any:
        key = m.identity(function)
        store = self.fields.setdefault("__cached__", {})
        if key not in store:
            store[key] = m.call(function, (self,))
        return store[key]

    return Property(Builtin("cached_property", get))


def total_ordering(m: Any, cls: Class) -> Class:
    """functools.total_ordering: derive the missing comparisons from one and from ==."""
    lacking = [name for name in ORDERINGS if cls.lookup(name) is MISSING]
    root = next((name for name in ORDERINGS if name not in lacking), None)
    if root is None:
        text = "must define at least one ordering operation: < > <= >="
        raise error("ValueError", text)
    cls.members.update(functions({name: _ordering(name, root) for name in lacking}))
    return cls


ORDERINGS = ("__lt__", "__le__", "__gt__", "__ge__")


def _ordering(name: str, root: str) -> Callable:
    """The comparison `name`, derived from the comparison `root` and ==."""
    same_direction, same_strictness = name[2] == root[2], name[3] == root[3]

    def compare(m: Any, a: Any, b: Any) -> Any:
        result = m.call(m.get(a, root), (b,))
        if result is NotImplemented:
            return result
        holds = m.truth(result) == same_direction
        if not same_direction and not same_strictness:  # a >= b is the negation of a < b
            return holds
        return holds and not m.equal(a, b) if name[3] == "t" else holds or m.equal(a, b)

    return compare


class Dispatcher(Wrapper):
    """functools.singledispatch: chooses a function by the class of the first argument."""

    __slots__ = ("table",)
    cls = Class("function")

    def __init__(self, function: Any):
        self.table: dict[Class, Any] = {OBJECT: function}

        def call(m: Any, *args: Any, **named: Any) -> Any:
            mro = m.class_of(args[0]).mro
            return m.call(next(self.table[c] for c in mro if c in self.table), args, named)

        super().__init__(function.code.name, call)


def _register(m: Any, self: Dispatcher, cls: Any, function: Any = None) -> Any:
    if function is None and isinstance(cls, Class):
        return Builtin("register", lambda m, inner: _register(m, self, cls, inner))
    if function is None:
        raise Unsupported("register() of singledispatch with the class in an annotation")
    self.table[cls] = function
    return function


Dispatcher.cls.members.update(functions({"register": _register}))


def compared_by(m: Any, function: Any) -> Any:
    """functools.cmp_to_key: a class of sort keys that are compared by `function`."""
    members = {"__lt__": lambda m, a, b: m.less(m.call(function, (a.payload[0], b.payload[0])), 0)}
    return Class("K", members=functions(members), make=lambda m, cls, v: m.instance(cls, [v]))


def functools_module() -> Module:
    members = functions(
        {
            "reduce": reduce,
            "wraps": lambda m, wrapped, *rest, **named: Builtin(
                "wraps", lambda m, wrapper: named_as(m, wrapper, wrapped)
            ),
            "update_wrapper": named_as,
            "lru_cache": cached,
            "cache": lambda m, function: Memo(function, None),
            "total_ordering": total_ordering,
            "singledispatch": lambda m, function: Dispatcher(function),
            "cmp_to_key": compared_by,
        }
    )
    cached_class = Class("cached_property", make=cached_property)
    return Module("functools", {**members, "partial": PARTIAL, "cached_property": cached_class})


def getter(kind: str) -> Callable:
    """operator.itemgetter or operator.attrgetter."""

    def make(m: Any, *keys: Any) -> Builtin:
        def one(m: Any, value: Any, key: Any) -> Any:
            if kind == "itemgetter":
                return m.get_item(value, key)
            for name in key.split("."):
                value = m.get(value, name)
            return value

        def get(m: Any, value: Any) -> Any:
            parts = [one(m, value, k) for k in keys]
            return parts[0] if len(parts) == 1 else tuple(parts)

        return Builtin(kind, get)

    return make


def operator_module() -> Module:
    table: dict[str, Callable] = {
        "itemgetter": getter("itemgetter"),
        "attrgetter": getter("attrgetter"),
        "neg": lambda m, a: m.unary("USub", a),
        "pos": lambda m, a: m.unary("UAdd", a),
        "not_": lambda m, a: not m.truth(a),
        "truth": lambda m, a: m.truth(a),
        "is_": lambda m, a, b: a is b,
        "index": lambda m, a: m.index(a),
        "contains": lambda m, a, b: m.contains(a, b),
        "getitem": lambda m, a, key: m.get_item(a, key),
        "setitem": lambda m, a, key, to: m.set_item(a, key, to),
    }
    for op in BINARY.values():
        table[op.method.strip("_")] = lambda m, a, b, op=op: m.binary(op, a, b)
        table[op.in_place.strip("_")] = lambda m, a, b, op=op: m.in_place(op, a, b)
    table["and_"], table["or_"] = table["and"], table["or"]
    for name, (_, method, _, _) in COMPARED.items():
        table[method.strip("_")] = lambda m, a, b, name=name: m.compare(name, a, b)
    return Module("operator", functions(table))


# ---- contextlib ----------------------------------------------------------------------------------


def context_manager(m: Any, function: Any) -> Builtin:
    """contextlib.contextmanager: makes a generator function return context managers."""

    def make(m: Any, *args: Any, **named: Any) -> Instance:
        generator = m.call(function, args, named)
        if not isinstance(generator, Generator):
            raise error("TypeError", f"'{m.type_name(generator)}' object is not an iterator")
        instance = m.instance(CONTEXT)
        instance.payload = [generator, function, args, named]
        return instance

    return Builtin(getattr(getattr(function, "code", None), "name", "contextmanager"), make)


def enter_generator(m: Any, self: Any) -> Any:
    try:
        return m.next(self.payload[0])
    except Raised as e:
        if e.value.cls.name == "StopIteration":
            raise error("RuntimeError", "generator didn't yield") from None
        raise


def leave_generator(m: Any, self: Any, kind: Any, value: Any, traceback: Any) -> bool:
    host = self.payload[0].host
    try:
        if kind is None:
            next(host)
        else:
            host.throw(m.raising(value))
    except StopIteration:
        return kind is not None
    except Raised as e:
        if e.value is value:
            return False
        raise
    stop = "didn't stop" if kind is None else "didn't stop after throw()"
    raise error("RuntimeError", f"generator {stop}")


def decorate(m: Any, self: Any, function: Any) -> Builtin:
    """A context manager used as a decorator: the function runs within the context."""

    def call(m: Any, *args: Any, **named: Any) -> Any:
        _, maker, first, given = self.payload
        context = m.call(context_manager(m, maker), first, given)
        leave, _ = m.entered(context)
        try:
            result = m.call(function, args, named)
        except Raised as e:
            if m.left_by(leave, context, e):
                return None
            raise
        m.call(leave, (context, None, None, None))
        return result

    return Builtin("inner", call)


CONTEXT = Class(
    "_GeneratorContextManager",
    (OBJECT,),
    functions({"__enter__": enter_generator, "__exit__": leave_generator, "__call__": decorate}),
    module="contextlib",
)


def suppressed(m: Any, self: Any, kind: Any, value: Any, traceback: Any) -> bool:
    return kind is not None and m.is_subclass(kind, self.payload[0])


SUPPRESS = Class(
    "suppress",
    (OBJECT,),
    functions({"__enter__": lambda m, self: None, "__exit__": suppressed}),
    module="contextlib",
    make=lambda m, cls, *kinds: m.instance(cls, [kinds]),
)
NULL = Class(
    "nullcontext",
    (OBJECT,),
    functions(
        {"__enter__": lambda m, self: self.payload[0], "__exit__": lambda m, self, *error: None}
    ),
    module="contextlib",
    make=lambda m, cls, value=None: m.instance(cls, [value]),
)


def _redirect(m: Any, self: Any) -> Any:
    self.payload.append(m.output)
    m.output = self.payload[0]
    return m.output


def _redirected(m: Any, self: Any, *error: Any) -> None:
    m.output = self.payload.pop()


REDIRECT = Class(
    "redirect_stdout",
    (OBJECT,),
    functions({"__enter__": _redirect, "__exit__": _redirected}),
    module="contextlib",
    make=lambda m, cls, target: m.instance(cls, [target]),
)


# ---- warnings, sys, os ---------------------------------------------------------------------------


def warn(m: Any, message: Any, category: Any = None, stacklevel: Any = 1, **named: Any) -> None:
    if isinstance(message, Instance):
        m.warn(message.cls, m.text(message))
    else:
        m.warn(EXCEPTIONS["UserWarning"] if category is None else category, m.text(message))


def filter_warnings(
    m: Any, action: Any, message: Any = "", category: Any = None, **named: Any
) -> None:
    if not message:
        m.filters.insert(0, (action, category))
    elif action != "ignore":
        raise Unsupported("warnings.filterwarnings(message=...)")


def simple_filter(m: Any, action: Any, category: Any = None, *rest: Any, **named: Any) -> None:
    m.filters.insert(0, (action, category))


def enter_catch(m: Any, self: Any) -> Any:
    record = self.payload[0]
    self.payload[1:] = [list(m.filters)]
    if not record:
        return None
    m.recording.append([])
    return m.recording[-1]


def leave_catch(m: Any, self: Any, *error: Any) -> None:
    m.filters[:] = self.payload[1]
    if self.payload[0]:
        m.recording.pop()


CATCH = Class(
    "catch_warnings",
    (OBJECT,),
    functions({"__enter__": enter_catch, "__exit__": leave_catch}),
    module="warnings",
    make=lambda m, cls, *, record=False, **named: m.instance(cls, [record]),
)


def stream(name: str, write: Callable) -> Instance:
    """sys.stdout or sys.stderr."""
    cls = Class(
        "TextIOWrapper",
        (OBJECT,),
        functions({"write": write, "flush": lambda m, self: None, "isatty": lambda m, self: False}),
        module="_io",
    )
    instance = Instance(cls)
    instance.fields["name"] = f"<{name}>"
    return instance


def write_out(m: Any, self: Any, text: Any) -> int:
    m.write(text)
    return len(text)


def write_error(m: Any, self: Any, text: Any) -> int:
    m.write_error(text)
    return len(text)


def refused_member(module: str) -> Callable[[str], Any]:
    """A lookup of names that a module such as os lacks here: raises Unsupported, but returns
    MISSING for names such as __path__.
    """

    def find(name: str) -> Any:
        if name.startswith("__"):
            return MISSING
        raise Unsupported(f"{module}.{name}")

    return find


# ---- modules known by name, sys, os, textwrap ---------------------------------------------------

# These can be imported, but not used. Others, such as subprocess, are refused on import. Modules
# with a maker below are listed for their submodules, such as json.decoder.
STANDARD_MODULES = (
    "argparse bisect csv datetime decimal fractions gc glob hashlib heapq inspect json logging "
    "numbers pathlib pickle platform statistics tempfile types unittest uuid"
)
OTHER_LIBRARIES = (
    "IPython PIL accelerate albumentations cv2 datasets einops gym gymnasium h5py higher imageio "
    "jax joblib keras kornia lightning matplotlib networkx nltk numba optuna pandas plotly "
    "pytorch_lightning scipy seaborn skimage sklearn spacy sympy tensorboard tensorboardX "
    "tensorflow timm torch_geometric torch_scatter torchaudio torchinfo torchmetrics torchsummary "
    "torchtext torchvision torchviz tqdm transformers wandb yaml"
)
PYTORCH_MODULES = (
    "torch.distributed torch.jit torch.multiprocessing torch.nn.parallel torch.onnx "
    "torch.profiler torch.utils.tensorboard"
)
BY_NAME_ALONE = frozenset((*STANDARD_MODULES.split(), *OTHER_LIBRARIES.split()))


def module_by_name(path: str) -> Module | None:
    """A module that can be imported but not used; None for an unknown name."""
    known = path.partition(".")[0] in BY_NAME_ALONE or path in PYTORCH_MODULES.split()
    return UnsupportedModule(path) if known else None


def sys_module() -> Module:
    version = tuple(sys.version_info)
    standard = stream("stdout", write_out)
    members: dict[str, Any] = {
        **{"stdout": standard, "__stdout__": standard},
        "stderr": stream("stderr", write_error),
        "version_info": version,
        "version": ".".join(map(str, version[:3])),
        "maxsize": sys.maxsize,
        "float_info": Instance(Class("float_info")),
        "argv": ["program.py"],
        "path": [],
        "platform": "linux",
        "exit": BUILTINS["exit"],
        **functions(
            {
                "setrecursionlimit": lambda m, limit: None,
                "getrecursionlimit": lambda m: 1000,
                "getsizeof": lambda m, value, *default: 8 * 8,
            }
        ),
    }
    info = sys.float_info
    members["float_info"].fields.update(max=info.max, min=info.min, epsilon=info.epsilon)
    return Module("sys", members, refused_member("sys"))


def os_module() -> Module:
    members = {
        "environ": {},
        "getenv": Builtin("getenv", lambda m, key, default=None: default),
        "linesep": "\n",
        "sep": "/",
        "path": paths_module(),
    }
    return Module("os", members, refused_member("os"))


def paths_module() -> Module:
    """os.path: only the functions that work on strings and access no file."""
    import posixpath

    members = _of_texts(posixpath, "basename dirname isabs join normpath split splitext")
    members["commonprefix"] = Builtin("commonprefix", common_prefix)
    return Module("os.path", members, refused_member("os.path"))


def common_prefix(m: Any, paths: Any) -> str:
    """os.path.commonprefix."""
    import posixpath

    texts = [plain(path) for path in collected(m, paths)]
    if not all(isinstance(text, str) for text in texts):
        raise Unsupported("os.path.commonprefix of values that are not strings")
    return posixpath.commonprefix(texts)


def _of_texts(module: Any, names: str) -> dict[str, Any]:
    """The functions `names` of a Python module, for arguments that are strings or integers."""

    def named(name: str) -> Callable:
        def run(m: Any, *args: Any, **named: Any) -> Any:
            if not all(isinstance(a, str | int) for a in (*args, *named.values())):
                raise Unsupported(f"{module.__name__}.{name} of a value that is not a string")
            return host_call(m, getattr(module, name), args, named)

        return run

    return functions({n: named(n) for n in names.split()})


def textwrap_module() -> Module:
    import textwrap

    return Module("textwrap", _of_texts(textwrap, "dedent fill indent shorten wrap"))


# ---- other modules, and the makers of all --------------------------------------------------------


def typing_module() -> Module:
    """typing: names for annotations, which are not evaluated further."""
    opaque = Class("typing", module="typing")
    names = (
        "Any AnyStr Callable ClassVar DefaultDict Deque Dict Final FrozenSet Generator Iterable "
        "Iterator List Literal Mapping MutableMapping NoReturn Optional OrderedDict Self Sequence "
        "Set Sized Tuple Type Union Annotated Hashable Text Concatenate ParamSpec"
    )
    members: dict[str, Any] = {
        name: Class(name, (opaque,), module="typing") for name in names.split()
    }
    members.update(
        NamedTuple=NAMED_TUPLE,
        TYPE_CHECKING=False,
        Protocol=Class("Protocol", module="typing"),
        Generic=Class("Generic", module="typing"),
        TypedDict=DICT,
        **functions(
            {
                "TypeVar": lambda m, name, *bounds, **named: opaque,
                "NewType": lambda m, name, of: of,
                "cast": lambda m, kind, value: value,
                "overload": lambda m, function: function,
                "final": lambda m, value: value,
                "runtime_checkable": lambda m, value: value,
                "no_type_check": lambda m, value: value,
            }
        ),
    )

    def other(name: str) -> Any:
        """A name that only annotations use."""
        import typing

        known = not name.startswith("_") and hasattr(typing, name)
        return Class(name, (opaque,), module="typing") if known else MISSING

    return Module("typing", members, other)


def start_namespace(m: Any, self: Any, **named: Any) -> None:
    self.fields.update(named)


def repr_namespace(m: Any, self: Any) -> str:
    return f"namespace({', '.join(f'{k}={m.repr(v)}' for k, v in self.fields.items())})"


NAMESPACE = Class(
    "SimpleNamespace",
    (OBJECT,),
    functions(
        {
            "__init__": start_namespace,
            "__repr__": repr_namespace,
            "__eq__": lambda m, a, b: (
                m.equal(a.fields, b.fields) if m.class_of(a) is m.class_of(b) else NotImplemented
            ),
        }
    ),
    module="types",
)


def abstract(m: Any, function: Any) -> Any:
    getter = function.fget if isinstance(function, Property) else function
    getattr(getter, "function", getter).fields["__isabstractmethod__"] = True
    return function


def print_exception(m: Any, *args: Any, **named: Any) -> None:
    if m.handled:
        m.write_error(formatted_exception(m, limit=0))


def formatted_exception(m: Any, limit: Any = None, chain: bool = True) -> str:
    if not m.handled:
        return "NoneType: None\n"
    if limit != 0:
        raise Unsupported("the files and lines in the text of traceback.format_exc()")
    value = m.handled[-1]
    message = m.text(value)
    shown = f"{value.cls.name}: {message}" if message else value.cls.name
    return f"Traceback (most recent call last):\n{shown}\n"


def pretty(m: Any, value: Any, *args: Any, **named: Any) -> None:
    text = m.repr(value)
    if len(text) > 80:
        raise Unsupported("pprint() of a value that needs more than one line")
    m.write(text + "\n")


STATISTICS = (
    "mean fmean median median_low median_high mode multimode stdev pstdev variance pvariance "
    "geometric_mean harmonic_mean"
)


def statistics_module() -> Module:
    """statistics, for numbers of Python."""
    import statistics

    def named(name: str) -> Callable:
        def run(m: Any, data: Any) -> Any:
            values = collected(m, data)
            if not all(isinstance(v, int | float) for v in values):
                raise Unsupported(f"statistics.{name} of values that are not numbers")
            try:
                return getattr(statistics, name)(values)
            except statistics.StatisticsError as e:
                raise error(failed, str(e)) from None

        return run

    failed = Class("StatisticsError", (EXCEPTIONS["ValueError"],), module="statistics")
    members = functions({name: named(name) for name in STATISTICS.split()})
    return Module("statistics", {**members, "StatisticsError": failed})


def string_module() -> Module:
    import string

    names = "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace"
    return Module("string", {name: getattr(string, name) for name in names.split()})


def json_module() -> Module:
    """json, for values of Python's built-in types."""
    import json

    def dumps(m: Any, value: Any, **options: Any) -> str:
        if not options.keys() <= {"indent", "sort_keys", "separators", "ensure_ascii"}:
            raise Unsupported(f"json.dumps with {', '.join(options)}")
        return host_call(m, json.dumps, (jsonable(m, value),), options)

    def loads(m: Any, text: Any) -> Any:
        given = plain(text)
        if not isinstance(given, str):
            raise Unsupported("json.loads of a value that is not a string")
        try:
            return json.loads(given)
        except json.JSONDecodeError as e:
            raise error(failed, str(e)) from None

    failed = Class("JSONDecodeError", (EXCEPTIONS["ValueError"],), module="json.decoder")
    members = functions({"dumps": dumps, "loads": loads})
    return Module("json", {**members, "JSONDecodeError": failed})


def jsonable(m: Any, value: Any) -> Any:
    """A value converted to Python's built-in types for json.dumps. Raises the program's TypeError
    if JSON cannot represent it.
    """
    builtin = plain(value)
    if m.class_of(value).derives_from(m.class_of(builtin)):  # true for defaultdict, not for deque
        if builtin is None or type(builtin) in (bool, int, float, str):
            return builtin
        if type(builtin) in (list, tuple):
            return [jsonable(m, v) for v in builtin]
        if type(builtin) is dict:
            return {k: jsonable(m, v) for k, v in builtin.items()}
    kind = m.class_of(value).name.rpartition(".")[2]
    raise error("TypeError", f"Object of type {kind} is not JSON serializable")


def heapq_module() -> Module:
    """heapq, for heaps of numbers, strings, and tuples of these."""
    import heapq

    def extreme(reverse: bool) -> Callable:
        return lambda m, n, iterable, key=None: ordered(m, collected(m, iterable), key, reverse)[
            : max(m.index(n), 0)
        ]

    def named(name: str) -> Callable:
        def run(m: Any, *args: Any) -> Any:
            heap = args[0]
            if type(heap) is not list or not all(is_orderable(v) for v in [*heap, *args[1:]]):
                raise Unsupported(f"heapq.{name} of these values")
            return host_call(m, getattr(heapq, name), args, {})

        return run

    names = "heapify heappush heappop heappushpop heapreplace"
    table = {n: named(n) for n in names.split()}
    extremes = {"nlargest": extreme(True), "nsmallest": extreme(False)}
    return Module("heapq", functions({**table, **extremes}))


def is_orderable(value: Any) -> bool:
    """Whether a value consists of numbers, strings, tuples and lists, so that Python compares it
    without a method of the program.
    """
    inner = value if type(value) in (tuple, list) else ()
    return type(value) in (int, float, str, bool, tuple, list) and all(map(is_orderable, inner))


def logging_module() -> Module:
    """logging. Messages are dropped, as Python writes them to stderr."""

    def configure(m: Any, **options: Any) -> None:
        if options.keys() & {"stream", "handlers"}:
            raise Unsupported("logging.basicConfig with a stream or with handlers")

    names = "debug info warning error critical exception log setLevel disable"
    quiet = functions({n: lambda m, *args, **named: None for n in names.split()})
    quiet["basicConfig"] = Builtin("basicConfig", configure)
    logger = Class("Logger", members=quiet, module="logging")
    levels = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}
    made = functions({"getLogger": lambda m, name=None: Instance(logger)})
    return Module("logging", {**quiet, **made, **levels})


def collections_module() -> Module:
    return Module(
        "collections",
        {
            "OrderedDict": ORDERED,
            "defaultdict": DEFAULT,
            "Counter": COUNTER,
            "deque": DEQUE,
            "ChainMap": CHAIN_MAP,
            "namedtuple": Builtin("namedtuple", make_named_tuple),
        },
    )


def contextlib_module() -> Module:
    members = {"suppress": SUPPRESS, "nullcontext": NULL, "redirect_stdout": REDIRECT}
    return Module(
        "contextlib", {**members, "contextmanager": Builtin("contextmanager", context_manager)}
    )


def warnings_module() -> Module:
    members = functions(
        {"warn": warn, "filterwarnings": filter_warnings, "simplefilter": simple_filter}
    )
    return Module("warnings", {**members, "catch_warnings": CATCH})


def abc_module() -> Module:
    members = {"ABC": Class("ABC", module="abc"), "ABCMeta": Class("ABCMeta", module="abc")}
    return Module("abc", {**members, "abstractmethod": Builtin("abstractmethod", abstract)})


def traceback_module() -> Module:
    table: dict[str, Callable] = {"print_exc": print_exception, "format_exc": formatted_exception}
    return Module("traceback", functions(table))


MAKERS: dict[str, Callable[[], Module]] = {
    "abc": abc_module,
    "collections": collections_module,
    "collections.abc": typing_module,
    "contextlib": contextlib_module,
    "copy": lambda: Module("copy", functions({"copy": shallow, "deepcopy": deep})),
    "dataclasses": lambda: Module("dataclasses", DATACLASSES),
    "enum": lambda: Module("enum", ENUMS),
    "functools": functools_module,
    "heapq": heapq_module,
    "itertools": itertools_module,
    "json": json_module,
    "logging": logging_module,
    "math": math_module,
    "operator": operator_module,
    "os": os_module,
    "os.path": paths_module,
    "pprint": lambda: Module("pprint", functions({"pprint": pretty, "pp": pretty})),
    "random": random_module,
    "re": re_module,
    "statistics": statistics_module,
    "string": string_module,
    "sys": sys_module,
    "textwrap": textwrap_module,
    "time": time_module,
    "traceback": traceback_module,
    "types": lambda: Module(
        "types",
        {"SimpleNamespace": NAMESPACE, "FunctionType": FUNCTION, "LambdaType": FUNCTION},
    ),
    "typing": typing_module,
    "warnings": warnings_module,
}


def module(name: str) -> Module | None:
    """A module of the standard library, new for each program, or one of which only the name is
    known; None if it is neither.
    """
    maker = MAKERS.get(name)
    if maker is None:
        return module_by_name(name)
    built = maker()
    find_member = built.find

    def find(member: str) -> Any:
        value = find_member(member)
        if value is MISSING and hasattr(import_module(name), member):
            raise Unsupported(f"{name}.{member}")
        return value

    built.find = find
    return built
