"""What PyTorch refuses of the arguments of single functions, in its words, by function."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...lazy import np
from ..python.values import Class, Unsupported, error
from .checks import (
    LONG_NAMES,
    check_bmm,
    check_broadcast,
    check_dims,
    dimension,
)
from .dtypes import BOOL, INT64
from .functional_transforms import in_vmap
from .kernels import not_implemented
from .tensor import Tensor
from .zeros import UNKNOWN, mixed_zeros

LINALG_ERROR = Class("_LinAlgError", (error("RuntimeError", "").value.cls,), module="torch._C")
Check = Callable[..., None]
CHECKS: dict[str, list[Check]] = {}  # of a function, in the order in which they are made


def check(*names: str) -> Callable[[Check], Check]:
    """A check of the arguments of these functions."""

    def put(function: Check) -> Check:
        for name in names:
            CHECKS.setdefault(name, []).append(function)
        return function

    return put


def refuse(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise what PyTorch raises of these arguments, where a check of this function knows it."""
    first = args[0] if args else None
    if isinstance(first, list | tuple) and first:
        first = first[0]
    if isinstance(first, Tensor | str):
        for function in CHECKS.get(name, ()):
            function(*args, **named)


@check("bmm")
def _bmm(input: Tensor, mat2: Any, **_: Any) -> None:
    if isinstance(mat2, Tensor):
        check_bmm(input, mat2)


# ---- dimensions ----------------------------------------------------------------------------------


