"""Programs drawn at random, as people write them with PyTorch: views, changes in place, several
backward passes, hooks, modules, optimisers, errors caught and not.

`python tests/random_programs.py 2000` compares so many with PyTorch, which must be importable:
half of them written statement by statement (Writer), the others from program_grammar.txt; a second
number is where to begin.

Printed numbers may differ by one in the last digit shown, or by a few roundings of float32: which
of them PyTorch makes depends on the order in which its kernels add up. All else is compared to the
character: -0. is not 0., nor is None.
"""

import math
import random
import re
from collections.abc import Callable, Iterator

import program_grammar

NUMBERS = ("0.5", "1.0", "1.5", "2.0", "-1.0", "-0.5", "3.0", "0.0", "-2.0", "0.25")
SHAPES = ((2,), (3,), (2, 2), (2, 3), (1, 3), ())
UNARY = (
    "exp()", "sin()", "cos()", "tanh()", "sigmoid()", "relu()", "abs()", "neg()", "pow(2)",
    "pow(3)", "sqrt()", "log()", "square()", "reciprocal()", "clamp(min=0)", "clamp(-1, 1)",
    "sum()", "mean()", "max()", "min()", "sum(0)", "mean(-1)", "prod()", "cumsum(0)",
    "softmax(0)", "log_softmax(-1)", "norm()", "std()", "var()", "detach()", "clone()", "sign()",
    "floor()", "argmax()", "max(0)[0]", "double()", "float()", "t()", "T", "view(-1)",
    "reshape(-1)", "unsqueeze(0)", "squeeze()", "flatten()", "flip(0)", "expand(2, -1)",
    "transpose(0, -1)", "contiguous()", "logsumexp(0)", "softmax(-1)", "any()", "all()",
    "long()", "requires_grad_()", "unbind(0)[0]", "chunk(2)[0]", "split(1)[0]", "repeat(2)",
    "triu()", "masked_fill(torch.tensor(True), 1.0)", "type(torch.float64)", "sort()[0]",
    "topk(1)[0]", "permute(0)", "view(2, -1)", "mean(0, keepdim=True)", "sum(-1, keepdim=True)",
    "to(torch.float64)",
)  # fmt: skip
INDICES = (
    "[0]",
    "[-1]",
    "[1:]",
    "[:1]",
    "[..., 0]",
    "[None]",
    "[[0, 1]]",
    "[:, 0]",
    "[0, 0]",
    "[5]",
)
BINARY = ("+", "-", "*", "/", "@", "**", ">", "==")
CHANGES = (
    "{a} += {b}", "{a} *= 2", "{a} -= 1", "{a}.add_({b})", "{a}.mul_({b})", "{a}.zero_()",
    "{a}[0] = {n}", "{a}[0] = {b}", "{a}.fill_({n})", "{a}.relu_()", "{a}.clamp_(min=0)",
    "{a}.copy_({b})", "{a}.sub_({b})", "{a}.exp_()", "{a}[..., 0] *= 2", "{a}.data += 1",
    "{a}.detach_()", "{a}.requires_grad_()", "{a}.requires_grad = True", "{a}.data[0] = {n}",
    "{a}.div_(2)", "{a}.sqrt_()", "{a}.neg_()", "{a}.view(-1)[0] = {n}",
    "{a}.masked_fill_({a} > 0, {n})",
    "{a}.grad = None", "{a}.retain_grad()",
)  # fmt: skip
WAYS_BACK = (
    "{a}.sum().backward()", "{a}.backward()", "{a}.mean().backward()",
    "{a}.sum().backward(retain_graph=True)", "{a}.backward(torch.ones_like({a}))",
    "({a} * {b}).sum().backward()", "({a} ** 2).sum().backward(retain_graph=True)",
    "print(torch.autograd.grad({a}.sum(), {b}))",
    "print(torch.autograd.grad({a}.sum(), {b}, allow_unused=True))",
    "print(torch.autograd.grad({a}.sum(), [{b}, {c}], retain_graph=True, allow_unused=True))",
    "g = torch.autograd.grad({a}.sum(), {b}, create_graph=True)[0]\nprint(g)\ng.sum().backward()",
    "torch.autograd.backward([{a}.sum(), {b}.sum()])",
    "{a}.backward(gradient=torch.ones_like({a}), inputs=[{b}])",
    "{a}.sum().backward(create_graph=True)",
)  # fmt: skip
SHOWN = (
    "{a}", "{a}.grad", "{a}.requires_grad, {a}.is_leaf", "{a}.grad_fn is None", "{a}.shape",
    "{a}._version", "{a}.dtype", "{a}.sum().item()", "{a}.tolist()", "{a}.grad_fn.name()",
    "{a}.detach().numpy()", "len({a})", "{a}.grad_fn.next_functions[0][0] is None",
    "f'{{{a}.sum():.2f}}'", "{a}.data", "bool({a}.sum() > 0)", "{a}.mean().item()", "{a}.stride()",
    "{a}.grad_fn.next_functions[0][0].name()", "float({a})", "{a}.size(0)", "torch.equal({a}, {b})",
)  # fmt: skip
HOOKS = (
    "{a}.register_hook(lambda g: print('hook', g))", "{a}.register_hook(lambda g: g * 2)",
    "{a}.register_hook(lambda g: None)", "{a}.retain_grad()",
    "h = {a}.register_hook(lambda g: g + 1)\nh.remove()",
)  # fmt: skip
FUNCTION = """class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        print('backward', ctx.needs_input_grad)
        return {answer}
"""
ANSWERS = ("2 * x * g", "g * x", "2 * x * g, None", "g", "None", "(2 * x * g).sum()")
MODULES = (
    "nn.Linear({i}, {o})", "nn.Sequential(nn.Linear({i}, 2), nn.ReLU(), nn.Linear(2, {o}))",
    "nn.Sequential(nn.Linear({i}, 2), nn.Tanh(), nn.Linear(2, {o}), nn.Sigmoid())",
)  # fmt: skip
OPTIMISERS = (
    "torch.optim.SGD({p}, lr=0.5)", "torch.optim.SGD({p}, lr=0.1, momentum=0.9)",
    "torch.optim.Adam({p}, lr=0.1)", "torch.optim.AdamW({p}, lr=0.1)",
    "torch.optim.RMSprop({p}, lr=0.1)", "torch.optim.SGD({p}, lr=0.1, weight_decay=0.5)",
    "torch.optim.Adagrad({p}, lr=0.1)",
)  # fmt: skip
LOSSES = (
    "nn.MSELoss()",
    "nn.L1Loss()",
    "nn.SmoothL1Loss()",
    "nn.MSELoss(reduction='sum')",
    "F.mse_loss",
)


