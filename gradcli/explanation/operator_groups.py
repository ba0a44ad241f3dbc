"""The families of operators in groups that fit a screen, with the names that are asked for most."""

from typing import NamedTuple


class Group(NamedTuple):
    """Families, which are files of gradcli/operators, and names for those who look for one."""

    title: str
    families: tuple[str, ...]
    names: str


GROUPS = (
    Group(
        "arithmetic",
        ("arithmetic", "comparisons", "pairs", "rounding", "floats", "guards"),
        "add mul div pow abs clamp where maximum round",
    ),
    Group(
        "functions",
        ("pointwise", "trigonometry", "special", "gamma", "incomplete", "underived"),
        "exp log sqrt sin cos tanh erf lgamma xlogy",
    ),
    Group(
        "activations",
        ("activations", "gates"),
        "relu sigmoid gelu silu softplus elu mish",
    ),
    Group(
        "reductions",
        ("reductions", "logcumsumexp", "order", "running", "statistics", "norms"),
        "sum mean max prod logsumexp std norm sort topk",
    ),
    Group(
        "matrices",
        ("matrix", "products", "contractions"),
        "matmul bmm mv dot outer kron trace einsum",
    ),
    Group(
        "linear algebra",
        (
            *("inverses", "determinants", "triangular", "decompositions", "lu_solving"),
            *("reflections", "singular", "spectral", "least_squares"),
        ),
        "inv solve det logdet cholesky qr svd eigh pinv",
    ),
    Group(
        "shapes",
        ("shaping", "ordering", "diagonals", "joining", "splitting"),
        "reshape view permute transpose cat stack diag",
    ),
    Group(
        "indexing",
        (
            *("indexing", "selecting", "segments", "scattering", "slices", "overwriting"),
            "embeddings",
        ),
        "gather index_select scatter_add embedding",
    ),
    Group(
        "networks",
        ("networks", "recurrent", "normalisation", "dropout", "attention", "quantisation"),
        "softmax linear layer_norm batch_norm dropout",
    ),
    Group(
        "convolution",
        (
            *("convolution", "pooling", "unpooling", "padding", "resampling", "sampling"),
            *("windows", "grids"),
        ),
        "conv2d max_pool2d avg_pool2d pad interpolate",
    ),
    Group(
        "losses",
        ("losses", "regression", "classification", "distances", "sequences"),
        "mse_loss cross_entropy nll_loss kl_div cdist",
    ),
    Group(
        "creation",
        ("leaves", "creation", "kinds"),
        "zeros ones full eye arange linspace detach",
    ),
)
ORDER = tuple(family for group in GROUPS for family in group.families)
