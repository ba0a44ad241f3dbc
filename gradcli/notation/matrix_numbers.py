"""Numbers of the matrix formulas that matrices.py writes."""

from collections.abc import Callable, Mapping
from typing import Any

from ..graphs import OPS
from ..lazy import np
from . import tree
from .tree import Attribute, Call, Infix, Method, Name, Prefix, Subscript, Tree, Verbatim

# What has a meaning of its own here, in which tensors are flattened.
OWN = ("diag", "eye", "ones", "kron", "outer", "tril", "triu", "reshape")


def numbers(
    formula: Tree, arrays: Callable[[str], Any], letters: Mapping[str, int] | None = None
) -> Any:
    """The array of a formula that Matrices wrote, `letters` having the values given; `arrays` knows
    those of names, and may know those of calls. Raises LookupError for another formula.
    """
    return _Reading(arrays, letters or {})(formula)


class _Reading:
    def __init__(self, arrays: Callable[[str], Any], letters: Mapping[str, int]):
        self.arrays, self.letters = arrays, letters

    def __call__(self, t: Tree) -> Any:
        return getattr(self, "_" + type(t).__name__.lower())(t)

    def _name(self, t: Name) -> Any:
        found = self.arrays(t.text)
        if found is None:
            raise LookupError(t.text)
        return np.asarray(found)

    def _number(self, t: tree.Number) -> Any:
        return t.value

    def _verbatim(self, t: Verbatim) -> Any:
        raise LookupError(t.text)

    def _prefix(self, t: Prefix) -> Any:
        value = self(t.operand)
        return ~value if t.symbol == "~" else np.negative(value, dtype=float)

    def _infix(self, t: Infix) -> Any:
        ops = {
            "+": "add",
            "-": "subtract",
            "*": "multiply",
            "/": "divide",
            "**": "power",
            ">": "greater",
            "<": "less",
            "//": "floor_divide",
            "%": "remainder",
            "@": "matmul",
        }
        ops |= {
            ">=": "greater_equal",
            "<=": "less_equal",
            "==": "equal",
            "!=": "not_equal",
            "&": "logical_and",
            "|": "logical_or",
        }
        if t.symbol not in ops:
            raise LookupError(t.symbol)
        return getattr(np, ops[t.symbol])(
            np.asarray(self(t.left), float) if t.symbol == "**" else self(t.left), self(t.right)
        )

    def _call(self, t: Call) -> Any:
        found = None if t.function in OWN else self.arrays(tree.text(t))
        if found is not None:
            return found
        args = [self(a) for a in t.args]
        if t.function == "diag":
            return np.diag(np.ravel(args[0]))
        if t.function in ("eye", "ones"):
            return getattr(np, t.function)(args if t.function == "ones" else args[0])
        if t.function in ("kron", "outer", "tril", "triu"):
            return getattr(np, t.function)(*args)
        op = OPS[t.function]
        return op.value(*args, **op.attributes)

    def _method(self, t: Method) -> Any:
        if t.name == "numel":
            return self(t.base).size
        found = None if t.name in OWN else self.arrays(tree.text(t))
        if found is not None:
            return found
        shape = [self(a) for a in t.args]
        base = self(t.base)
        if t.name == "sum":
            return np.sum(base, axis=self(t.named[0][1]) if t.named else None)
        if t.name not in ("expand", "reshape"):
            raise LookupError(t.name)
        return np.broadcast_to(base, shape) if t.name == "expand" else np.reshape(base, shape)

    def _attribute(self, t: Attribute) -> Any:
        if t.name in ("T", "shape"):
            return np.transpose(self(t.base)) if t.name == "T" else np.shape(self(t.base))
        found = self.arrays(tree.text(t))
        if found is None:
            raise LookupError(tree.text(t))
        return found

    def _subscript(self, t: Subscript) -> Any:
        found = self.arrays(tree.text(t)) if isinstance(t.base, Call) else None
        if found is not None:
            return found
        if isinstance(t.base, Attribute) and t.base.name == "shape":
            return self(t.base)[int(t.index)]
        words = {":": slice(None), "None": None} | dict(self.letters)
        return self(t.base)[tuple(words[item] for item in t.index.split(", "))]