class Writer:
    """One program, drawn from a generator of random numbers."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.names: list[str] = []
        self.lines = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F"]
        self.lines.append(f"torch.manual_seed({seed % 7})")

    def pick(self, values: tuple[str, ...] | list[str]) -> str:
        """One of several."""
        return self.random.choice(values)

    def name(self) -> str:
        """A tensor that there is; a new one more often than an old one."""
        return self.pick(self.names[-4:] if self.random.random() < 0.7 else self.names)

    def filled(self, text: str) -> str:
        """A template with tensors and numbers."""
        return text.format(a=self.name(), b=self.name(), c=self.name(), n=self.pick(NUMBERS))

    def new(self) -> str:
        """A name for a new tensor: sometimes one that there is."""
        if self.names and self.random.random() < 0.15:
            return self.name()
        self.names.append(f"{'xyzwuvpq'[len(self.names) % 8]}{len(self.names) // 8 or ''}")
        return self.names[-1]

    def numbers(self, shape: tuple[int, ...]) -> str:
        """Nested lists of numbers."""
        if not shape:
            return self.pick(NUMBERS)
        return "[" + ", ".join(self.numbers(shape[1:]) for _ in range(shape[0])) + "]"

    def leaf(self) -> str:
        """A new tensor made of numbers."""
        text = self.numbers(self.random.choice(SHAPES))
        if self.random.random() < 0.08:
            text += ", dtype=torch.float64"
        if self.random.random() < 0.7:
            text += ", requires_grad=True"
        if self.random.random() < 0.06:
            return f"{self.new()} = torch.tensor([1, 2])"
        return f"{self.new()} = torch.tensor({text})"

    def expression(self) -> str:
        """A tensor computed from others."""
        draw = self.random.random()
        a = self.name()
        if draw < 0.4:
            b = self.pick([self.name(), self.name(), self.pick(NUMBERS)])
            return f"{a} {self.pick(BINARY[:4] if self.random.random() < 0.8 else BINARY)} {b}"
        if draw < 0.55:
            return f"{a}{self.pick(INDICES)}"
        if draw < 0.6:
            return self.pick((f"torch.stack([{a}, {a}])", f"torch.cat([{a}, {self.name()}])"))
        if draw < 0.65:
            return self.filled("torch.where({a} > 0, {a}, {b})")
        if draw < 0.7 and "class Square" in self.lines[4]:
            return f"Square.apply({a})"
        return f"{a}.{self.pick(UNARY)}"

    def assignment(self) -> str:
        """A name for a computed tensor."""
        value = self.expression()
        return f"{self.new()} = {value}"

    def statement(self) -> str:
        """Any simple statement."""
        draw = self.random.random()
        if draw < 0.4:
            return self.assignment()
        if draw < 0.55:
            return self.filled(self.pick(CHANGES))
        if draw < 0.7:
            return self.filled(self.pick(WAYS_BACK))
        if draw < 0.77:
            return self.filled(self.pick(HOOKS))
        if draw < 0.8:
            return self.leaf()
        return "print(" + self.filled(self.pick(SHOWN)) + ")"

    def block(self) -> str:
        """A compound statement."""
        head = self.pick((
            "for i in range(2):", "with torch.no_grad():", "try:", "try:", "if True:",
            "with torch.enable_grad():", "for i in range(3):", "with torch.inference_mode():",
        ))  # fmt: skip
        body = [self.statement() for _ in range(self.random.randint(1, 2))]
        lines = [head, *("    " + line for part in body for line in part.split("\n"))]
        if head == "try:":
            lines += ["except RuntimeError as e:", "    print(type(e).__name__, e)"]
        return "\n".join(lines)

    def training(self) -> str:
        """A loop that trains a module."""
        i, o = self.random.randint(1, 3), self.random.randint(1, 2)
        rows = self.random.randint(1, 3)
        lines = [
            f"net = {self.pick(MODULES).format(i=i, o=o)}",
            f"opt = {self.pick(OPTIMISERS).format(p='net.parameters()')}",
            f"data = torch.tensor({self.numbers((rows, i))})",
            f"goal = torch.tensor({self.numbers((rows, o))})",
            f"criterion = {self.pick(LOSSES)}",
            f"for step in range({self.random.randint(1, 4)}):",
        ]
        if self.random.random() < 0.8:
            lines.append("    opt.zero_grad()")
        lines.append("    loss = criterion(net(data), goal)")
        if self.random.random() < 0.5:
            lines.append("    print(step, f'{loss.item():.3f}')")
        lines.append("    loss.backward()")
        if self.random.random() < 0.3:
            lines.append("    nn.utils.clip_grad_norm_(net.parameters(), 1.0)")
        lines.append("    opt.step()")
        lines.append(self.pick((
            "print(loss)", "print(list(net.parameters())[0])", "print(net)", "loss.backward()",
            "print(list(net.parameters())[0].grad)", "print([p.shape for p in net.parameters()])",
        )))  # fmt: skip
        return "\n".join(lines)

    def program(self) -> str:
        """The whole text."""
        if self.random.random() < 0.15:
            self.lines.append(FUNCTION.format(answer=self.pick(ANSWERS)).rstrip())
        else:
            self.lines.append("")
        if self.random.random() < 0.15:
            self.lines.append(self.training())
            return "\n".join(self.lines) + "\n"
        self.lines += [self.leaf() for _ in range(self.random.randint(1, 3))]
        for _ in range(self.random.randint(4, 10)):
            self.lines.append(self.block() if self.random.random() < 0.2 else self.statement())
        self.lines += [f"print({n})" for n in self.names[-2:]]
        self.lines += [f"print({n}.grad)" for n in self.names[:2]]
        return "\n".join(self.lines) + "\n"


def programs(count: int, seed: int = 0) -> Iterator[str]:
    """So many programs."""
    for number in range(seed, seed + count):
        yield Writer(number).program() if number % 2 else program_grammar.program(number)


# ---- PyTorch's answers ---------------------------------------------------------------------------

RUNNER = """
import contextlib, io, json, sys, traceback, warnings
import torch, torch.utils.hooks
for line in sys.stdin:
    code, out, problem = json.loads(line), io.StringIO(), [None, None, None]
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)
    torch.set_default_dtype(torch.float32)
    torch.set_printoptions(profile="default")
    torch.utils.hooks.RemovableHandle.next_id = 0
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})
    except BaseException as e:
        frames = traceback.extract_tb(e.__traceback__)
        lines = [f.lineno for f in frames if f.filename == "<program>"]
        problem = [type(e).__name__, str(e), lines[-1] if lines else e.lineno]
    print(json.dumps([out.getvalue(), *problem]), flush=True)
