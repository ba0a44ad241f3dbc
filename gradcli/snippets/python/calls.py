"""Calls: arguments and parameters, functions, methods, classes."""

import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Generator as HostGenerator
from types import CodeType
from typing import Any

from .attributes import PROGRAM
from .budget import DEPTH
from .objects import PLAIN, Code, Function, Generator, Hashed
from .operations import INTERPRETER_ERRORS, translated
from .values import (
    EXCEPTIONS,
    MISSING,
    OBJECT,
    Bound,
    Builtin,
    Class,
    ClassMethod,
    Instance,
    Module,
    Raised,
    Static,
    Unsupported,
    error,
)

RETURN, BREAK, CONTINUE = "return", "break", "continue"  # how a statement ends; None: normally
RESULT = 1  # key of the return value in a frame
NESTED = 250  # largest number of nested calls of built-in functions, which use Python's own stack
OUTER = 0  # key of the enclosing frame in a frame


class Calls:
    """The part of the interpreter that calls values."""

    line: int
    depth: int
    class_of: Callable[[Any], Class]
    type_name: Callable[[Any], str]
    spend: Callable[..., None]
    nested: int  # current depth of nested calls of built-in functions

    def call(self, function: Any, args: Iterable[Any] = (), named: Mapping[str, Any] = {}) -> Any:
        """The result of calling a function, method, class or other value of the program."""
        kind = type(function)
        if kind is Function:
            return self.call_function(function, args, named)
        if kind is Bound:
            return self.call(function.function, (function.owner, *args), named)
        if isinstance(function, Builtin):
            return self.call_builtin(function.name, function.function, args, named)
        if isinstance(function, Class):
            return self.instantiate(function, tuple(args), named)
        if isinstance(function, Static | ClassMethod):
            return self.call(function.function, args, named)
        method = MISSING
        if kind not in PLAIN and not isinstance(function, Module):
            method = self.class_of(function).lookup("__call__")
        if method is MISSING:
            raise error("TypeError", f"'{self.type_name(function)}' object is not callable")
        return self.call(method, (function, *args), named)

    def callable(self, value: Any) -> bool:
        """callable(value)."""
        if isinstance(value, Function | Bound | Builtin | Class | Static):
            return True
        return type(value) not in PLAIN and self.class_of(value).lookup("__call__") is not MISSING

    # ---- built-in functions ----------------------------------------------------------------------

    def call_builtin(
        self, name: str, function: Callable, args: Iterable[Any], named: Mapping[str, Any]
    ) -> Any:
        """The result of a function that is implemented in Python and not by the program.

        Exceptions that it should not raise become Unsupported, which the program cannot catch.
        """
        if self.nested >= NESTED:
            raise error("RecursionError", "maximum recursion depth exceeded")
        self.nested += 1
        try:
            return function(self, *args, **named)
        except INTERPRETER_ERRORS:
            raise
        except RecursionError:
            raise error("RecursionError", "maximum recursion depth exceeded") from None
        except MemoryError as e:
            raise translated(e) from None
        except TypeError as e:
            if _of_arguments(e, "." in name):
                raise error("TypeError", argument_message(name, str(e))) from None
            raise unforeseen(name, e) from e
        except Exception as e:
            raise unforeseen(name, e) from e
        finally:
            self.nested -= 1

    # ---- functions of the program ----------------------------------------------------------------

    def call_function(
        self, function: Function, args: Iterable[Any], named: Mapping[str, Any]
    ) -> Any:
        """Call a function of the program in a new frame, a dict of its local variables."""
        code = function.code
        args = args if type(args) is tuple else tuple(args)
        if code.simple and not named and len(args) == len(code.names):
            frame: dict = dict(zip(code.names, args))
        else:
            frame = bound_arguments(self, function, args, named)
        frame[OUTER] = function.closure
        if code.generator:
            return Generator(self.generate(code, frame), code.qualname)
        if self.depth >= DEPTH:
            raise error("RecursionError", "maximum recursion depth exceeded")
        line = self.line
        if line and not code.line:
            self.outer = line
        self.depth += 1
        try:
            if code.value is not None:
                self.line = code.line
                return code.value(frame)
            return frame[RESULT] if code.body(frame) is RETURN else None
        except Raised as e:
            e.passes(self.line, frame)
            raise
        except RecursionError:
            raise error("RecursionError", "maximum recursion depth exceeded") from None
        finally:
            self.depth -= 1
            self.line = line

    def generate(self, code: Code, frame: dict) -> HostGenerator[Any, Any, Any]:
        """The items of a generator. While it is suspended, `self.line` is the caller's line."""
        body = code.body(frame)
        sent: Any = None
        raised: BaseException | None = None
        try:
            while True:
                line = self.line
                if self.depth >= DEPTH:
                    raise error("RecursionError", "maximum recursion depth exceeded")
                self.spend(4)
                self.depth += 1
                try:
                    item = body.throw(raised) if raised is not None else body.send(sent)
                except StopIteration:
                    return frame.get(RESULT)
                except Raised as e:
                    e.passes(self.line, frame)
                    if e.value.cls.derives_from(EXCEPTIONS["StopIteration"]):
                        raise error("RuntimeError", "generator raised StopIteration") from None
                    raise
                finally:
                    self.depth -= 1
                    self.line = line
                sent, raised = None, None
                try:
                    sent = yield item
                except Raised as e:
                    raised = e
        finally:
            body.close()

    # ---- classes ---------------------------------------------------------------------------------

    def instantiate(self, cls: Class, args: tuple, named: Mapping[str, Any]) -> Any:
        """A new instance of a class."""
        if "complete" in cls.cache:
            return self.call_builtin(cls.name, cls.make, (cls, *args), named)  # type: ignore
        if "abstract" in cls.cache:
            self.refuse_abstract(cls)
        maker, starter = cls.lookup("__new__"), cls.lookup("__init__")
        no_start = starter is OBJECT.members["__init__"]
        if maker is not OBJECT.members["__new__"]:
            maker = maker.function if isinstance(maker, Static) else maker
            value = self.call(maker, (cls, *args), named)
        elif cls.make is not None:
            value = self.call_builtin(cls.name, cls.make, (cls, *args), named)
        else:
            failed = cls.derives_from(EXCEPTIONS["BaseException"])
            if no_start and (args or named) and not failed:
                raise error("TypeError", f"{cls.name}() takes no arguments")
            value = self.instance(cls, args if failed else None)
        if not no_start and self.class_of(value).derives_from(cls):
            result = self.call(starter, (value, *args), named)
            if result is not None:
                kind = self.type_name(result)
                raise error("TypeError", f"__init__() should return None, not '{kind}'")
        return value

    def instance(self, cls: Class, payload: Any = None) -> Instance:
        """A new instance without a call of __init__."""
        if "hashed" not in cls.cache:
            cls.cache["hashed"] = any(
                cls.lookup(name) is not OBJECT.members[name] for name in ("__eq__", "__hash__")
            )
        self.spend(8, 200)
        return Hashed(cls, payload, self) if cls.cache["hashed"] else Instance(cls, payload)

    def refuse_abstract(self, cls: Class) -> None:
        """Refuse to instantiate a class with abstract methods."""
        names = sorted(
            name
            for name in {n for base in cls.mro for n in base.members}
            if isinstance(member := cls.lookup(name), Function)
            and "__isabstractmethod__" in member.fields
        )
        if names:
            plural = "s" if len(names) > 1 else ""
            raise error(
                "TypeError",
                f"Can't instantiate abstract class {cls.name} with abstract method{plural} "
                f"{', '.join(names)}",
            )

    def is_instance(self, value: Any, of: Any) -> bool:
        """isinstance(value, of)."""
        if isinstance(of, tuple):
            return any(self.is_instance(value, one) for one in of)
        if isinstance(of, Class):
            check = of.own("__instancecheck__")
            if isinstance(check, Builtin):  # classes of the library have no metaclass
                return bool(check.function(self, value))
        return self.is_subclass(self.class_of(value), of, "isinstance")

    def is_subclass(self, cls: Class, of: Any, name: str = "issubclass") -> bool:
        """issubclass(cls, of), where `of` may be a tuple of classes."""
        if isinstance(of, tuple):
            return any(self.is_subclass(cls, one, name) for one in of)
        if not isinstance(of, Class):
            self.class_of(of)  # raises if it is not a class
            text = f"{name}() arg 2 must be a type, a tuple of types, or a union"
            raise error("TypeError", text)
        return cls is of or of in cls.mro

    def type_of(self, *args: Any) -> Any:
        """type(x), or type(name, bases, members)."""
        if len(args) == 1:
            return self.class_of(args[0])
        if len(args) != 3:
            raise error("TypeError", "type() takes 1 or 3 arguments")
        name, bases, members = args
        return Class(name, tuple(bases), members, module=PROGRAM)


