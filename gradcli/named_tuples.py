"""typing.NamedTuple, whose classes are defined in a sixth of the time.

Python compiles a constructor for each class from a text. An explanation imports a hundred of them,
which takes as long as its numbers. Here one constructor serves all classes; type checkers see
typing's own.
"""

from collections import _tuplegetter  # type: ignore[attr-defined]  # of Python's named tuples
from typing import TYPE_CHECKING, Any

new = tuple.__new__


class Values(tuple):
    """What all classes have: the interface of Python's named tuples."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    _defaults: tuple[Any, ...] = ()  # of the last fields
    _field_defaults: dict[str, Any] = {}  # noqa: RUF012  (of the class)

    def __new__(cls, *values: Any, **named: Any) -> Any:
        fields = cls._fields
        if named:
            return cls._with_names(values, named)
        if len(values) != len(fields):
            values += cls._defaults[len(cls._defaults) + len(values) - len(fields) :]
            if len(values) != len(fields):
                raise TypeError(f"{cls.__name__} has the fields {', '.join(fields)}")
        return new(cls, values)

    @classmethod
    def _with_names(cls, values: tuple, named: dict[str, Any]) -> Any:
        others, given = cls._fields[len(values) :], cls._field_defaults | named
        if not named.keys() <= {*others} <= given.keys():
            raise TypeError(f"{cls.__name__} has the fields {', '.join(cls._fields)}")
        return cls(*values, *[given[field] for field in others])

    @classmethod
    def _make(cls, values: Any) -> Any:
        return cls(*values)

    def _replace(self, **named: Any) -> Any:
        values = [named.pop(field, value) for field, value in zip(self._fields, self, strict=True)]
        if named:
            raise ValueError(f"{type(self).__name__} has no field {', '.join(named)}")
        return new(type(self), values)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __getnewargs__(self) -> tuple:
        return tuple(self)

    def __repr__(self) -> str:
        parts = (f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({', '.join(parts)})"


class Definition(type):
    """Makes a class of the annotations and defaults in the body of a class statement."""

    def __new__(meta, name: str, bases: tuple, body: dict[str, Any]) -> Any:
        """The class, which is an ordinary one."""
        fields = tuple(body.get("__annotations__", ()))
        defaults = {field: body[field] for field in fields if field in body}
        body |= {field: _tuplegetter(at, None) for at, field in enumerate(fields)}
        body |= {"__slots__": (), "_fields": fields, "__match_args__": fields}
        body |= {"_field_defaults": defaults, "_defaults": tuple(defaults.values())}
        return type(name, tuple(Values if base is NamedTuple else base for base in bases), body)


if TYPE_CHECKING:
    from typing import NamedTuple
else:
    NamedTuple = type.__new__(Definition, "NamedTuple", (), {})
