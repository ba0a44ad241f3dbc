"""What goes wrong: for every mistake one message, with a code, a place and a cure."""

import json
import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from console import Result, gradcli
from support import one_in

import gradcli as library
from gradcli import option_spelling
from gradcli.errors import CODES, GradcliError


def refused(*args: str, **how) -> Result:
    """A request that cannot be met."""
    result = gradcli(*args, **how)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("error[")
    assert result.err.count("error[") == 1
    return result


def marked(result: Result) -> str | None:
    """The characters above the carets of a message."""
    lines = result.err.splitlines()
    for line, carets in pairwise(lines):
        if carets.strip() and not carets.strip("^ "):
            start = carets.index("^")
            return line[start : len(carets)]
    return None


# Each row: arguments, code, what the carets mark, and words of the message or its cure.
MISTAKES = [
    # syntax
    (["(x + y"], "syntax", "(", "was never closed"),
    (["(x + y"], "syntax", "(", "write ) where it ends"),
    (["x + y)"], "syntax", ")", "unmatched ')'"),
    (["x + y)"], "syntax", ")", "leave it out"),
    (["(x + y]"], "syntax", "]", "write ) where it ends"),
    ([";"], "syntax", ";", "statements are separated by one ;"),
    (["x; -s"], "syntax", "x", "write h = ... before it"),
    (["x\n-s"], "syntax", "x", "an expression can continue over"),
    (["x[0"], "syntax", "[", "was never closed"),
    (["x +"], "syntax", None, "this is not an expression"),
    (["x y"], "syntax", None, ""),
    (["x ^ 2"], "syntax", "x ^ 2", "a power is written x ** 2"),
    (["g @ A^-T"], "syntax", "g @ A^-T", "that of an inverse inv(A).T"),
    (["x << 2", "-v", "x=[1.5]"], "arguments", "x << 2", "must contain integers here"),
    (["x * (1 << 10**9)"], "limit", "1 << 10**9", "digits"),
    (["x * (1 << -1)"], "arguments", "1 << -1", "cannot be combined"),
    (["cat([x] * 100000)", "-s", "x=3"], "limit", "[x] * 100000", "operations"),
    (["tensor([0] * 10**9) * x"], "limit", "[0] * 10**9", "numbers"),
    (["einsum('abcdefghijklmnopqrstuvwxyz,a->b', x, y)"], "limit", None, "far more elements"),
    (["x * float(x > 0)", "-s", "x=3"], "arguments", "float(x > 0)", "one element, not of 3"),
    (["x * int(x)", "-s", "x=3"], "arguments", "int(x)", "one element, not of 3"),
    (["!x"], "syntax", "!", "the opposite of a mask is written ~mask"),
    (["x ? y : z"], "syntax", "?", "where(condition, a, b)"),
    (["x < y < z"], "syntax", "x < y < z", "(a < b) & (b < c)"),
    (["x is y"], "syntax", "x is y", "== != < <= > >="),
    (["mse_loss(x, y, reduction='sum', reduction='none')"], "syntax", "'none'", "given twice"),
    (["x[:, [[0, 1], 2]]", "-s", "x=3x3"], "index", "[[0, 1], 2]", "write a list for each"),
    (["x[[[0], [1], [2]]]", "-s", "x=3x3"], "index", "x[[[0], [1], [2]]]", "too many indices: 3"),
    (["x", "-s", "x=3x3", "-g", "onehot(0)"], "index", "onehot(0)", "there are 2"),
    (["x[[x.shape, 0]]", "-s", "x=2x2"], "index", "x[[x.shape, 0]]", ""),
    (["x[[['a']]]", "-s", "x=2x2"], "index", "['a']", "a list index must contain"),
    (["x[:, ['sum', (None, 1)]]", "-s", "x=2x2"], "index", "['sum', (None, 1)]", "equal length"),
    (["2 * nll_loss(x, t)", "-v", "x=[[1,2]]", "-v", "t=[7]"], "index", "nll_loss(x, t)", "7 is"),
    (["embedding(t, x)", "-s", "x=2x3", "-v", "t=[0,7]"],
     *("index", "embedding(t, x)", "from 0 to 1")),
    (["code", "2 * gather(x, 1, tensor([[3]]))", "-s", "x=2x3"],
     *("index", "gather(x, 1, tensor([[3]]))", "from 0 to 2")),
    (["hessian", "take(x, x.long()).sum()", "-v", "x=[1, 3]"],
     *("index", "take(x, x.long())", "to 1")),
    (["code", "take(x, tensor([3]))", "-v", "x=[1, 2, 3]"],
     *("index", "take(x, tensor([3]))", "from -3 to 2")),
    (["grad", "x.put(tensor([-4]), tensor([1.0])).sum()", "-v", "x=[1, 2, 3]"],
     *("index", "x.put(tensor([-4]), tensor([1.0]))", "index -4 is")),
    (["grad", "cross_entropy(x, tensor([3])) * 2", "-s", "x=1x3"],
     *("index", "cross_entropy(x, tensor([3]))", "from 0 to 2")),
    (["x[:, [0, -4]]", "-s", "x=2x3"], "index", "x[:, [0, -4]]", "from -3 to 2"),
    (["2 * linalg.lstsq(a, b)[0]", "-v", "a=[[1,2],[2,inf],[3,1]]", "-v", "b=[1,2,3]"],
     *("arguments", "linalg.lstsq(a, b)[0]", "not computed with inf or nan")),
    (["where(x = 0, x, y)"], "syntax", None, "positional argument follows keyword argument"),
    (["(x > 0) and y"], "syntax", "(x > 0) and y", "masks are combined with & and |"),
    (["x or y"], "syntax", "x or y", "&"),
    (["not x"], "syntax", "not x", "~mask"),
    (["lambda t: t"], "syntax", "lambda t: t", "write its body"),
    (["x if y else z"], "syntax", "x if y else z", "where(condition, a, b)"),
    (["[t for t in x]"], "syntax", "[t for t in x]", "a loop in brackets"),
    (["{x}"], "syntax", "{x}", "a set"),
    (["{1: x}"], "syntax", "{1: x}", "a dictionary"),
    (["f'{x}'"], "syntax", "f'{x}'", "an f-string"),
    (["b'x' * y"], "syntax", "b'x'", "not a real number"),
    (["2j * x"], "syntax", "2j", "not a real number"),
    (["sum(*x)"], "syntax", "*x", "write the arguments out"),
    (["sum(**x)"], "syntax", "sum(**x)", "write the arguments out"),
    (["(h := x) * 2"], "syntax", "h := x", "a separate statement"),
    (["import torch"], "arguments", None, "call backward() on one"),
    (["import torch; torch.ones(2) @ torch.ones(3)"], "raises", None, "gradcli read"),
    (["for i in x: i"], "syntax", "for i in x: i", "a loop"),
    (["while x: y"], "syntax", "while x: y", "a loop"),
    (["if x: y"], "syntax", "if x: y", "where(condition, a, b)"),
    (["def f(x): return y\ny * 2"], "syntax", "def f(x): return y", "a function definition"),
    (["class A(B): x"], "syntax", "class A(B): x", "write out what it computes"),
    (["x += y"], "syntax", "x += y", "write x = x + y"),
    (["x[0] = y"], "syntax", "x[0]", "x.index_put((tensor(0),), y)"),
    (["x[x > 0] = 0; x"], "syntax", "x[x > 0]", "write x = where(x > 0, 0, x)"),
    (["x[1:] = y; x"], "syntax", "x[1:]", "value for each input the program is run"),
    (["x[1] += 2; x"], "syntax", "x[1] += 2", "value for each input the program is run"),
    (["x *= y + 1; x"], "syntax", "x *= y + 1", "write x = x * (y + 1)"),
    (["x **= (y - 1); x"], "syntax", None, "write x = x ** (y - 1)"),
    (["x += " + "y+" * 2000 + "1; x"], "syntax", None, "a changed copy is"),
    (["y.add_(x, alpha=2)"], "unsupported", "add_", "x = x.add(y)"),
    (["h = x * 2; h.add_(x); h"], "unsupported", "h.add_(x)", "leave out the underscore"),
    (["x.exp().mul_(y)"], "unsupported", "mul_", "leave out the underscore"),
    (["F.relu_(x)"], "unsupported", "relu_", "in place"),
    (["x.zero_()"], "unsupported", "zero_", "zeros_like(x)"),
    (["x.a = y"], "syntax", "x.a", "only names"),
    (["x * 2; x * 3"], "syntax", "x * 2", "only the last statement may be without a name"),
    ([""], "syntax", None, "the expression is empty"),
    (["   "], "syntax", None, "the expression is empty"),
    (["# nothing"], "syntax", "# nothing", "only a comment"),
    (["x\x07y"], "syntax", None, "U+0007"),
    (["x\u202ey"], "syntax", None, "U+202E"),
    # notations that are not Python's
    (["x·y"], "syntax", "·", "a product is written x * y"),
    (["aᵢ * b"], "syntax", "ᵢ", "an element is written x[0]"),
    (["x²"], "syntax", "²", "x ** 2"),
    (["x⁻¹"], "syntax", "⁻", "inv(A)"),
    (["xᵀ @ y"], "syntax", "ᵀ", "A.T"),
    (["x \u2212 y"], "syntax", "\u2212", "x - y"),
    (["½ * x"], "syntax", "½", "write 0.5"),
    (["|x|"], "syntax", "|", "abs(x)"),
    (["||x||**2"], "syntax", "|", "norm(x)"),
    (["sin x"], "syntax", "x", "sin(x)"),
    (["(sin x) * 2"], "syntax", None, "sin(x)"),
    (["x.T A x"], "syntax", "A", "of matrices A @ B"),
    (["max(x 0)"], "syntax", "x", "commas"),
    # names
    (["sofmax(x, dim=-1)"], "unknown-function", "sofmax", "did you mean softmax?"),
    (["torch.sofmax(x)"], "unknown-function", "sofmax", "did you mean softmax?"),
    (["x.sofmax(0)"], "unknown-function", "sofmax", "did you mean softmax?"),
    (["fft.rfft(x)"], "unsupported", "rfft", "works on complex numbers"),
    (["bce(p, y)"], "unknown-function", "bce", "binary_cross_entropy(input, target)"),
    (["torch.fft.rfft(x)"], "unsupported", "rfft", "works on complex numbers"),
    (["torch.linalg.eigvals(x)"], "unsupported", "eigvals", "works on complex numbers"),
    (["torch.masked.softmax(x, 0)"], "unsupported", "softmax", "masked tensors"),
    (["torch.sparse.mm(x, y)"], "unsupported", "mm", "sparse tensors"),
    (["torch.autograd.grad(x)"], "unsupported", "grad", "--grad"),
    (["x.expand_copy(3)"], "unsupported", "expand_copy", "expand_copy is PyTorch's internal name"),
    (["torch.from_file(x)"], "unsupported", "from_file", "-v x=@file"),
    (["torch.load('x')"], "unsupported", "load", "-v x=@file"),
    (["x.to(torch.complex64)"], "unsupported", "complex64", "the real and the imaginary part"),
    (["x", "-g", "x.to(torch.complex64)"], "unsupported", "complex64", "only real numbers"),
    (["x", "-g", "torch.foo"], "unknown-function", "foo", "there is no attribute foo"),
    (["x.imag"], "unsupported", "imag", "only real numbers"),
    (["x.grad * 2"], "unsupported", "grad", "which are what gradcli answers with"),
    (["x.gradient * 2"], "unknown-function", "gradient", "answers with the gradient itself"),
    (["x.__class__"], "unsupported", "__class__", "inside Python"),
    (["x.__add__(y)"], "unsupported", "__add__", "written by its sign"),
    (["__import__('os')"], "unknown-function", "__import__", "and never executes them"),
    (["eval('x')"], "unknown-function", "eval", "and never executes them"),
    (["torch.exp * 2"], "unknown-function", "exp", "write torch.exp(...)"),
    (["torch.float16"], "arguments", "torch.float16", "a type of numbers"),
    (["x.bernoulli()"], "unsupported", "bernoulli", "draws random numbers"),
    (["x.relu_()"], "unsupported", "relu_", "in place"),
    (["Softmx(x, 0)"], "unknown-function", "Softmx", "did you mean softmax?"),
    (["cat([x, y], 1)", "-s", "x=2x3,y=3x2"], "shape", None, "sizes along all other dimensions"),
    (["F.zzzzzz(x)"], "unknown-function", "zzzzzz", "gradcli ops"),
    (["x.shap"], "unknown-function", "shap", "did you mean shape?"),
    (["x.sum * 2"], "unknown-function", "sum", "write x.sum(...)"),
    (["x", "-g", "yy", "-s", "x=2"], "unknown-name", "yy", "the names are out, x"),
    (["hidden * 2", "-g", "hiden", "-s", "hidden=2"], "unknown-name", "hiden",
     "did you mean hidden?"),
    # arguments
    (["cat(a, b)"], "arguments", "cat(a, b)", "write cat([a, b])"),
    (["cat(1)"], "arguments", "cat(1)", "write cat([a, b])"),
    (["hstack(a, b)"], "arguments", "hstack(a, b)", "write hstack([a, b])"),
    (["a.vstack(b)"], "unknown-function", "a.vstack(b)", "did you mean torch.vstack(...)?"),
    (["torch.gelu(x)"], "unknown-function", "torch.gelu(x)", "did you mean F.gelu(...)?"),
    (["special.kl_div(x, y)"], "unknown-function", "special.kl_div(x, y)", "scipy.special.kl_div("),
    (["F.exp(x)"], "unknown-function", "F.exp(x)", "did you mean torch.exp(...)?"),
    (["x.T.gelu()"], "unknown-function", "x.T.gelu()", "did you mean F.gelu(...)?"),
    (["dstack(tensors=a)"], "arguments", "dstack(tensors=a)", "write dstack([a, b])"),
    (["linalg.multi_dot(a, b)"], "arguments", "linalg.multi_dot(a, b)", "multi_dot([a, b])"),
    (["x[0.5]", "-s", "x=3"], "index", "x[0.5]", "x[0] is the first element"),
    (["celu(x, 0)", "-s", "x=2"], "arguments", None, "alpha of celu() cannot be 0"),
    (["x.reshape(3)", "-s", "x=4"], "shape", "x.reshape(3)", "product of all sizes must be 4"),
    (["einsum('ij,jk', x, x)", "-s", "x=2x3"], "shape", None, "need different subscripts"),
    (["einsum('ijk->k', x)", "-s", "x=2x3"], "shape", None, "each dimension, 2 here"),
    (["linalg.lu_solve(x, tensor([0, 1]), b)", "-s", "x=2x2,b=2x1"], "index", None,
     "lu_factor() returns a matrix and its pivots"),
    (["linalg.lu_solve(x, b)"], "arguments", None, "linalg.lu_solve(LU, pivots, B, *, left="),
    (["conv2d(x, w)", "-s", "x=1x3x5x5,w=2x4x3x3"], "shape", None, "has shape (2, 3, 3, 3)"),
    (["x.repeat(2)", "-s", "x=2x3"], "shape", "x.repeat(2)", "signature: repeat(x, repeats)"),
    (["sort(x, x)", "-s", "x=3"], "arguments", "sort(x, x)", "signature: sort(x, dim="),
    (["inv(A.T @ A + eye(n)) @ b"], "arguments", "eye(n)", "a size of a tensor x is x.shape[0]"),
    (["x @ 2", "-v", "x=[1,2]"], "shape", "x @ 2", "to multiply by a number, use *"),
    (["x.chunk(2.5)[0]", "-s", "x=3"], "arguments", "x.chunk(2.5)", "signature: chunk(input, ch"),
    (["relu = x; relu(x)"], "arguments", "relu(x)", "relu is a tensor here"),
    (["n = 3; n(x)"], "arguments", "n(x)", "n * (...)"),
    (["sin(x, y)"], "arguments", "sin(x, y)", "sin(x)"),
    (["softmax()"], "arguments", "softmax()", "softmax("),
    (["softmax(x, dimm=1)"], "arguments", "softmax(x, dimm=1)", "has no argument dimm"),
    (["where(x, y)"], "arguments", "where(x, y)", "where("),
    (["where(x > 0)", "-s", "x=3"], "needs-value", None, "--value"),
    (["x(1)", "-s", "x=2"], "arguments", "x(1)", "x is a tensor here, and cannot be called"),
    (["x.sum()(1)", "-s", "x=2"], "syntax", "x.sum()(1)", "only functions and methods"),
    (["2(x)", "-s", "x=2"], "syntax", "2(x)", "write 2 * (x + 1)"),
    (["[t for t in x]", "-s", "x=2"], "syntax", "[t for t in x]", "a loop in brackets"),
    (["x\n*2", "-s", "x=2"], "syntax", None, "an expression can continue over"),
    (["nn.Linear(3, 4)(x)"], "unsupported", "Linear", "as inputs: F.linear(input, weight, bias)"),
    (["nn.LayerNorm(3)(x)"], "unsupported", "LayerNorm", "as inputs: F.layer_norm("),
    (["nn.PReLU()(x)"], "unsupported", "PReLU", "as inputs: F.prelu(input, weight)"),
    (["nn.MultiheadAttention(4, 2)(x, x, x)"], "unsupported", None, "parameters as inputs"),
    (["nn.MultiheadAttention(4, 2)(x)"], "unsupported", None, "F.multi_head_attention_forward("),
    (["nn.Transformer()(x)"], "unknown-function", "Transformer", "write out what a class comp"),
    (["nn.LSTM(3, 4)(x)", "-s", "x=2x3"], "unsupported", "LSTM", "torch.lstm(input, hx, params,"),
    (["nn.RNN(3, 4)(x)", "-s", "x=2x3"], "unsupported", "RNN", "torch.rnn_tanh(input, hx,"),
    (["ctc_loss(x, t, (1,), (1,), blank=2)", "-s", "x=1x1x2,t=1x1"], "arguments", None, "a class"),
    (["tensordot(x, x, ([0, 0], [0, 0]))", "-s", "x=2x2"], "arguments", None, "dimension twice"),
    (["F.relu(x, x, x)"], "arguments", "F.relu(x, x, x)", "at most 2 arguments, got 3"),
    (["F.gelu(x, 'tanh')"], "arguments", "F.gelu(x, 'tanh')", "gelu(x, *, approximate='none')"),
    (["x.var(0, 2)"], "arguments", "x.var(0, 2)", "as a keyword it is correction=2"),
    (["trapezoid(x, 2)"], "arguments", "trapezoid(x, 2)", "dx=0.5"),
    (["divmod(x, 2)"], "unknown-function", "divmod", "a function of Python"),
    (["x.shape()"], "arguments", "x.shape()", "write .shape without brackets"),
    (["x.T()"], "arguments", "x.T()", "write .T without brackets"),
    (["print(x)"], "unknown-function", "print", "leave it out"),
    (["a, (b, c) = x"], "syntax", "a, (b, c)", "one at a time"),
    (["a, b = x; a", "-s", "x=3"], "arguments", "x", "3 values cannot be unpacked into 2"),
    (["a, = x; a", "-s", "x=3"], "arguments", "x", "3 values cannot be unpacked into one name"),
    (["a, *b, c, d = x; a", "-s", "x=2"], "arguments", "x", "2 values cannot be unpacked"),
    (["list(x)", "-s", "x=()"], "arguments", "list(x)", "a tensor cannot be unpacked"),
    (["x * torch.finfo(x.dtype).epsilon"], "unknown-function", "epsilon", "did you mean eps?"),
    (["x * torch.finfo(x.dtype)"], "arguments", None, "finfo(float64)"),
    (["x * torch.iinfo(x.dtype).max"], "arguments", "torch.iinfo(x.dtype)", "such as torch.int64"),
    (["nn.ReflectionPad1d(1)(x)"], "unsupported", None, "F.pad(input, pad, mode='reflect')"),
    (["nn.Sequential(nn.Linear(3, 4), nn.ReLU())(x)"], "unsupported", "Linear",
     "F.linear(input, weight, bias)"),
    (["nn.Dropout(0.5)(x)"], "unsupported", None, "eval() of a module"),
    (["d = nn.Dropout(0.5).eval(); d.train(); d(x)"], "unsupported", "d(x)", "draws random"),
    (["nn.Sequential(nn.Dropout(), nn.ReLU())(x)"], "unsupported", None, "draws random"),
    (["special.legendre_polynomial_p(x, 10**7) * x", "-v", "x=2"], "limit", None, "10,000 is"),
    (["nn.BatchNorm1d(3)(x)"], "unsupported", "BatchNorm1d", "F.batch_norm"),
    (["nn.Sequential(nn.Flatten(), nn.Linear(2, 3))(x)"], "unsupported", None, "torch.flatten"),
    (["x.sum(dim='a')"], None, None, ""),
    (["x + [1, 2]"], "arguments", "x + [1, 2]", "tensor([...])"),
    (["x * 'a'"], "arguments", "x * 'a'", "the text 'a'"),
    (["x / 0 * (1 / 0)"], "arguments", "1 / 0", "division of a number by zero"),
    (["exp(x.max(0))", "-s", "x=2x2"], "arguments", "exp(x.max(0))", "got 2 outputs"),
    (["relu(linalg.qr(x))", "-s", "x=2x2"], "arguments", None, "choose one: [0]"),
    (["diag(x.max(0))", "-s", "x=2x2"], "arguments", None, "choose one: [0]"),
    (["x * x.max(0)", "-s", "x=2x2"], "arguments", None, "choose one: [0]"),
    (["x.unbind(0).sum()", "-s", "x=2x2"], "arguments", None, "choose one: [0]"),
    (["x * float('nope')"], "arguments", "float('nope')", "no number in the text 'nope'"),
    (["x.max(dim=0)", "-s", "x=2x2"], "arguments", "x.max(dim=0)", ".values"),
    (["a, b = x * 2; a", "-s", "x=3"], "arguments", "x * 2", "unpacked"),
    (["x * 10**400"], "arguments", "10**400", "too large"),
    # shapes
    (["x + y", "-s", "x=2x3,y=2x4"], "shape", "x + y", "3 in one and 4 in the other"),
    (["x @ y", "-s", "x=2x3,y=4x5"], "shape", "x @ y", "3"),
    (["x.reshape(4)", "-s", "x=2x3"], "shape", "x.reshape(4)", "6"),
    (["cat([x, y])", "-s", "x=2x3,y=2x4"], "shape", "cat([x, y])", ""),
    (["h = x * 2; h @ y", "-s", "x=2x3,y=4x5"], "shape", "h @ y", "4"),
    (["x", "-v", "x=[1,2]", "-s", "x=3"], "shape", None, "its shape was given as (3,)"),
    # indices
    (["x[5]", "-s", "x=3"], "index", "x[5]", "3"),
    (["x[[True, False]]", "-s", "x=3"], "index", None, "shape (2,) does not fit"),
    (["x[:, [True]]", "-s", "x=3x3"], "index", None, "shape (1,) does not fit"),
    (["x[0, 0]", "-s", "x=3"], "index", "x[0, 0]", ""),
    (["x[1.5]", "-s", "x=3"], "index", None, "must be an integer, got 1.5"),
    (["x[::0]", "-s", "x=3"], "index", "::0", "cannot be 0"),
    (["x.max(0)[::0]", "-s", "x=3"], "index", "::0", "cannot be 0"),
    (["[1, 2][::0][0] * x"], "index", "::0", "cannot be 0"),
    (["x[::-1]", "-s", "x=3"], "index", "x[::-1]", "flip"),
    (["x.sum(dim=3)", "-s", "x=3"], "index", "x.sum(dim=3)", "3"),
    (["split(x, 1)[9]", "-s", "x=2"], "index", "split(x, 1)[9]", "there are only 2"),
    (["x", "-s", "x=2", "--element", "x[7]"], "index", None, "x has shape"),
    # the seed
    (
        ["x.pow(2).sum()", "-v", "x=[[1,2],[3,4]]", "-g", "[1.0, 0.5]"],
        *("seed-shape", "x.pow(2).sum()"),
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and "
        "output[0] has a shape of torch.Size([]).",
    ),
    (["x.sum()", "-s", "x=3", "-g", "[1.0]"], "seed-shape", "x.sum()", "() and (1,) are different"),
    (["x**2", "-s", "x=2x2", "-g", "[1,2,3,4]"], "seed-shape", "x**2", "reshape it to (2, 2)"),
    (["x**2", "-s", "x=2x2", "-g", "[1,2]"], "seed-shape", "x**2",
     "ones_like(out) has shape (2, 2)"),
    (["x**2", "-s", "x=2x2", "-g", "3.0"], "seed-shape", "x**2", "torch.Size([])"),
    # options
    (["x @ A", "--assume", "A=symetric"], "assume", None, "did you mean symmetric?"),
    (["x @ A", "--assume", "symmetric"], "assume", None, "as in A=symmetric"),
    (["A @ x", "-v", "A=[[1,2],[3,4]]", "--assume", "A=symmetric"], "assume", None, "is not"),
    (["A @ x", "-v", "A=[[1,2],[2,1]]", "--assume", "A=posdef"], "assume", None, "is not posdef"),
    (["A @ x", "-v", "A=[[1,2],[2,1]]", "--assume", "A=diagonal"], "assume", None, "not diagonal"),
    (["A @ x", "-v", "A=[[2,0],[0,1]]", "--assume", "A=orthogonal"], "assume", None, "orthogonal"),
    (["A @ x", "-s", "A=2x3", "--assume", "A=symmetric"], "shape", None, "assumed symmetric"),
    (["x", "-s", "x=3", "--assume", "x=diagonal"], "shape", None, "must be a matrix"),
    (["A @ x", "--assume", "B=diagonal"], "unused-option", None, "there is no input B"),
    (["x", "-s", "x=2y"], "shape-option", "2y", "a shape is written x=2x3"),
    (["x", "-s", "x=-2"], "shape-option", "-2", "is negative"),
    (["x", "-s", "x"], "shape-option", "x", "is not NAME=SHAPE"),
    (["x", "-s", "2=x"], "shape-option", "2", "is not a name"),
    (["x", "-s", "x=2", "-s", "x=3"], "shape-option", "x", "two shapes"),
    (["x", "-v", "x=[[1,2],[3]]"], "value", "[3]", "the list is ragged: row 1 has 1 element"),
    (["x", "-v", "x=[1,2"], "value", "[", "never closed"),
    (["x", "-v", "x=[1,a]"], "unknown-name", "a", "there is no a"),
    (["x", "-v", "x=[1,2$]"], "value", "2$", "is not a number"),
    (["x", "-v", "x"], "value", "x", "there is no ="),
    (["x", "-v", "x="], "value", "x", "has no value"),
    (["x", "-v", "x=[1, 2, ..., 9]"], "value", "...", "abridged"),
    (["x", "-v", "x=@/nowhere/x.npy"], "file", None, "No such file"),
    (["x", "-v", "x=foo.npy"], "value", None, "before the name of a file: @foo.npy"),
    (["x", "-v", "x=./a-b/w.npz:w"], "value", None, "before the name of a file: @./a-b/w.npz:w"),
    (["x", "-g", "seed.csv"], "value", None, "before the name of a file: @seed.csv"),
    (["e^x"], "syntax", "e^x", "and that of e exp(x)"),
    (["x^2"], "syntax", "x^2", "a power is written x ** 2"),
    (["x.sum(1, keepdim=true)"], "unknown-name", "true", "did you mean True?"),
    (["dropout(x, 0.5, training=false)"], "unknown-name", "false", "did you mean False?"),
    (["x.sum(none)"], "unknown-name", "none", "did you mean None?"),
    (["a*b", "-s", "a=2,3"], "shape-option", "3", "sizes have an x between them: a=2x3"),
    (["a*b", "-s", "a=2, 3, b=4"], "shape-option", "3, b=4", "between them: a=2x3"),
    (["a*b -v a=2"], "option", "-v a=2", 'end the quotes before it: gradcli "a*b" -v a=2'),
    (["grad", "a*b -g a"], "option", "-g a", 'gradcli grad "a*b" -g a'),
    (["a*b --full"], "option", "--full", 'gradcli "a*b" --full'),
    (["x@a", "-g", "[1,", "2]"], "option", None, 'write -g "[1, 2]"'),
    (["x*x", "-v", "x=[[1,", "2],", "[3,", "4]]"], "option", None, 'write -v "x=[[1, 2], [3, 4]]"'),
    (["x*y", "-s", "x=2,", "y=3"], "option", None, 'write -s "x=2, y=3"'),
    (["x*y", "-v", "x", "2"], "option", None, "write -v x=2"),
    (["x[0,", "1]"], "option", None, 'write "x[0, 1]"'),
    (["train.py"], "option", None, "gradcli read train.py explains the program in it"),
    (["explain", "/a-b/train.py"], "option", None, "gradcli read /a-b/train.py"),
    (["train.ipynb"], "option", None, "jupyter nbconvert --to script train.ipynb"),
    (["x", "--hlep"], "option", None, "did you mean --help?"),
    (["x", "-v"], "option", None, "write it after a space: -v …"),
    (["x", "--seed"], "option", None, "write it after a space: --seed …"),
    (["hessian", "x", "--seed", "x"], "option", None, "no such option: --seed"),
    (["requests.jsonl"], "option", None, "gradcli batch requests.jsonl"),
    (["x.npy"], "option", None, "-v x=@x.npy"),
    (["x", "--vaule", "x=2"], "option", None, "did you mean --value?"),
    (["x", "-v", "x=@/nowhere/x.npy"], "file", None, "a path is relative to"),
    (["x", "-v", "x=-"], "value", "-", "standard input is written @-"),
    (["x", "-o", "/nowhere/x.txt"], "file", None, "cannot be written"),
    (["x", "-o", ""], "file", None, "a file without a name cannot be written"),
    (["batch", "/nowhere/x.jsonl"], "file", None, "a path is relative to"),
    (["explain", "--", "-x", "-v", "x=3"], "option", None, "options stand before --"),
    (["x", "-v", "y=1"], "unused-option", None, "the inputs are x"),
    (["alpha * 2", "-v", "alhpa=1"], "unused-option", None, "did you mean alpha?"),
    (["alpha * 2", "-s", "alhpa=1"], "unused-option", None, "did you mean alpha?"),
    (["x", "-w", "y"], "unused-option", None, "the inputs are x"),
    (["alpha * 2", "-w", "alhpa"], "unused-option", None, "did you mean alpha?"),
    (["x[x > 0]", "-s", "x=3"], "needs-value", "x > 0", "--value"),
    (["grad", "x[i]", "-s", "x=3,i=2"], "needs-value", "i", "--value"),
    (["kron(a)"], "arguments", "kron(a)", "kron() needs b"),
    (["triu(x, (1, 2))", "-s", "x=2x2"], "arguments", None, "diagonal must be an integer"),
    (["conv1d_weight(x, (2, (3, 4), 2), g)"], "arguments", None, "a size must be an integer"),
    (["einsum('ij->ik', x)", "-s", "x=2x2"], "arguments", None, "cannot read the equation"),
    (["tile(x)", "-s", "x=3"], "arguments", "tile(x)", "as in tile(x, (2, 3))"),
    (["dot(a, b)", "-s", "a=1x2,b=1x2"], "shape", "dot(a, b)", "needs a vector and a vector"),
    (["block_diag(x)", "-s", "x=1x2x3"], "shape", None, "at most two dimensions"),
    (["x.put(tensor([[0, 1]]), v)", "-s", "x=2,v=()"], "shape", None,
     "as many elements as indices"),
    # what has no gradient
    (["x > 0", "-s", "x=3"], "not-differentiable", "x > 0", "does not require grad"),
    (["x.argmax()", "-s", "x=3"], None, None, ""),
    (["3"], "not-differentiable", "3", "integers"),
    (["x.detach()", "-s", "x=3"], "not-differentiable", "x.detach()",
     "no gradient flows from out to x"),
    (["x[i]", "-s", "x=3", "-v", "i=[0,1]", "-w", "i"], "not-differentiable", None,
     "floating point"),
    (["inv(x)", "-v", "x=[[1,1],[1,1]]"], "singular", "inv(x)", ""),
    (["x * ones(10**9)"], "limit", "ones(10**9)", "--limit elements=N"),
    (["9**9**9 * x"], "limit", "9**9**9", "--limit digits=N"),
    (["(" * 500 + "x" + ")" * 500], "limit", None, "give parts of it names"),
    (["x", "--show", "everything"], "option", None, "the sections are"),
    (["x", "--nonsense"], "option", None, "no such option: --nonsense"),
    (["2 + clamp(x)", "-s", "x=2"], "arguments", "clamp(x)", "needs min or max"),
    (["take(x, tensor([0, 7]))", "-s", "x=2x3"], "index", "take(x, tensor([0, 7]))",
     "index 7 is out of range for 6 elements in a row"),
    (["cross_entropy(x, y)", "-s", "x=2x3", "-v", "y=[0., 1.]"], "arguments", "cross_entropy(x, y)",
     "y must contain integers here, got floating-point numbers"),
    (["x.masked_fill(m, 0)", "-s", "x=2", "-v", "m=[0., 1.]"], "arguments", "x.masked_fill(m, 0)",
     "write True and False"),
    (["x.select(0, y)", "-s", "x=2", "-v", "y=[0, 1]"], "arguments", "x.select(0, y)",
     "index of select() must be an integer"),
    (["'x.sum()'"], "arguments", "'x.sum()'", "leave out the quotes around it"),
    (["'x.sum()"], "syntax", "'", "the quotes around an expression are the shell's"),
    (['x.sum()"'], "syntax", '"', "the quotes around an expression are the shell's"),
    (['einsum("ij->ji, A)'], "syntax", '"', "the closing quote is missing"),
    (["x = 'abc"], "syntax", "'", "the closing quote is missing"),
    (["A' @ B"], "syntax", "'", "a transpose is written A.T"),
    (["“x.sum()”"], "syntax", "“", "the quotes around an expression are the shell's"),
    (["x =* 2", "-v", "x=3"], "syntax", "* 2", "a product is written y = x * 2"),
    (["x***2"], "syntax", "*", "a power x ** 2"),
    (["x[0, 1]", "-s", "x=3"], "index", "x[0, 1]", "leave some out, or declare the tensor with"),
    (["cat([x, y])", "-s", "x=3,y=2x3"], "shape", "cat([x, y])", "x.unsqueeze(0)"),
    (["stack([x, y])", "-s", "x=3,y=4"], "shape", "stack([x, y])", "needs equal shapes, got (3,)"),
    (["sum(x, dim=0, dim=1)"], "syntax", "1", "leave one of the two out"),
    (["x", "-v", "x=@."], "file", None, "name a file in that folder: "),
    (["x", "--dtype", "float16"], "option", None, "shorter than float32"),
    (["x + 1/0"], "arguments", "1/0", "tensor(1.) / 0"),
    (["x.gather(0, tensor([0., 1.]))"], "arguments", "x.gather(0, tensor([0., 1.]))", ".long()"),
    (["x[y * 2]", "-v", "x=[1,2]", "-v", "y=[0.5]"], "arguments", "y * 2",
     "these must be integers"),
    (["softmax(x, 0, 0, 0, 0)"], "arguments", "softmax(x, 0, 0, 0, 0)",
     "at most 3 arguments, got 5"),
    (["x.softmax(0, torch.float64, 3)"], "arguments", "x.softmax(0, torch.float64, 3)",
     "softmax() takes at most 3 arguments, got 4"),
    (["relu(x, y)"], "arguments", "relu(x, y)",
     "inplace of relu() must be True or False, got a tensor"),
    (["x := 2"], "syntax", ":", "an assignment needs a name: y = x ** 2"),
    (["\\sin(x)"], "syntax", "s", "LaTeX is not supported"),
    (["$x$"], "syntax", "$", "LaTeX is not supported"),
    (["x, y"], "arguments", "x, y", "several are joined by cat([x, y])"),
    (["x", "-v", "x=abc"], "unknown-name", "abc", "a value is numbers"),
    (["x.to('complex64')"], "arguments", "x.to('complex64')", "neither a dtype nor a device"),
    (["x.to('cuda:0', 'gpu')"], "arguments", "x.to('cuda:0', 'gpu')", "nor a device"),
    (["x", "-v", "x=randn('a')"], "arguments", "randn('a')", "this must be an integer"),
    (["x ^ T"], "syntax", "x ^ T", "a transpose A.T"),
    (["x", "-g", "out^T"], "unknown-name", "T", "write A.T"),
    (["x = if y"], "syntax", "i", "an expression looks like this"),
    (["x.detach()"], "not-differentiable", "x.detach()", "detach(), comparisons"),
    (["x > 0"], "not-differentiable", "x > 0", "a mask chooses"),
    # what single operators refuse
    (["cdist(x > 0, x > 0)", "-s", "x=2x2"], "arguments", None, "cdist() does not accept a mask"),
    (["triplet_margin_with_distance_loss(x, x, x, distance_function=x)", "-s", "x=2x3"],
     "unsupported", None, "write the loss out"),
    (["embedding_bag(tensor([[0]]), w, scale_grad_by_freq=True)", "-s", "w=2x3"], "unsupported",
     None, "use embedding() with scale_grad_by_freq"),
    (["torch.combinations(x, 8)", "-s", "x=60"], "limit", None, "more than 100,000 combinations"),
    (["torch.segment_reduce(x, 'sum', indices=tensor([0, 1]))", "-s", "x=2"], "unsupported", None,
     "by lengths or offsets only"),
    (["svd(x, compute_uv=False).S", "-s", "x=2x2"], "unsupported", None, "svdvals()"),
    (["x.index_add(0, tensor([[0]]), x)", "-s", "x=1x2"], "shape", None, "needs a vector as index"),
    (["x.var(dim=())", "-s", "x=2x2"], "arguments", None, "leave dim out"),
    (["torch.conv_tbc(x, w, b, -1)", "-s", "x=3x2x2,w=1x2x2,b=2"], "arguments", None,
     "must not be below 0"),
    (["conv2d(x, w, padding=-1)", "-s", "x=1x1x3x3,w=1x1x1x1"], "arguments", None, "below 0"),
    (["conv1d(x, w, groups=0)", "-s", "x=1x2x3,w=2x2x2"], "arguments", None,
     "needs positive groups"),
    (["cholesky_ex(x).L", "-v", "x=-eye(40)"], "unsupported", None, "cholesky_ex(x).info"),
    (["linalg.qr(x, 'complete').R", "-s", "x=3x2"], "not-differentiable", None, "mode='reduced'"),
    (["linalg.qr(x, 'r').R", "-s", "x=3x2"], "not-differentiable", None, "gives Q and R"),
    (["x.long().masked_fill(x > 0, inf) * x", "-v", "x=[1, 2]"], "arguments", None,
     "an integer tensor cannot contain inf"),
    (["x.median(1).values", "-s", "x=2x0"], "shape", None, "no element along dimension 1"),
    (["x.max(1).values", "-s", "x=2x0"], "shape", None, "no element along dimension 1"),
    (["max(x)", "-s", "x=0"], "shape", None, "there is no element in shape (0,)"),
    (["x * argmax(y)", "-s", "x=2,y=0x3"], "shape", None, "there is no element in shape (0, 3)"),
    (["row_stack(x, y)", "-s", "x=2,y=2"], "arguments", None, "row_stack() needs its tensors"),
    (["multi_margin_loss(x, tensor([0]))", "-s", "x=1x1x2"], "shape", None, "(batch, classes)"),
    (["fake_quantize_per_tensor_affine(x, tensor([1.0, 2.0]), 0, 0, 9)", "-s", "x=2"], "arguments",
     None, "each be one number"),
    (["x.long() ** -1 * x", "-v", "x=[1, 2]"], "arguments", None, "raised to a negative power"),
    (["householder_product(x, t)", "-s", "x=5x2x3,t=5x2"], "shape", None, "fewer rows than col"),
    (["householder_product(x, t)", "-s", "x=2x3,t=2"], "shape", None, "fewer rows than columns"),
    (["ctc_loss(x, tensor([[1]]), (2,), (1,))", "-s", "x=1x2x1x3"], "shape", None,
     "(time, batch, classes)"),
    (["x.expand(5, 3)", "-s", "x=2x2"], "shape", None, "(2, 2) cannot be expanded to (5, 3)"),
    (["x.expand(3)", "-s", "x=1x1"], "shape", None, "(1, 1) cannot be expanded to (3,)"),
    (["x.expand(-1, 3)", "-s", "x=3"], "shape", None, "-1 keeps a size"),
    (["torch.gradient(x, dim=(1, -1))[0]", "-s", "x=3x3"], "arguments", None, "dimension twice"),
    (["linalg.svdvals(x)", "-s", "x=3"], "shape", None, "needed, and the shape is (3,)"),
    (["bincount(tensor([-1])) * x"], "arguments", None, "must be at least 0"),
    (["affine_grid(x, (2, 1, 2, 2))", "-s", "x=1x2x3"], "shape", None, "needs matrices (2, 2, 3)"),
    (["x.transpose(-2, -1) * x", "-s", "x=()"], "index", None, "for a tensor with 0 dimensions"),
    (["roll(x, (1, 2), (0,))", "-s", "x=3"], "arguments", None, "each dimension, got 2 for 1"),
    (["pad(x, (1,))", "-s", "x=3"], "arguments", None, "pad must be two integers for each"),
    (["+".join(f"x{k}.sum()" for k in range(240))], "limit", "x0", "inputs have no shape"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("args", "code", "place", "words"), MISTAKES, ids=[" ".join(m[0])[:50] for m in MISTAKES]
)
def test_mistakes(args, code, place, words):
    result = refused(*args)
    if code is not None:
        assert result.err.startswith(f"error[{code}]: ")
    if place is not None:
        assert marked(result) == place
    assert words in result.err


# What PyTorch refuses, too: a program, shapes, and words of the message.
REFUSALS = r"""
F.unfold(x, 2, stride=0) | x=1x1x4x4 | kernel, stride and dilation must be positive
x.as_strided((2, 2), (1,)) | x=4 | stride must have 2 numbers
x.as_strided((3, 3), (3, 1)) | x=4 | the storage has 4
batch_norm(x, None, None) | x=2x3 | needs running_mean and running_var here
cat([]) * x | x=3 | cat() needs at least one tensor
chain_matmul(x, y) | x=2x3x2,y=2x2 | multiplies matrices, not shape
linalg.cond(x, 3) | x=2x2 | cond() has no norm 3
x.split([-1, 4])[1] | x=3 | split() has no parts below 0
hsplit(x, 0)[0] | x=4 | hsplit() needs at least 1 part, got 0
resample(x, -1, ('nearest', 3, 4)) | x=2x4 | needs another size, got 4
resample(x, -1, ('nearest', 3, 4), transposed=True) | x=2x3 | needs another size, got 3
torch.add(x, 2, y, alpha=3) | x=2,y=2 | add() takes 2 arguments
conv1d(x, w) | x=3,w=3 | (batch, channels, length) and a weight of shape (out, in, length)
conv2d(x, w) | x=3x3,w=3x3 | a weight of shape (out, in, rows, columns)
conv_transpose2d(x, w) | x=3,w=3x3 | a weight of shape (in, out, rows, columns)
conv3d(x, w) | x=3x3,w=3x3 | a weight of shape (out, in, depth, rows, columns)
conv1d_weight(x, (2, 2, 2), g, groups=0) | x=1x2x3,g=1x2x2 | conv1d_weight() needs positive groups
conv1d(x, w, groups=2) | x=1x4x5,w=3x2x2 | channels do not divide into 2 groups
torch.convolution(x, x, None, 1, 0, 1, False, 0, 1) | x=1x1x1x1x1x1 | takes 3 to 5 dimensions
conv_transpose1d(x, w, padding=9) | x=1x2x2,w=2x2x2 | would be empty
ctc_loss(x, tensor([[1]]), (2, 2), (1,)) | x=2x1x3 | must have a length for each of 1 samples
ctc_loss(x, tensor([[1]]), (2,), (1,), blank=3) | x=2x1x3 | blank must be a class from 0 to 2
diag(x) | x=2x2x2 | diag() takes a vector or a matrix
div(x, y, rounding_mode='up') | x=3,y=3 | rounding_mode must be None, 'floor' or 'trunc'
linalg.eigvalsh(x, UPLO='B') | x=2x2 | UPLO must be 'L' or 'U'
embedding_bag(tensor([0, 1]), x, tensor([0]), mode='prod') | x=3x2 | mode must be 'sum', 'mean'
embedding_bag(tensor([0, 1]), x, tensor([1])) | x=3x2 | offsets must start at 0 and not decrease
flatten(x, 1, 0) | x=2x3 | to come before end_dim
gaussian_nll_loss(x, y, v) | x=2x3,y=2x3,v=5 | a variance of shape (5,) does not fit input
grid_sample(x, p, padding_mode='wrap') | x=1x1x2x2,p=1x2x2x2 | has no padding_mode 'wrap'
group_norm(x, 2) | x=2x3x4 | 3 channels do not divide into 2 groups
x * histc(tensor([1.0]), 0) | x=3 | bins of histc() must be a positive integer
huber_loss(x, y, delta=0.0) | x=3,y=3 | delta of huber_loss() must be positive
x.index_reduce(0, tensor([0]), y, 'sum') | x=2x3,y=1x3 | index_reduce() has no 'sum'
interpolate(x) | x=1x1x4 | interpolate() needs either size or scale_factor
interpolate(x, 0) | x=1x1x4 | interpolate() needs 1 sizes or factors above 0
interpolate(x, 2) | x=2x4 | interpolate() needs a batch, channels and 1 to 3 dimensions
interpolate(x, 2, antialias=True) | x=1x1x4 | antialias is for modes 'bilinear' and 'bicubic'
interpolate(x, 2, mode='nearest', align_corners=True) | x=1x1x4 | align_corners is not for mode
x * isclose(x, x, rtol=-1.0) | x=3 | tolerances of isclose() and allclose() cannot be negative
linear(x, w) | x=2x3,w=2x2x3 | linear() needs a weight of shape (out, in)
linalg.lstsq(x, y, driver='best')[0] | x=3x2,y=3x1 | there is no driver 'best'
max_pool1d(x, 2, padding=2) | x=1x1x4 | padding must be at most half of the effective kernel
max_pool1d(x, 2, stride=0) | x=1x1x4 | kernel_size, stride and dilation must be positive
max_pool1d(x, 5) | x=1x1x4 | the effective kernel size 5 exceeds the input size 4
max_pool2d(x, 2) | x=2x2 | needs shape (N, C, H, W) or (C, H, W)
max_unpool1d(x, tensor([[[0, 2]]]), 2, output_size=(9,)) | x=1x1x2 | around the usual 4
meshgrid(x, y, indexing='ji')[0] | x=3,y=2 | indexing must be 'ij' or 'xy'
x.overlap((4,), (1,), (1,)) | x=2x2 | must have windows of shape (3, 2), got (2, 2)
pad(x, (1, 1), mode='reflect', value=2.0) | x=2x3 | padding mode 'reflect' takes no value
pad(x, (3, 0), mode='reflect') | x=2x3 | is too large for size 3
pdist(x) | x=2x2x2 | pdist() needs a matrix
linalg.qr(x, 'full')[1] | x=2x2 | mode must be 'reduced', 'complete' or 'r'
x.quantile(0.5) | x=0 | quantile() of an empty tensor
renorm(x, 0, 0, 1.0) | x=2x3 | renorm() needs a positive p and a maxnorm
x.repeat_interleave(tensor([1, 2, 1]), output_size=9) | x=3 | output_size must be 4
x.repeat_interleave(tensor([1, 2])) | x=3 | repeats must be one integer or 3 of them
rnn_relu(x, x, (w, w, w, w), False, 2, 0.5, True, False, False)[0] | x=2x2x4,w=4x4 | draws random
roll(x, (1, 2), (0,)) | x=3 | roll() needs a shift for each dimension, got 2 for 1
roll(x, (1, 2)) | x=3 | roll() without dims takes one shift
rrelu(x, 0.5, 0.1) | x=3 | rrelu() needs lower <= upper
scaled_dot_product_attention(x, x, x, x @ x.T, is_causal=True) | x=2x3 | cannot be combined
x * searchsorted(x, x, side='up') | x=3 | side must be 'left' or 'right'
segment_reduce(x, 'sum', lengths=tensor([-1, 4])) | x=3 | lengths of segments cannot be negative
split(x, 0)[0] | x=3 | split() needs parts of at least 1
stack([]) * x | x=3 | stack() needs at least one tensor
x.sum_to_size(4) | x=2x3 | cannot be summed to
tensor_split(x, 0)[0] | x=3 | needs at least 1 part
tensordot(x, y, dims=([0, 1], [0])) | x=2x3,y=2x3 | as many dims of a as of b
linalg.tensorinv(x, 0) | x=2x2 | ind of tensorinv() must be positive
triplet_margin_loss(x, y, z, margin=-1.0) | x=2x3,y=2x3,z=2x3 | margin must be positive
linalg.multi_dot([x]) | x=2x2 | needs at least 2 of them
addmm(x.long(), y.long(), y.long(), beta=0.5) * x | x=2x2,y=2x2 | beta and alpha of integers
max_unpool1d(x, tensor([[[0, 2]]]), 2, output_size=(4, 4)) | x=1x1x2 | must have 1 or 3 numbers
conv1d(x, w, stride=2, padding='same') | x=1x1x4,w=1x1x2 | needs a stride of 1
linear_cross_entropy(x, w, p, ignore_index=1) | x=2x3,w=4x3,p=2x4 | needs class labels
scaled_dot_product_attention(q, k, k, enable_gqa=True) | q=1x3x2x2,k=1x2x2x2 | needs a multiple
movedim(x, (0, 1), (0,)) | x=2x3 | movedim() moves 2 dimensions to 1
torch.lstm_cell(x, h, w, u)[0] | x=2x3,h=2x4,w=16x3,u=16x4 | needs hidden and cell state as (h, c)
x * bincount(tensor([0, 1, 1]), x) | x=3 | bincount() with weights has no derivative
add(x, y, alpha=True) | x=3,y=3 | can be True or False only for masks
elu(x, 'a') | x=3 | must be a number, got 'a'
linalg.lu(x, pivot=False)[1] | x=2x2 | LU without exchanged rows
grid_sample(x, p) | x=1x1x0x2,p=1x2x2x2 | without elements
interpolate(x, 2) | x=1x0x4 | needs a shape with elements
broadcast_tensors()[0] * x | x=3 | at least one tensor is needed
x.unfold(0, 5, 1) | x=4 | a size up to 4 and a positive step
""".strip().splitlines()


@pytest.mark.parametrize("line", REFUSALS)
def test_what_operators_refuse(line):
    text, shapes, words = line.split(" | ")
    assert words in refused("formula", text, "-s", shapes, "-g", "ones_like(out)").err


def test_carets_are_as_wide_as_what_they_mark():
    assert refused("grad", "漢字()").err.splitlines()[2] == "  ^^^^"


GRAD_ONLY = [
    (
        ["a*a", "-v", "a=[1,2]"],
        "implicit-seed",
        "a*a",
        "grad can be implicitly created only for scalar",
    ),
    (["(x @ a).sum()", "-s", "x=2x3,a=3x2"], "needs-value", None, "they have no value"),
    (["(x * a).sum()", "-v", "x=[1,2]"], "needs-value", None, "-v a=[...]"),
    (["x * a", "-v", "x=1"], "needs-value", None, "-v a=[...]"),
]


@pytest.mark.parametrize(("args", "code", "place", "words"), GRAD_ONLY)
def test_what_grad_alone_refuses(args, code, place, words):
    result = refused("grad", *args)
    assert result.err.startswith(f"error[{code}]: ")
    assert place is None or marked(result) == place
    assert words in result.err
    assert gradcli("explain", *args).status == 0


OF_OTHER_COMMANDS = [
    (["hessian", "x * 2", "-s", "x=3"], "not-scalar", "x * 2", "Reduce it with .sum()"),
    (["why", "KeyError: 3"], "unknown-message", None, "gradcli why lists the messages it knows"),
    (
        *(["jvp", "x * 2", "-s", "x=2x3", "--tangent", "x=[1,2]"], "tangent-shape", None),
        "Entry 0 in v has invalid size: should be torch.Size([2, 3]) but got torch.Size([2])",
    ),
]


@pytest.mark.parametrize(("args", "code", "place", "words"), OF_OTHER_COMMANDS)
def test_what_other_commands_refuse(args, code, place, words):
    result = refused(*args)
    assert result.err.startswith(f"error[{code}]: ")
    assert place is None or marked(result) == place
    assert words in result.err


def test_every_code_is_provoked():
    told = {m[1] for m in (*MISTAKES, *GRAD_ONLY, *OF_OTHER_COMMANDS)} - {None}
    assert told | {"request"} == set(CODES)
    answer = gradcli("batch", "-", stdin='{"exp": "x"}')
    assert '"code": "request"' in answer.out


def test_a_line_that_is_not_json_has_its_place_within_the_line():
    out = gradcli("batch", "-", stdin='{"expr": "x"}\n{"expr" "x"}\n').out
    assert "Expecting ':' delimiter at character 9" in out.splitlines()[1]


def test_inputs_that_do_not_matter_are_no_mistake():
    result = gradcli("explain", "x * 2", "-v", "x=[1.,2.]")
    assert result.status == 0
    result = gradcli("grad", "h = y * 2; (x * 2).sum()", "-v", "x=[1.]", "-v", "y=[1.]")
    assert result.json == {"y": None, "x": [2]}


# ---- places --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("é * sofmax(x)", "sofmax"),
        ("h = x * 2\nout = sofmax(h)", "sofmax"),
        ("α = β * 2; sofmax(α)", "sofmax"),
        ("  x *\tsofmax(x)", "sofmax"),
        ("relu(x) + " * 30 + "sofmax(x)" + " + relu(x)" * 30, "sofmax"),
    ],
)
def test_carets_stand_below_the_mistake(text, place):
    assert marked(refused(text, "-s", "β=2" if "β" in text else "x=2")) == place


