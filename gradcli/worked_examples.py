"""Worked examples: common questions, and the request that answers each."""

import shlex
from typing import NamedTuple

from .errors import GradcliError, did_you_mean


class Example(NamedTuple):
    """A question and the request that answers it, as texts of the command line."""

    question: str
    expr: str
    shapes: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    grad: str | None = None

    @property
    def command(self) -> str:
        """The command that prints the answer."""
        options = [f"-s {shlex.quote(s)}" for s in self.shapes] + [
            f"-v {shlex.quote(v)}" for v in self.values
        ]
        options += [f"-g {shlex.quote(self.grad)}"] if self.grad is not None else []
        return " ".join(["gradcli", shlex.quote(self.expr), *options])


EXAMPLES = {
    "argument": Example(
        "What does the gradient argument of out.backward(gradient) do? Is it a dot product on out?",
        "out = x@a",
        values=("x=ones(2,3)", "a=ones(3,4)"),
        grad="[[1,2,3,4],[5,6,7,8]]",
    ),
    "square": Example(
        "out = a*a; out.backward(a) gives 2*a*a. I expected 2*a.",
        "out = a*a",
        values=("a=[[1,2,3],[4,5,6]]",),
        grad="a",
    ),
    "square-ones": Example(
        "Which seed gives 2*a?",
        "out = a*a",
        values=("a=[[1,2,3],[4,5,6]]",),
        grad="ones_like(out)",
    ),
    "element": Example(
        "What is the gradient of one element?",
        "out = a[0,1]*a[0,1]",
        values=("a=[[1,2,3],[4,5,6]]",),
    ),
    "one-hot": Example(
        "What does z.backward([[1,0,0,0]]) pick?",
        "z = 2*x",
        values=("x=[[1,2,3,4]]",),
        grad="[[1,0,0,0]]",
    ),
    "sum": Example(
        "Is seeding z with ones the same as going back from loss = z.sum(dim=1)?",
        "z = 2*x; loss = z.sum(dim=1)",
        values=("x=[[1,2,3,4]]",),
    ),
    "rest": Example(
        "Where does the seed come from? From the rest of the computation: here the seed of out is "
        "w.",
        "out = x@a; loss = (out * w).sum()",
        values=("x=ones(2,3)", "a=ones(3,4)", "w=[[1,2,3,4],[5,6,7,8]]"),
    ),
    "scalar": Example(
        "Why does a loss need no argument?", "y = x.pow(2).sum()", values=("x=[[1,2],[3,4]]",)
    ),
    "implicit": Example(
        "Why is the argument required where the output has several elements?",
        "out = a*a",
        values=("a=[1,2,3]",),
    ),
    "broadcast": Example(
        "Why does the gradient of the bias sum over the batch?",
        "h = relu(x @ W + b); out = h.sum(dim=1)",
        values=("x=[[1,2],[3,-4]]", "W=[[1,0,-1],[0,1,1]]", "b=[0,-2,-1]"),
        grad="[1, 10]",
    ),
    "softmax": Example(
        "What is the gradient of softmax, for any shape?",
        "s = softmax(x, dim=-1)",
        shapes=("x=2x3",),
    ),
    "cross-entropy": Example(
        "What is the gradient of cross entropy?",
        "loss = cross_entropy(x, y)",
        values=("x=[[1,2,3],[1,1,1]]", "y=[2,0]"),
    ),
    "network": Example(
        "Must the seed have the shape of the parameters? No: that of the output, here 1×10.",
        "h = relu(conv2d(x, w)); out = h.flatten(1) @ v.T",
        shapes=("x=1x1x4x4,w=2x1x3x3,v=10x8",),
    ),
}


def find(name: str) -> str:
    """`name`, if it is that of an example. Raises GradcliError `option` otherwise."""
    if name not in EXAMPLES:
        raise GradcliError(
            "option",
            f"there is no example {name}",
            hint=did_you_mean(name, EXAMPLES) or "gradcli examples lists them",
        )
    return name
