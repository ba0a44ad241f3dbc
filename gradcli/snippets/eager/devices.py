"""torch.device: the CPU, and PyTorch's errors for devices that a CPU build does not have."""

import re
from typing import Any

from ..python.values import Builtin, Class, Machine, Object, Property, Unsupported, error
from .dtypes import ALL, unformatted

TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone"
)
MESSAGES = {
    "cuda": ("AssertionError", "Torch not compiled with CUDA enabled"),
    "mps": ("RuntimeError", "PyTorch is not linked with support for mps devices"),
    "xpu": ("AssertionError", "Torch not compiled with XPU enabled"),
}


class Device(Object):
    """torch.device."""

    __slots__ = ("index", "type")
    cls: Class

    def __init__(self, type: str, index: int | None = None):
        self.type, self.index = type, index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


CPU = Device("cpu")


def device_of(value: Any) -> Device:
    """The device that a string such as "cuda:1" or a device denotes. Raises PyTorch's error for an
    integer or another string.
    """
    if isinstance(value, Device):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        raise error("RuntimeError", "Cannot access accelerator device when none is available.")
    if not isinstance(value, str):
        raise Unsupported("a device that is not a string, an integer or a torch.device")
    if not value:
        raise error("RuntimeError", "Device string must not be empty")
    match = re.fullmatch(r"([A-Za-z_]+)(?::(0|[1-9][0-9]*))?", value)
    if match is None:
        raise error("RuntimeError", f"Invalid device string: '{value}'")
    name, index = match.groups()
    if name not in TYPES.split(", "):
        text = f"Expected one of {TYPES} device type at start of device string: {name}"
        raise error("RuntimeError", text)
    return Device(name, int(index) if index else None)


def check_device(value: Any, *, copies: bool = True) -> Device:
    """The device that a call passes, if it is the CPU or meta. For others, raises the error of a
    CPU build of PyTorch, or Unsupported if that is not known, as for mps if the call copies no data
    (`copies`).
    """
    if value is None:
        return CPU
    device = device_of(value)
    if device.type not in ("cpu", "meta"):
        if device.type not in MESSAGES or (device.type == "mps" and not copies):
            raise Unsupported(f"a tensor on the device {device}")
        raise error(*MESSAGES[device.type])
    return device


def _make(m: Machine, cls: Class, type: Any, index: int | None = None) -> Device:
    device = device_of(type)
    if index is None:
        return device
    if device.index is not None:
        text = "type (string) must not include an index because index was passed explicitly: "
        raise error("RuntimeError", f"{text}{device}")
    if index < 0:
        raise error("RuntimeError", "Device index must not be negative")
    return Device(device.type, index)


def _text(m: Machine, self: Device) -> str:
    index = "" if self.index is None else f", index={self.index}"
    return f"device(type='{self.type}'{index})"


Device.cls = Class(
    "device",
    members={
        "__repr__": Builtin("__repr__", _text),
        "__str__": Builtin("__str__", lambda m, self: str(self)),
        "__format__": Builtin("__format__", unformatted("torch.device")),
        "__eq__": Builtin("__eq__", lambda m, self, other: self == other),
        "__hash__": Builtin("__hash__", lambda m, self: hash(self)),
        "type": Property(Builtin("type", lambda m, self: self.type)),
        "index": Property(Builtin("index", lambda m, self: self.index)),
    },
    module="torch",
    make=_make,
    shown="torch.device",
)


class Layout(Object):
    """torch.layout, of which only torch.strided exists."""

    __slots__ = ()
    cls = Class(
        "layout",
        members={"__repr__": Builtin("__repr__", lambda m, self: "torch.strided")},
        module="torch",
    )


STRIDED = Layout()


def _no_cuda(m: Machine, *_: Any, **__: Any) -> Any:
    raise error(*MESSAGES["cuda"])


def _cuda_tensor_type(name: str) -> Class:
    """A class such as torch.cuda.FloatTensor, which has no instances."""

    def make(m: Machine, cls: Class, *_: Any, **__: Any) -> Any:
        text = f"type torch.cuda.{name} not available. Torch not compiled with CUDA enabled."
        raise error("TypeError", text)

    return Class(name, module="torch.cuda", make=make)


WITHOUT_LIBRARY = (
    "Cannot initialize CUDA without ATen_cuda library. PyTorch splits its backend into two shared "
    "libraries: a CPU library and a CUDA library; this error has occurred because you are trying "
    "to use some CUDA functionality, but the CUDA library has not been loaded by the dynamic "
    "linker for some reason.  The CUDA library MUST be loaded, EVEN IF you don't directly use any "
    "symbols from the CUDA library! One common culprit is a lack of -Wl,--no-as-needed in your "
    "link arguments; many dynamic linkers will delete dynamic library dependencies if you don't "
    "depend on any of their symbols.  You can check if this has occurred by using ldd on your "
    "binary to see if there is a dependency on *_cuda.so library."
)
CUDA = {
    **{dtype.legacy: _cuda_tensor_type(dtype.legacy) for dtype in ALL if dtype.legacy},
    **{name: Builtin(name, lambda m, *_: False) for name in ("is_available", "is_initialized")},
    **{
        name: Builtin(name, lambda m, *_: 0)
        for name in (
            *("device_count", "memory_allocated", "max_memory_allocated"),
            *("memory_reserved", "max_memory_reserved"),
        )
    },
    **{
        name: Builtin(name, lambda m, *_: None)
        for name in ("manual_seed", "manual_seed_all", "empty_cache")
    },
    **{
        name: Builtin(name, _no_cuda)
        for name in ("synchronize", "current_device", "get_device_name", "set_device")
    },
}
BACKENDS: dict[str, dict[str, Any]] = {
    "cudnn": {
        **{"enabled": True, "benchmark": False, "deterministic": False, "allow_tf32": True},
        "is_available": Builtin("is_available", lambda m: False),
        "version": Builtin("version", lambda m: None),
    },
    "mps": {name: Builtin(name, lambda m: False) for name in ("is_available", "is_built")},
    "cuda": {"is_built": Builtin("is_built", lambda m: False)},
}