PASSING: set[CodeType] = set()  # code of functions that only forward their arguments


def _of_arguments(e: TypeError, of_python: bool) -> bool:
    """Whether a call raised TypeError because the arguments do not match, before the body ran.

    `of_python`: PyTorch's function is written in Python. A function that only forwards its
    arguments then does not count as a body.
    """
    place = e.__traceback__ and e.__traceback__.tb_next
    while of_python and place is not None and place.tb_frame.f_code in PASSING:
        place = place.tb_next
    return place is None


def argument_message(name: str, message: str) -> str:
    """Python's message for wrong arguments, with the name that the function has in the program.
    Argument counts are reduced by one, for the argument `m`.
    """
    _, _, rest = message.partition("()")
    if not rest:
        return message

    def without_machine(match: re.Match) -> str:
        return str(max(0, int(match.group()) - 1))

    if " takes " in rest:
        rest = re.sub(r"\d+", without_machine, rest)
        rest = rest.replace(" takes 1 positional arguments", " takes 1 positional argument")
        rest = rest.replace(" but 1 were", " but 1 was")
    return f"{name}(){rest}"


def unforeseen(name: str, e: Exception) -> Unsupported:
    """The error for an exception that a built-in function should not raise."""
    return Unsupported(f"this call of {name} ({type(e).__name__}: {e})")


