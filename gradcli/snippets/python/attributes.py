"""Attribute access of interpreted programs. A program never reaches the attributes of the Python
objects that represent its values.
"""

from collections.abc import Callable
from typing import Any

from .objects import PLAIN, Function, Generator, Super
from .values import (
    EXCEPTIONS,
    MISSING,
    OBJECT,
    TYPE,
    Bound,
    Builtin,
    Class,
    ClassMethod,
    Instance,
    Module,
    Object,
    Property,
    Raised,
    Static,
    Unsupported,
    error,
)

PROGRAM = "__main__"  # the name of the program's own module
# Attributes of Python's internals, through which a program could escape from the interpreter.
INTERNALS = frozenset(
    [
        "__base__",
        "__basicsize__",
        "__builtins__",
        "__closure__",
        "__code__",
        "__globals__",
        "__getattribute__",
        "__loader__",
        "__reduce__",
        "__reduce_ex__",
        "__spec__",
        "__subclasses__",
        "__subclasshook__",
        "__weakref__",
        "__self_class__",
        "__thisclass__",
        "f_back",
        "f_builtins",
        "f_code",
        "f_globals",
        "f_locals",
        "gi_code",
        "gi_frame",
        "tb_frame",
        "tb_next",
    ]
)


class Attributes:
    """The part of the interpreter that gets, sets and deletes attributes."""

    call: Callable[..., Any]
    class_of: Callable[[Any], Class]
    type_name: Callable[[Any], str]
    output: Any
    overlays: dict[int, tuple[Module, dict[str, Any]]]  # attributes assigned in modules

    # ---- get -------------------------------------------------------------------------------------

    def get(self, value: Any, name: str) -> Any:
        """The value of `value.name`. Raises the program's AttributeError if there is none."""
        bindable = not isinstance(value, Class | Module)
        try:
            result = self.find(value, name)
        except Raised as e:  # a property raised it: try __getattr__ next
            failed = e.value.cls.derives_from(EXCEPTIONS["AttributeError"])
            if not (
                failed and bindable and self.class_of(value).lookup("__getattr__") is not MISSING
            ):
                raise
            result = MISSING
        if result is not MISSING:
            return result
        if bindable:
            function = self.class_of(value).lookup("__getattr__")
            if function is not MISSING:
                return self.call(function, (value, name))
        if name in INTERNALS:
            raise Unsupported(f"the attribute {name}")
        raise self.no_attribute(value, name)

    def has(self, value: Any, name: str) -> bool:
        """Whether a value has an attribute."""
        try:
            self.get(value, name)
        except Raised as e:
            if e.value.cls.derives_from(EXCEPTIONS["AttributeError"]):
                return False
            raise
        return True

    def no_attribute(self, value: Any, name: str) -> Raised:
        """The AttributeError of a value without this attribute."""
        if isinstance(value, Class):
            return error("AttributeError", f"type object '{value.name}' has no attribute '{name}'")
        if isinstance(value, Module):
            return error("AttributeError", f"module '{value.name}' has no attribute '{name}'")
        if isinstance(value, Bound):  # a method has the attributes of its function
            value = value.function
        owner = "super" if isinstance(value, Super) else self.type_name(value)
        if type(value) in PLAIN and hasattr(value, name) and not name.startswith("_"):
            raise Unsupported(f"{owner}.{name}")
        return error("AttributeError", f"'{owner}' object has no attribute '{name}'")

    def find(self, value: Any, name: str) -> Any:
        """The attribute `name`, or MISSING; does not call `__getattr__`."""
        if type(value) in PLAIN:
            return self.of_class(value, self.class_of(value), name)
        if isinstance(value, Module):
            return self.of_module(value, name)
        if isinstance(value, Class):
            return self.of_type(value, name)
        if isinstance(value, Super):
            return self.of_super(value, name)
        cls = value.cls
        member = cls.lookup(name)
        if isinstance(member, Property):
            return self.call(member.fget, (value,))
        fields = getattr(value, "fields", None)
        if fields is not None and name in fields:
            return fields[name]
        if member is not MISSING:
            return self.bind(member, value, cls)
        return self.predefined(value, cls, name)

    def of_class(self, value: Any, cls: Class, name: str) -> Any:
        """The member `name` of a value's class, bound to the value; MISSING if there is none."""
        member = cls.lookup(name)
        if member is MISSING:
            return self.predefined(value, cls, name)
        return self.bind(member, value, cls)

    def bind(self, member: Any, owner: Any, cls: Class) -> Any:
        """A class member as an attribute of its instance `owner`: functions are bound, properties
        called.
        """
        if isinstance(member, Function | Builtin):
            return Bound(member, owner)
        if isinstance(member, Static):
            return member.function
        if isinstance(member, ClassMethod):
            return Bound(member.function, cls)
        if isinstance(member, Property):
            return self.call(member.fget, (owner,))
        if isinstance(member, Instance):
            function = member.cls.lookup("__get__")
            if function is not MISSING:
                return self.call(function, (member, owner, cls))
        return member

    def of_module(self, module: Module, name: str) -> Any:
        """An attribute of a module: what the program assigned, or else a member of the module."""
        overlay = self.overlays.get(id(module))
        if overlay and name in overlay[1]:
            return overlay[1][name]
        if name == "__name__":
            return module.name
        return module.lookup(name)

    def of_super(self, value: Super, name: str) -> Any:
        """An attribute of super(): the next member in the MRO, bound to the owner."""
        owner = value.owner
        cls = owner if isinstance(owner, Class) else self.class_of(owner)
        order = cls.mro
        for base in order[order.index(value.start) + 1 :]:
            if name in base.members:
                member = base.members[name]
                if isinstance(owner, Class) and isinstance(member, Function | Builtin):
                    return member
                return self.bind(member, owner, cls)
        return cls if name == "__class__" else MISSING

    def of_type(self, cls: Class, name: str) -> Any:
        """An attribute of a class."""
        member = cls.lookup(name)
        if name in ("__doc__", "__module__"):
            member = cls.members.get(name, MISSING)
        if isinstance(member, Static):
            return member.function
        if isinstance(member, ClassMethod):
            return Bound(member.function, cls)
        if isinstance(member, Instance):
            function = member.cls.lookup("__get__")
            if function is not MISSING:
                return self.call(function, (member, None, cls))
        if member is not MISSING:
            return member
        match name:
            case "__name__":
                return cls.name.rpartition(".")[2]
            case "__qualname__":
                return cls.name
            case "__module__":
                return cls.module or "builtins"
            case "__doc__":
                return None
            case "__mro__":
                return cls.mro
            case "__bases__":
                return cls.bases
            case "__class__":
                return TYPE
            case "__dict__":
                raise Unsupported("the attribute __dict__ of a class")
            case "mro":
                return Builtin("mro", lambda m: list(cls.mro))
        return MISSING

    def predefined(self, value: Any, cls: Class, name: str) -> Any:
        """An attribute that all values of a kind have, such as `__class__`, `__name__` of functions
        or `args` of exceptions; MISSING if there is none.
        """
        if name == "__class__":
            return cls
        if name == "__doc__":
            return getattr(getattr(value, "code", None), "doc", None) or cls.members.get("__doc__")
        if name == "__module__":
            return cls.module or PROGRAM
        if isinstance(value, Instance):
            return self.of_instance(value, name)
        if isinstance(value, Bound):
            if name == "__self__":
                return value.owner
            return value.function if name == "__func__" else self.find(value.function, name)
        if isinstance(value, Function):
            return self.of_function(value, name)
        if isinstance(value, Builtin | Generator) and name in ("__name__", "__qualname__"):
            return value.name.rpartition(".")[2] if name == "__name__" else value.name
        return MISSING

    def of_instance(self, value: Instance, name: str) -> Any:
        """`__dict__` of an instance, or an attribute of an exception such as `args`."""
        if name == "__dict__":
            return value.fields
        if value.cls.derives_from(EXCEPTIONS["BaseException"]):
            if name == "args":
                return tuple(value.payload or ())
            if name in ("__cause__", "__context__", "__traceback__"):
                return None
            if name in ("value", "code") and value.cls.name in ("StopIteration", "SystemExit"):
                return value.payload[0] if value.payload else None
        return MISSING

    def of_function(self, value: Function, name: str) -> Any:
        """An attribute that all functions have, such as `__name__`."""
        match name:
            case "__name__":
                return value.code.name
            case "__qualname__":
                return value.code.qualname
            case "__dict__":
                return value.fields
            case "__defaults__":
                return value.defaults or None
            case "__kwdefaults__":
                return value.keyword_defaults or None
            case "__annotations__":
                raise Unsupported("__annotations__ of a function")
        return MISSING

    # ---- set and delete --------------------------------------------------------------------------

    def set(self, value: Any, name: str, to: Any) -> None:
        """value.name = to."""
        if isinstance(value, Module):
            self.overlays.setdefault(id(value), (value, {}))[1][name] = to
            if (value.name, name) == ("sys", "stdout"):
                self.output = to
            return
        if isinstance(value, Class):
            if value.module != PROGRAM:
                raise Unsupported(f"an assignment to an attribute of the class {value.name}")
            value.members[name] = Static(to) if type(to) is Builtin else to
            return
        function = self.class_of(value).lookup("__setattr__")
        if function is OBJECT.members["__setattr__"]:
            self.set_field(value, name, to)
        else:
            self.call(function, (value, name, to))

    def set_field(self, value: Any, name: str, to: Any) -> None:
        """object.__setattr__(value, name, to): sets an attribute of the instance."""
        cls = self.class_of(value)
        member = cls.lookup(name)
        if isinstance(member, Property):
            if member.fset is None:
                if cls.lookup("_fields") is not MISSING:
                    raise error("AttributeError", "can't set attribute")
                raise error(
                    "AttributeError",
                    f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable"
                    if cls.name == "Tensor"
                    else f"property '{name}' of '{cls.name}' object has no setter",
                )
            self.call(member.fset, (value, to))
            return
        if isinstance(member, Instance) and member.cls.lookup("__set__") is not MISSING:
            self.call(member.cls.lookup("__set__"), (member, value, to))
            return
        fields = None if type(value) in PLAIN else getattr(value, "fields", None)
        if name == "__class__" or (name == "__dict__" and isinstance(value, Object)):
            raise Unsupported(f"an assignment to {name}")
        if fields is None:
            if member is not MISSING:
                text = f"'{cls.name}' object attribute '{name}' is read-only"
                raise error("AttributeError", text)
            raise self.no_attribute(value, name)
        if name == "__name__" and isinstance(value, Function):
            value.code = value.code.renamed(to)
        elif name == "args" and cls.derives_from(EXCEPTIONS["BaseException"]):
            value.payload = tuple(to)
        else:
            slots = self.slots_of(cls)
            if slots is not None and name not in slots:
                raise self.no_attribute(value, name)
            fields[name] = to

    def slots_of(self, cls: Class) -> frozenset[str] | None:
        """The names in `__slots__` of a class and its bases; None if instances have `__dict__`."""
        if "slots" not in cls.cache:
            declared = [c.own("__slots__") for c in cls.mro if c is not OBJECT]
            names = [
                n for s in declared if s is not MISSING for n in ((s,) if type(s) is str else s)
            ]
            free = MISSING in declared or "__dict__" in names
            cls.cache["slots"] = None if free else frozenset(names)
        return cls.cache["slots"]

    def delete(self, value: Any, name: str) -> None:
        """del value.name."""
        if isinstance(value, Class):
            if value.module != PROGRAM or name not in value.members:
                raise self.no_attribute(value, name)
            del value.members[name]
            return
        self.call(self.class_of(value).lookup("__delattr__"), (value, name))

    def delete_field(self, value: Any, name: str) -> None:
        """object.__delattr__(value, name): deletes an attribute of the instance."""
        cls = self.class_of(value)
        member = cls.lookup(name)
        if isinstance(member, Property) and member.fdel is not None:
            self.call(member.fdel, (value,))
            return
        fields = None if type(value) in PLAIN else getattr(value, "fields", None)
        if fields is None or name not in fields:
            raise self.no_attribute(value, name)
        del fields[name]
