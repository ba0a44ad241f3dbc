"""Conventions, odd values and variants of arguments, for the operators of every day."""

import numpy as np
from support import generator

INF, NAN = np.inf, np.nan
MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]
SQUARE = [[2.0, 1.0, 0.5], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]]
TIES = [[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]
HOLES = [[1.0, NAN, 3.0], [INF, 2.0, -INF], [0.0, -0.0, 0.0]]
AROUND = [-3.0, -2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 6.0, 7.0, INF, -INF, NAN]
LABELS = [2, 0]
RANDOM = "random"  # a seed in the shape of the output


def case(text, seed=None, **values):
    return text, values, seed


CONVENTIONS = [
    case("relu(x)", AROUND, x=AROUND),
    case("abs(x) + sign(x)", AROUND, x=AROUND),
    *(case(f"x ** {e}", AROUND, x=AROUND) for e in (0, 1, 2, 3, -1, -2, 0.0, 0.5, 1.0, 1.5, 2.0)),
    *(case(f"x ** ({e})", AROUND, x=AROUND) for e in ("-0.5", "inf", "-inf", "nan")),
    *(case(f"{b} ** x", AROUND, x=AROUND) for b in (0, 1, 2, 0.5, 0.0)),
    *(case(f"({b}) ** x", AROUND, x=AROUND) for b in ("-1", "-2.0", "inf", "-inf", "nan")),
    case("a ** b", [1.0, 2, 3, 4], a=[0.0, 0.0, 0.0, 0.0], b=[0.0, 2.0, -1.0, 1.0]),
    case("x ** tensor(2)", AROUND, x=AROUND),
    *(case("x ** b", AROUND, x=AROUND, b=b) for b in (0.5, 3.0, -0.5)),
    case("x ** x", AROUND, x=AROUND),
    case("square(x) + x.reciprocal() + rsqrt(x)", AROUND, x=AROUND),
    case("maximum(a, b)", [1.0, 2, 3, 4], a=[1.0, 2, NAN, 4], b=[1.0, 3, 1, NAN]),
    case("max(a, b) - min(b, a)", [1.0, 2, 3], a=[1.0, 2, 4], b=[1.0, 3, 1]),
    case("clamp(x, -0.5, 1)", AROUND, x=AROUND),
    case("x.clamp(min=0) + x.clamp(max=2) + clip(x, 1, -1)", AROUND, x=AROUND),
    case("clamp(x, a, b)", [1.0, 2, 3, 4], x=[0.0, 1, 2, NAN], a=[0.0, 1, 3, 0], b=[1.0, 1, 2, 1]),
    case("floor(x) + ceil(x) + round(x)", AROUND, x=AROUND),
    case("x % 2 + x % -1.5", AROUND[:13], x=AROUND[:13]),
    case("x % y", [1.0, 2, 3], x=[5.0, -5, 4], y=[3.0, 3, -2]),
    case("x // 2", [1.0, 1.0], x=[3.0, 5.0]),
    case("x.argmax()", 1.0, x=[3.0, 5.0]),
    case("x > 4", [1.0, 1.0], x=[3.0, 5.0]),
    case("where(x > 0, sqrt(x), 0)", AROUND, x=AROUND),
    case("where(x > 0, x, -x) + where(x.eq(0), 1.0, x)", AROUND, x=AROUND),
    case("softplus(x, beta=2) + softplus(x, threshold=1)", AROUND, x=AROUND),
    case("elu(x, alpha=0.5) + leaky_relu(x, 0.2)", AROUND, x=AROUND),
    case("gelu(x) + gelu(x, approximate='tanh')", AROUND, x=AROUND),
    case("x.detach() * x", AROUND, x=AROUND),
    *(
        case(f"w * bucketize(x, tensor([0.0, 1.0, 2.0]), right={r})", AROUND, x=AROUND, w=AROUND)
        for r in (False, True)
    ),
    case("w * searchsorted(tensor([-1.0, 1.0]), x, side='right')", AROUND, x=AROUND, w=AROUND),
    *(
        case(f"w * searchsorted(tensor({row}), x, right={r})", AROUND, x=AROUND, w=AROUND)
        for row in ("[nan]", "[-0.2, 0.5, nan]", "[0.0, 1.0, nan, nan]", "[0.0, 0.0, inf, nan]")
        for r in (True, False)
    ),
    case("x * x.long() + x.int()", AROUND[:13], x=AROUND[:13]),
    *(
        case(f"x * {mask} + x", [1.0, 2.0], x=[1.0, v], y=[1.0, 3.0])
        for mask in (
            "torch.equal(x, y)",
            "x.equal(y)",
            "torch.equal(x, y[0])",
            "x.eq(y)",
            "torch.allclose(x, y)",
            "x.allclose(y, equal_nan=True, atol=0.1)",
        )
        for v in (2.0, 2.99999, 3.0, NAN)
    ),
]
REDUCTIONS = [
    *(case(f"x.{f}()", x=v) for f in ("max", "min", "amax", "amin") for v in (TIES, HOLES)),
    *(case(f"x.{f}(dim=1)", [3.0, 5.0], x=TIES) for f in ("amax", "amin")),
    *(case(f"x.{f}(dim=1)", [3.0, 5.0, 7.0], x=HOLES) for f in ("amax", "amin")),
    *(case(f"x.{f}(dim=1).values", [3.0, 5.0], x=TIES) for f in ("max", "min")),
    *(case(f"x.{f}(1, keepdim=True)[0]", [[3.0], [5.0]], x=TIES) for f in ("max", "min")),
    *(case(f"x.{f}(dim=1).values", [3.0, 5.0, 7.0], x=HOLES) for f in ("max", "min")),
    case("x * x.max(dim=1).indices.unsqueeze(1)", MATRIX, x=MATRIX),
    case("x * argmin(x, dim=0) + x * x.argmax()", TIES, x=TIES),
    case("x * argmin(x, dim=0)", HOLES, x=HOLES),
    *(case(f"x.{f}()", x=HOLES) for f in ("sum", "mean", "prod", "var", "std")),
    *(case("x.prod()", x=[2.0, y, 3.0]) for y in (INF, -INF, NAN)),
    *(case("x.prod(0)", 2.0, x=[y, INF, 0.0]) for y in (2.0, NAN)),
    *(case(f"x.{f}()", INF, x=[1.0, 3, 3, 1]) for f in ("max", "min", "amax", "amin")),
    *(
        case(f"x.norm({p})", x=v)
        for p in ("1", "2", "inf", "-1", "0.5", "3")
        for v in ([NAN, 1.0], [INF, 1.0], [INF, -INF], [0.0, 1.0])
    ),
    case("logsumexp(x, (0, 1))", x=HOLES),
    case("x.prod()", x=[2.0, 0.0, 3.0]),
    case("x.prod()", x=[2.0, 0.0, 0.0]),
    case("x.prod(dim=1)", [1.0, 2.0], x=[[2.0, 0.0, 3.0], [4.0, 5.0, 6.0]]),
    case("x.prod(0)", [1.0, 2.0, 3.0], x=[[0.0, 0.0, 3.0], [0.0, 5.0, 0.0]]),
    case("x.prod()", x=[2.0, INF, 0.0]),
    case("x.prod()", x=2.0),
    *(
        case(f"x.norm({p})", x=v)
        for p in ("0", ".5", "1", "1.5", "2", "3", "inf", "'fro'")
        for v in (MATRIX, [0.0, 0.0, 0.0], [0.0, -1.0, 2.0], [3.0, -3.0, 0.0])
    ),
    *(
        case(
            f"linalg.vector_norm(x, {p}, dim=1)",
            [1.0, 2, 3],
            x=[[0.0, 0, 0], [1, 0, -2], [2, 2, 2]],
        )
        for p in ("0", ".5", "1", "1.5", "2", "2.5", "3", "inf", "-inf")
    ),
    *(case(f"linalg.vector_norm(x, {p})", x=[1.0, -2.0, 3.0]) for p in ("-1", "-2", "-inf")),
    case("norm(x, 2, dim=1, keepdim=True)", [[1.0], [2.0]], x=MATRIX),
    case("sqrt((x ** 2).sum())", x=[0.0, 0.0]),
    case("x.std()", x=[1.0]),
    case("x.var()", x=[1.0]),
    case("x.var(-1)", x=1.0),
    case("x.var(-1)", x=NAN),
    case("x.std()", x=[2.0, 2.0, 2.0]),
    case("x.std(0, correction=0)", [1.0, 2.0, 3.0], x=TIES),
    case("x.var(dim=1, unbiased=False)", [1.0, 2.0], x=TIES),
    case("torch.std(x, 0, False)", [1.0, 2, 3], x=MATRIX),
    case("x.std(1, True, keepdim=True)", [[1.0], [2.0]], x=MATRIX),
    *(case(f"x.{f}(correction={k})", x=MATRIX) for f in ("var", "std") for k in (6, 7)),
    *(case(f"x.{f}()", x=np.zeros(0)) for f in ("var", "std", "mean", "prod", "norm")),
    *(case(f"x * zeros(0, 3).long().{f}()", x=2.0) for f in ("median", "nanmedian")),
    case("torch.var(x, 1)", [1.0, 2.0], x=MATRIX),
    case("logsumexp(x, 0)", x=[-INF, -INF]),
    case("logsumexp(x, 0)", x=[-INF, 1.0]),
    case("logsumexp(x, 0)", x=[INF, 1.0]),
    case("logsumexp(x, 0)", x=[INF, INF]),
    case("x.logsumexp(1)", [1.0, 2.0], x=[[1000.0, 1001.0], [-1000.0, -1000.0]]),
    case("softmax(x, 0)", [1.0, 2.0], x=[-INF, -INF]),
    case("softmax(x, 0)", [1.0, 2.0], x=[INF, 0.0]),
    case("softmax(x, 0)", [1.0, 2.0, 3.0], x=[-INF, 0.0, 1000.0]),
    case("log_softmax(x, 0)", [1.0, 2.0, 3.0], x=[-INF, 0.0, 1000.0]),
    case("log_softmax(x, 0)", [1.0, 2.0], x=[-INF, -INF]),
    case("softmax(x, 0) + log_softmax(x, -1)", 2.0, x=3.0),
    case("cumsum(x, 1)", MATRIX, x=MATRIX),
    case("cumsum(x, 0)", HOLES, x=HOLES),
    case("cumsum(x, 0)", 2.0, x=3.0),
    case("x.sum((0, 2)) + x.mean((0, -1), keepdim=True).sum()", [1.0, 2], x=np.ones((3, 2, 2))),
    case("x.sum(dim=()) + x.mean()", x=MATRIX),
    case("x.sum() + x.mean() + x.max() + x.norm()", x=2.0),
    case("x.sum(0) + x.mean(-1) + x.amax(0) + x.logsumexp(0)", x=2.0),
    case("x.sum(0)", [], x=np.zeros((2, 0))),
    case("x.sum() + x.prod()", x=np.zeros((2, 0))),
    case("x.mean()", x=np.zeros(0)),
    case("x.sum(dim=1, keepdim=True) * y", MATRIX, x=MATRIX, y=MATRIX),
    case("(x > 1).sum() * x", MATRIX, x=MATRIX),
]
SHAPES = [
    case("x[[0, 0, 2]]", [1.0, 2.0, 3.0], x=[5.0, 6.0, 7.0]),
    case("x[tensor([[0, 1], [1, 1]])]", [[1.0, 2.0], [3.0, 4.0]], x=[5.0, 6.0, 7.0]),
    case("x[[0, 1], [2, 2]]", [1.0, 2.0], x=MATRIX),
    case("x[:, [2, 0, 0]]", [[1.0, 2, 3], [4, 5, 6]], x=MATRIX),
    case("x[0, :, [1, 0]]", RANDOM, x=np.arange(12.0).reshape(2, 3, 2)),
    case("x[[1, 0], :, 0]", RANDOM, x=np.arange(12.0).reshape(2, 3, 2)),
    case("x[[1, 0], None, [0, 0]]", [[1.0], [4]], x=MATRIX),
    *(
        case(f"x[{index}]", RANDOM, x=MATRIX)
        for index in (
            *("True", "-1, False", "False, :, True", "True, [0, 1]", "0, True, [0, 1]"),
            *(":, True, [0, 1]", "[0], :, True", "True, ..., None", "1, True, 2", "tensor(True)"),
        )
    ),
    case("x[x > 2]", [1.0, 2, 3, 4], x=MATRIX),
    case("x[x[:, 0] > 2]", [[1.0, 2, 3]], x=MATRIX),
    case("x[..., x[0] > 1] * 2", [[1.0, 2], [3, 4]], x=MATRIX),
    case("x[-1, 1:][None, ..., ::2]", [[3.0]], x=MATRIX),
    case("x[i]", [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]], x=MATRIX, i=[1, 0, 1]),
    case("x[0:0].sum() + x[5:].sum()", x=MATRIX),
    case("x.gather(1, i)", [[1.0, 2, 3], [4, 5, 6]], x=MATRIX, i=[[0, 0, 2], [1, 1, 1]]),
    case("x.gather(0, i)", [[1.0, 2]], x=MATRIX, i=[[1, 0]]),
    case("split(x, 2, dim=1)[0] * split(x, 2, 1)[1]", [[1.0, 2], [3, 4]], x=MATRIX),
    case("split(x, [1, 2], dim=1)[1]", [[1.0, 2], [3, 4]], x=MATRIX),
    case("a, b = x.chunk(2, dim=0); a / b", [[1.0, 2, 3]], x=MATRIX),
    case("chunk(x, 2, 1)[0]", [[1.0, 2], [3, 4]], x=MATRIX),
    case("a, b = unbind(x); a * b", [1.0, 2, 3], x=MATRIX),
    case("x.unbind(1)[2]", [1.0, 2], x=MATRIX),
    case("x.T @ x", SQUARE, x=MATRIX),
    case("x.mT + x.transpose(-1, 0) + x.t() + x.H", np.transpose(MATRIX), x=MATRIX),
    case("x.mT + x.mH + x.adjoint()", x=2.0),
    case("x.permute(2, 0, 1)", np.arange(12.0).reshape(2, 2, 3), x=np.ones((2, 3, 2))),
    case("permute(x, (-1, 0, 1))", np.arange(12.0).reshape(2, 2, 3), x=np.ones((2, 3, 2))),
    case("x.swapaxes(0, 1)", np.transpose(MATRIX), x=MATRIX),
    case("x.expand(2, 3) * x", MATRIX, x=[1.0, 2, 3]),
    case("x.expand(-1, 4)", np.ones((2, 4)), x=[[1.0], [2.0]]),
    case("x.expand_as(y) * y", MATRIX, x=[1.0, 2, 3], y=MATRIX),
    case("x.broadcast_to((2, 3))", MATRIX, x=[1.0, 2, 3]),
    case("x.repeat(2, 1, 2)", np.arange(24.0).reshape(2, 2, 6), x=MATRIX),
    case("x.tile(2) + tile(x, (1, 2))", np.arange(12.0).reshape(2, 6), x=MATRIX),
    *(case(f"x.{f}({k})", MATRIX, x=MATRIX) for f in ("tril", "triu") for k in (-3, -1, 0, 1, 3)),
    *(case(f"(x.diag({k}) ** 2).sum()", x=MATRIX) for k in (-2, -1, 0, 1, 2, 3)),
    *(case(f"diag(x, {k}).tril()", np.arange(9.0).reshape(3, 3), x=[1.0, 2]) for k in (-1, 1)),
    case("diag(x) @ x", [1.0, 2.0], x=[1.0, 2.0]),
    case("x.flip(0) + x.flip(0, 1) + flip(x, (1,))", MATRIX, x=MATRIX),
    case("x.reshape(3, -1) @ x.view(2, 3)", SQUARE, x=MATRIX),
    case("x.flatten() + x.ravel() + x.reshape(-1)", np.arange(6.0), x=MATRIX),
    case("x.flatten(1) + flatten(x, 1, 2)", MATRIX, x=np.ones((2, 3, 1))),
    case("x.squeeze() + x.squeeze(1).squeeze(0)", 2.0, x=[[3.0]]),
    case("x.unsqueeze(0) + x.unsqueeze(-1) + x[None, :]", SQUARE, x=[1.0, 2, 3]),
    case("cat([x, y, x], dim=1)", np.arange(16.0).reshape(2, 8), x=MATRIX, y=[[1.0, 2], [3, 4]]),
    case("cat((x, x[:1]), 0)", np.arange(9.0).reshape(3, 3), x=MATRIX),
    case("cat([x, y], dim=-1)", [1.0, 2, 3], x=[1.0, 2, 3], y=np.zeros(0)),
    case("stack([x, y, x], dim=1)", np.arange(6.0).reshape(2, 3), x=[1.0, 2], y=[3.0, 4]),
    case("stack((x, x), -1)", np.arange(4.0).reshape(2, 2), x=[1.0, 2]),
    case("x * (x > 2) + x * ~(x > 5) + x * ((x > 1) & (x < 4))", MATRIX, x=MATRIX),
    case("(x * m).sum() + x[m].sum()", x=[1.0, 2, 3], m=[True, False, True]),
    case("x.shape[0] * x + x.ndim + x.numel() + len(x)", MATRIX, x=MATRIX),
    case("ones_like(x) * x + full_like(x, 2) * x", MATRIX, x=MATRIX),
    case("where(tril(ones(3, 3)) > 0, x, -inf).softmax(-1)", SQUARE, x=SQUARE),
    case("2 * x[0]", 1.0, x=[1.0, 2.0]),
    case("x[0] * 2 + 0 * y[0]", 1.0, x=[1.0, 2.0], y=[3.0]),
]
EQUATIONS = [
    ("ii", "33"), ("ii->i", "33"), ("ij->ji", "23"), ("ij", "23"), ("ji", "23"), ("ij->", "23"),
    ("ij->i", "23"), ("i,i", "3 3"), ("i,j->ij", "2 3"), ("ij,jk", "23 34"), ("ij,kj->ik", "23 43"),
    ("bij,bjk->bik", "223 234"), ("...ij,...jk->...ik", "223 34"), ("...i->...", "223"),
    ("i...->...", "223"), ("...i,i", "223 3"), ("ii,jj->", "22 33"), ("iij->j", "223"),
    ("iij,ij->ij", "223 23"), ("iii->i", "222"), ("i,ij,j->", "2 23 3"), ("ij,ij->ij", "23 13"),
    ("ij,ij->", "23 13"), ("ij,jk->ik", "21 34"), ("bhqd,bhkd->bhqk", "2122 2132"),
    ("a...b,b...->a...", "223 32"), ("ij,k->", "23 2"), ("...,...->...", "23 3"), (",i->i", "* 3"),
    ("ij,ij->j", "21 13"), ("ij,ij->", "21 13"), ("bi,bi->b", "21 23"), ("...i,...i->...", "21 13"),
    ("...ij,...jk->...ik", "23 212"), ("bij,bj->bi", "134 21"), ("ii,ij->j", "33 12"),
]  # fmt: skip