def test_lines_of_a_program_are_numbered():
    result = refused("h = x * 2\nk = relu(h)\nout = k.sofmax(0)")
    assert "  line 3: out = k.sofmax(0)\n" in result.err


def test_the_option_is_named():
    assert "  --grad: sofmax(out)\n" in refused("x", "-s", "x=2", "-g", "sofmax(out)").err
    assert "  x: sofmax(3)\n" in refused("x", "-v", "x=sofmax(3)").err


def test_a_long_line_is_cut_to_what_is_near():
    result = refused("x + " * 300 + "sofmax(x)")
    assert max(map(len, result.err.splitlines())) < 120
    assert marked(result) == "sofmax"


# ---- files ---------------------------------------------------------------------------------------


def test_files_that_cannot_be_read(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    np.save(tmp_path / "complex.npy", np.array([1j]))
    np.savez(tmp_path / "two.npz", a=np.ones(2), b=np.ones(3))
    (tmp_path / "noise.npy").write_bytes(b"\x93NUMPY\x01\x00garbage")
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    (tmp_path / "words.csv").write_text("a,b\n1,2\n")
    (tmp_path / "object.json").write_text('{"a": 1}\n')
    (tmp_path / "semicolons.csv").write_text("1;2\n3;4\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    for name, code, words in (
        ("objects.npy", "file", "pickled objects, which are never loaded"),
        ("complex.npy", "value", "real numbers are needed"),
        ("two.npz", "file", "it has a, b"),
        ("two.npz:c", "file", "it has a, b"),
        ("noise.npy", "file", "damaged"),
        ("ragged.csv", "value", "line 2 has 1 element, and line 1 has 2"),
        ("words.csv", "value", "if this line is a header, delete it"),
        ("object.json", "value", "gradcli reads a list of numbers"),
        ("semicolons.csv", "value", "not by semicolons"),
        ("empty.txt", "value", "no numbers"),
        ("bytes.txt", "file", "UTF-8"),
        ("", "file", "directory"),
        ("object.npy", "file", "did you mean objects.npy?"),
    ):
        result = refused("x", "-v", f"x=@{tmp_path}/{name}")
        assert result.err.startswith(f"error[{code}]: ")
        assert words in result.err


def test_what_is_alone_in_a_file_is_no_header(tmp_path):
    (tmp_path / "text.json").write_text('"abc"\n')
    result = refused("x", "-v", f"x=@{tmp_path}/text.json")
    assert "line 1, character 2: this is not a number" in result.err
    assert "header" not in result.err
    assert "a file contains rows of numbers" in result.err


def test_a_folder_that_may_not_be_listed_is_an_error_like_others(monkeypatch):
    def forbidden(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.listdir", forbidden)
    with pytest.raises(GradcliError, match="No such file") as caught:
        library.grad("a * a", values={"a": "@missing.npy"}, allow_files=True)
    assert "a path is relative to" in caught.value.hint


@pytest.mark.parametrize(
    ("request_", "hint"),
    [
        ({"expr": "x", "shapes": {"a": 3}}, 'as in "shapes": {"a": [2, 3]}'),
        ({"expr": "x", "width": 2}, "id, expr, read, why, shapes, values, grad, wrt, want, assume"),
        ({"expr": "x", "value": {}}, "did you mean values?"),
        ({"expr": "x", "values": 3}, 'as in "values": {"x": [[1.0, 2.0]]}'),
        ({"expr": "x", "claim": 3}, 'as in "claim": {"x": "g @ W.T"}'),
        ({"expr": "x", "wrt": 3}, 'as in "wrt": ["x", "W"]'),
        ({}, 'as in {"expr": "a * b"}'),
    ],
)
def test_requests_are_refused_with_an_example(request_, hint):
    (answer,) = library.batch([request_])
    assert hint in answer["error"]["hint"]


@pytest.mark.parametrize(
    "text",
    ["embedding(tensor([{}]), x)", "x.index_select(0, tensor([{}]))",
     "x.gather(0, tensor([[{}]]))", "x.scatter(0, tensor([[{}]]), 1.)",
     "x.scatter_add(0, tensor([[{}]]), x)", "x.scatter_reduce(0, tensor([[{}]]), x, 'sum')",
     "nll_loss(x.T, tensor([{}, 0, 0]))", "x.index_add(0, tensor([{}]), x[:1])",
     "x.index_copy(0, tensor([{}]), x[:1])", "x.index_reduce(0, tensor([{}]), x[:1], 'prod')"],
)  # fmt: skip
def test_labels_are_from_0_to_below_a_size_with_values_or_without(text):
    for given in ({"shapes": {"x": (2, 3)}}, {"values": {"x": [[1.0] * 3] * 2}}):
        for place in (0, 1):
            assert library.formula(text.format(place), **given)
        for place in (-1, 2):
            with pytest.raises(GradcliError, match=f"{place} is out of range .* size 2") as raised:
                library.formula(text.format(place), **given)
            assert raised.value.code == "index"


QUESTIONS = [
    ["what is the gradient of softmax?"],
    ["what", "is", "the", "gradient", "of", "softmax"],
    ["grad", "how do I differentiate softmax"],
    ["explain", "gradient", "of", "softmax"],
    ["gradient of softmax please"],
    ["why", "softmax gives what?"],
]


@pytest.mark.parametrize("asked", QUESTIONS)
def test_a_question_has_places_to_look(asked):
    err = refused(*asked).err
    assert "this is a question, and gradcli takes an expression" in err
    assert "gradcli examples" in err
    assert "gradcli why" in err
    assert 'gradcli "softmax(x, dim=-1)"' in err


def test_a_question_on_nan_is_sent_to_why():
    for asked in (["why is my gradient nan"], ["why", "is", "my", "gradient", "nan"]):
        assert 'gradcli why "sqrt(x)" -v' in refused(*asked).err


def test_a_program_is_no_question():
    for text in ("my * i - the", "a - s * 2", "a -s * 2", "i = x; i - v", "-x -v"):
        assert gradcli(text).status == 0


def test_a_message_that_is_pasted_with_options_within_is_a_message():
    assert gradcli("why", "grad can be implicitly created only for scalar outputs --full").out


def test_what_is_called_true_may_have_a_shape():
    assert gradcli("true * x", "-s", "true=2").status == 0


def test_a_file_that_is_missing_has_neighbours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("weights.npy", "weights.csv", "b.npy"):
        (tmp_path / name).write_text("")
    assert "did you mean weights.npy?" in refused("x", "-v", "x=@weigths.npy").err
    assert "the folder has b.npy, weights.npy" in refused("x", "-v", "x=@zzzzzzz.npy").err
    assert "a path is relative to" in refused("x", "-v", "x=@zzz.tsv").err


# ---- shown, never interpreted --------------------------------------------------------------------

HOSTILE = [
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\r",
    "\x08\x08",
    "\x7f",
    "\u202e",
    "\u2066",
    "\x9b31m",
]


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(h) for h in HOSTILE])
def test_control_characters_never_reach_the_terminal(text):
    for args in (
        (f"x{text} + 1",),
        (f"x # {text}z",),
        (f"einsum('{text}', x)",),
        ("x", "-v", f"x={text}"),
        ("x", "-v", f"x=[1, {text}a$]"),
        ("x", "-v", f"{text}=1"),
        ("x", "-v", f"x=@{text}"),
        ("x", "-s", f"x={text}"),
        ("x", "-s", f"{text}=2"),
        ("x", "-g", text),
        ("x", "-w", text),
        ("x", "-o", f"/nowhere/{text}"),
        ("x", "--show", text),
        ("x", "--element", text),
        ("x", "--limit", text),
        ("x", "--dtype", text),
        ("x", "-f", text),
        ("x", f"--{text}"),
        ("ops", text),
        ("examples", text),
        ("batch", text),
    ):
        result = refused(*args, terminal=True, TERM="xterm")
        assert not any(c in result.err for c in text if not c.isprintable())


