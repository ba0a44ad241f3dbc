"""Attention: weighted averages of values; the weights measure how well keys match a query."""

import math

from ..errors import GradcliError
from ..graphs import INTERMEDIATE, Outputs, shapes, walk
from ..graphs.operator import check_dtypes
from ..lazy import np
from .comparisons import where
from .families import composite, independent_rows, operator, require, same_with_axis, shorthand
from .joining import cat
from .leaves import ones, zeros
from .networks import linear
from .padding import pad
from .pointwise import F
from .sum_kernels import largest

INFINITE = -math.inf
NOT_AGAIN = (
    "derivative for aten::_scaled_dot_product_flash_attention_for_cpu_backward is not implemented"
)


def _softmax(x, *, dim):
    top = largest(x, shapes.axes(dim, np.ndim(x)))
    out = np.exp(x - np.where(top == -np.inf, 0.0, top))
    out /= np.where(top == -np.inf, 1.0, np.sum(out, axis=dim, keepdims=True))
    return out


@operator(
    shape=same_with_axis,
    rows=independent_rows,
    value=_softmax,
    dtype="float",
    expand=lambda x, *, dim: x.softmax(dim=dim),
    examples=(("masked_softmax(x, dim=-1)", "x=2x3"),),
    torch=None,
)
def masked_softmax(g, y, x, *, dim):
    """softmax along dim, but 0 if all elements are -inf."""
    return y * (g - (g * y).sum(dim=dim, keepdim=True))


def _refuse_dropout(name, p):
    if p:
        raise GradcliError(
            "unsupported",
            f"{name}() with dropout_p={p} draws random numbers, so it has no single gradient",
            hint="write dropout_p=0.0",
        )


def _additive(mask):
    """A boolean or additive mask as a term of the scores; True means that a key takes part."""
    if mask is None or mask.dtype == "float":
        return mask
    return where(mask, 0.0, INFINITE)


def _causal(rows, columns):
    """The causal mask: True where the key's position is not after the query's."""
    return ones(size=(rows, columns)).tril() > 0


def _double_backward_error(query, key, value, attn_mask=None, *, enable_gqa, **_):
    """PyTorch's double-backward error, if its fused kernel is used; None if it uses separate
    operations.

    The fused kernel needs equal batch sizes and head dimensions, and a mask without gradient.
    """
    inputs = query, key, value
    fits = all(x.ndim == 4 and x.numel and x.shape[-1] == query.shape[-1] for x in inputs)
    if not fits or len({x.shape[0] for x in inputs}) > 1 or key.shape[1] != value.shape[1]:
        return None
    if query.shape[1] != key.shape[1] and not enable_gqa:
        return None
    if attn_mask is not None:
        is_input = any(n.op.name == "input" for n in walk([attn_mask]))
        if (is_input and attn_mask.dtype == "float") or attn_mask.ndim not in (2, 4):
            return None
    return NOT_AGAIN


@composite(
    torch=F + "scaled_dot_product_attention",
    order="query key value attn_mask dropout_p is_causal * scale enable_gqa",
    once_differentiable=_double_backward_error,
    examples=(
        ("scaled_dot_product_attention(q, k, v)", "q=2x2,k=3x2,v=3x2"),
        ("scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.5)", "q=2x2,k=2x2,v=2x3"),
        ("scaled_dot_product_attention(q, k, v, m)", "q=1x2x2,k=1x3x2,v=1x3x2,m=2x3"),
    ),
    input_dtypes="floats",
    saved=(..., INTERMEDIATE),
)
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, *, dropout_p=0.0, is_causal=False, scale=None,
    enable_gqa=False,
):  # fmt: skip
    """softmax(query @ key.mT * scale + attn_mask) @ value; scale is 1 / sqrt(query.shape[-1])."""
    _refuse_dropout("scaled_dot_product_attention", dropout_p)
    check_dtypes("scaled_dot_product_attention", "floats of one dtype", (query, key, value))
    _check(query, key, value)
    if is_causal and attn_mask is not None:
        raise GradcliError("arguments", "attn_mask and is_causal cannot be combined")
    if enable_gqa:
        key, value = (_repeated(x, query) for x in (key, value))
    factor = 1 / math.sqrt(query.shape[-1] or 1) if scale is None else scale
    mask = _causal(query.shape[-2], key.shape[-2]) if is_causal else attn_mask
    scores = query @ key.mT * float(factor)
    masked = scores if mask is None else scores + _additive(mask)
    if masked.shape != scores.shape:
        have, want = shapes.text(mask.shape), shapes.text(scores.shape)
        raise GradcliError("shape", f"attn_mask {have} does not broadcast to query @ key.mT {want}")
    return masked_softmax(masked, dim=-1) @ value