"""


def in_pytorch(texts: list[str]) -> list[list[object] | None]:
    """What programs print and raise in PyTorch: stdout, class, message, line. None: it crashed."""
    import json
    import subprocess
    import sys

    answers: list[list[object] | None] = []
    while len(answers) < len(texts):
        lines = "\n".join(map(json.dumps, texts[len(answers) :]))
        command = [sys.executable, "-c", RUNNER]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
        answers += [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode:
            answers.append(None)
    return answers


def read(text: str) -> list[object] | None:
    """The same by gradcli; None where it does not know."""
    from gradcli.snippets.reading import read

    outcome = read(text).outcome
    if outcome.unsupported or outcome.exhausted:
        return None
    problem = outcome.exception
    raised = [problem.type, problem.message, problem.line] if problem else [None] * 3
    return [outcome.stdout, *raised]


NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?![\w.]*\w)")
LOST = 2.0**-20  # what some roundings of float32 lose of a number of about 1


def agrees(answer: list[object], expected: list[object]) -> bool:
    """Whether an answer is PyTorch's: character for character, but for the last digits of numbers,
    and for the spaces that follow from these.
    """
    if answer == expected:
        return True
    mine, theirs = str(answer[0]), str(expected[0])
    same = [_spaced(NUMBER.sub("#", text)) for text in (mine, theirs)]
    numbers = zip(NUMBER.findall(mine), NUMBER.findall(theirs), strict=False)
    return answer[1:] == expected[1:] and same[0] == same[1] and all(map(_close, *zip(*numbers)))


def _spaced(text: str) -> str:
    """A text without the spaces that only align its numbers."""
    return re.sub(r"(?<=\[)\s+|\s+(?=\])", "", " ".join(text.split()))


def _close(a: str, b: str) -> bool:
    """Whether two numbers as printed are one, but for float32's roundings."""
    if a == b:
        return True
    x, y = float(a), float(b)
    if not math.isfinite(x - y):
        return False
    if x == y:
        return math.copysign(1, x) == math.copysign(1, y)  # -0 is not 0
    return abs(x - y) <= max(_unit(a), _unit(b), LOST * max(abs(x), abs(y), 1))


def _unit(text: str) -> float:
    """One of the last digit of a printed number; 0 for an integer."""
    digits, _, exponent = text.partition("e")
    if "." not in digits:
        return 0.0
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])) * 1.001


def compare(texts: list[str], report: Callable[[str], None]) -> tuple[int, int]:
    """How many programs contradict PyTorch, and how many gradcli refuses."""
    wrong = refused = 0
    for text, expected in zip(texts, in_pytorch(texts), strict=True):
        answer = read(text) if expected is not None else None
        if answer is None:
            refused += expected is not None
        elif not agrees(answer, expected):
            wrong += 1
            report(f"{text}\nPyTorch: {expected}\ngradcli: {answer}\n")
    return wrong, refused


if __name__ == "__main__":
    import sys

    numbers = [int(a) for a in sys.argv[1:]]
    print(compare(list(programs(*numbers)), print))
