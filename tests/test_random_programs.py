"""Random programs of several statements: values, gradients and missing gradients as in PyTorch."""

import re

import numpy as np
import pytest
from support import answer, assert_equal, run_torch, torch_answer

from gradcli.language.posing import pose

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("double_precision")]

PROGRAMS, BATCHES = 500, 20
SHAPES = [(2, 3), (2, 3), (3,), (3, 2), (2, 1), (3, 3), (2, 2, 3), (1, 3), ()]


# Ways to go on from a tensor x (and y), kept away from overflow and from logarithms of nothing.
UNARY = """
    -x; x * x; sin(x); cos(x); tanh(x); sigmoid(x); relu(x); x.abs(); exp(tanh(x)); log(x * x + 1)
    sqrt(abs(x) + 0.5); rsqrt(x * x + 1); silu(x); gelu(x); softplus(x); elu(x); leaky_relu(x, 0.1)
    logsigmoid(x); x.clamp(-1, 1); x.clamp(min=0.1); x ** 3; (abs(x) + 1) ** 0.5; 2 ** tanh(x)
    atan(x); erf(x); floor(x) * x; x * sign(x); x.detach() * x; where(x > 0, x, -2 * x); x % 1.5
    x * (x > 0.2); 1 / (x * x + 1); expm1(tanh(x)); log1p(x * x); square(x); x - 1.5
    3 / (1 + x ** 2)
    x.sum(); x.mean(); x.max(); x.min(); x.norm(); x.var(correction=0); x.prod(); logsumexp(x, -1)
    x.flatten(); x.unsqueeze(0); x[None]; x[..., None]; x.reshape(-1); x * 1.0; x.squeeze()
    x.softmax(-1); log_softmax(x, dim=-1); x.cumsum(-1); x.sum(-1); x.mean(-1, keepdim=True)
    x.amax(-1); x.amin(-1, keepdim=True); x.norm(dim=-1); x.std(-1, correction=0); x.norm(1)
"""
AT_LEAST_1D = """
    x[0]; x[-1]; x[:1]; x[..., ::2]; x[[0, 0]]; x.flip(0); x.max(dim=-1).values; x.min(dim=0)[0]
    cat([x, x]); cat((x, 2 * x), dim=-1); stack([x, x * x]); x.unbind(0)[0]; x.chunk(2, -1)[0]
    x.sum(0); x.mean(0); x.softmax(0); x.cumsum(0); x.prod(-1); x * argmax(x, 0); x.split(1)[0]
    norm(x, 3, dim=0); x.tile(2)
"""
MATRIX = """
    x.T; x.mT; x @ x.mT; x.mT @ x; x.transpose(0, 1); tril(x); triu(x, 1); x.sum((0, 1)); x.diag()
    x[:, 0]; x[x[:, 0] > 0]; einsum('ij->ji', x); einsum('ij,ij->i', x, x); x.permute(1, 0)
    inv(x @ x.T + 3 * eye(x.shape[0])); det(x @ x.T + eye(x.shape[0]))
    logdet(x @ x.T + eye(x.shape[0]))
    cross_entropy(x, zeros(x.shape[0]).long())
    nll_loss(log_softmax(x, 1), zeros(x.shape[0]).long())
    layer_norm(x, x.shape[1:]); trace(x @ x.T); x.gather(1, zeros(x.shape[0], 1).long())
    solve(x @ x.T + 3 * eye(x.shape[0]), x); x.expand(2, x.shape[0], x.shape[1]); x.view(-1, 1)
"""
BINARY = """
    x + y; x - y; x * y; x / (y * y + 1); maximum(x, y); minimum(x, y); where(x > y, x, y * y)
    x + 2 * y; x * y + x; tanh(x) ** 2 * y; (abs(x) + 0.5) ** tanh(y)
"""
SAME_SHAPE = """
    mse_loss(x, y); l1_loss(x, y, reduction='sum'); stack([x, y]); (x * y).sum()
    mse_loss(x, y, reduction='none')
    binary_cross_entropy_with_logits(x, sigmoid(y)); binary_cross_entropy(sigmoid(x), sigmoid(y))
"""


