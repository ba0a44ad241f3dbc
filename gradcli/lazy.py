"""Modules that are imported on first use, so that start-up is fast."""

import importlib
from typing import Any


class Lazy:
    """Stand-in for a module, which is imported on the first access to an attribute."""

    def __init__(self, name: str):
        self.__dict__["__name__"] = name

    def __getattr__(self, attribute: str) -> Any:
        module = importlib.import_module(self.__dict__["__name__"])
        self.__dict__ = module.__dict__
        return getattr(module, attribute)


np: Any = Lazy("numpy")
sp: Any = Lazy("sympy")
scipy_linalg: Any = Lazy("scipy.linalg")
scipy_special: Any = Lazy("scipy.special")