def einsum_case(equation, sizes):
    names = "abc"
    shapes = [() if s == "*" else tuple(map(int, s)) for s in sizes.split()]
    draw = generator(equation, sizes)
    values = {n: draw.normal(size=s) for n, s in zip(names, shapes)}
    return case(f"einsum('{equation}', {', '.join(values)})", RANDOM, **values)


def drawn(text, **shapes):
    """A case with random values of these shapes and a random seed."""
    draw = generator(text)
    return case(text, RANDOM, **{name: draw.normal(size=s) for name, s in shapes.items()})


IMAGES = [
    drawn("conv2d(x, w)", x=(2, 3, 4, 4), w=(2, 3, 2, 2)),
    drawn("conv2d(x, w, b)", x=(3, 4, 4), w=(2, 3, 2, 2), b=(2,)),
    drawn("conv2d(x, w, b, 2, 1)", x=(1, 2, 5, 5), w=(2, 2, 3, 3), b=(2,)),
    drawn("conv2d(x, w, stride=(2, 1), padding=(0, 2))", x=(1, 2, 5, 5), w=(2, 2, 3, 2)),
    drawn("conv2d(x, w, dilation=2)", x=(1, 1, 6, 5), w=(1, 1, 2, 2)),
    drawn("conv2d(x, w, dilation=(1, 2), stride=3, padding=1)", x=(1, 1, 6, 5), w=(1, 1, 2, 2)),
    drawn("conv2d(x, w, groups=3)", x=(2, 3, 3, 3), w=(6, 1, 2, 2)),
    drawn("conv2d(x, w, b, groups=2, padding='same')", x=(4, 3, 3), w=(2, 2, 3, 3), b=(2,)),
    drawn("conv2d(x, w, padding='same')", x=(1, 1, 4, 3), w=(1, 1, 2, 3)),
    drawn("conv2d(x, w, padding='valid')", x=(1, 1, 4, 3), w=(1, 1, 2, 3)),
    drawn("layer_norm(x, (3,))", x=(2, 3)),
    drawn("layer_norm(x, (2, 3), w, b, eps=1e-3)", x=(4, 2, 3), w=(2, 3), b=(2, 3)),
    drawn("layer_norm(x, [3], weight=w)", x=(2, 3), w=(3,)),
    drawn("linear(x, w, b) + linear(x, w)", x=(2, 4, 3), w=(5, 3), b=(5,)),
    drawn("linear(x, w)", x=(2, 3), w=(3,)),
    drawn("linear(x, w, b) + linear(x, w, c)", x=(4, 2, 3), w=(2, 3), b=(2, 2), c=()),
]
MATRICES = [
    *(drawn("a @ b", a=a, b=b) for a, b in [
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((4, 2, 3), (3,)),
        ((3,), (4, 3, 2)), ((4, 2, 3), (3, 2)), ((2, 3), (4, 3, 2)), ((4, 1, 2, 3), (5, 3, 2)),
        ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((1, 2, 3), (4, 3, 2)),
    ]),
    drawn("mm(a, b) + a.mm(b)", a=(2, 3), b=(3, 2)),
    drawn("mv(a, b) + a.mv(b)", a=(2, 3), b=(3,)),
    drawn("bmm(a, b)", a=(2, 2, 3), b=(2, 3, 2)),
    drawn("dot(a, b) * inner(a, b)", a=(3,), b=(3,)),
    drawn("outer(a, b)", a=(2,), b=(3,)),
    drawn("trace(a @ b)", a=(2, 3), b=(3, 2)),
    drawn("trace(a)", a=(3, 2)),
    case("solve(a, b)", [1.0, 2, 3], a=SQUARE, b=[1.0, 2, 3]),
    case("solve(a, b)", [[1.0], [2], [3]], a=SQUARE, b=[[1.0], [2], [3]]),
    case("linalg.solve(a, b)", np.ones((2, 3)), a=[SQUARE, SQUARE], b=[[1.0, 2, 3], [4, 5, 6]]),
    case("linalg.solve(a, b)", [[1.0, 2, 3], [4, 5, 6]], a=[SQUARE, SQUARE], b=[1.0, 2, 3]),
    case("linalg.solve(a, b)", [[1.0, 2, 3]], a=[SQUARE], b=[1.0, 2, 3]),
    case("linalg.solve(a, b)", np.ones((2, 3, 2)), a=[SQUARE, SQUARE], b=np.ones((2, 3, 2))),
    case("solve(a, b)", np.ones((2, 3, 2)), a=[SQUARE, SQUARE], b=np.ones((3, 2))),
    case("solve(a, b)", np.ones((2, 3, 2)), a=SQUARE, b=np.ones((2, 3, 2))),
    case("inv(a) + linalg.inv(a) + a.inverse()", SQUARE, a=SQUARE),
    case("inv(a)", np.ones((2, 3, 3)), a=[SQUARE, np.transpose(SQUARE)]),
    case("det(a) * a.det()", a=SQUARE),
    case("det(a)", a=[[1.0, 2], [2, 4]]),
    case("det(a)", a=[[0.0, 0], [0, 0]]),
    case("det(a)", [1.0, 2, 3], a=[[[1.0, 2], [2, 4]], [[1, 2], [3, 4]], [[0, 0], [0, 0]]]),
    case("det(a)", a=[[2.0, 0, 0], [0, 0, 0], [0, 0, 3]]),
    case("det(a)", a=[[3.0]]),
    case("logdet(a)", a=SQUARE),
    case("logdet(a)", [1.0, 2], a=[SQUARE, SQUARE]),
    case("logdet(a)", a=[[0.0, 1.0], [1.0, 0.0]]),
]  # fmt: skip
W = [0.5, 2.0, 1.0]
IMAGE = np.linspace(-1, 1, 2 * 3 * 2 * 2).reshape(2, 3, 2, 2)
PLACES = [[[0, 1], [2, 0]], [[1, 1], [2, -100]]]
LOSSES = [
    case("cross_entropy(x, y)", x=MATRIX, y=LABELS),
    case("cross_entropy(x, y)", 2.0, x=[1.0, 2, 3], y=1),
    case("cross_entropy(x, y, reduction='sum')", x=MATRIX, y=LABELS),
    case("cross_entropy(x, y, reduction='none')", [1.0, 2.0], x=MATRIX, y=LABELS),
    case("cross_entropy(x, y, tensor([0.5, 2.0, 1.0]))", x=MATRIX, y=LABELS),
    case(
        "cross_entropy(x, y, weight=tensor([0.5, 2.0, 1.0]), reduction='sum')", x=MATRIX, y=LABELS
    ),
    case(
        "cross_entropy(x, y, tensor([0.5, 2.0, 1.0]), reduction='none')",
        [1.0, 2.0],
        x=MATRIX,
        y=LABELS,
    ),
    case("cross_entropy(x, y, ignore_index=0)", x=MATRIX, y=LABELS),
    case("cross_entropy(x, y)", x=MATRIX, y=[-100, 1]),
    case("cross_entropy(x, y)", x=MATRIX, y=[-100, -100]),
    case("cross_entropy(x, y, reduction='none')", [1.0, 2], x=MATRIX, y=[-100, 1]),
    case("cross_entropy(x, y, label_smoothing=0.2)", x=MATRIX, y=LABELS),
    case("cross_entropy(x, y, label_smoothing=0.2, reduction='sum')", x=MATRIX, y=[2, -100]),
    case("cross_entropy(x, y, label_smoothing=0.2)", x=MATRIX, y=[2, -100]),
    case(
        "cross_entropy(x, y, label_smoothing=0.2, reduction='none')",
        [1.0, 2],
        x=MATRIX,
        y=[2, -100],
    ),
    case("cross_entropy(x, y, tensor([0.5, 2.0, 1.0]), label_smoothing=0.2)", x=MATRIX, y=LABELS),
    case(
        "cross_entropy(x, y, tensor([0.5, 2.0, 1.0]), label_smoothing=0.2, ignore_index=0)",
        x=MATRIX,
        y=LABELS,
    ),
    case(
        "cross_entropy(x, y, tensor([0.5, 2.0, 1.0]), label_smoothing=0.2, reduction='none')",
        [1.0, 2],
        x=MATRIX,
        y=LABELS,
    ),
    *(
        case(f"{f}(x, y, {more}reduction='{reduction}')", x=np.zeros((2, 0)), y=[-100, -100])
        for f in ("nll_loss", "cross_entropy")
        for more in ("", "weight=torch.zeros(0), ")
        for reduction in ("mean", "sum", "none")
    ),
    case("cross_entropy(x, y, label_smoothing=0.1)", x=np.zeros((2, 0)), y=[-100, -100]),
    case("cross_entropy(x, y, ignore_index=5)", x=np.zeros(0), y=5),
    case("cross_entropy(x, y)", x=np.zeros((0, 3)), y=np.zeros(0, int)),
    case("cross_entropy(x, softmax(t, 1))", x=MATRIX, t=TIES),
    case("cross_entropy(x, t, reduction='sum', label_smoothing=0.1)", x=MATRIX, t=TIES),
    case("cross_entropy(x, t, tensor([0.5, 2.0, 1.0]))", x=MATRIX, t=TIES),
    case("cross_entropy(x, t, tensor([0.5, 2.0, 1.0]), label_smoothing=0.1)", x=MATRIX, t=TIES),
    case("cross_entropy(x, t, reduction='none')", 2.0, x=[1.0, 2, 3], t=[0.2, 0.3, 0.5]),
    case("cross_entropy(x, y)", x=IMAGE, y=PLACES),
    case("cross_entropy(x, y, reduction='none')", np.ones((2, 2, 2)), x=IMAGE, y=PLACES),
    case("cross_entropy(x, y, tensor([0.5, 2.0, 1.0]), label_smoothing=0.1)", x=IMAGE, y=PLACES),
    case("cross_entropy(x, t)", x=IMAGE, t=IMAGE**2),
    case("cross_entropy(x, t, tensor([0.5, 2.0, 1.0]))", x=IMAGE, t=IMAGE**2),
    case("nll_loss(x, y)", x=MATRIX, y=LABELS),
    case("nll_loss(x, y, reduction='none')", [1.0, 2], x=MATRIX, y=LABELS),
    case("nll_loss(x, y)", x=IMAGE, y=PLACES),
    case("nll_loss(log_softmax(x, 0), y)", x=[1.0, 2, 3], y=1),
    case("nll_loss(x, y)", x=[2.0], y=[0]),
    case("nll_loss(x, y, tensor([0.5, 2.0, 1.0]), ignore_index=2)", x=MATRIX, y=LABELS),
    case("mse_loss(x, y)", x=MATRIX, y=TIES),
    case("mse_loss(x, y, reduction='none')", MATRIX, x=MATRIX, y=TIES),
    case("l1_loss(x, y)", x=MATRIX, y=TIES),
    case("l1_loss(x, y, reduction='sum')", x=TIES, y=[[1.0, 3, 4], [2, 2, NAN]]),
    case("binary_cross_entropy(p, t)", p=[0.1, 0.5, 0.9], t=[0.0, 1.0, 0.3]),
    case(
        "binary_cross_entropy(p, t, reduction='sum')",
        p=[0.0, 1.0, 0.0, 1.0],
        t=[0.0, 1.0, 1.0, 0.0],
    ),
    case(
        "binary_cross_entropy(p, t, tensor([1.0, 2.0]), reduction='none')",
        [1.0, 2],
        p=[0.2, 0.3],
        t=[1.0, 0.0],
    ),
    case("binary_cross_entropy_with_logits(x, t)", x=[0.0, -800.0, 800.0], t=[0.0, 1.0, 0.3]),
    case(
        "binary_cross_entropy_with_logits(x, t, pos_weight=tensor([2.0, 3.0, 1.0]))",
        x=MATRIX,
        t=TIES,
    ),
    case("binary_cross_entropy_with_logits(x, t, tensor([2.0, 3.0, 1.0]))", x=MATRIX, t=TIES),
    case("logsigmoid(x)", AROUND, x=AROUND),
]
SEEDS = [
    case("x * x", [[1.0, 1.0]], x=[[2.0, 3.0]]),
    case("x.sum()", 3.0, x=[2.0, 3.0]),
    case("x.sum(0, keepdim=True)", [3.0], x=[2.0, 3.0]),
    case("x * x", None, x=[3.0]),
    case("x * y + z * 0", [1.0, 2.0], x=[3.0, 4.0], y=[5.0, 6.0], z=[INF, 0.0]),
    case("(x * 3)[0:1].sum() * 0 + x[1]", x=[3.0, 4.0]),
    case("h = x * x; h = h + x; h * x", [1.0, 2.0], x=[3.0, 4.0]),
    case("x + x + x * 1 - x / 1", [0.1, 0.7], x=[3.0, 4.0]),
]
CASES = [
    *CONVENTIONS, *REDUCTIONS, *SHAPES, *(einsum_case(*e) for e in EQUATIONS), *IMAGES,
    *MATRICES, *LOSSES, *SEEDS,
]  # fmt: skip
