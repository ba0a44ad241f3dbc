"""torch.Size: the shape of a tensor, as the program's value."""

import math
from typing import Any

from ..python.methods import TUPLE
from ..python.values import Builtin, Class, Instance, Machine
from .dtypes import unformatted
from .printing import size as size_text

SIZE = Class(
    "Size",
    (TUPLE,),
    {
        "__repr__": Builtin("__repr__", lambda m, self: size_text(self.payload)),
        "__str__": Builtin("__str__", lambda m, self: size_text(self.payload)),
        "__format__": Builtin("__format__", unformatted("torch.Size")),
        "numel": Builtin("numel", lambda m, self: math.prod(self.payload)),
    },
    module="torch",
    shown="torch.Size",
)


def _joined(m: Machine, self: Instance, other: Any) -> Any:
    """A torch.Size with the sizes of `self`, then those of a tuple."""
    more = other.payload if isinstance(other, Instance) else other
    return shape_value(self.payload + more) if isinstance(more, tuple) else NotImplemented


def _joined_before(m: Machine, self: Instance, other: Any) -> Any:
    return shape_value(other + self.payload) if isinstance(other, tuple) else NotImplemented


def _repeated(m: Machine, self: Instance, count: Any) -> Any:
    """self * count, as a torch.Size."""
    return shape_value(self.payload * count) if isinstance(count, int) else NotImplemented


def _sizes(m: Machine, self: Instance, place: Any) -> Any:
    """self[place]: one size, or a torch.Size for a slice."""
    result = m.call(m.get(self.payload, "__getitem__"), (place,))
    return shape_value(result) if isinstance(result, tuple) else result


SIZE.members["__add__"] = Builtin("__add__", _joined)
SIZE.members["__radd__"] = Builtin("__radd__", _joined_before)
SIZE.members["__mul__"] = SIZE.members["__rmul__"] = Builtin("__mul__", _repeated)
SIZE.members["__getitem__"] = Builtin("__getitem__", _sizes)


def shape_value(shape: tuple[int, ...]) -> Instance:
    """A shape as torch.Size."""
    return Instance(SIZE, payload=shape)