def test_an_expression_with_control_characters_is_refused():
    for text in HOSTILE:
        result = refused(f"x{text} * 2", "-s", "x=2")
        assert result.err.startswith("error[syntax]: there is an invisible character")
    assert gradcli("x *\t2\n", "-s", "x=2").status == 0
    assert gradcli("h = x * 2\r\nh + 1\r\n", "-s", "x=2").status == 0


MARKUP = [
    "[bold]",
    "[/bold]",
    "[red]x[/]",
    "[link=http://a.b]c[/link]",
    ":smile:",
    "{}",
    "%s",
    "\\[",
]


@pytest.mark.parametrize("text", MARKUP)
def test_markup_is_text(text):
    result = gradcli(f"x * 2 # {text}", "-s", "x=2", terminal=True, TERM="xterm")
    assert result.status == 0
    for args in (("x", "-v", f"x={text}x"), ("x", "--show", text), ("ops", text)):
        assert text in refused(*args, terminal=True, TERM="xterm").err
    shown = gradcli("x['a']" if text == "{}" else f"x + '{text}'", "-s", "x=2").err
    assert shown.count("error[") == 1


def test_subscripts_that_look_like_markup_are_shown():
    out = gradcli("x[i]", "-v", "x=[1.,2.]", "-v", "i=[0,1]", "-g", "[1,1]", terminal=True).out
    assert "x[i]" in re.sub(r"\x1b\[[\d;]*m", "", out)