def _check(query, key, value):
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim < 2:
            raise GradcliError(
                "shape", f"{name} needs 2 dimensions at least, got {shapes.text(x.shape)}"
            )
    for a, b, what in (
        (query.shape[-1], key.shape[-1], "query and key of equal length in their last dimension"),
        (key.shape[-2], value.shape[-2], "as many keys as values"),
    ):
        if a != b:
            raise shapes.Conflict(f"attention needs {what}, got {a} and {b}", a, b)


def _repeated(x, query):
    """The heads of x, repeated so that there are as many as in query (grouped-query attention)."""
    if x.ndim < 3 or not x.shape[-3] or query.shape[-3] % x.shape[-3]:
        raise GradcliError("shape", "enable_gqa needs a multiple of the heads of key and value")
    heads, times = x.shape[-3], query.shape[-3] // x.shape[-3]
    grouped = x.unsqueeze(dim=-3)
    expanded = grouped.expand(shape=(*grouped.shape[:-3], times, *grouped.shape[-2:]))
    return expanded.reshape(shape=(*x.shape[:-3], heads * times, *x.shape[-2:]))


# ---- multi-head attention -----------------------------------------------------------------------


def _projected(query, key, value, weights, bias):
    """The projections of query, key and value; `weights` are three matrices, or a stacked one."""
    if not isinstance(weights, tuple):
        weights = _thirds(weights, query.shape[-1])
    part = [None] * 3 if bias is None else _thirds(bias, weights[0].shape[0])
    return [linear(x, w, b) for x, w, b in zip((query, key, value), weights, part, strict=True)]


def _thirds(x, size):
    """Split x into three blocks of `size` rows, for query, key and value."""
    return [x[k * size : (k + 1) * size] for k in range(3)]


