"""Functions of PyTorch that gradcli does not support, with reasons."""

import re
from typing import NamedTuple

from ..graphs.arguments import IN_PLACE
from ..public_names import OTHER_IN_TORCH, functions

COMPLEX = "works on complex numbers, but only real numbers are supported"
RANDOM = "draws random numbers, so it has no single gradient"
SPARSE = "is for sparse tensors, but only dense tensors are supported"
MASKED = "is for masked tensors; where(mask, x, ...) replaces the others"
AUTOGRAD = "is what gradcli does: leave it out, and give the seed with --grad"
OF_GRADIENTS = "is about gradients, which are what gradcli answers with: leave it out"
FILES = "is about files: -v x=@file gives an input the numbers in one"
OF_PYTHON = "is a name inside Python; an operator is written by its sign, x + y"
SINGLE = "rounds to a shorter floating-point type: --dtype says in which one to compute"
COPY = "is PyTorch's internal name for a function and a copy of its result"
INNER = "is an internal part of PyTorch, which programs do not call"
UNDERIVED = "has no derivative in PyTorch: its backward says it is not implemented"
UNSET = "contains uninitialized memory"
OF_TORCH = "has other arguments than the function of this name in F: call that one"
QUANTISED = "is for quantised tensors, whose numbers are stored in few bits"
HARDWARE = "is for one kind of hardware; call the function that it speeds up"
DRAWN = "resets PyTorch's random numbers, as --random-seed does for those of float64"
SETTING = "asks or sets how PyTorch works, which changes no gradient: leave it out"
STORED = "is about how a tensor is stored in memory, which changes no gradient"
TRANSFORM = "takes a function, not a tensor: write out what the function computes"
LEAVES = "leaves PyTorch, and no gradient flows back: write detach() here"
WHOLE = "is for integers, which have no gradient"
TOLERANCE = (
    "starts from random vectors and stops at a tolerance, so its digits vary from call to call; "
    "linalg.eigh gives all eigenvalues"
)
GONE = "is no longer part of PyTorch: calling it is an error there too"
BY_UNDERSCORE = f"{IN_PLACE}: leave out the underscore"
ELSEWHERE = "is a function of PyTorch that gradcli has no rule for"

# Hints, by reason; some reasons include a hint.
CURES = {
    COMPLEX: "compute with the real and the imaginary part, two tensors",
    RANDOM: "draw the numbers before, and make them an input: (x * mask).sum()",
    INNER: "call the public function: softmax for _softmax, x[1:3] for slice",
    BY_UNDERSCORE: "assign the changed value: x = x.add(y); zeros_like(x) for x.zero_()",
    ELSEWHERE: "write out what it computes; or make its result an input, with another name",
}

# Names by reason; names that match a pattern below are omitted.
REFUSED = {
    COMPLEX: "complex polar complex32 complex64 complex128 view_as_complex view_as_real "
    "cdouble cfloat chalf imag stft istft "
    "eig eigvals",
    RANDOM: "bernoulli normal multinomial poisson binomial randint randint_like randperm rand_like "
    "randn_like native_dropout fractional_max_pool2d_with_indices "
    "fractional_max_pool3d_with_indices svd_lowrank pca_lowrank gumbel_softmax "
    "fractional_max_pool2d fractional_max_pool3d",
    SPARSE: "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc "
    "sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor "
    "sparse_bsr_tensor sparse_bsc_tensor sparse_compressed_tensor sparse_mask to_dense coalesce "
    "sspaddmm saddmm smm spmm hspmm hsmm dsmm is_coalesced dense_dim sparse_dim crow_indices "
    "col_indices ccol_indices row_indices to_padded_tensor",
    SINGLE: "half bfloat16 float16",
    INNER: "slice slice_inverse native_norm",
    OF_GRADIENTS: "grad grad_fn requires_grad is_leaf retains_grad",
    FILES: "load save from_file fromfile loadtxt genfromtxt savetxt",
    QUANTISED: "qint8 quint8 qint32 dequantize int_repr qscheme empty_quantized "
    "choose_qparams_optimized fused_moving_avg_obs_fake_quant",
    HARDWARE: "to_mkldnn scaled_mm grouped_mm scaled_grouped_mm",
    DRAWN: "manual_seed",
    SETTING: "seed initial_seed compile use_deterministic_algorithms is_grad_enabled "
    "is_inference promote_types result_type can_cast get_device",
    STORED: "storage untyped_storage storage_offset storage_type stride data_ptr const_data_ptr "
    "element_size dim_order is_contiguous is_pinned is_shared is_set_to resize resize_as",
    TRANSFORM: "vmap while_loop register_hook register_post_accumulate_grad_hook",
    LEAVES: "numpy tolist to_dlpack from_dlpack",
    WHOLE: "gcd lcm byte char short unravel_index nonzero_static hash_tensor",
    TOLERANCE: "lobpcg",
    GONE: "symeig reinforce",
    UNDERIVED: "geqrf histogram ldl_factor ldl_factor_ex ldl_solve native_channel_shuffle "
    "unique_consecutive",
    OF_TORCH: " ".join(f"torch.{name}" for name in OTHER_IN_TORCH),
    UNSET: "empty empty_like empty_permuted empty_strided new_empty new_empty_strided",
}


class Pattern(NamedTuple):
    """Unsupported names with one reason: a regular expression, and how a page writes it."""

    names: str
    written: str
    why: str


PATTERNS = (
    Pattern(r"fft\..+", "torch.fft.*", COMPLEX),
    Pattern(r"sparse\..+", "torch.sparse.*", SPARSE),
    Pattern(r"masked\..+", "torch.masked.*", MASKED),
    Pattern(r"func\..+", "torch.func.*", TRANSFORM),
    Pattern(r"autograd\..+", "torch.autograd.*", AUTOGRAD),
    Pattern(r"(quantize|quantized|q|fbgemm)_\w+", "quantized_gru", QUANTISED),
    Pattern(r"(cudnn|miopen|mkldnn)_\w+", "cudnn_batch_norm", HARDWARE),
    Pattern(r"(set|get)_\w+|is_\w+_enabled", "set_default_dtype", SETTING),
    Pattern(r"[a-z]\w*[a-z0-9]_", "add_", BY_UNDERSCORE),
    Pattern(r"(?!index_)\w+_copy", "view_copy", COPY),
    Pattern(r"__\w+__", "__add__", OF_PYTHON),
    Pattern(r"_\w+|\w+_backward", "_softmax", INNER),
)


def refusal(name: str) -> str | None:
    """Why gradcli lacks a function of PyTorch; None for other names. A name may include its module:
    `fft.rfft`.
    """
    reasons = [why for why, names in REFUSED.items() if name in names.split()]
    reasons += [p.why for p in PATTERNS if re.fullmatch(p.names, name)]
    reasons += [ELSEWHERE] if name in functions() else []
    return reasons[0] if reasons else None
