"""Documents as plain data for JSON, and back, so that any format can be rendered later.

A block is an object of one key, its kind, whose value is the list of its fields, without trailing
fields that have their defaults. Text is `{"t": "text", "role": "word"}`. Formulas are stored in
`trees`, each after its parts, and referenced by index, `{"$": 3}`, because they may share parts and
be deep. A tensor that also occurs elsewhere in the same JSON is referenced by its path.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

from ..budget import tick
from ..errors import GradcliError
from ..lazy import np
from ..notation import tree
from ..notation.tree import Token, Tree
from .arrays import jsonable
from .blocks import (
    UNWRITTEN,
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
RECORDS = (Row, GraphNode, Pass, Section, Answer, Document)
KINDS = {kind.__name__.lower(): kind for kind in (*get_args(Block), *RECORDS)}
CELLS = {"zero": ZERO, "unwritten": UNWRITTEN}  # cells of matrices that are compared by identity
NUMBERS = ("inf", "-inf", "nan")  # numbers that are strings in JSON
FEW = 4  # elements up to which an equal tensor is repeated, not referenced
NOT_ONE = GradcliError(
    "value",
    "this is not an answer that can be converted to other formats",
    hint="it is printed with -f json by explain, jacobian, hessian, jvp, seed-for, read and why",
)


class SerializedDocuments(NamedTuple):
    """Documents, and display options of their tensors: digits, whether in full, most entries."""

    documents: list[Document]
    precision: int
    full: bool
    entries: int

    def documents_for(self, use: Use) -> list[Document]:
        """The documents for a kind of format; only pages have all sections."""
        return self.documents if use == "page" else [*map(without_extras, self.documents)]


def serialized(shown: SerializedDocuments, data: dict[str, Any]) -> dict[str, Any]:
    """Documents as data, part of a JSON object whose other values are `data`."""
    write = _Writer(data)
    blocks = [write(built) for built in shown.documents]
    return shown._asdict() | {"documents": blocks, "trees": write.trees}


def restored(data: Any) -> SerializedDocuments:
    """The documents of a JSON object. Raises GradcliError if it contains none."""
    try:
        result = data["document"]
        read = _Reader(result["trees"], data)
        return SerializedDocuments(*(read(result[field]) for field in SerializedDocuments._fields))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise NOT_ONE from None


class _Writer:
    def __init__(self, data: dict[str, Any]):
        self.trees: list[list[Any]] = []
        self.by_text: dict[str, int] = {}  # indices of trees, by serialization
        self.by_id: dict[int, int] = {}  # and by identity
        self.tensors = [*_tensors(data, ())]

    def __call__(self, part: Any) -> Any:
        """The data of a block, or of a part of one."""
        tick()
        if isinstance(part, Token):
            return {"t": part.text} | _nonempty(role=part.role)
        if isinstance(part, Formula):
            return self.formula(part)
        if isinstance(part, Tensor):
            return {"tensor": self.array(part.array)} | _nonempty(role=part.role, name=part.name)
        name = type(part).__name__.lower()
        if name in KINDS:
            return {name: [*map(self, _short(part))]}
        return [*map(self, part)] if isinstance(part, tuple) else part

    def formula(self, formula: Formula) -> dict[str, Any]:
        """The data of a formula, with the user's spelling if that differs."""
        for name, cell in CELLS.items():
            if formula is cell:
                return {"$": name}
        typed = [] if formula.typed == tuple(tree.tokens(formula.tree)) else self(formula.typed)
        return {"$": self.tree(formula.tree)} | _nonempty(role=formula.role, typed=typed)

    def tree(self, root: Tree) -> int:
        """The index of a tree in `trees`, to which it is appended after its parts."""
        stack: list[Any] = [root]
        while stack:
            part = stack[-1]
            waiting = [inner for inner in _inner(part) if id(inner) not in self.by_id]
            stack += waiting
            if not waiting:
                row = [type(part).__name__, *map(self._field, _short(part))]
                place = self.by_text.setdefault(repr(row), len(self.trees))
                if place == len(self.trees):
                    self.trees.append(row)
                self.by_id[id(stack.pop())] = place
        return self.by_id[id(root)]

    def _field(self, field: Any) -> Any:
        """The data of a field of a tree, in which trees are references."""
        if type(field).__name__ in TREES:
            return {"$": self.by_id[id(field)]}
        if isinstance(field, tuple):
            return [*map(self._field, field)]
        return {"number": str(field)} if isinstance(field, float) and field - field else field

    def array(self, array: Any) -> Any:
        """The elements of a tensor, or the path of an equal array in the other data."""
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
        """The inverse of `_Writer.__call__`."""
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
        if part["$"] in CELLS:
            return CELLS[part["$"]]
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


def _nonempty(**fields: Any) -> dict[str, Any]:
    """The fields that are not empty."""
    return {name: field for name, field in fields.items() if field}


def _short(part: Any) -> tuple[Any, ...]:
    """The fields of a record without trailing ones that have their defaults."""
    defaults, count = part._field_defaults, len(part)
    while count and part._fields[count - 1] in defaults:
        default = defaults[part._fields[count - 1]]
        if type(default) is not type(part[count - 1]) or default != part[count - 1]:
            break
        count -= 1
    return part[:count]


def _inner(part: Any) -> Iterator[Any]:
    """The trees in the fields of a tree, also within tuples."""
    for field in part:
        if type(field).__name__ in TREES:
            yield field
        elif isinstance(field, tuple):
            yield from _inner(field)


def _tensors(part: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The arrays in nested data, with their paths."""
    if isinstance(part, np.ndarray):
        if part.size > FEW:
            yield path, part
    elif isinstance(part, dict):
        for key, value in part.items():
            if isinstance(value, dict | list | tuple | np.ndarray):
                yield from _tensors(value, (*path, key))
    else:
        for k, value in enumerate(part):
            if isinstance(value, dict):
                yield from _tensors(value, (*path, k))


def _equal(one: Any, other: Any) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
