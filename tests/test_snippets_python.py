# ruff: noqa: E501
"""Programs that the machine of pasted snippets runs as CPython does: prints, errors, lines."""

import io
import traceback
from contextlib import redirect_stderr, redirect_stdout
from warnings import catch_warnings, simplefilter

import pytest

from gradcli.snippets.library.python_modules import module
from gradcli.snippets.python.budget import Budget
from gradcli.snippets.python.machine import run
from gradcli.snippets.python.values import Class, Instance, functions

# Programs, each after a line of dashes. CPython runs them, too: only what is written here.
PROGRAMS = r"""
x = 1; y = x + 2
print(x, y, x + y * 2 - 7 // 2, 7 % 3, -7 // 2, 2 ** 10, 7 / 2, 1e3, 10 ** -2)
print(True + 1, 3 & 1, 3 | 4, 5 ^ 1, ~5, 1 << 4, 256 >> 2, not x, +x, -x)
---
a, b = 1, 2
a, b = b, a
(c, d), e = (3, 4), 5
first, *rest = [1, 2, 3]
*init, last = "abc"
p, *q, r = range(5)
x = y = []
x.append(1)
print(a, b, c, d, e, first, rest, init, last, p, q, r, x, y)
---
x = [1, 2, 3]
x[0] += 5
x[1:] = [7, 8, 9]
x += (1,)
del x[0]
d = {"a": 1}
d["b"] = d.get("c", 0) + 1
d["a"] -= 3
print(x, d, x[::-1], x[-1], x[:2], len(x))
if (n := len(x)) > 2:
    print(n)
---
for i in range(3):
    if i == 1:
        continue
    print(i)
else:
    print("else")
for i in []:
    pass
else:
    print("empty")
while True:
    break
else:
    print("never")
i = 0
while i < 3:
    i += 1
else:
    print("done", i)
---
def f(a, b=2, *args, c, d=4, **kwargs):
    "Doc."
    return a, b, args, c, d, kwargs
print(f(1, c=3), f(1, 2, 3, 4, c=5, e=6), f(*[1, 2], **{"c": 3, "z": 1}), f.__name__, f.__doc__)
def g(a, /, b, *, c): return a + b + c
print(g(1, 2, c=3), (lambda x, y=2: x * y)(4))
---
def outer():
    n = 0
    def inc():
        nonlocal n
        n += 1
        return n
    return inc
f = outer()
print(f(), f())
fs = [lambda: i for i in range(3)]
print([g() for g in fs])
count = 0
def bump():
    global count
    count += 1
bump(); bump()
print(count)
---
print([x * y for x in range(3) for y in range(x) if y != 1], {x: x ** 2 for x in "ab" if x}
      if False else {x % 3 for x in range(5)}, {k: v for k, v in zip("ab", [1, 2])})
g = (x * x for x in range(4))
print(next(g), list(g), sum(i for i in range(5)), [[j for j in range(i)] for i in range(3)])
x = "outer"
print([x for x in range(2)], x, [y := 5, y ** 2], any((hit := v) > 1 for v in [1, 2, 3]), hit)
---
def gen(n):
    try:
        for i in range(n):
            got = yield i
            if got:
                print("got", got)
        yield from [10, 20]
        return "r"
    finally:
        print("closed")
print(list(gen(2)))
g = gen(1)
print(next(g))
g.close()
def outer():
    r = yield from gen(1)
    print(r)
print(list(outer()))
def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
for v in fib():
    if v > 20:
        break
    print(v, end=" ")
print()
---
class A:
    count = 0
    def __init__(self, x):
        self.x = x
        A.count += 1
    def get(self):
        return self.x
    @property
    def double(self):
        return 2 * self.x
    @double.setter
    def double(self, v):
        self.x = v / 2
    @staticmethod
    def s(v):
        return v + 1
    @classmethod
    def c(cls, v):
        return cls(v)
class B(A):
    def __init__(self, x, y):
        super().__init__(x)
        self.y = y
    def get(self):
        return super().get() + self.y
    def __repr__(self):
        return f"B({self.x}, {self.y})"
b = B(1, 2)
b.double = 10
print(b, b.get(), b.double, A.s(1), b.s(2), A.c(5).x, A.count, isinstance(b, A), issubclass(B, A))
print(type(b).__name__, b.__class__ is B, B.__mro__[1].__name__, hasattr(b, "z"), getattr(b, "z", 0))
print(vars(b), b.__dict__, A.get(b), super(B, b).get(), B.__name__, type(b) is A)
---
class V:
    def __init__(self, *v): self.v = v
    def __add__(self, o): return V(*[a + b for a, b in zip(self.v, o.v)])
    def __radd__(self, o): return self if o == 0 else NotImplemented
    def __mul__(self, k): return V(*[a * k for a in self.v])
    __rmul__ = __mul__
    def __neg__(self): return V(*[-a for a in self.v])
    def __eq__(self, o): return isinstance(o, V) and self.v == o.v
    def __hash__(self): return hash(self.v)
    def __lt__(self, o): return self.v < o.v
    def __len__(self): return len(self.v)
    def __getitem__(self, i): return self.v[i]
    def __contains__(self, x): return x in self.v
    def __bool__(self): return any(self.v)
    def __call__(self, x): return x + self.v[0]
    def __repr__(self): return "V" + repr(self.v)
    def __str__(self): return "<%s>" % ", ".join(map(str, self.v))
    def __format__(self, spec): return "fmt:" + spec
    def __iadd__(self, o):
        self.v = (self + o).v
        return self
    def __matmul__(self, o): return sum(a * b for a, b in zip(self.v, o.v))
    def __abs__(self): return 5
    def __float__(self): return 2.5
    def __int__(self): return 2
    def __index__(self): return 1
    def __invert__(self): return "inv"
    def __pow__(self, n): return "pow", n
    def __rpow__(self, n): return "rpow", n
    def __round__(self, n=0): return "round", n
a, b = V(1, 2), V(3, 4)
print(a + b, sum([a, b]), 2 * a, a * 2, -a, a == V(1, 2), a != b, a < b, a > b, len(a), a[0], 2 in a)
print(bool(V(0, 0)), a(10), [a], str(a), f"{a:x}", f"{a!r}", a @ b, abs(a), float(a), int(a), ~a)
a += b
print(a, {a: 1}[V(4, 6)], sorted([b, a, V(0)]), max(a, b), [10, 20][b], list(a), a ** 2, 2 ** a)
print(round(a), round(a, 2), "%s %r %.1f %d" % (a, a, a, a), a in [V(4, 6)], [a].index(V(4, 6)))
---
class N:
    def __init__(self, n): self.n = n
    def __iter__(self):
        self.i = 0
        return self
    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i
    def __enter__(self):
        print("enter")
        return self
    def __exit__(self, kind, value, tb):
        print("exit", kind.__name__ if kind else None, value)
        return kind is ValueError
with N(3) as n:
    print(list(n), sum(n), max(n))
with N(1), N(2) as m:
    raise ValueError("x")
print(m.n)
---
class Base:
    def __getattr__(self, name):
        if name.startswith("d_"):
            return name[2:]
        raise AttributeError(name)
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)
    def __delattr__(self, name):
        print("del", name)
        super().__delattr__(name)
b = Base()
b.x = 4
print(b.x, b.d_hello, hasattr(b, "nope"))
del b.x
print(hasattr(b, "x"))
---
class A:
    def who(self): return "A"
class B(A):
    def who(self): return "B" + super().who()
class C(A):
    def who(self): return "C" + super().who()
class D(B, C):
    def who(self): return "D" + super().who()
print(D().who(), [k.__name__ for k in D.__mro__])
---
from dataclasses import dataclass, field, asdict, replace
@dataclass
class P:
    x: int
    y: float = 2.0
    tags: list = field(default_factory=list)
    def norm(self): return (self.x ** 2 + self.y ** 2) ** 0.5
p = P(3, 4.0)
p.tags.append("a")
print(p, p == P(3, 4.0, ["a"]), p.norm(), P(1).tags, asdict(p), replace(p, x=1))
@dataclass(frozen=True, order=True)
class Q:
    a: int
    b: str = "z"
print(Q(1) < Q(2), {Q(1): 5}[Q(1)], sorted([Q(2), Q(1)]))
try:
    Q(1).a = 3
except Exception as e:
    print(type(e).__name__, e)
P()
---
from dataclasses import asdict, astuple, dataclass, field
@dataclass
class A:
    x: int
    y: list = field(default_factory=list, compare=False)
@dataclass
class B:
    a: A
    n: int = 3
print(astuple(A(1)), astuple(B(A(2, [A(5)]))), asdict(B(A(2))))
---
from collections import namedtuple, defaultdict, OrderedDict, Counter, deque
from typing import NamedTuple
P = namedtuple("P", "x y")
p = P(1, y=2)
print(p, p.x, p[1], p._asdict(), p._replace(x=5), p == (1, 2), len(p), [*p], {p: 1})
a, b = p
class T(NamedTuple):
    n: int
    m: str = "d"
print(T(1), T(1).m, isinstance(p, tuple), p + (3,), T._fields)
d = defaultdict(list)
d["a"].append(1)
print(d, dict(d), d["q"], len(d), "z" in d)
c = Counter("abracadabra")
print(c.most_common(2), c["z"], sum(c.values()))
q = deque([1, 2, 3], maxlen=3)
q.append(4); q.appendleft(0)
print(q, q.pop(), q.popleft(), len(q), list(q))
o = OrderedDict(a=1, b=2)
o.move_to_end("a")
print(list(o.items()), o)
---
from enum import Enum, IntEnum, auto
class Color(Enum):
    RED = 1
    BLUE = 2
class Num(IntEnum):
    A = auto()
    B = auto()
print(Color.RED, Color.RED.value, Color.BLUE.name, Color(1) is Color.RED, list(Color), Color["BLUE"])
print(Color.RED == Color.BLUE, Num.B + 1, {Color.RED: 1}, isinstance(Color.RED, Color), repr(Num.A))
---
s = "Hello, World"
print(s.upper(), s.lower(), s.split(", "), s.replace("l", "L"), s.find("o"), s[1:5], s[::-1], s * 2)
print("-".join("abc"), " x ".strip(), "a,b".partition(","), "x".center(5, "*"), "7".zfill(3), "ab" in s)
print("abc".startswith(("a", "b")), "a b".title(), "abc".index("c"), "%5.2f|%-5s|%05d|%x|%%" % (3.14159, "a", 42, 255))
print("{:>8}|{:<8}|{:^8}|{:,}|{:.3e}|{:08.3f}|{:+d}|{:%}".format("r", "l", "c", 1234567, 12345.678, 3.14159, 5, 0.25))
print("{0} {1} {0} {name} {d[k]} {o.real}".format(1, 2, name="n", d={"k": "v"}, o=3), "{{}}".format())
x, w = 3.14159, 10
print(f"{x:.2f} {x:{w}.3f} {x!r} {x=} {x = :.1f} {'a' + 'b'} {{}} {[1, 2]} {None} {x:>{w}}", f'{"q"!r:>5}')
print("%s %s" % ("a", [1]), "%(a)s %(b)d" % {"a": 1, "b": 2}, "%s" % (1,), "%r" % "x", "%c" % 65, "%.3g" % 1e-5)
print(repr("it's"), repr('a"b'), repr("a\n\t\\"), "é", b"ab", "a" "b", r"\n", "abc"[5:], "%5s|" % None)
---
l = [3, 1, 2]
l.sort(); print(l); l.sort(reverse=True); print(l, l.index(2), l.count(1), l.pop(), l.pop(0), l)
l.extend([5, 6]); l.insert(0, 9); l.remove(5); l.reverse(); print(l, l.copy(), [0] * 3, [1] + [2], 6 in l)
print(sorted("banana"), sorted([(2, "b"), (1, "z"), (2, "a")]), sorted([3, -1, 2], key=abs), sorted("aB", key=str.lower))
print(min(3, 1), max([1, 5]), min("b", "a"), max([1, -7], key=abs), min([], default=0), sum([[1], [2]], []))
d = dict(a=1, b=2)
d.update(c=3); d.update({"d": 4}); d.setdefault("e", 5)
print(d, list(d), d.keys(), d.values(), d.items(), d.pop("a"), d.pop("zz", None), "b" in d, {**d, "x": 1}, d | {"q": 1})
for k, v in sorted(d.items(), key=lambda kv: -kv[1]): print(k, v, end=";")
print({1, 2} | {3}, {1, 2} & {2}, {1} - {1}, {1} ^ {2}, {1, 2} <= {1, 2, 3}, len({1, 1}), set(), frozenset([1]))
t = (1, 2, 2); print(t.count(2), t.index(2), t + (3,), t * 2, (1,), (), t < (1, 3), t == (1, 2, 2))
print(dict.fromkeys("ab", 0), dict([(1, 2)]), dict(zip("ab", (1, 2))), list({"a": 1}), tuple("ab"), list("ab"))
---
print(len("abc"), abs(-3), round(2.567, 2), round(2.5), round(-0.5), int("42"), int(3.9), float("1.5"), str(3), bool([]))
print(divmod(7, 2), pow(2, 3), pow(2, 3, 5), chr(97), ord("a"), bin(5), hex(255), oct(8), hash(5), int("ff", 16))
print(list(enumerate("ab", 1)), list(zip([1, 2], "ab")), list(map(lambda a, b: a + b, [1, 2], [3, 4])), list(filter(None, [0, 1])))
print(list(reversed([1, 2])), all([]), any([0, 1]), isinstance(1, (str, int)), isinstance(True, int), callable(len), type(1), type("a"))
print(range(5), list(range(2, 10, 3)), range(3)[1], len(range(0, 10, 2)), 3 in range(5), list(range(3))[::-1], slice(1, 2))
print(type(None), type([]), type(print).__name__, type(lambda: 0), int, [int, str], float("inf"), float("-inf"), float("nan"), -0.0)
print(1 < 2 < 3, 1 < 3 < 2, 1 == 1.0, "a" < "b", [1, 2] < [1, 3], None is None, 1 and 0, 0 or "x", not [], 5 if 0 else 6)
print((5).bit_length(), (2.0).is_integer(), 1j * 1j, complex(1, 2), (3).real, 0.1 + 0.2, 1e16, 1e-5, 123456789.123, 2 ** 70, 1_000)
print(next(iter([1])), next(iter([]), "d"), list(iter(lambda: 1, 1)), getattr("a", "upper")(), repr(None), str(True), format(3.14159, ".2f"))
print(*[1, 2], sep=", ", end="!\n"); print(); print("a", "b", sep=""); print([1, [2, (3,)], {"a": {1}}], {}, ())
---
try:
    1 / 0
except ZeroDivisionError as e:
    print("caught", e, repr(e), e.args, type(e).__name__)
else:
    print("no")
finally:
    print("finally")
try:
    int("x")
except (TypeError, ValueError) as e:
    print(e)
def f():
    try:
        return 1
    finally:
        print("f")
print(f())
class MyError(ValueError):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code
try:
    raise MyError(3)
except ValueError as e:
    print(e, e.code, isinstance(e, Exception))
try:
    try:
        {}["k"]
    except KeyError as e:
        raise RuntimeError("outer") from e
except RuntimeError as e:
    print(e, repr(e.__cause__))
try:
    assert 1 == 2, "msg"
except AssertionError as e:
    print(e)
for i in range(2):
    try:
        continue
    finally:
        print("c", i)
raise MyError(7)
---
import math, copy, itertools, functools, operator, string, time, random
import math as m
from math import sqrt, pi
print(math.sqrt(16), m.pi, sqrt(2), math.exp(1), math.floor(2.7), math.ceil(2.1), math.log(10), math.isclose(0.1 + 0.2, 0.3), math.inf, math.isnan(math.nan))
print(math.gcd(12, 18), math.factorial(5), math.prod([1, 2, 3]), math.hypot(3, 4), math.log2(8), math.comb(5, 2), math.tanh(0.5))
a = [[1], {"x": [2]}]
b, c = copy.copy(a), copy.deepcopy(a)
a[0].append(9)
print(b, c)
print(list(itertools.product([1, 2], "ab")), list(itertools.combinations(range(3), 2)), list(itertools.chain([1], [2])), list(itertools.islice(itertools.count(5), 3)))
print(list(itertools.zip_longest([1], [2, 3])), list(itertools.permutations([1, 2])), list(itertools.accumulate([1, 2, 3])), list(itertools.repeat(1, 2)), list(itertools.chain.from_iterable([[1], [2]])))
print(functools.reduce(lambda a, b: a * b, [1, 2, 3]), functools.partial(pow, 2)(5), operator.add(1, 2), operator.itemgetter(1)([1, 2]), string.digits)
def deco(f):
    @functools.wraps(f)
    def w(*a, **k):
        return f(*a, **k) + 1
    return w
@deco
def g(x): return x
print(g(1), g.__name__)
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(40))
random.seed(0)
print(random.random(), random.randint(1, 10), random.choice("abc"), random.uniform(0, 1))
---
from contextlib import contextmanager, suppress, nullcontext
@contextmanager
def ctx(name):
    print("in", name)
    try:
        yield name.upper()
    finally:
        print("out", name)
with ctx("a") as v, nullcontext(3) as w:
    print(v, w)
with suppress(KeyError):
    {}[1]
with ctx("b"):
    raise ValueError("boom")
---
def describe(v):
    match v:
        case 0 | 1: return "small"
        case int(n) if n > 100: return f"big {n}"
        case "a": return "letter"
        case [x, y]: return f"pair {x} {y}"
        case [x, *rest]: return f"list {x} {rest}"
        case {"k": val, **more}: return f"dict {val} {more}"
        case None: return "none"
        case str(): return "str"
        case _: return "other"
for v in [0, 200, "a", [1, 2], (1, 2, 3), {"k": 5, "z": 1}, None, "zz", 3.5]:
    print(describe(v))
---
from __future__ import annotations
import sys
from typing import List, Optional
def f(x: Undefined, y: List[int] = None) -> Optional[int]:
    z: int = 3
    return z
print(f(1))
print("err", file=sys.stderr)
sys.stdout.write("w\n")
if __name__ == "__main__":
    print("main")
class Node:
    def __init__(self, v, left: Optional[Node] = None):
        self.v, self.left = v, left
print(Node(1, Node(2)).left.v)
---
class Stack(list):
    def push(self, x):
        self.append(x)
class D(dict):
    def __missing__(self, k):
        return k * 2
s = Stack([1])
s.push(2)
print(s, len(s), s[0], s + [3], isinstance(s, list), D(a=1)["zz"], sorted(s, reverse=True), [x for x in s])
class S(str):
    def shout(self): return self.upper() + "!"
print(S("hi").shout(), S("a") + "b", S("x") == "x", len(S("abc")))
---
def running():
    total = 0
    while True:
        total += yield total
g = running()
print(next(g), g.send(5), g.send(2), g.__next__ is None, enumerate("ab").__next__())
g.close()
next(g)
---
x = 5
def f():
    print(x)
    x = 3
f()
---
def f():
    return undefined_name
f()
---
def g(a, b): return a
g(
    1,
    2,
    3,
)
---
x = [1, 2]
y = (
    x[0] +
    x[5]
)
---
"a" + 1
---
1 + "a"
---
[1] + (2,)
---
None.grad
---
x = None
x()
---
len(5)
---
for i in 5: pass
---
a, b = 1
---
a, b = [1]
---
a, b = 1, 2, 3
---
a, *b, c = [1]
---
{}["missing"]
---
[][0]
---
(1, 2)["a"]
---
x = (1, 2)
x[0] = 3
---
"abc"[0] = "x"
---
{[]: 1}
---
class Foo: pass
Foo().bar
---
class Foo:
    def m(self, a): pass
Foo().m()
---
class Foo:
    def m(self): pass
Foo().m(1)
---
class Foo:
    def __init__(self, x): pass
Foo()
---
class Foo: pass
Foo(1)
---
class Foo: pass
Foo() + 1
---
class Foo: pass
1 < Foo()
---
class Foo: pass
Foo()[0]
---
class Foo: pass
Foo()[0] = 1
---
class Foo: pass
len(Foo())
---
class Foo: pass
for x in Foo(): pass
---
class Foo: pass
with Foo(): pass
---
class Foo: pass
Foo.bar
---
class Foo: pass
-Foo()
---
class Foo: pass
Foo()()
---
class Foo:
    def __eq__(self, o): return True
{Foo(): 1}
---
import math
math.foo
---
math.sqrt(2)
---
import math
math.sqrt(-1)
---
import math
math.sqrt("a")
---
f(x=1)
---
def f(a): pass
f(b=1)
---
def f(a): pass
f(1, a=2)
---
def f(a, b, c): pass
f()
---
def f(a, *, k): pass
f(1)
---
def f(a=1): pass
f(1, 2)
---
def f(): pass
f(1)
---
int("abc")
---
float("abc")
---
int([])
---
1 / 0
---
1 // 0
---
1 % 0
---
1.0 / 0
---
raise ValueError
---
raise ValueError("a", 1)
---
raise 5
---
assert 0
---
assert False, [1, 2]
---
def a():
    b()
def b():
    raise RuntimeError("deep")
try:
    a()
except ValueError:
    pass
---
def f():
    try:
        raise KeyError("k")
    except KeyError as e:
        saved = e
    raise saved
f()
---
try:
    1 / 0
except ZeroDivisionError:
    raise
---
try:
    1 / 0
except ZeroDivisionError as e:
    pass
print(e)
---
def f(n): return f(n + 1)
f(0)
---
x = 10
del x
print(x)
---
print("before")
raise SystemExit
---
import sys
print("bye")
sys.exit(0)
print("never")
---
"{} {}".format(1)
---
"%d" % "a"
---
"%s %s" % (1,)
---
"%s" % (1, 2)
---
f"{3:q}"
---
[1, 2].index(5)
---
[].pop()
---
[1].remove(4)
---
sum(["a"])
---
max([])
---
"abc".index("z")
---
"a".join([1])
---
sorted([1, "a"])
---
next(iter([]))
---
int.foo
---
(5).foo
---
"a".foo()
---
x = 5
x.y = 3
---
class P:
    @property
    def v(self): return 1
P().v = 3
---
class Angle:
    def _read(self):
        return self.value
    def _write(self, value):
        self.value = value % 360
    def _clear(self):
        self.value = 0
    degrees = property(fget=_read, fset=_write, fdel=_clear, doc="In degrees.")
    fixed = property(_read, doc="Read only.")
x = Angle()
x.degrees = 400
print(x.degrees, x.fixed)
del x.degrees
print(x.degrees)
---
def f():
    x = 1
    def g():
        return y
    g()
    y = 2
f()
---
from math import nothing_here
---
print(1)
x = = 2
---
def f(:
    pass
---
if True:
print(1)
---
return 5
---
x = 1
  y = 2
---
print "hello"
---
def f():
    yield 1
g = f()
next(g)
next(g)
---
class A:
    x = 1
    y = [x for _ in range(2)]
print(A.y)
---
class A:
    x = 1
    def f(self): return x
A().f()
---
isinstance(1, 5)
---
getattr(5, "zz")
---
class A:
    def __len__(self): return 0
    def __bool__(self): return 5
bool(A())
---
class A:
    def __str__(self): return 5
str(A())
---
class A:
    def __getattr__(self, n): raise AttributeError(f"no {n}")
A().q
---
x = [1, 2, 3]
for i in x:
    x[i]
---
d = {1: 2}
for k in d:
    d[k + 5] = 1
---
from abc import ABC, abstractmethod
class A(ABC):
    @abstractmethod
    def f(self): pass
class B(A):
    def f(self): return 1
print(B().f())
A()
---
class A:
    def __init__(self):
        self.__p = 1
    def get(self): return self.__p
print(A().get(), A()._A__p)
A().__p
---
class M:
    registry = {}
    def __init_subclass__(cls, **kw):
        M.registry[cls.__name__] = cls
class N(M): pass
print(list(M.registry), M.registry["N"] is N)
class Meta: pass
def decorate(cls):
    cls.tag = "t"
    return cls
@decorate
class T: pass
print(T.tag, T().tag)
---
class Lazy:
    def __get__(self, obj, cls): return "got" if obj else "cls"
class H:
    z = Lazy()
print(H().z, H.z)
class Single:
    _inst = None
    def __new__(cls, *a):
        if cls._inst is None:
            cls._inst = super().__new__(cls)
        return cls._inst
    def __init__(self, v=0): self.v = v
print(Single(1) is Single(2), Single().v)
---
print([1, 2, 3] == [1, 2, 3], [1] != [2], (1, [2]) == (1, [2]), {"a": [1]} == {"a": [1]}, [[1]] < [[2]], {1} == {1})
a = [1]
a.append(a)
print(a)
d = {}
d["d"] = d
print(d, a is a[1])
---
def f(x, acc=[]):
    acc.append(x)
    return acc
print(f(1), f(2), f.__defaults__)
print((lambda *a, **k: (a, k))(1, b=2), [f for f in [abs, len]][0](-4), list(map(str, [1])), list(map(int, "12")))
x = 5
def g(): return x
x = 6
print(g(), (g or 0)(), [*range(3), *"ab"], {*[1], 2}, (*[1],), {**{"a": 1}, **{"b": 2}})
print(eval if 0 else "no", "a" if x else "b", x if x > 3 else -x, [i for i in range(10) if i % 2 if i > 3])
---
import warnings
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    warnings.warn("careful")
    print(len(w), w[0].message, w[0].category.__name__)
warnings.simplefilter("error")
warnings.warn("now", DeprecationWarning)
---
from types import SimpleNamespace
n = SimpleNamespace(a=1, b="x")
n.c = 3
print(n, n.a, n.c)
import operator as op, pprint
print(op.mul(3, 4), op.attrgetter("a")(n))
pprint.pprint({"b": 1, "a": [1, 2]}) if 0 else pprint.pprint([1, 2])
---
def f():
    for i in range(3):
        try:
            if i == 1:
                return i
        finally:
            print("fin", i)
print(f())
def g():
    while True:
        try:
            raise ValueError
        except ValueError:
            break
        finally:
            print("end")
    return "after"
print(g())
---
print(1 if True else
      2, [
    3,
    4], sep=":")
value = {
    "a": 1,
    "b": undefined,
}
---
result = (
    "abc"
    .upper()
    .nope()
)
---
def f(x):
    return x.y
f(
  f(
    3))
---
class A:
    def f(self):
        return self.g(1,
                      2)
    def g(self, a, b):
        raise KeyError(a)
A().f()
---
import re
text = "epoch 1 loss=0.531 acc: 88%\nepoch 2 loss=0.402 acc: 91%"
pattern = re.compile(r"epoch (\d+) loss=(?P<loss>[\d.]+)")
found = pattern.search(text)
print(pattern, found, found.groups(), found.groupdict(), found["loss"], found.start(2), found.end())
print(pattern.findall(text), [m.span() for m in pattern.finditer(text)], pattern.groups)
print(re.sub(r"\d+", lambda m: str(int(m.group()) + 1), text), re.subn("e", "E", "eve", count=1))
print(re.split(r",\s*", "a, b,c", 1), re.match("b", "ab"), re.fullmatch("A+", "aa", re.IGNORECASE))
for line in text.splitlines():
    if m := re.match(r"(\w+)", line):
        print(m.group(1), m.lastindex, m.string == line)
try:
    re.compile("(a")
except re.error as e:
    print(e)
re.search("a", 3)
---
from collections import Counter, ChainMap, deque
c = Counter("abracadabra")
print(c + Counter(a=1), c - Counter(a=5), c & Counter(a=1, z=2), c | Counter(z=1))
c.subtract("aab")
d = deque([1, 2, 3], maxlen=3)
d.extendleft([9, 8])
d.remove(1)
d.insert(1, 7)
print(c, d, d.count(7), 9 in d, d == d.copy(), list(reversed(d)), bool(deque()))
m = ChainMap({"a": 1}, {"a": 2, "b": 3})
m["c"] = 4
print(m["a"], m.get("q", 0), dict(m), len(m), "b" in m, m, m.new_child()["b"])
d.index(100)
---
from functools import singledispatch, cmp_to_key
@singledispatch
def show(x):
    return "any"
@show.register(int)
def _(x):
    return "int"
print(show(1), show(True), show("a"), show.__name__)
print(sorted([3, 1, 2], key=cmp_to_key(lambda a, b: b - a)))
---
import heapq
words = ["pear", "fig", "apple", "kiwi", "plum"]
print(heapq.nlargest(2, words, key=len), heapq.nsmallest(3, words, key=len), heapq.nlargest(1, words))
print(heapq.nlargest(2, (x * x for x in range(-3, 3)), key=lambda x: -x), heapq.nsmallest(-1, words), heapq.nlargest(9, [2, 1]))
print(heapq.nsmallest(2, {"a": 3, "b": 1, "c": 2}.items(), key=lambda kv: kv[1]))
---
import os.path
print(repr(os.path.commonprefix(["/usr/lib", "/usr/local/lib", "/usr/l"])), repr(os.path.commonprefix([])), os.path.commonprefix(("abc", "abd")), repr(os.path.commonprefix(["a", "b"])))
---
from itertools import count, pairwise, zip_longest, accumulate, islice, chain, cycle, compress, starmap, takewhile, dropwhile, filterfalse, groupby, tee, repeat
def first(values, n=4): return list(islice(values, n))
for a, b in pairwise(count()):
    if b > 2: break
    print(a, b)
print(first(zip_longest(count(), "ab", fillvalue="-")), first(accumulate(count(1))), first(accumulate(count(1), func=lambda a, b: a * b)), first(accumulate(count(), initial=5)))
print(first(chain.from_iterable(range(k) for k in count())), first(chain([9], count())), first(cycle(count())), first(cycle("ab")), list(cycle([])))
print(first(compress(count(), cycle([0, 1]))), first(starmap(pow, ((k, 2) for k in count()))), first(takewhile(lambda k: k < 3, count())), first(dropwhile(lambda k: k < 3, count())), first(filterfalse(lambda k: k % 2, count())))
print([(k, first(g, 2)) for k, g in islice(groupby(count(), lambda n: n // 3), 3)])
print([(k, list(g)) for k, g in list(groupby("aabb"))], [(k, list(g)) for k, g in groupby([1, 1.0, True, 2])])
k, g = next(groupby(repeat(1)))
print(k, first(g), list(islice(count(), 2, 9, 3)))
a, b = tee(count())
print(next(a), next(a), next(b), len(tee([1], 3)))
seen = []
it = pairwise(seen.append(k) or k for k in range(9))
next(it); print(seen)
it = cycle(seen.append(k) or k for k in range(9))
next(it); print(seen)
---
from itertools import islice
print(list(islice(range(9), 3, None)))
islice([1, 2], -1)
---
from itertools import tee
tee([1], -1)
---
from itertools import filterfalse
try:
    filterfalse(None, 5)
except TypeError as e:
    print(e)
from itertools import groupby, pairwise, zip_longest, cycle, permutations
for f in (groupby, pairwise, cycle, lambda x: zip_longest([1], x)):
    try:
        f(5)
    except TypeError as e:
        print(e)
print(list(permutations("ab", None)))
---
from functools import lru_cache, cache
@lru_cache
def f(x): return x + 1
@lru_cache(maxsize=2)
def g(x, y=0):
    print("g", x, y)
    return x
@cache
def h(x): return x
@lru_cache()
def r(n): return n if n < 2 else r(n - 1) + r(n - 2)
@lru_cache(maxsize=0)
def z(x): return x
@lru_cache(None)
def bad(x): raise ValueError(x)
for x in (1, 2, 1, 3, 2): g(x)
g(3, y=1); g(y=1, x=3); g(x=3, y=1)
print(f(1), f(1.0), f(True), f(2), f.cache_info(), g.cache_info(), h(3), h(3), h.cache_info(), r(20), r.cache_info(), z(1), z(1), z.cache_info())
for _ in range(2):
    try: bad(1)
    except ValueError: pass
print(bad.cache_info(), lru_cache(3)(abs)(-2))
f.cache_clear()
print(f.cache_info())
@lru_cache(maxsize=2)
def s(n): return n if n < 2 else s(n - 1) + s(n - 2)
print(s(8), s.cache_info())
lru_cache("a")
---
from functools import total_ordering, partial
from collections import Counter
def ordered_by(name):
    compare = {"__lt__": lambda a, b: a.v < b.v, "__le__": lambda a, b: a.v <= b.v, "__gt__": lambda a, b: a.v > b.v, "__ge__": lambda a, b: a.v >= b.v}[name]
    class C:
        def __init__(self, v): self.v = v
        def __eq__(self, other): return self.v == other.v
    setattr(C, name, compare)
    return total_ordering(C)
for name in ("__lt__", "__le__", "__gt__", "__ge__"):
    C = ordered_by(name)
    for a, b in ((C(1), C(2)), (C(2), C(1)), (C(1), C(1))):
        print(name, a < b, a <= b, a > b, a >= b)
c = Counter("aab")
c.subtract("abb")
print(c, +c, -c, list(Counter(x=2, y=-1).elements()), repr(partial(int, "1", base=2)))
@total_ordering
class D: pass
---
from collections import Counter, OrderedDict, defaultdict, deque
c = Counter("ab").copy()
d = defaultdict(list, a=[1]).copy()
o = OrderedDict(a=1, b=2)
print(c["z"], d["z"], type(c).__name__, type(d).__name__, type(o.copy()).__name__, d)
p = OrderedDict(b=2, a=1)
print(o == p, o != p, o == {"b": 2, "a": 1}, {"b": 2, "a": 1} == o, o == o.copy(), o == 3)
q = deque([1, 2], maxlen=3)
r = q
q += [3, 4]
print(q, r is q, q + deque([5]), deque([1]) * 3, q * 2)
print(deque([1]) + [2])
---
import functools, itertools, heapq
from collections import deque
@functools.lru_cache
def h(*args, **named): return len(args)
print(h(1, 2), h(a=1), h.cache_info(), h.__name__, h.__wrapped__(1))
f = functools.partial(functools.partial(pow, 2), 3)
print(f(), f.func is pow, f.args)
d = deque([1, 2])
d.extend(d)
print(d)
class T:
    def __init__(self, v): self.v = v
    def __lt__(self, other): return self.v < other.v
print([x.v for x in heapq.nsmallest(2, [T(3), T(1), T(2)])], heapq.nlargest(n=2, iterable="abc"))
T.__eq__ = lambda self, other: self.v % 2 == other.v % 2
print([[x.v for x in g] for k, g in itertools.groupby([T(1), T(3), T(2)])])
nan = float("nan")
print([len(list(g)) for k, g in itertools.groupby([nan, nan, float("nan")])])
h([1])
"""
CASES = [p.strip("\n") for p in PROGRAMS.split("\n---\n")]


