"""Dropout that does nothing: in evaluation mode or with p=0. Random dropout has no single
gradient.
"""

from ..errors import GradcliError
from ..graphs import as_node, shapes
from ..graphs.arguments import check_in_place
from .families import named, shorthand
from .leaves import filled_as


def _dropout(name, *names, training_by_default, sentence, ranks=None):
    @named(name, sentence)
    def meaning(input, p=0.5, training=training_by_default, inplace=False, *, train=None):
        check_in_place(name, inplace)
        x = as_node(input)
        if ranks and x.ndim not in ranks:
            wanted, have = " or ".join(map(str, ranks)), shapes.text(x.shape)
            raise GradcliError("shape", f"{name}() takes {wanted} dimensions, got {have}")
        return _dropped(name, x, p, training if train is None else train)

    return shorthand(*names, booleans=("train",))(meaning)


def _dropped(name, input, p, training):
    if not 0 <= p <= 1:
        raise GradcliError("arguments", f"p of {name}() must be from 0 to 1, got {p}")
    if not training or p == 0 or input.numel == 0:
        return input
    if p == 1:
        return input * 0.0 if input.dtype == "float" else filled_as(input, input.shape, 0)
    raise GradcliError(
        "unsupported",
        f"{name}() draws random numbers in training, so it has no single gradient",
        hint="training=False, or eval() of a module, leaves its input unchanged; to apply a mask "
        "m, write x * m",
    )


dropout = _dropout(
    "dropout",
    training_by_default=True,
    sentence="input unchanged; in training PyTorch drops each element with probability p.",
)
CHANNELS = "input unchanged; in training PyTorch drops each channel with probability p."
dropout1d = _dropout("dropout1d", training_by_default=True, sentence=CHANNELS, ranks=(2, 3))
dropout2d = _dropout(
    "dropout2d",
    *("dropout3d", "feature_dropout"),
    training_by_default=True,
    sentence=CHANNELS,
)
alpha_dropout = _dropout(
    "alpha_dropout",
    training_by_default=False,
    sentence="input unchanged; in training PyTorch's dropout that keeps mean and variance.",
)
feature_alpha_dropout = _dropout(
    "feature_alpha_dropout",
    training_by_default=False,
    sentence="input unchanged; in training PyTorch's dropout of channels that keeps mean and "
    "variance.",
)