def test_a_process_shows_one_message_and_no_traceback():
    for args in (["x +"], ["sofmax(x)"], ["x", "-v", "x=@/nowhere"], ["grad", "x*x", "-s", "x=2"]):
        done = subprocess.run(
            [sys.executable, "-m", "gradcli", *args], capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr


def test_no_far_name_of_an_operator_is_suggested():
    assert "did you mean" not in refused("ops", "nonexist").err
    assert "did you mean softmax?" in refused("ops", "sofmax").err


# ---- a cure in the words of whoever asked --------------------------------------------------------

OPTIONS = [
    ("give a seed with --grad, or", "give a seed with grad=, or", 'give a seed with "grad", or'),
    ("choose -s x=2x5)", 'choose shapes={"x": (2, 5)})', 'choose "shapes": {"x": [2, 5]})'),
    ("choose -s x=5, or", 'choose shapes={"x": (5,)}, or', 'choose "shapes": {"x": [5]}, or'),
    (
        "-s a=2x3,b=2,c=4)",
        'shapes={"a": (2, 3), "b": (2,), "c": (4,)})',
        '"shapes": {"a": [2, 3], "b": [2], "c": [4]})',
    ),
    ("give -v x=[...]; or", 'give values={"x": [...]}; or', 'give "values": {"x": [...]}; or'),
    ("with --tangent", "with tangents=", "with --tangent"),
    ("--limit nesting=200", "--limit nesting=200", "--limit nesting=200"),
    ("x - s is x --s", "x - s is x --s", "x - s is x --s"),
    ("-w a asks for another", 'wrt="a" asks for another', '"wrt": ["a"] asks for another'),
    ('as in --target "x=[1, 2]"', 'as in target={"x": [1, 2]}', None),
    ("--target torch and --target jax", 'target="torch" and target="jax"', None),
    ("--full shows all", "full=True shows all", "--full shows all"),
    (
        "8 rows left out (--full shows all)",
        "8 rows left out (full=True shows all)",
        "8 rows left out",
    ),
    ("8 rows left out (--limit seconds=N shows more)", "8 rows left out", None),
    ("8 rows left out (--limit entries=N shows more)", "8 rows left out", None),
    ("takes longer (--limit seconds=N).", "takes longer.", None),
    ("(--show jacobian -w a)", '(gradcli.jacobian(..., wrt="a"))', None),
    ("gradcli ops sof lists", 'gradcli.ops("sof") lists', "gradcli ops sof lists"),
    ("gradcli ops lists", "gradcli.ops() lists", "gradcli ops lists"),
    ('gradcli jacobian "x ** 2", hessian', 'gradcli.jacobian("x ** 2"), hessian', None),
    (
        "a shape is written x=2x3, x=(2,3) or x=(); several: x=2x3,a=3x4",
        'a shape is a tuple of sizes: {"x": (2, 3)}, () for a number',
        'a shape is a list of sizes: {"x": [2, 3]}, [] for a number',
    ),
    (
        "mean softmax? (gradcli ops sof lists what is near); write",
        'mean softmax? (gradcli.ops("sof") lists what is near); write',
        "mean softmax? Else write",
    ),
    (
        "half: --dtype says in which one",
        "half: dtype= says in which one",
        'half: "dtype" says in which one',
    ),
]


@pytest.mark.parametrize(("shell", "page"), [
    ("choose with -s a=2x3,b=2)", 'choose with "Shapes": a=2x3, b=2)'),
    ("Give one with --grad; here", 'Give one with "Seed"; here'),
    ("64, dense (--show jacobian -w w)", '64, dense ("With respect to": w)'),
    ("3 rows left out (--full shows all)", "3 rows left out"),
    ("--limit memory=N raises it", "ask for less, or run gradcli in a terminal"),
    ("x - s is x --s", "x - s is x --s"),
])  # fmt: skip
def test_options_said_as_the_playground_labels_them(shell, page):
    assert option_spelling.respell(shell, option_spelling.PAGE) == page


@pytest.mark.parametrize(("shell", "python", "json"), OPTIONS)
def test_options_said_in_other_words(shell, python, json):
    assert option_spelling.respell(shell, option_spelling.PYTHON) == python
    assert json is None or option_spelling.respell(shell, option_spelling.JSON) == json


OPTION_OF_A_SHELL = re.compile(
    r"(?<![\w-])--?[a-z][a-z-]*(?=[ =).,;:]|$)|gradcli [a-z]", re.MULTILINE
)
ANSWERS = {
    "shapes that were assumed, no seed": lambda **how: library.explain("x@a").to(**how),
    "labels that were made up": lambda **how: library.explain("cross_entropy(x, y)").to(**how),
    "large": lambda **how: library.explain("x@a", shapes={"x": (40, 40)}).to(**how),
    "cut": lambda **how: library.explain(
        "x*y", values={"x": [1.0] * 30, "y": [2.0] * 30}, grad="ones_like(out)"
    ).to(show=["jacobian"], width=how["width"]),
    "many inputs": lambda **how: library.explain("+".join(f"x{k}" for k in range(30))).to(**how),
}


@pytest.mark.parametrize("answer", one_in(3, ANSWERS))
@pytest.mark.parametrize("full", [False, True])
def test_an_explanation_in_python_speaks_of_keywords(answer, full):
    for format in ("plain", "markdown", "json"):
        shown = ANSWERS[answer](format=format, full=full, width=200)
        assert not OPTION_OF_A_SHELL.search(shown)


ASKED_IN_PYTHON = {
    "function": lambda: library.grad("sofmax(x)"),
    "attribute": lambda: library.grad("x.foo"),
    "operator": lambda: library.grad("x ^ 2"),
    "type": lambda: library.grad("x.half()"),
    "elements": lambda: library.grad("x*2", shapes={"x": (100000, 100000)}),
    "nesting": lambda: library.grad("(" * 150 + "x" + ")" * 150),
    "files": lambda: library.grad("x*2", values={"x": "@foo.npy"}),
    "file": lambda: library.grad("x*2", values={"x": "foo.npy"}),
    "message": lambda: library.why("foo bar"),
    "order": lambda: library.explain("x*y", order=2),
    "true": lambda: library.grad("x.sum(true)"),
    "shapes": lambda: library.grad("a*b + c*d*e", values={"a": [1, 2, 3], "c": [1, 2]}),
    "shape": lambda: library.grad("x*2", values={"x": [1, 2]}, grad="x=1"),
    "seed": lambda: library.grad("x*2", values={"x": [1, 2]}),
    "values": lambda: library.grad("x.exp().sum()"),
}


@pytest.mark.parametrize("name", ASKED_IN_PYTHON)
def test_an_error_in_python_speaks_of_keywords(name):
    with pytest.raises(library.GradcliError) as raised:
        ASKED_IN_PYTHON[name]()
    assert not OPTION_OF_A_SHELL.search(f"{raised.value.message}\n{raised.value.hint}")


def test_the_document_in_the_json_of_python_is_shown_as_python_shows_it(tmp_path):
    result = library.explain("x@a", shapes={"a": (2, 1)})
    path = tmp_path / "answer.json"
    path.write_text(result.to("json"))
    assert gradcli("render", str(path), "-f", "plain").out == result.to("plain")


def test_notes_and_warnings_in_python_speak_of_keywords():
    text = "import torch; x = torch.ones(2, requires_grad=True); (x*x).sum().backward(); "
    text += "y = torch.ones(2, requires_grad=True); y.sum().backward()"
    with pytest.warns(UserWarning, match=r"gradcli.read\(\) explains the whole"):
        library.grad(text)
    explained = library.explain(text)
    for notes in (explained.notes, json.loads(explained.to("json"))["notes"]):
        assert any("gradcli.read() explains the whole" in note["message"] for note in notes)


def test_batch_in_python_speaks_of_keywords():
    values = {"x": "@foo.npy"}
    for request in ({"expr": "x", "values": values}, {"expr": "(" * 150 + "x" + ")" * 150}):
        (answer,) = library.batch([request])
        assert not OPTION_OF_A_SHELL.search(answer["error"]["hint"])
        line = gradcli("batch", "-", stdin=json.dumps(request))
        assert re.search(r"--(allow-files|limit)", line.json["error"]["hint"])


def test_notes_in_batch_speak_of_json():
    inputs = "+".join(f"x{k}" for k in range(30))
    (answer,) = library.batch([{"expr": inputs, "want": ["notes"]}])
    assert not any(re.search(r"(?<!\S)-w\b", note["message"]) for note in answer["notes"])


@pytest.mark.parametrize(
    ("ask", "cure"),
    [
        (lambda: library.grad("x * 2"), "with grad=,"),
        (lambda: library.grad("x.exp().sum()"), 'values={"x": [...]}'),
        (lambda: library.jacobian("x[y]", shapes={"x": (2,)}), "values="),
    ],
)
def test_python_is_told_of_keywords(ask, cure):
    with pytest.raises(library.GradcliError) as caught:
        ask()
    assert cure in caught.value.hint
    assert not re.search(option_spelling.OPTION, caught.value.hint)
    assert str(caught.value) == caught.value.message


RAGGED = np.array([[1, 2], [3]], dtype=object)


@pytest.mark.parametrize(
    ("ask", "code", "said"),
    [
        (lambda: library.grad("x * x", wrt=5), "option", "wrt must be the name of an input"),
        (lambda: library.grad("x * x", wrt=["x", 1]), "option", "wrt must be the name of an input"),
        (lambda: library.grad("x * x", wrt=[None]), "option", "wrt must be the name of an input"),
        (lambda: library.grad("x", values={1: 2}), "value", "1 is not a text"),
        (lambda: library.grad("x", shapes={1: (2,)}), "shape-option", "1 is not a text"),
        (lambda: library.jvp("x", tangents={1: 2.0}), "value", "1 is not a text"),
        (lambda: library.seed_for("x", {1: 2.0}), "value", "1 is not a text"),
        (lambda: library.grad("x", values={"x": RAGGED}), "value", "the list is ragged"),
        (lambda: library.grad("x", values={"x": [[1], [2, 3]]}), "value", "the list is ragged"),
        (lambda: library.grad("x", values={"x": [...]}), "value", "not an array of numbers"),
        (lambda: library.grad("x", order=2, grads=5), "value", "grads must be a list of seeds"),
    ],
)
def test_arguments_of_another_type(ask, code, said):
    with pytest.raises(library.GradcliError, match=said) as raised:
        ask()
    assert raised.value.code == code


def test_a_text_is_one_seed():
    found = library.grad("(x**5).sum()", values={"x": [1.0, 2.0]}, order=2, grads="ones_like(out)")
    assert found.tolist() == [20, 160]


CURES = [
    ("tf.nn.relu(x)", "write relu(x); an input has a shape"),
    ("tf.reduce_sum(x)", "write x.sum(); an input has a shape"),
    ("sp.gammaln(x)", "write scipy.special.gammaln(x) or gammaln(x)"),
    ("cp.median(x)", "write np.median(x) or median(x)"),
    ("K.sum(x)", "write np.sum(x) or sum(x)"),
    ("norm.logpdf(x)", "write scipy.stats.norm.logpdf(...)"),
    ("torch.max(x, 0)", "the larger of x and 0 is written clamp(x, min=0)"),
    ("y = x ** 2\ny'", "a transpose is written A.T"),
    ("max(x, 0)", "the larger of x and 0 is written clamp(x, min=0)"),
    ("y = x ** 2; dy/dx", "leave dy/dx out: the last expression is differentiated"),
    ("d(x ** 2)/dx", "a derivative is not written out"),
    ("f(x) = x ** 2", "a function is its body"),
    ("d/dx x**2", "a derivative is not written out"),
    ("x.T*y.^2", "x ** y"),
    ("x' * y", "a transpose is written A.T"),
    ("ln(x)", "write log(x)"),
    ("sin^2(x)", "sin(x) ** 2 for a power"),
    ("sin(x)cos(x)", "sin(x) * cos(x)"),
    ("(x + 1)(x - 1)", "(x + 1) * (x - 1)"),
    ("torch.tensor([x[0] ** 2, x[1]])", "no gradient flows through it"),
]


@pytest.mark.parametrize(("text", "cure"), CURES)
def test_what_is_written_elsewhere_has_a_cure(text, cure):
    with pytest.raises(library.GradcliError) as raised:
        library.formula(text)
    assert cure in raised.value.hint


def test_a_derivative_of_what_has_a_value():
    with pytest.raises(library.GradcliError, match="a derivative is not written out"):
        library.grad("y = x ** 2; dy/dx", values={"x": 3.0})


def test_dy_and_dx_may_be_names():
    assert library.formula("y = x ** 2; y * dy / dx", wrt="dy") == "g * y / dx"
    values = {"x": 1.0, "dy": 6.0, "dx": 2.0}
    assert library.grad("y = x ** 2; dy / dx", values=values, wrt="dy") == 0.5


@pytest.mark.parametrize(
    ("call", "name"),
    [
        *((f"{f}(x, x)", f) for f in ("sort", "argsort", "cummax", "mode", "kthvalue", "topk")),
        *((f"{f}(x > 1)", f) for f in ("trapz", "fix")),
        ("linalg.norm(x, x)", "norm"),
        ("np.sort(x, x)", "sort"),
        ("sin(sort(x, x))", "sort"),
        ("searchsorted(x, 'foo')", "searchsorted"),
        ("cross_entropy(stack([x, x]), x > 1, x)", "cross_entropy"),
        ("lp_pool2d(x, 2, 2)", "lp_pool2d"),
        ("arccos()", "arccos"),
    ],
)
def test_errors_name_what_was_typed(call, name):
    """And not the operators that a call is made of."""
    with pytest.raises(GradcliError) as raised:
        library.explain(call, values={"x": [1.0, 2.0]} if "x" in call else {})
    named = re.findall(r"(\w+)\(", f"{raised.value.message} {raised.value.hint}".split("mask.")[0])
    assert set(named) == {name}