def _split_heads(x, count):
    """Reshape (length, batch, features) to (batch * heads, length, features of a head)."""
    size = (x.shape[0], x.shape[1] * count, x.shape[2] // count)
    return x.reshape(shape=size).transpose(dim0=0, dim1=1)


def _merged_mask(attn_mask, padding, heads):
    """attn_mask and key_padding_mask as one term added to the scores of each head."""
    masks = []
    if attn_mask is not None:
        masks.append(attn_mask if attn_mask.ndim == 3 else attn_mask.unsqueeze(dim=0))
    if padding is not None:
        batch, length = padding.shape
        wide = padding.reshape(shape=(batch, 1, 1, length)).expand(shape=(-1, heads, -1, -1))
        masks.append(wide.reshape(shape=(batch * heads, 1, length)))
    return masks[0] + masks[1] if len(masks) == 2 else masks[0] if masks else None


def _additive_of_ignored(mask):
    """A mask as a term of the scores; here True means that a key is ignored."""
    if mask is None or mask.dtype == "float":
        return mask
    return where(mask, INFINITE, 0.0)


def _appended(k, v, masks, more, *, dim):
    """`k` and `v` with one more key and value, `more`, appended along dim. Masks are padded so that
    the new key is not masked.
    """
    k, v = (cat([x, another], dim=dim) for x, another in zip((k, v), more))
    return k, v, [m and pad(m, pad=(0, 1)) for m in masks]


def _weights(q, k, mask):
    """The attention weights, of shape (batch * heads, queries, keys)."""
    scores = q * math.sqrt(1.0 / q.shape[-1]) @ k.mT
    return (scores if mask is None else scores + mask).softmax(dim=-1)


def _attended(q, k, v, mask, heads):
    """The attention output; used if the weights are not returned."""
    q, k, v = (_split_batch_and_heads(x, heads) for x in (q, k, v))
    if mask is not None:
        mask = mask.unsqueeze(dim=0) if mask.shape[0] == 1 else _split_batch_and_heads(mask, heads)
    result = scaled_dot_product_attention(q, k, v, mask)
    return result.reshape(shape=(-1, *result.shape[2:]))


def _split_batch_and_heads(x, heads):
    """Reshape (batch * heads, ...) to (batch, heads, ...)."""
    return x.reshape(shape=(x.shape[0] // heads, heads, *x.shape[1:]))


def _check_heads(size, expected, heads):
    if size != expected or size % heads:
        raise GradcliError(
            "shape", f"{size} features are not {expected}, or not a multiple of {heads} heads"
        )


def _check_mask(mask, heads, length, keys):
    """Raise GradcliError unless attn_mask has two dimensions, or three including the heads."""
    if mask is not None and mask.shape not in ((length, keys), (heads, length, keys)):
        wide = f"{shapes.text((length, keys))} or {shapes.text((heads, length, keys))}"
        message = f"attn_mask must have shape {wide} here, got {shapes.text(mask.shape)}"
        raise GradcliError("shape", message)


def _check_projections(size, *rows):
    """Raise GradcliError unless stacked weights and biases have `size` rows for each projection."""
    for x in rows:
        if x is not None:
            message = f"{size} features need 3 * {size} rows of weights, got {shapes.text(x.shape)}"
            shapes.require_equal(x.shape[:1], (3 * size,), message)


def _check_flags(training, dropout_p, is_causal, attn_mask):
    """Raise GradcliError for dropout, and for is_causal without a mask."""
    if training:
        _refuse_dropout("multi_head_attention_forward", dropout_p)
    if is_causal and attn_mask is None:
        raise GradcliError("arguments", "is_causal is a hint about attn_mask, which is missing")


def _check_one_kind(*tensors):
    """Raise GradcliError if the tensors that are not None have different dtypes."""
    present = [x for x in tensors if x is not None]
    check_dtypes("multi_head_attention_forward", "floats of one dtype", present)


def _with_biases(k, v, masks, bias_k, bias_v):
    """Keys and values with bias_k and bias_v appended, and the padded masks."""
    require((bias_k is None) == (bias_v is None), "bias_k and bias_v must be passed together")
    if bias_k is None or bias_v is None:
        return k, v, masks
    rows = (bias.repeat(repeats=(1, k.shape[1], 1)) for bias in (bias_k, bias_v))
    return _appended(k, v, masks, rows, dim=0)


@shorthand()
def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
    add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None,
    need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None,
    k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
    average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """Attention with several heads: the output, and the attention weights."""
    _check_flags(training, dropout_p, is_causal, attn_mask)
    single = query.ndim == 2
    if single:
        query, key, value = (x.unsqueeze(dim=1) for x in (query, key, value))
        key_padding_mask = key_padding_mask and key_padding_mask.unsqueeze(dim=0)
    length, batch, size = query.shape
    _check_heads(size, embed_dim_to_check, num_heads)
    _check_one_kind(query, key, value, in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias)
    _check_projections(size, None if use_separate_proj_weight else in_proj_weight, in_proj_bias)
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = separate if use_separate_proj_weight else in_proj_weight
    q, k, v = _projected(query, key, value, weights, in_proj_bias)
    _check_mask(attn_mask, batch * num_heads, length, key.shape[0])
    masks = [_additive_of_ignored(attn_mask), _additive_of_ignored(key_padding_mask)]
    k, v, masks = _with_biases(k, v, masks, bias_k, bias_v)
    q = _split_heads(q, num_heads)
    k = _split_heads(k, num_heads) if static_k is None else static_k
    v = _split_heads(v, num_heads) if static_v is None else static_v
    if add_zero_attn:
        nothing = zeros(size=(k.shape[0], 1, k.shape[2]))
        k, v, masks = _appended(k, v, masks, (nothing, nothing), dim=1)
    mask = _merged_mask(masks[0], masks[1], num_heads)
    attention = _weights(q, k, mask) if need_weights else None
    result = _attended(q, k, v, mask, num_heads) if attention is None else attention @ v
    together = result.transpose(dim0=0, dim1=1).reshape(shape=(length, batch, size))
    out = linear(together, out_proj_weight, out_proj_bias)
    out = out.squeeze(dim=1) if single else out
    if attention is None:
        return Outputs((out,))
    return Outputs((out, _returned_weights(attention, num_heads, average_attn_weights, single)))


def _returned_weights(attention, heads, averaged, single):
    """The attention weights as PyTorch returns them: averaged over heads or not, batched or not."""
    shown = _split_batch_and_heads(attention, heads)
    shown = shown.mean(dim=1) if averaged else shown
    return shown.squeeze(dim=0) if single else shown
