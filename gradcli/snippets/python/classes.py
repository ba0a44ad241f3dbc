"""Dataclasses, named tuples and enumerations of interpreted programs: the decorators and base
classes, and the methods that they generate. A parameter `m` is the interpreter.
"""

from collections.abc import Callable, Iterable
from typing import Any

from .methods import INT, STR, TUPLE, collected
from .objects import Function
from .operations import plain
from .values import (
    EXCEPTIONS,
    MISSING,
    OBJECT,
    Builtin,
    Class,
    ClassMethod,
    Instance,
    Property,
    Static,
    Unsupported,
    error,
    functions,
)

# ---- dataclasses ---------------------------------------------------------------------------------

FIELD_CLASS = Class("Field", (OBJECT,), module="dataclasses")
FROZEN = Class("FrozenInstanceError", (EXCEPTIONS["AttributeError"],), module="dataclasses")


class Field:
    """A field of a dataclass or a named tuple: its default, and which generated methods use it. The
    program's value for it is an Instance of FIELD.
    """

    __slots__ = ("compare", "default", "factory", "in_repr", "init", "name")

    def __init__(self, name: str, default: Any, options: dict[str, Any]):
        self.name, self.default = name, options.get("default", default)
        self.factory = options.get("default_factory", MISSING)
        self.init, self.in_repr = options.get("init", True), options.get("repr", True)
        self.compare = options.get("compare", True)

    @property
    def optional(self) -> bool:
        """Whether the field has a default."""
        return self.default is not MISSING or self.factory is not MISSING


def make_field(m: Any, **options: Any) -> Instance:
    """dataclasses.field."""
    refuse_options("field", options, ("kw_only",))
    return Instance(FIELD_CLASS, payload=options)


def refuse_options(function: str, options: dict[str, Any], names: Iterable[str]) -> None:
    """Raise Unsupported if an option in `names` is set, as it is not implemented."""
    for name in names:
        if options.get(name):
            raise Unsupported(f"{function}({name}={options[name]!r})")


def dataclass(m: Any, cls: Any = None, **options: Any) -> Any:
    """dataclasses.dataclass, with or without options."""
    refuse_options("dataclass", options, ("kw_only", "unsafe_hash"))
    if cls is None:
        return Builtin("dataclass", lambda m, cls: dataclass_of(m, cls, options))
    return dataclass_of(m, cls, options)


def dataclass_of(m: Any, cls: Class, options: dict[str, Any]) -> Class:
    """`cls`, with its fields in `cls.cache` and the generated methods that it lacks."""
    fields: dict[str, Field] = {}
    for base in reversed(cls.mro[1:]):
        fields.update(base.cache.get("fields", {}))
    for name, annotation in cls.members.get("__annotations__", {}).items():
        if "ClassVar" not in annotation:
            fields[name] = declared(cls, name)
    check_order(fields.values())
    cls.cache["fields"] = fields
    cls.cache["frozen"] = options.get("frozen", False)
    methods: dict[str, Callable] = {}
    if options.get("init", True):
        methods["__init__"] = init_method(cls, fields)
    if options.get("repr", True):
        methods["__repr__"] = lambda m, self: repr_of(m, self, fields.values())
    if options.get("eq", True):
        methods["__eq__"] = lambda m, a, b: compare(m, "Eq", a, b, fields.values())
    if options.get("order"):
        for name in ("Lt", "LtE", "Gt", "GtE"):
            method = {"Lt": "__lt__", "LtE": "__le__", "Gt": "__gt__", "GtE": "__ge__"}[name]
            methods[method] = lambda m, a, b, name=name: compare(m, name, a, b, fields.values())
    if cls.cache["frozen"]:
        methods["__setattr__"] = refuse_frozen
        methods["__hash__"] = lambda m, self: m.hash(key_of(m, self, fields.values()))
    for name, builtin in functions(methods).items():
        cls.members.setdefault(name, builtin)
    names = tuple(n for n, f in fields.items() if f.init)
    cls.members.setdefault("__match_args__", names)
    return cls