# ---- arguments -----------------------------------------------------------------------------------


def bound_arguments(
    m: Calls, function: Function, args: tuple, named: Mapping[str, Any]
) -> dict[Any, Any]:
    """The frame of a call: the value of each parameter by name. Raises Python's TypeErrors."""
    code, name = function.code, f"{function.code.qualname}()"
    names = code.names
    frame: dict[Any, Any] = dict(zip(names, args))
    if code.star is not None:
        m.spend(len(args) // 4)
        frame[code.star] = tuple(args[len(names) :])
    extra = _keywords(code, name, frame, named)
    if code.stars is not None:
        frame[code.stars] = extra
    if len(args) > len(names) and code.star is None:
        raise _too_many(function, name, len(args), frame)
    first_default = len(names) - len(function.defaults)
    missing = [n for n in names[len(args) : first_default] if n not in frame]
    if missing:
        raise _missing(name, "positional", missing)
    for i in range(max(first_default, len(args)), len(names)):
        frame.setdefault(names[i], function.defaults[i - first_default])
    for keyword in code.keyword_only:
        if keyword not in frame and keyword in function.keyword_defaults:
            frame[keyword] = function.keyword_defaults[keyword]
    missing = [n for n in code.keyword_only if n not in frame]
    if missing:
        raise _missing(name, "keyword-only", missing)
    return frame


def _keywords(code: Code, name: str, frame: dict, named: Mapping[str, Any]) -> dict[str, Any]:
    """Add keyword arguments to a frame. Returns those without a parameter, for **kwargs."""
    extra: dict[str, Any] = {}
    allowed = (*code.names[code.positional_only :], *code.keyword_only)
    for key, value in named.items():
        if key in allowed:
            if key in frame and key not in (code.star, code.stars):
                raise error("TypeError", f"{name} got multiple values for argument '{key}'")
            frame[key] = value
        elif code.stars is not None:
            extra[key] = value
        elif key in code.names:
            shown = ", ".join(k for k in code.names[: code.positional_only] if k in named)
            raise error(
                "TypeError",
                f"{name} got some positional-only arguments passed as keyword arguments: '{shown}'",
            )
        else:
            raise error("TypeError", f"{name} got an unexpected keyword argument '{key}'")
    return extra


def _too_many(function: Function, name: str, count: int, frame: dict) -> Raised:
    code = function.code
    most, least = len(code.names), len(code.names) - len(function.defaults)
    takes = f"from {least} to {most}" if least < most else f"{most}"
    plural = "" if most == 1 and least == most else "s"
    keywords = sum(k in frame for k in code.keyword_only)
    if keywords:
        more = "s" if keywords > 1 else ""
        some = "s" if count != 1 else ""
        text = f"{count} positional argument{some} (and {keywords} keyword-only argument{more})"
        were = "were"
    else:
        text, were = str(count), "was" if count == 1 else "were"
    return error(
        "TypeError", f"{name} takes {takes} positional argument{plural} but {text} {were} given"
    )


def _missing(name: str, kind: str, missing: list[str]) -> Raised:
    shown = [f"'{n}'" for n in missing]
    if len(shown) == 1:
        text = shown[0]
    elif len(shown) == 2:
        text = " and ".join(shown)
    else:
        text = f"{', '.join(shown[:-1])}, and {shown[-1]}"
    plural = "s" if len(shown) > 1 else ""
    return error(
        "TypeError", f"{name} missing {len(shown)} required {kind} argument{plural}: {text}"
    )
