"""Documents as plain data, which JSON holds, and back: any format can be made of them later.

A block is an object of one key, its kind, with its fields in a list; fields at the end that are as
they are by default are left out. Text is `{"t": "text", "role": "word"}`. Formulas stand
in `trees`, each after those that it is made of, and are spoken of by their place there, `{"$": 3}`:
they may share parts, and be deep. A tensor that stands elsewhere in the same JSON is spoken of by
where it does.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

from ..errors import GradcliError
from ..lazy import np
from ..notation import tree
from ..notation.tree import Token, Tree
from .arrays import jsonable
from .blocks import (
    ZERO,
    Answer,
    Block,
    Document,
    Formula,
    GraphNode,
    Pass,
    Row,
    Section,
    Tensor,
    Use,
    without_extras,
)

TREES = {kind.__forward_arg__: getattr(tree, kind.__forward_arg__) for kind in get_args(Tree)}
BESIDE = (Row, GraphNode, Pass, Section, Answer, Document)
KINDS = {kind.__name__.lower(): kind for kind in (*get_args(Block), *BESIDE)}
NUMBERS = ("inf", "-inf", "nan")  # which JSON holds as texts
FEW = 4  # elements of a tensor that is written again where it stands elsewhere
NOT_ONE = GradcliError(
    "value",
    "this is no answer of which other formats can be made",
    hint="it is printed with -f json by explain, jacobian, hessian, jvp, seed-for, read and why",
)


class ShownDocuments(NamedTuple):
    """Documents, and how their tensors are shown: with so many digits, whole or not, of so many
    entries at most.
    """

    documents: list[Document]
    precision: int
    full: bool
    entries: int

    def made_for(self, use: Use) -> list[Document]:
        """The documents for what a format makes of them; a page shows all."""
        return self.documents if use == "page" else [*map(without_extras, self.documents)]


def serialized(shown: ShownDocuments, beside: dict[str, Any]) -> dict[str, Any]:
    """Documents as data, of an object that has the other data `beside`."""
    write = _Writer(beside)
    blocks = [write(built) for built in shown.documents]
    return shown._asdict() | {"documents": blocks, "trees": write.trees}


def restored(data: Any) -> ShownDocuments:
    """The documents of an object that JSON held. Raises GradcliError where it has none."""
    try:
        result = data["document"]
        read = _Reader(result["trees"], data)
        return ShownDocuments(*(read(result[field]) for field in ShownDocuments._fields))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise NOT_ONE from None


class _Writer:
    def __init__(self, beside: dict[str, Any]):
        self.trees: list[list[Any]] = []
        self.alike: dict[str, int] = {}  # places of trees, by how they are written
        self.known: dict[int, int] = {}  # and by their identity
        self.tensors = [*_tensors(beside, ())]

    def __call__(self, part: Any) -> Any:
        """A block, or what stands in one."""
        if isinstance(part, Token):
            return {"t": part.text} | _said(role=part.role)
        if isinstance(part, Formula):
            return self.formula(part)
        if isinstance(part, Tensor):
            return {"tensor": self.array(part.array)} | _said(role=part.role, name=part.name)
        name = type(part).__name__.lower()
        if name in KINDS:
            return {name: [*map(self, _short(part))]}
        return [*map(self, part)] if isinstance(part, tuple) else part

    def formula(self, formula: Formula) -> dict[str, Any]:
        """A formula; how it is typed, where that is not how it is written."""
        if formula is ZERO:
            return {"$": "zero"}
        typed = [] if formula.typed == tuple(tree.tokens(formula.tree)) else self(formula.typed)
        return {"$": self.tree(formula.tree)} | _said(role=formula.role, typed=typed)

    def tree(self, asked: Tree) -> int:
        """The place of a formula, those that it is made of before it."""
        stack: list[Any] = [asked]
        while stack:
            part = stack[-1]
            waiting = [inner for inner in _inner(part) if id(inner) not in self.known]
            stack += waiting
            if not waiting:
                row = [type(part).__name__, *map(self._field, _short(part))]
                place = self.alike.setdefault(repr(row), len(self.trees))
                if place == len(self.trees):
                    self.trees.append(row)
                self.known[id(stack.pop())] = place
        return self.known[id(asked)]

    def _field(self, field: Any) -> Any:
        """A field of a tree, whose own trees have their places."""
        if type(field).__name__ in TREES:
            return {"$": self.known[id(field)]}
        if isinstance(field, tuple):
            return [*map(self._field, field)]
        return {"number": str(field)} if isinstance(field, float) and field - field else field

    def array(self, array: Any) -> Any:
        """The elements of a tensor, or where they stand."""
        array = np.asarray(array)
        if not array.size:
            return {"empty": [*array.shape]}
        for path, other in self.tensors if array.size > FEW else ():
            if array is other or _equal(array, other):
                return {"at": [*path]}
        if array.dtype == object:
            array = np.vectorize(lambda e: e if isinstance(e, str) else float(e), [object])(array)
        return jsonable(array.tolist())


class _Reader:
    def __init__(self, trees: list[Any], data: Any):
        self.data = data
        self.trees: list[Tree] = []
        for name, *fields in trees:
            self.trees.append(TREES[name](*map(self._field, fields)))

    def __call__(self, part: Any) -> Any:
        """What `_Writer` has written."""
        if isinstance(part, list):
            return tuple(map(self, part))
        if not isinstance(part, dict):
            return part
        if "t" in part:
            return Token(part["t"], part.get("role", ""))
        if "$" in part:
            return self.formula(part)
        if "tensor" in part:
            return Tensor(self.array(part["tensor"]), part.get("role", ""), part.get("name", ""))
        ((name, fields),) = part.items()
        return KINDS[name](*map(self, fields))

    def formula(self, part: dict[str, Any]) -> Formula:
        """A formula within a block."""
        if part["$"] == "zero":
            return ZERO
        typed = tuple(map(self, part.get("typed", ())))
        return Formula(self.trees[part["$"]], part.get("role", ""), typed)

    def _field(self, field: Any) -> Any:
        """A field of a tree."""
        if isinstance(field, list):
            return tuple(map(self._field, field))
        if not isinstance(field, dict):
            return field
        return float(field["number"]) if "number" in field else self.trees[field["$"]]

    def array(self, written: Any) -> Any:
        """The array of a tensor."""
        if isinstance(written, dict):
            ((name, inside),) = written.items()
            if name == "empty":
                return np.zeros(tuple(inside))
            written = self.data
            for key in inside:
                written = written[key]
        result = np.array(written)
        if result.dtype.kind not in "US":
            return result
        mixed = np.array(written, dtype=object)
        texts = any(isinstance(e, str) and e not in NUMBERS for e in mixed.flat)
        return mixed if texts else mixed.astype(float)


def _said(**fields: Any) -> dict[str, Any]:
    """Those that say something."""
    return {name: field for name, field in fields.items() if field}


def _short(part: Any) -> tuple[Any, ...]:
    """The fields of a record, but for those at its end that are as they are by default."""
    defaults, count = part._field_defaults, len(part)
    while count and part._fields[count - 1] in defaults:
        default = defaults[part._fields[count - 1]]
        if type(default) is not type(part[count - 1]) or default != part[count - 1]:
            break
        count -= 1
    return part[:count]


def _inner(part: Any) -> Iterator[Any]:
    """The formulas that a formula has in its fields, in tuples too."""
    for field in part:
        if type(field).__name__ in TREES:
            yield field
        elif isinstance(field, tuple):
            yield from _inner(field)


def _tensors(part: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The arrays of data, and where they stand."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _tensors(value, (*path, key))
    elif isinstance(part, list | tuple):
        for k, value in enumerate(part):
            if isinstance(value, dict):
                yield from _tensors(value, (*path, k))
    elif isinstance(part, np.ndarray) and part.size > FEW:
        yield path, part


def _equal(one: Any, other: Any) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