def declared(cls: Class, name: str) -> Field:
    """The field that an annotation such as `x: int = 0` declares.

    If the default is a call of dataclasses.field, the class attribute is replaced by the default in
    that call, or deleted if it has none. Raises Python's ValueError for a list, dict or set as
    default.
    """
    default = cls.members.get(name, MISSING)
    if isinstance(default, Instance) and default.cls is FIELD_CLASS:
        field = Field(name, MISSING, default.payload)
        del cls.members[name]
        if field.default is not MISSING:
            cls.members[name] = field.default
        return field
    if type(default) in (list, dict, set):
        raise error(
            "ValueError",
            f"mutable default <class '{type(default).__name__}'> for field {name} is not allowed: "
            "use default_factory",
        )
    return Field(name, default, {})


def check_order(fields: Iterable[Field]) -> None:
    """Raise Python's TypeError if a field without a default follows one with a default."""
    optional = False
    for field in fields:
        if field.init and optional and not field.optional:
            text = f"non-default argument '{field.name}' follows default argument"
            raise error("TypeError", text)
        optional = optional or (field.init and field.optional)


def init_method(cls: Class, fields: dict[str, Field]) -> Callable:
    """The generated `__init__` of a dataclass."""
    init_fields = [f for f in fields.values() if f.init]

    def init(m: Any, self: Any, *args: Any, **named: Any) -> None:
        values = arguments(f"{cls.name}.__init__()", init_fields, args, named)
        for field in fields.values():
            value = values.get(field.name, field.default)
            if field.factory is not MISSING and field.name not in values:
                value = m.call(field.factory)
            if value is not MISSING:
                m.set_field(self, field.name, value)
        if m.class_of(self).lookup("__post_init__") is not MISSING:
            m.call(m.class_of(self).lookup("__post_init__"), (self,))

    return init


def arguments(name: str, fields: list[Field], args: tuple, named: dict[str, Any]) -> dict[str, Any]:
    """The values of the fields in a call, by name; those with default values are not included.

    Raises Python's TypeError if the arguments do not match. `name` is the function's name in the
    messages, which count positional arguments including self or cls.
    """
    names = [f.name for f in fields]
    values = dict(zip(names, args))
    for key, value in named.items():
        if key not in names:
            raise error("TypeError", f"{name} got an unexpected keyword argument '{key}'")
        if key in values:
            raise error("TypeError", f"{name} got multiple values for argument '{key}'")
        values[key] = value
    if len(args) > len(names):
        least = sum(not f.optional for f in fields) + 1
        most = len(names) + 1
        takes = f"from {least} to {most}" if least < most else str(most)
        text = f"{name} takes {takes} positional argument{'s' if most > 1 else ''} but "
        raise error("TypeError", f"{text}{len(args) + 1} were given")
    missing = [f"'{f.name}'" for f in fields if f.name not in values and not f.optional]
    if missing:
        if len(missing) > 2:
            listed = f"{', '.join(missing[:-1])}, and {missing[-1]}"
        else:
            listed = " and ".join(missing)
        plural = "s" if len(missing) > 1 else ""
        text = f"{name} missing {len(missing)} required positional argument{plural}: {listed}"
        raise error("TypeError", text)
    return values


def repr_of(m: Any, self: Any, fields: Iterable[Field]) -> str:
    """The generated `__repr__` of a dataclass."""
    parts = [f"{f.name}={m.repr(m.get(self, f.name))}" for f in fields if f.in_repr]
    return f"{m.type_name(self)}({', '.join(parts)})"


def key_of(m: Any, self: Any, fields: Iterable[Field]) -> tuple:
    """The values of the fields that comparisons use, as a tuple."""
    return tuple([m.get(self, f.name) for f in fields if f.compare])


def compare(m: Any, name: str, a: Any, b: Any, fields: Iterable[Field]) -> Any:
    """A generated comparison of a dataclass; `name` is Lt, LtE, Gt, GtE or Eq."""
    if m.class_of(a) is not m.class_of(b):
        return NotImplemented
    return m.compare(name, key_of(m, a, fields), key_of(m, b, fields))


def refuse_frozen(m: Any, self: Any, name: str, to: Any) -> None:
    """The generated `__setattr__` of a frozen dataclass."""
    raise error(FROZEN, f"cannot assign to field '{name}'")


def fields_of(m: Any, value: Any) -> dict[str, Field]:
    """The fields of a dataclass or an instance of one; else raises Python's TypeError."""
    cls = value if isinstance(value, Class) else m.class_of(value)
    for base in cls.mro:
        if "fields" in base.cache:
            return base.cache["fields"]
    raise error("TypeError", "must be called with a dataclass type or instance")


