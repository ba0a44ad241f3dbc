"""The tensor and the versions named in the error about an in-place operation, as a sentence.

[torch.FloatTensor [3, 1]], which is output 0 of AsStridedBackward0, is at version 2; expected
version 1 instead
"""

import re

TYPES = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16"}
TYPES |= {"Long": "int64", "Int": "int32", "Bool": "bool"}
LEAF = "no operation made it: a parameter, or another leaf, as optimizer.step() changes them"
VIEW = "a view of another tensor"
RESULTS = {  # results of operations whose names do not describe them
    "AsStrided": f"{VIEW}, as the transposed weight of nn.Linear, which optimizer.step() changes",
    "T": f"{VIEW}, as the transposed weight of nn.Linear, which optimizer.step() changes",
    "Transpose": f"{VIEW}: a transpose",
    "Select": f"{VIEW}: a part picked by an index",
    "Slice": f"{VIEW}: a part picked by a slice",
    "View": f"{VIEW}: the same numbers in another shape",
    "Unsqueeze": f"{VIEW}: the same numbers in another shape",
    "CopySlices": "a tensor with a part that was overwritten before",
    "Addmm": "the result of a linear layer",
    "CudnnRnn": "the result of a recurrent layer",
}


def sentence(values: dict[str, str]) -> str:
    """The record as a sentence; "" without versions."""
    now, saved = values.get("v", ""), values.get("v0", "")
    if not (now.isdigit() and saved.isdigit()):
        return ""
    changes = int(now) - int(saved)
    times = "once" if changes == 1 else f"{changes} times"
    return (
        f"The tensor is {_tensor(values)}; {_origin(values.get('origin', ''))}. It was at version "
        f"{saved} when an operation saved it for the way back, and is at version {now} now: "
        f"changed in place {times} since."
    )


def _tensor(values: dict[str, str]) -> str:
    kind = values.get("type", "")
    name = kind.removeprefix("cuda.").removesuffix("Tensor")
    where = " on the GPU" if kind.startswith("cuda.") else ""
    sizes = values.get("sizes")
    shape = "" if sizes is None else f", of shape ({sizes}{',' if ',' not in sizes else ''})"
    return f"{TYPES.get(name, name)}{where}{shape}"


def _origin(origin: str) -> str:
    """How the tensor was computed, according to the name of its operation."""
    known = re.search(r"output \d+ of (\w+?)(?:Backward\d*)?$", origin.strip(" ,"))
    if known is None:
        return LEAF
    return RESULTS.get(known[1], f"the result of {known[1].lower()}")