@check("squeeze")
def _dims(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
    check_dims(input, dim)


@check("unsqueeze")
def _unsqueeze(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
    if isinstance(dim, int):
        dimension(dim, input.ndim + 1)


@check("transpose", "swapaxes", "swapdims")
def _transpose(input: Tensor, dim0: Any = 0, dim1: Any = 0, **_: Any) -> None:
    check_dims(input, (dim0, dim1))


@check("logsumexp", "cumprod", "sort", "argsort", "flip", "any")
def _along(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
    if not isinstance(dim, Tensor):
        check_dims(input, dim)


def _place_of(name: str) -> None:
    def checked(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
        if input.dtype.kind == "bool":
            raise error("RuntimeError", f"{name}(): does not support bool input")
        _along(input, dim)
        if not input.numel and dim is None:
            text = f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
            raise error("IndexError", text)
        if isinstance(dim, int) and input.ndim and not input.shape[dim]:
            text = f"{name}(): Expected reduction dim {dim} to have non-zero size."
            raise error("IndexError", text)

    check(name)(checked)


for _own in ("argmax", "argmin"):
    _place_of(_own)


@check("max", "min")
def _extreme(input: Tensor, dim: Any = None, *_: Any, **__: Any) -> None:
    if dim is None and not input.numel:
        text = (
            "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
        raise error("RuntimeError", text)
    _along(input, dim)


@check("t")
def _t(input: Tensor) -> None:
    if input.ndim > 2:
        text = f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D"
        raise error("RuntimeError", text)


@check("permute")
def _permute(input: Tensor, *dims: Any, **named: Any) -> None:
    given = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    if not named and len(given) != input.ndim:
        raise error(
            "RuntimeError",
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {input.ndim} is not "
            f"equal to len(dims) = {len(given)}",
        )
    if not named:
        places = [dimension(d, input.ndim) for d in given]
        if len(set(places)) < len(places):
            raise error("RuntimeError", "permute(): duplicate dims are not allowed.")


@check("expand")
def _expand(input: Tensor, *sizes: Any, **_: Any) -> None:
    given = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    given = tuple(getattr(given, "payload", given))
    kind = f"{input.dtype.type_name}{{{list(input.shape)}}}"
    if len(given) < input.ndim:
        raise error(
            "RuntimeError",
            f"expand({kind}, size={list(given)}): the number of sizes provided ({len(given)}) must "
            f"be greater or equal to the number of dimensions in the tensor ({input.ndim})",
        )
    for back in range(1, input.ndim + 1):
        want, have = given[-back], input.shape[-back]
        if have != 1 and want not in (-1, have):
            raise error(
                "RuntimeError",
                f"The expanded size of the tensor ({want}) must match the existing size ({have}) "
                f"at non-singleton dimension {len(given) - back}.  Target sizes: {list(given)}.  "
                f"Tensor sizes: {list(input.shape)}",
            )

    leading = [d for d, size in enumerate(given[: len(given) - input.ndim]) if size == -1]
    if leading and not input.ndim:
        raise error("RuntimeError", "numel: integer multiplication overflow")
    if leading:
        text = "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
        raise error("RuntimeError", f"{text}dimension {leading[-1]}")


@check("repeat")
def _repeat(input: Tensor, *counts: Any, **_: Any) -> None:
    given = counts[0] if len(counts) == 1 and not isinstance(counts[0], int) else counts
    if len(getattr(given, "payload", given)) < input.ndim:
        raise error(
            "RuntimeError",
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor",
        )


def _needs(ndim: int, message: str, *names: str) -> None:
    """Refuse a tensor of fewer dimensions."""

    def checked(input: Tensor, *_: Any, **__: Any) -> None:
        if input.ndim < ndim:
            raise error("RuntimeError", message)

    check(*names)(checked)


for _own in ("triu", "tril"):
    _needs(2, f"{_own}: input tensor must have at least 2 dimensions", _own)
_needs(
    1,
    "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
    "tensor_split",
)


@check("aminmax")
def _aminmax(input: Tensor, *_: Any, **__: Any) -> None:
    if mixed_zeros(input.data):
        raise Unsupported(UNKNOWN)


@check("sign", "sgn")
def _sign(input: Tensor, *_: Any, **__: Any) -> None:
    if input.dtype is BOOL:
        raise Unsupported("the sign of a mask")


@check("topk")
def _topk(input: Tensor, k: int, dim: int = -1, *_: Any, **__: Any) -> None:
    if not 0 <= k <= (input.shape[dimension(dim, input.ndim)] if input.ndim else 1):
        raise error("RuntimeError", "selected index k out of range")


@check("quantile", "nanquantile")
def _quantile(input: Tensor, *_: Any, **__: Any) -> None:
    if not input.dtype.is_floating:
        text = "quantile() input tensor must be either float or double dtype"
        raise error("RuntimeError", text)


def _only_floats(name: str, kernel: str) -> None:
    """A check that a function, whatever else it is given, has floats as its input."""

    def checked(input: Tensor, end: Any = None, *_: Any, **__: Any) -> None:
        if not input.dtype.is_floating:
            raise not_implemented(kernel, input.dtype)
        if isinstance(end, Tensor) and end.dtype is not input.dtype:
            names = LONG_NAMES[input.dtype.name], LONG_NAMES[end.dtype.name]
            text = "expected dtype {} for `end` but got dtype {}"
            raise error("RuntimeError", text.format(*names))

    check(name)(checked)


_only_floats("lerp", "lerp_kernel_scalar")
_only_floats("histc", "histogram_cpu")


@check("trace")
def _trace(input: Tensor) -> None:
    if input.ndim != 2:
        text = f"trace: expected a matrix, but got tensor with dim {input.ndim}"
        raise error("RuntimeError", text)


# ---- indices and masks ---------------------------------------------------------------------------


@check("gather")
def _gather(input: Tensor, dim: int, index: Tensor, **_: Any) -> None:
    if index.ndim != input.ndim:
        text = "Index tensor must have the same number of dimensions as input tensor"
        raise error("RuntimeError", text)
    _within(input, dim, index)


def _within(input: Tensor, dim: int, index: Tensor) -> None:
    place = dimension(dim, input.ndim)
    size = input.shape[place] if input.ndim else 1
    outside = index.data[(index.data < 0) | (index.data >= size)]
    if outside.size:
        text = f"index {outside.flat[0]} is out of bounds for dimension {place} with size {size}"
        raise error("RuntimeError", text)


@check("scatter", "scatter_add")
def _scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, **named: Any) -> None:
    if index.dtype.kind != "int":
        raise error("RuntimeError", "scatter(): Expected dtype int32/int64 for index")
    if index.numel and (index.ndim or 1) != (input.ndim or 1):
        text = "Index tensor must have the same number of dimensions as self tensor"
        raise error("RuntimeError", text)
    if isinstance(src, Tensor) and src.dtype is not input.dtype:
        raise error("RuntimeError", "scatter(): Expected self.dtype to be equal to src.dtype")
    _within(input, dim, index)


@check("index_fill")
def _index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> None:
    place = dimension(dim, input.ndim)
    size = input.shape[place] if input.ndim else 1
    outside = index.data[(index.data < -size) | (index.data >= size)]
    if outside.size:
        text = f"index {outside[0]} is out of bounds for dimension {place} with size {size}"
        raise error("IndexError", text)


@check("take")
def _take(input: Tensor, index: Tensor) -> None:
    outside = index.data[(index.data < -input.numel) | (index.data >= input.numel)]
    if outside.size:
        text = f"out of range: tried to access index {outside[0]} on a tensor of {input.numel} "
        raise error("IndexError", f"{text}elements.")


@check("index_copy")
def _index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, **_: Any) -> None:
    if source.dtype is not input.dtype:
        kinds = f"(self) {input.dtype.scalar_name} and (source) {source.dtype.scalar_name}"
        text = "index_copy_(): self and source expected to have the same dtype, but got "
        raise error("RuntimeError", text + kinds)


@check("index_add")
def _index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, **_: Any) -> None:
    if source.dtype is not input.dtype:
        raise error(
            "RuntimeError",
            f"index_add_(): self ({input.dtype.scalar_name}) and source "
            f"({source.dtype.scalar_name}) must have the same scalar type",
        )


@check("index_select")
def _index_select(input: Tensor, dim: int, index: Tensor) -> None:
    if index.dtype.kind != "int":
        text = "index_select(): Expected dtype int32 or int64 for index"
        raise error("RuntimeError", text)
    place = dimension(dim, input.ndim)
    size = input.shape[place] if input.ndim else 1
    outside = index.data[(index.data < 0) | (index.data >= size)]
    if outside.size and place == 1:
        text = f"INDICES element is out of DATA bounds, id={outside.flat[0]} axis_dim={size}"
        raise error("RuntimeError", text)
    if outside.size:
        raise error("IndexError", "index out of range in self")


@check("masked_fill")
def _masked_fill(input: Tensor, mask: Tensor, value: Any = None) -> None:
    if mask.dtype.kind != "bool":
        raise error(
            "RuntimeError",
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{LONG_NAMES[mask.dtype.name]}",
        )
    check_broadcast(mask, input)


@check("one_hot")
def _one_hot(input: Tensor, num_classes: Any = -1, **_: Any) -> None:
    if input.dtype is not INT64:
        text = "one_hot is only applicable to index tensor of type LongTensor."
        raise error("RuntimeError", text)
    if input.data.size and isinstance(num_classes, int):
        if input.data.min() < 0:
            raise error("RuntimeError", "Class values must be non-negative.")
        if 0 <= num_classes <= input.data.max():
            raise error("RuntimeError", "Class values must be smaller than num_classes.")


@check("masked_select")
def _masked_select(input: Tensor, mask: Tensor) -> None:
    if in_vmap():
        raise Unsupported("masked_select within vmap")
    if mask.dtype.kind != "bool":
        raise error("RuntimeError", "masked_select: expected BoolTensor for mask")
    check_broadcast(mask, input)


@check("masked_scatter")
def _masked_scatter(input: Tensor, mask: Tensor, source: Any = None) -> None:
    check_broadcast(mask, input)


@check("index_put")
def _index_put(input: Tensor, indices: Any, values: Tensor, *_: Any, **__: Any) -> None:
    if values.dtype is not input.dtype:
        raise error(
            "RuntimeError",
            "Index put requires the source and destination dtypes match, got "
            f"{input.dtype.scalar_name} for the destination and {values.dtype.scalar_name} for "
            "the source.",
        )
    for dim, index in enumerate(indices if isinstance(indices, tuple | list) else ()):
        if isinstance(index, Tensor) and index.dtype.kind == "int":
            _in_bounds(index, dim, input.shape[dim])


def _in_bounds(index: Tensor, dim: int, size: int) -> None:
    outside = index.data[(index.data < -size) | (index.data >= size)]
    if outside.size:
        text = f"index {outside.flat[0]} is out of bounds for dimension {dim} with size {size}"
        raise error("IndexError", text)


def check_equation(equation: str, operands: Sequence[Tensor]) -> None:
    """Refuse an equation that is none, or that does not fit the operands."""
    left, arrow, right = equation.partition("->")
    terms = left.replace(" ", "").split(",")
    _check_characters(left, 0)
    if len(terms) > len(operands):
        raise _refused("fewer operands were provided than specified in the equation")
    if len(terms) < len(operands):
        raise _refused("more operands were provided than specified in the equation")
    for place, (term, operand) in enumerate(zip(terms, operands)):
        _check_dimensions(term, operand, place)
    _check_characters(right, len(left + arrow))
    _check_output(right.replace(" ", ""), left)
    sizes: dict[str, int] = {}
    for place, (term, operand) in enumerate(zip(terms, operands)):
        _check_sizes(term, operand, place, sizes)


def _refused(text: str) -> Exception:
    return error("RuntimeError", f"einsum(): {text}")


def _check_characters(text: str, start: int) -> None:
    wrong = re.search(r"[^a-zA-Z,. ]", text)
    if wrong:
        raise _refused(
            f"invalid subscript given at index {start + wrong.start()} in the equation string, "
            "subscripts must be in [a-zA-Z]"
        )


def _check_dimensions(term: str, operand: Tensor, place: int) -> None:
    letters = len(term.replace("...", ""))
    of = f"the number of dimensions ({operand.ndim}) for operand {place}"
    if "..." in term and letters > operand.ndim:
        raise _refused(f"the number of subscripts in the equation ({letters}) is more than {of}")
    if "..." not in term and letters != operand.ndim:
        raise _refused(
            f"the number of subscripts in the equation ({letters}) does not match {of} and no "
            "ellipsis was given"
        )


def _check_output(output: str, left: str) -> None:
    seen: set[str] = set()
    for letter in output.replace("...", ""):
        if letter in seen:
            raise _refused(f"output subscript {letter} appears more than once in the output")
        if letter not in left:
            raise _refused(
                f"output subscript {letter} does not appear in the equation for any input operand"
            )
        seen.add(letter)


def _check_sizes(term: str, operand: Tensor, place: int, sizes: dict[str, int]) -> None:
    """Refuse a letter that stands for two sizes, within an operand or between several."""
    head, _, tail = term.partition("...")
    ends = [*zip(head, operand.shape), *zip(reversed(tail), reversed(operand.shape))]
    own: dict[str, int] = {}
    for letter, size in ends:
        if own.setdefault(letter, size) != size:
            raise _refused(
                f"subscript {letter} is repeated for operand {place} but the sizes don't match, "
                f"{size} != {own[letter]}"
            )
    for letter, size in own.items():
        seen = sizes.get(letter, 1)
        if 1 not in (seen, size) and seen != size:
            raise _refused(
                f"subscript {letter} has size {size} for operand {place} which does not broadcast "
                f"with previously seen size {seen}"
            )
        sizes[letter] = max(seen, size)


@check("einsum")
def _einsum(equation: Any, *operands: Any, **_: Any) -> None:
    parts = (
        operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    )
    if isinstance(equation, str):
        for place, part in enumerate(parts):
            if not isinstance(part, Tensor):
                kind = getattr(getattr(part, "cls", None), "name", type(part).__name__)
                text = f"expected Tensor as element {place} in argument 1, but got {kind}"
                raise error("TypeError", text)
        check_equation(equation, parts)
    kinds = [p.dtype for p in parts if isinstance(p, Tensor)]
    for kind in kinds[1:]:
        if kind is not kinds[0]:
            text = f"expected scalar type {kinds[0].scalar_name} but found {kind.scalar_name}"
            raise error("RuntimeError", text)
    if kinds and kinds[0].kind == "bool":
        _check_masks(str(equation), len(parts))


def _check_masks(equation: str, count: int) -> None:
    """Refuse sums of products of masks; other sums of them are integers."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    letters = set(inputs) - {",", "."}
    kept = set(output) if arrow else {c for c in letters if inputs.count(c) == 1}
    summed = letters - kept
    if not summed:
        return
    first, *others = map(set, inputs.split(","))
    if count == 2 and summed & first & others[0]:
        raise not_implemented("bmm", BOOL)
    raise Unsupported("einsum() of masks that adds up")


@check("clamp", "clip")
def _clamp(input: Tensor, min: Any = None, max: Any = None, **_: Any) -> None:
    if min is None and max is None:
        text = "torch.clamp: At least one of 'min' or 'max' must not be None"
        raise error("RuntimeError", text)


DYNAMIC = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap "
    "over aten::{}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need "
    "this feature."
)


@check("nonzero", "argwhere")
def _nonzero(*_: Any, **__: Any) -> None:
    if in_vmap():
        raise error("RuntimeError", DYNAMIC.format("nonzero"))


# ---- linear algebra ------------------------------------------------------------------------------

SINGULAR = (
    "linalg.inv: {batch}The diagonal element {order} is zero, the inversion could not be completed "
    "because the input matrix is singular."
)
NOT_POSITIVE = (
    "{name}: {batch}The factorization could not be completed because the input is not "
    "positive-definite (the leading minor of order {order} is not positive-definite)."
)


def _square(name: str, input: Tensor) -> None:
    if input.ndim < 2:
        text = f"{name}: The input tensor A must have at least 2 dimensions."
        raise error("RuntimeError", text)
    rows, columns = input.shape[-2:]
    if rows != columns:
        raise error(
            "RuntimeError",
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} "
            "matrices",
        )


for _own, _shown in {
    **{"det": "linalg.det", "logdet": "logdet", "slogdet": "linalg.slogdet"},
    **{"eigh": "linalg.eigh", "eigvalsh": "linalg.eigh"},
    **{"matrix_power": "linalg.matrix_power", "matrix_exp": "linalg.matrix_exp"},
}.items():
    for _path in (_own, f"linalg.{_own}"):
        check(_path)(lambda A, *_, _shown=_shown, **__: _square(_shown, A))
for _own in ("svd", "qr", "svdvals", "matrix_norm"):
    _shown = f"linalg.{_own}"
    _needs(2, f"{_shown}: The input tensor A must have at least 2 dimensions.", _own, _shown)
_needs(
    2,
    "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.",
    *("matrix_rank", "linalg.matrix_rank"),
)


@check("inv", "inverse", "linalg.inv")
def _inv(A: Tensor, **_: Any) -> None:
    _square("linalg.inv", A)
    if not A.dtype.is_floating:
        text = "linalg.inv: Expected a floating point or complex tensor as input. Got "
        raise error("RuntimeError", text + A.dtype.scalar_name)
    for place, matrix in enumerate(A.data.reshape(-1, *A.shape[-2:])):
        order = _zero_pivot(matrix)
        if order:
            batch = f"(Batch element {place}): " if A.ndim > 2 else ""
            raise error(LINALG_ERROR, SINGULAR.format(batch=batch, order=order))


def _zero_pivot(matrix: Any) -> int:
    """The first row of the LU decomposition with partial pivoting whose pivot is 0; 0 for none."""
    a = np.array(matrix)
    for k in range(len(a)):
        best = k + int(np.argmax(np.abs(a[k:, k])))
        if a[best, k] == 0:
            return k + 1
        a[[k, best]] = a[[best, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return 0


@check("linalg.solve", "solve")
def _solve(A: Tensor, B: Any = None, **_: Any) -> None:
    if isinstance(B, Tensor) and A.dtype is not B.dtype:
        text = (
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{A.dtype.scalar_name} and B of type {B.dtype.scalar_name} instead"
        )
        raise error("RuntimeError", text)
    _square("linalg.solve", A)
    if any(_zero_pivot(matrix) for matrix in A.data.reshape(-1, *A.shape[-2:])):
        text = "torch.linalg.solve: The solver failed because the input matrix is singular."
        raise error(LINALG_ERROR, text)


def _cholesky(name: str) -> Check:
    def function(A: Tensor, *_: Any, **__: Any) -> None:
        _square(name, A)
        for place, matrix in enumerate(A.data.reshape(-1, *A.shape[-2:])):
            for order in range(1, len(matrix) + 1):
                try:
                    np.linalg.cholesky(matrix[:order, :order].astype(float))
                except np.linalg.LinAlgError:
                    batch = f"(Batch element {place}): " if A.ndim > 2 else ""
                    text = NOT_POSITIVE.format(name=name, batch=batch, order=order)
                    raise error(LINALG_ERROR, text) from None

    return function


check("linalg.cholesky")(_cholesky("linalg.cholesky"))
check("cholesky")(_cholesky("linalg.cholesky"))
check("older.cholesky")(_cholesky("cholesky"))