def as_dict(m: Any, value: Any) -> Any:
    """dataclasses.asdict."""
    return unpacked(m, value, lambda values: values)


def as_tuple(m: Any, value: Any) -> Any:
    """dataclasses.astuple."""
    return unpacked(m, value, lambda values: tuple(values.values()))


def unpacked(m: Any, value: Any, whole: Callable[[dict[str, Any]], Any]) -> Any:
    """A dataclass instance as a dict of its fields, converted by `whole`; nested instances, too."""

    def inner(v: Any) -> Any:
        m.spend()
        if isinstance(v, Instance) and "fields" in v.cls.cache:
            return whole({name: inner(m.get(v, name)) for name in fields_of(m, v)})
        if type(v) in (list, tuple):
            return type(v)([inner(x) for x in v])
        if type(v) is dict:
            return {k: inner(x) for k, x in v.items()}
        return v

    fields_of(m, value)
    return inner(value)


def replaced(m: Any, value: Any, **changes: Any) -> Any:
    """dataclasses.replace."""
    current = {n: m.get(value, n) for n, f in fields_of(m, value).items() if f.init}
    return m.call(m.class_of(value), (), {**current, **changes})


def field_objects(m: Any, value: Any) -> tuple:
    """dataclasses.fields; the results have only the attribute `name`."""
    result = []
    for name in fields_of(m, value):
        instance = Instance(FIELD_CLASS)
        instance.fields["name"] = name
        result.append(instance)
    return tuple(result)


DATACLASSES: dict[str, Any] = {
    **functions(
        {
            "dataclass": dataclass,
            "field": make_field,
            "asdict": as_dict,
            "astuple": as_tuple,
            "replace": replaced,
            "fields": field_objects,
            "is_dataclass": lambda m, value: any(
                "fields" in c.cache
                for c in (value if isinstance(value, Class) else m.class_of(value)).mro
            ),
        }
    ),
    "FrozenInstanceError": FROZEN,
}

# ---- named tuples --------------------------------------------------------------------------------


def named_tuple(cls: Class, fields: list[Field]) -> Class:
    """`cls`, derived from tuple, with properties for its fields and namedtuple's methods."""
    names = [f.name for f in fields]

    def make(m: Any, cls: Class, *args: Any, **named: Any) -> Instance:
        values = arguments(f"{cls.name}.__new__()", fields, args, named)
        return m.instance(cls, tuple([values.get(f.name, f.default) for f in fields]))

    def repr_of(m: Any, self: Any) -> str:
        parts = [f"{n}={m.repr(v)}" for n, v in zip(names, self.payload)]
        return f"{m.type_name(self)}({', '.join(parts)})"

    def replace(m: Any, self: Any, **changes: Any) -> Any:
        unknown = [n for n in changes if n not in names]
        if unknown:
            raise error("ValueError", f"Got unexpected field names: {unknown!r}")
        return m.call(self.cls, (), {**dict(zip(names, self.payload)), **changes})

    cls.make = make
    for i, name in enumerate(names):
        cls.members[name] = Property(Builtin(name, lambda m, self, i=i: self.payload[i]))
    for name, builtin in functions(
        {
            "__repr__": repr_of,
            "_replace": replace,
            "_asdict": lambda m, self: dict(zip(names, self.payload)),
        }
    ).items():
        cls.members.setdefault(name, builtin)
    cls.members["_fields"] = cls.members["__match_args__"] = tuple(names)
    cls.members["_make"] = ClassMethod(
        Builtin("_make", lambda m, cls, values: m.call(cls, tuple(collected(m, values))))
    )
    return cls


def make_named_tuple(
    m: Any, name: Any, names: Any, *, defaults: Any = (), rename: Any = False, module: Any = None
) -> Class:
    """collections.namedtuple."""
    refuse_options("namedtuple", {"rename": rename}, ("rename",))
    listed = names.replace(",", " ").split() if type(names) is str else collected(m, names)
    values = collected(m, defaults)
    first = len(listed) - len(values)
    fields = [
        Field(n, values[i - first] if i >= first else MISSING, {}) for i, n in enumerate(listed)
    ]
    return named_tuple(Class(name, (TUPLE,), module="__main__"), fields)