def ways(text):
    """The expressions of a list, which stand apart by semicolons and ends of lines."""
    return [way.strip() for way in text.replace("\n", ";").split(";") if way.strip()]


UNARY, AT_LEAST_1D, MATRIX = ways(UNARY), ways(AT_LEAST_1D), ways(MATRIX)
BINARY, SAME_SHAPE = ways(BINARY), ways(SAME_SHAPE)


class Writer:
    """Writes a program, statement by statement, and knows every value that it has so far."""

    def __init__(self, seed):
        self.draw = np.random.default_rng(seed)
        self.inputs = {
            name: self.draw.normal(size=SHAPES[self.draw.integers(len(SHAPES))])
            for name in "abcd"[: self.draw.integers(2, 5)]
        }
        self.known = {name: torch.tensor(value) for name, value in self.inputs.items()}
        self.statements = []
        for k in range(self.draw.integers(3, 10)):
            self.statement(f"h{k}")
        names = {
            name for name in self.inputs if any(self.mentions(s, name) for s in self.statements)
        }
        self.values = {name: v for name, v in self.inputs.items() if name in names}

    @staticmethod
    def mentions(statement, name):
        return name in statement.split(" = ")[1].replace("(", " ( ").replace(")", " ) ").split()

    def statement(self, name):
        """One more statement that PyTorch takes and whose value is not extreme."""
        while True:
            text = self.expression()
            value = run_torch(text, self.known)
            if value.numel() < 100 and bool((value.abs() < 1e3).all()):
                self.statements.append(f"{name} = {text}")
                self.known[name] = value
                return

    def expression(self):
        x, y = self.pick(), self.pick()
        a, b = self.known[x].shape, self.known[y].shape
        choices = [UNARY]
        if len(a) > 0:
            choices.append(AT_LEAST_1D)
        if len(a) == 2:
            choices.append(MATRIX)
        if fit(a, b):
            choices += [BINARY, BINARY]
        if a == b and x != y:
            choices.append(SAME_SHAPE)
        if len(a) and len(b) and a[-1] == b[-2 if len(b) > 1 else 0]:
            choices.append(["x @ y", "matmul(x, tanh(y))"])
        kind = choices[self.draw.integers(len(choices))]
        return instance(kind[self.draw.integers(len(kind))], x, y)

    def pick(self):
        """A name, preferably a late one."""
        names = list(self.known)
        late = names[-3:] if self.draw.random() < 0.7 else names
        return late[self.draw.integers(len(late))]

    @property
    def text(self):
        return "; ".join(self.statements)


def fit(a, b):
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b)))


def instance(way, x, y):
    """A way to go on, with the names of x and y put in, set apart by spaces."""
    return re.sub(r"\b[xy]\b", lambda m: f" {x if m[0] == 'x' else y} ", way).strip()


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs(batch):
    for seed in range(batch, PROGRAMS, BATCHES):
        program = Writer(seed)
        if not program.values:
            continue
        problem = pose(program.text, values=program.values)
        g = program.draw.normal(size=problem.out.shape)
        try:
            theirs = torch_answer(program.text, program.values, g, set())
        except RuntimeError as error:
            if "does not require grad" not in str(error):
                raise
            theirs = None
        ours = answer(problem, g)
        if theirs is None:
            assert not any(grad is not None for grad in ours.grads.values()), program.text
            continue
        try:
            assert_equal(ours.out, theirs.out, rtol=1e-9, atol=1e-9)
            for name, grad in theirs.grads.items():
                assert_equal(ours.grads[name], grad, rtol=1e-9, atol=1e-9)
        except AssertionError as error:
            error.add_note(f"{seed}: {program.text} with {program.values}")
            raise