def by_cpython(text):
    """What CPython prints, and the exception: its type, its message, its line in the text."""
    out = io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(io.StringIO()), catch_warnings():
            simplefilter("ignore")
            exec(compile(text, "<case>", "exec"), {"__name__": "__main__"})
    except SyntaxError as e:
        return out.getvalue(), (type(e).__name__, e.msg, e.lineno)
    except SystemExit:
        return out.getvalue(), None
    except BaseException as e:
        frames = [f for f in traceback.extract_tb(e.__traceback__) if f.filename == "<case>"]
        return out.getvalue(), (type(e).__name__, str(e), frames[-1].lineno)
    return out.getvalue(), None


@pytest.mark.parametrize("text", CASES, ids=range(len(CASES)))
def test_as_cpython(text):
    outcome = run(text, module)
    assert outcome.unsupported is None
    assert outcome.exhausted is None
    expected, failure = by_cpython(text)
    if failure and failure[0] == "ImportError":
        failure = (failure[0], outcome.exception[1], failure[2])  # it names a path
    assert outcome.stdout == expected
    assert (outcome.exception and tuple(outcome.exception[:3])) == failure


REFUSED = {  # what the machine does not do, and how it says so
    "x = 1\nimport subprocess": "the module subprocess",
    "import os\nos.system('ls')": "os.system",
    "from dataclasses import dataclass\nx = dataclass(kw_only=True)": "dataclass(kw_only=True)",
    "from collections import namedtuple\nP = namedtuple('P', 'class', rename=True)": (
        "namedtuple(rename=True)"
    ),
    "import sys\nsys.modules": "sys.modules",
    "from PIL import Image\nprint(Image)": "PIL.Image",
    "from PIL import Image\nisinstance(3, Image)": "PIL.Image",
    "from PIL import Image\nclass A(Image): pass": "PIL.Image",
    "import pandas as pd\npd.DataFrame()": "pandas.DataFrame",
    "x = 1\nopen('/etc/passwd')": "open()",
    "x = 1\nexec('1')": "exec()",
    "x = 1\nprint(eval)\neval('1')": "eval()",
    "x = 1\n__import__('os')": "__import__()",
    "x = 1\n().__class__.__mro__[1].__subclasses__()": "the attribute __subclasses__",
    "x = 1\n(lambda: 0).__globals__": "the attribute __globals__",
    "x = 1\n'{0.__code__}'.format(lambda: 0)": "the attribute __code__",
    "x = 1\nstr.__init__.__globals__": "the attribute __globals__",
    "x = 1\nasync def f(): pass": "async def",
    "import re\nre.match('(a+)+b', 'a')": "a regular expression with a repetition inside a repetition",
    "import re\nre.match('(a|ab)*c', 'a')": "a regular expression with alternatives inside a repetition",
    "import re\nre.search('.*.*.*.*=', 'a' * 300)": "this regular expression on so long a string",
    "import functools\nfunctools.lru_cache(typed=True)": "lru_cache with typed=True",
    "x = 1\ntry: input()\nexcept BaseException: pass": "input()",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_unknown_names_itself(text):
    unsupported = run(text, module).unsupported
    assert unsupported == (REFUSED[text], text.count("\n") + 1 - text.count("\nexcept"))


BOMBS = {  # program: what of its budget is used up
    "9**9**9": "memory",
    "'a' * 10**10": "memory",
    "[0] * 10**9": "memory",
    "while True: pass": "steps",
    "x = 'a'\nwhile True: x += x": "memory",
    "x = []\nfor i in range(60): x = [x, x]\nprint(repr(x))": "steps",
    "x = ()\nfor i in range(60): x = (x, x)\nprint({x: 1})": "steps",
    "for i in range(10**12): i": "steps",
    "list(range(10**10))": "memory",
    "sum(range(10**10))": "steps",
    "10**9 + 0.5 in range(10**12)": "steps",
    "'%99999999999d' % 3": "memory",
    "f'{3:99999999999}'": "memory",
    "'a'.ljust(10**11)": "memory",
    "x = 3\nwhile True: x = x * x": "memory",
    "x = [1]\nwhile True: x.extend(x)": "steps",
    "while True: print('x' * 1000)": "output",
    "from collections import Counter\nlist(Counter(a=10**10).elements())": "steps",
    "x = 'a' * 10**7\nwhile True: x.count('b')": "steps",
    "try:\n  while True: pass\nexcept BaseException: print('caught')": "steps",
}


ENDLESS = (
    "import itertools\nfor i in itertools.count(): f()",
    "import itertools\nfor i in zip(itertools.cycle('ab'), itertools.repeat(1)): f()",
    "def g():\n  while True: yield 1\nfor i in g(): f()",
    "for i in iter(f, 1): f()",
)


@pytest.mark.parametrize("text", ENDLESS)
def test_what_may_have_no_end_has_little_time(text, monkeypatch):
    monkeypatch.setattr("gradcli.snippets.python.budget.SHORT", 0.1)
    outcome = run("def f(): return [i for i in range(20)] and 0\n" + text, module)
    assert outcome.exhausted.does == "takes more than the 0.1 seconds allowed"


def test_an_iterator_goes_on_after_a_loop_that_left_it():
    text = "x = iter(range(5000))\nfor i in x:\n  if i == 3000: break\nprint(next(x))"
    assert run(text, module).stdout == "3001\n"


@pytest.mark.parametrize("text", BOMBS)
def test_budget(text):
    outcome = run(text, module, budget=Budget(steps=200_000))
    assert outcome.exhausted.kind == BOMBS[text]
    assert outcome.exception is None
    assert "caught" not in outcome.stdout


def test_observers_and_echo():
    assigned, printed = [], []
    outcome = run(
        "x = 1\ndef f(a):\n    print(a)\n    y = a + x\n    return y\nf(2)",
        echo="all",
        on_assign=lambda name, value, line: assigned.append((name, line)),
        on_print=lambda line, text: printed.append((line, text)),
    )
    assert assigned == [("x", 1), ("f", 2), ("y", 4)]
    assert printed == [(3, "2"), (3, "\n")] or printed == [(3, "2\n"), (6, "3\n")]
    assert outcome.stdout == "2\n3\n"
    assert outcome.scope["x"] == 1


def test_warnings_have_lines():
    outcome = run("import warnings\nfor i in range(2):\n    warnings.warn('once')\n", module)
    assert outcome.warnings == [("UserWarning", "once", 3)]


def broken(m, value):
    return value.nothing


HOSTS = {  # a program that calls `f(value)` of the host: what becomes of it
    "try:\n    f(1)\nexcept BaseException: pass": None,
    "f()": "f() missing 1 required positional argument: 'value'",
    "f(1, 2)": "f() takes 1 positional argument but 2 were given",
    "f(v=1)": "f() got an unexpected keyword argument 'v'",
}


@pytest.mark.parametrize("text", HOSTS)
def test_functions_of_the_host(text):
    outcome = run(text, builtins=functions({"f": broken}))
    if HOSTS[text] is None:
        assert outcome.unsupported.what.startswith("this call of f (AttributeError")
    else:
        assert outcome.exception[:3] == ("TypeError", HOSTS[text], 1)


def test_classes_of_the_host():
    made = Class("Tensor", module="torch")
    made.make = lambda m, cls, value: Instance(cls, payload=[value])
    made.members = functions(
        {
            "__add__": lambda m, a, b: m.call(
                made, (a.payload[0] + (b if type(b) is int else b.payload[0]),)
            ),
            "__radd__": lambda m, a, b: m.call(made, (b + a.payload[0],)),
            "__repr__": lambda m, a: f"tensor({a.payload[0]})",
            "double": lambda m, a, *, times=2: m.call(made, (a.payload[0] * times,)),
        }
    )
    text = "t = Tensor(3)\nprint(t + 1, 1 + t, sum([t, t]), [t.double(times=3)], t.double)\nt.grad"
    outcome = run(text, builtins={"Tensor": made})
    assert outcome.stdout.startswith(
        "tensor(4) tensor(4) tensor(6) [tensor(9)] <built-in method double"
    )
    assert outcome.exception[:3] == ("AttributeError", "'Tensor' object has no attribute 'grad'", 3)