def subclass_named_tuple(m: Any, cls: Class, **named: Any) -> None:
    """Make `class Point(NamedTuple)` a named tuple, with fields from its annotations. A class
    derived from Point inherits its fields, and is not changed.
    """
    if NAMED_TUPLE not in cls.bases:
        return
    names = cls.members.get("__annotations__", {})
    named_tuple(cls, [Field(n, cls.members.get(n, MISSING), {}) for n in names])


def make_typed(m: Any, cls: Class, name: Any, fields: Any) -> Class:
    """typing.NamedTuple("Point", [("x", int)])."""
    return make_named_tuple(m, name, [plain(pair)[0] for pair in collected(m, fields)])


NAMED_TUPLE = Class(
    "NamedTuple",
    (TUPLE,),
    {"__init_subclass__": Builtin("__init_subclass__", subclass_named_tuple)},
    module="typing",
    make=make_typed,
)
NAMED_TUPLE.cache["complete"] = True

# ---- enumerations --------------------------------------------------------------------------------


def subclass_enum(m: Any, cls: Class, **named: Any) -> None:
    """Replace the class attributes of an enumeration by its members.

    Attributes with equal values are one member. auto() is the last integer plus 1, or in a StrEnum
    the name in lower case.
    """
    members: dict[str, Any] = {}
    last = 0
    for name, value in list(cls.members.items()):
        if name.startswith("_") or not is_member_value(value):
            continue
        if isinstance(value, Instance) and value.cls is AUTO:
            value = name.lower() if cls.derives_from(STR) else last + 1
        last = value if type(value) is int else last
        same = next((x for x in members.values() if m.equal(x.fields["value"], value)), None)
        if same is None:
            payload = value if cls.derives_from(INT) or cls.derives_from(STR) else None
            same = Instance(cls, payload=payload)
            same.fields.update(name=name, value=value)
            members[name] = same
        cls.members[name] = Static(same)
    if members:
        cls.members["__members__"] = members
        cls.make = find_member
        cls.cache["complete"] = True


def is_member_value(value: Any) -> bool:
    """Whether a class attribute becomes a member of an enumeration: methods do not."""
    return not isinstance(value, Function | Builtin | Property | Static | ClassMethod)


def find_member(m: Any, cls: Class, value: Any) -> Any:
    """The member of an enumeration with the given value: Color(1)."""
    for member in cls.members["__members__"].values():
        if m.equal(member.fields["value"], value):
            return member
    raise error("ValueError", f"{m.repr(value)} is not a valid {cls.name}")


def text_of_enum(m: Any, self: Any) -> str:
    """The `__str__` of IntEnum and StrEnum: str() of the value."""
    if self.payload is not None:
        return m.text(self.payload)
    return f"{self.cls.name}.{self.fields['name']}"


ENUM = Class(
    "Enum",
    (OBJECT,),
    {
        "__init_subclass__": Builtin("__init_subclass__", subclass_enum),
        **functions(
            {
                "__repr__": lambda m, self: (
                    f"<{self.cls.name}.{self.fields['name']}: {m.repr(self.fields['value'])}>"
                ),
                "__str__": lambda m, self: f"{self.cls.name}.{self.fields['name']}",
            }
        ),
    },
    module="enum",
)
INT_ENUM = Class("IntEnum", (INT, ENUM), functions({"__str__": text_of_enum}), module="enum")
INT_ENUM.members["__repr__"] = ENUM.members["__repr__"]
STR_ENUM = Class("StrEnum", (STR, ENUM), functions({"__str__": text_of_enum}), module="enum")
STR_ENUM.members["__repr__"] = ENUM.members["__repr__"]
AUTO = Class("auto", (OBJECT,), module="enum")


def refuse_flag(m: Any, *args: Any, **named: Any) -> Any:
    """Refuse subclasses of enum.Flag."""
    raise Unsupported("enum.Flag")


ENUMS: dict[str, Any] = {
    "Enum": ENUM,
    "IntEnum": INT_ENUM,
    "StrEnum": STR_ENUM,
    "auto": AUTO,
    "unique": Builtin("unique", lambda m, cls: cls),
    "Flag": Class("Flag", (OBJECT,), {"__init_subclass__": Builtin("Flag", refuse_flag)}),
}
