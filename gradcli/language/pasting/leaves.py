"""Which names of a pasted program are inputs, and which of these PyTorch differentiates by: its
leaves, tensors with requires_grad that are not computed from others.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy

from ...errors import GradcliError, Span
from ..storage import STORAGE
from ..syntax import (
    E,
    Transformer,
    bound,
    called_name,
    dotted,
    has_new,
    is_true,
    keyword,
    loaded,
    moved,
    name_of,
    path,
    target,
    unplaced,
)
from .asked import Value
from .remarks import is_random

Segment = Callable[[ast.AST], str]
Place = Callable[[ast.AST], Span]

LIBRARIES = {"torch", "nn", "F", "np", "numpy", "math", "autograd", "inf", "nan", "pi", "builtins"}
OF_NUMBERS = ("np.", "numpy.", "math.", "builtins.")
KEPT = STORAGE | {"dtype"}
# What gives back the same tensor.
SAME = {"requires_grad_", "to", "cpu", "contiguous", "float", "Variable"}
# What cuts: behind it PyTorch knows nothing of where its tensors come from.
CUTS = {
    *("detach", "no_grad", "item", "tensor", "size", "dim", "numel", "tolist", "numpy"),
    *("argmax", "argmin"),
}
# Types that PyTorch does not have its tensors in where nothing is said.
CHANGING = r"torch\.(double|half|b?float(16|64))\b"
# Classes whose objects are tensors.
TENSORS = "Tensor$|Variable|Parameter"
CUT_ATTRIBUTES = {"data", "shape", "ndim", "dtype", "device", "grad", "requires_grad"}
LISTS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp, ast.GeneratorExp)
LARGEST = 20_000  # nodes of an expression that is written out


class Leaves:
    """The inputs of a program, in whose statements every name of concern has one value.

    `body` are its statements, `inputs` the values of its inputs as syntax, `leaves` the names of
    those that require a gradient, `lost` what a gradient was asked for and is no leaf, `rest` the
    statements that are left.
    """

    def __init__(self, body: list[ast.stmt], place: Place):
        self.body, self.place = body, place
        self.inputs: dict[str, ast.expr] = {}
        self.leaves: dict[str, None] = {}
        self.lost: dict[str, ast.stmt] = {}
        self.rest: list[ast.stmt] = []
        self._numbers: dict[str, ast.expr] = {}
        self._follow: set[str] = set()  # what PyTorch has a way back from
        self._constant: set[str] = set()  # what it has none from
        times = Counter(n for s in body for n in bound(s))
        self._libraries = LIBRARIES - times.keys()
        self._once = {n for n, count in times.items() if count == 1}
        for s in body:
            self._read(s)

    def values(self, segment: Segment, but: Iterable[str] = ()) -> tuple[Value, ...]:
        """The values of the inputs, but for some names."""
        return tuple(
            Value(name, ast.unparse(e) if has_new(e) else segment(e), frozenset(loaded(e)) & known)
            for name, e in self.inputs.items()
            if name not in but
            for known in (self.inputs.keys() - {name},)
        )

    def cut(self, name: str) -> None:
        """Make an input of what is computed: it has this value, and comes from nowhere.

        Raises GradcliError for what is no tensor by itself.
        """
        s = next((s for s in self.rest if target(s) == name), None)
        if s is None or name not in self._once:
            said = f"a gradient by {name} is asked for, which has no statement of its own"
            hint = f"write {name} = ... in one statement"
            giving = next(s for s in self.rest if name in bound(s))
            raise GradcliError("unsupported", said, hint=hint, span=self.place(giving))
        assert isinstance(s, ast.Assign)
        self.inputs[name] = self._written_out(s.value)
        self.rest.remove(s)

    def follows(self, e: ast.AST) -> bool:
        """Whether PyTorch would know a way back from the value of an expression."""
        while isinstance(e, ast.BinOp):  # a + b + c + ... leans to the left
            if self.follows(e.right):
                return True
            e = e.left
        if isinstance(e, ast.Name):
            return e.id in self._follow or not (
                e.id in self._constant or e.id in self.inputs or e.id in self._libraries
            )
        if isinstance(e, ast.Compare) or (
            isinstance(e, ast.Attribute) and e.attr in CUT_ATTRIBUTES
        ):
            return False
        if isinstance(e, ast.Call):
            name = called_name(e) or ""
            if self.makes_leaf(e):
                return True
            if name in CUTS or name.endswith("_like") or (dotted(e.func) or "") == "builtins.float":
                return False
            of = [*e.args, *(k.value for k in e.keywords if k.arg not in KEPT)]
            return any(map(self.follows, [*of, *self._holders(e)]))
        return any(map(self.follows, ast.iter_child_nodes(e)))

    def makes_leaf(self, e: ast.AST) -> bool:
        """Whether an expression is a tensor that requires a gradient, and comes from nowhere."""
        if not isinstance(e, ast.Call):
            return False
        name, flag = called_name(e), keyword(e, "requires_grad")
        before = [*self._holders(e), *(e.args if name == "Variable" else [])]
        if name == "requires_grad_":
            yes = all(map(is_true, [*e.args, *([flag] if flag else [])]))
            return yes and not any(map(self._comes_from, before))
        if flag is not None:
            return is_true(self._filled_in(flag))
        if name == "Parameter":
            return all(map(is_true, e.args[1:]))
        if name == "to" and re.search(CHANGING, ast.unparse(e)):
            return False
        return name in SAME and any(map(self.makes_leaf, before))

    # ---- statement by statement ------------------------------------------------------------------

    def _read(self, s: ast.stmt) -> None:
        self._check_numpy(s)
        mark, name = marked(s), target(s)
        if mark is not None:
            self._mark(*mark)
        elif name is None or not isinstance(s, ast.Assign):
            self._check_named(s, isinstance(s, ast.Assign))
            self._give(bound(s), isinstance(s, ast.Assign) and self.follows(s.value))
            self.rest.append(s)
        else:
            self._assigned(s, name, s.value)

    def _assigned(self, s: ast.Assign, name: str, value: ast.expr) -> None:
        if name in self._once and self.makes_leaf(value):
            self.inputs[name] = self._written_out(value)
            self.leaves[name] = None
            self._follow.add(name)
            return
        self._check_named(s, isinstance(value, LISTS))
        of_leaf = any(map(self.makes_leaf, ast.walk(value)))
        closed = self._filled_in(value) if self._is_closed(value) else None
        self._give((name,), self.follows(value))
        if of_leaf:
            self.lost[name] = s
        elif closed is not None and _is_tensor(value) and name in self._once:
            self.inputs[name] = closed
            return
        elif closed is not None and not is_random([closed]) and not _is_tensor(value):
            self._numbers[name] = closed
        self.rest.append(s)

    def _check_numpy(self, s: ast.stmt) -> None:
        """Refuse functions of NumPy on what PyTorch would not give to them."""
        for n in ast.walk(s) if self.leaves else ():
            if not isinstance(n, ast.Call) or not any(map(self.follows, n.args)):
                continue
            if (dotted(n.func) or "").startswith(("np.", "numpy.")):
                said = "PyTorch gives no tensor that requires a gradient to NumPy"
                hint = f"write torch.{called_name(n)}(...)"
                raise GradcliError("unsupported", said, hint=hint, span=self.place(n))

    def _check_named(self, s: ast.stmt, several: bool) -> None:
        """Refuse leaves that are several values of one statement."""
        if several and any(map(self.makes_leaf, ast.walk(s))):
            said = "tensors that require a gradient need names here, each its own"
            hint = (
                "write a = torch.tensor(..., requires_grad=True) for each of them, and then a list"
            )
            raise GradcliError("unsupported", said, hint=hint, span=self.place(s))

    def _give(self, names: Iterable[str], follow: bool) -> None:
        """Know of names that are given a value whether PyTorch has a way back from it."""
        for name in names:
            self._numbers.pop(name, None)
            (self._constant if follow else self._follow).discard(name)
            (self._follow if follow else self._constant).add(name)

    def _mark(self, name: str, yes: bool) -> None:
        """What `x.requires_grad_()` does: nothing to what PyTorch has a way back from."""
        if not yes:
            self.leaves.pop(name, None)
            self._follow -= {name} & self.inputs.keys()
            return
        if name in self._constant and name not in self.inputs:
            self.cut(name)
        if name in self.inputs and name not in self._follow:  # and was not when it was used before
            cut = {name: ast.Call(ast.Attribute(path(name), "detach", ast.Load()), [], [])}
            self.rest = [_replaced(s, cut) for s in self.rest]
        if name in self.inputs or name not in self._follow:
            self.leaves[name] = None
            self._follow.add(name)

    # ---- values ----------------------------------------------------------------------------------

    def _comes_from(self, e: ast.expr) -> bool:
        """Whether a tensor comes from another one: `x.requires_grad_()` is a leaf where x is."""
        return self.follows(e) and not self.makes_leaf(e)

    def _holders(self, e: ast.Call) -> list[ast.expr]:
        """What stands before the dot of a method."""
        if not isinstance(e.func, ast.Attribute) or name_of(_first(e.func)) in self._libraries:
            return []
        return [e.func.value]

    def _is_closed(self, value: ast.expr) -> bool:
        """Whether an expression names nothing but functions and constants of libraries, numbers
        that are written out elsewhere, and where it is kept.
        """
        calls = [n for n in ast.walk(value) if isinstance(n, ast.Call)]
        aside = [k.value for c in calls for k in c.keywords if k.arg in KEPT]
        others = {*(c.func for c in calls), *(n for e in aside for n in ast.walk(e))}
        names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name) and n not in others}
        return names <= self._libraries | self._numbers.keys()

    def _filled_in(self, value: ast.expr) -> ast.expr:
        """The value with numbers in the place of their names."""
        return _replaced(value, self._numbers)

    def _written_out(self, value: ast.expr) -> ast.expr:
        """The value in terms of inputs alone. Raises GradcliError where that is not possible."""
        value = self._filled_in(value)
        definitions: dict[str, ast.expr] = {
            n: s.value
            for s in self.rest
            if isinstance(s, ast.Assign) and (n := target(s)) and n in self._once
        }
        given = {n for s in self.rest for n in bound(s)}
        used = 0
        while True:
            names = loaded(value) & given
            unknown = next((n for n in names if n not in definitions), None)
            used += sum(1 for n in names if n in definitions and is_random([definitions[n]]))
            if unknown or used or sum(1 for _ in ast.walk(value)) > LARGEST:
                said = f"the value of an input depends on {unknown or 'a statement before it'}"
                hint = "write the numbers of this input: x = torch.tensor([...])"
                raise GradcliError("unsupported", said, hint=hint, span=self.place(value))
            if not names:
                return value
            value = _replaced(value, {n: definitions[n] for n in names})


def _is_tensor(value: ast.expr) -> bool:
    """Whether an expression of libraries alone is a tensor that somebody made."""
    words = dotted(value.func) or "" if isinstance(value, ast.Call) else "np."
    return not makes_object(value) and not words.startswith(OF_NUMBERS)


def makes_object(e: ast.AST) -> bool:
    """Whether an expression makes a module, of `nn` or of a class of its own."""
    module, _, name = (dotted(e.func) or "" if isinstance(e, ast.Call) else "").rpartition(".")
    return module in ("", "nn", "torch.nn") and name[:1].isupper() and not re.search(TENSORS, name)


def _first(e: ast.expr) -> ast.expr:
    while isinstance(e, ast.Attribute):
        e = e.value
    return e


def _replaced(value: E, by: Mapping[str, ast.expr]) -> E:
    """The syntax with other expressions in the place of names."""
    if not loaded(value) & by.keys():
        return value

    class Replaced(Transformer):
        def visit_Name(self, e: ast.Name) -> ast.expr:
            return moved(unplaced(by[e.id]), e) if e.id in by else e

    return Replaced().visit(deepcopy(value))


def marked(s: ast.stmt) -> tuple[str, bool] | None:
    """`x` and whether it is so, of `x.requires_grad_()` and `x.requires_grad = False`."""
    if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Attribute):
        on, name = s.targets[0], "requires_grad"
        said: list[ast.expr] = [s.value]
    elif isinstance(s, ast.Expr) and isinstance(s.value, ast.Call):
        if not isinstance(s.value.func, ast.Attribute):
            return None
        on, name = s.value.func, "requires_grad_"
        said = [*s.value.args, *(k.value for k in s.value.keywords)]
    else:
        return None
    found = name_of(on.value) if on.attr == name else None
    return None if found is None else (found, all(map(is_true, said)))
