"""Hooks: functions of the program that receive gradients during the backward pass, and may
replace them.
"""

from collections.abc import Sequence
from typing import Any

from ..python.values import Machine, error
from .apply import call_operator
from .records import Target, detached_copy
from .tensor import Accumulator, Gradients, Tensor


def after_tensor_hooks(m: Machine, record: Target, grads: Gradients) -> Gradients:
    """The gradients of a node's outputs after tensor hooks; sets .grad after retain_grad()."""
    if isinstance(record, Accumulator):
        hooks = {0: record.tensor.hooks} if record.tensor.hooks else {}
        retained: dict[int, Tensor] = {}
    else:
        hooks, retained = record.tensor_hooks, record.retained
    for place, functions in hooks.items():
        for hook in list(functions):
            grads[place] = called(m, hook, grads[place])
    for place, tensor in retained.items():
        gradient = grads[place]
        if gradient is not None:
            unaliased = gradient if gradient.requires_grad else detached_copy(gradient)
            tensor.grad = (
                unaliased if tensor.grad is None else call_operator("add", tensor.grad, unaliased)
            )
    return grads


def called(m: Machine, hook: Any, gradient: Tensor | None) -> Tensor | None:
    """The gradient that a hook returns; `gradient` itself if the hook returns None."""
    answer = m.call(hook, [gradient])
    if answer is None:
        return gradient
    name = m.text(m.get(hook, "__name__"))
    if not isinstance(answer, Tensor):
        kind = m.class_of(answer).name
        raise error("TypeError", f"expected Variable, but hook returned '{kind}'")
    assert gradient is not None
    if answer.dtype is not gradient.dtype:
        was, got = (f"torch.{t.dtype.legacy}" for t in (gradient, answer))
        text = f"hook '{name}' has changed the type of value (was {was} got {got})"
        raise error("RuntimeError", text)
    if answer.shape != gradient.shape:
        raise error("RuntimeError", f"hook '{name}' has changed the size of value")
    return answer


def _gradients_from(m: Machine, hook: Any, answer: Any, count: int) -> Gradients:
    """The gradients in `answer`, the return value of a hook of a node. Raises PyTorch's error if it
    is not a tuple of `count` values.
    """
    if not isinstance(answer, tuple):
        kind = m.class_of(answer).name
        raise error("TypeError", f"expected tuple, but hook returned '{kind}'")
    if len(answer) != count:
        name = m.text(m.get(hook, "__name__"))
        text = f"hook '{name}' has returned an incorrect number of values (got {len(answer)}, but "
        raise error("RuntimeError", f"{text}expected {count})")
    return list(answer)


def after_pre_hooks(m: Machine, record: Target, grads: Gradients) -> Gradients:
    """The gradients of a node's outputs after the node's pre-hooks."""
    for hook in list(record.pre_hooks):
        answer = m.call(hook, [tuple(grads)])
        if answer is not None:
            grads = _gradients_from(m, hook, answer, len(grads))
    return grads


def after_record_hooks(
    m: Machine, record: Target, sent: Sequence[Tensor | None], received: Gradients
) -> list[Tensor | None]:
    """The gradients that a node computes for its inputs (`sent`), after the node's hooks."""
    result = list(sent)
    for hook in list(record.hooks):
        answer = m.call(hook, [tuple(result), tuple(received)])
        if answer is not None:
            result = _gradients_from(m, hook, answer, len(result))
    return result


def after_accumulation(m: Machine, leaf: Tensor) -> None:
    """Call the post-accumulate-grad hooks of a leaf."""
    for hook in list(leaf.fields.get("post_accumulate_grad_hooks", ())):
        if m.call(hook, [leaf]) is not None:
            text = "Tensor post accumulate grad hooks should return None."
            raise error("RuntimeError", text)
