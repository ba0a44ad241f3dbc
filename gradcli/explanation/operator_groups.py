"""The families of operators in groups that fit a screen, with their most frequent names.

Groups and families have the titles and the order of PyTorch's documentation, where it has them.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Family(NamedTuple):
    """A title, and the files of gradcli/operators that define its members."""

    title: str
    modules: tuple[str, ...]

    @property
    def name(self) -> str:
        """What data calls it: its first file."""
        return self.modules[0]


class Group(NamedTuple):
    """Families, and names for those who look for one."""

    title: str
    families: tuple[Family, ...]
    names: str


def _families(**titles: str) -> tuple[Family, ...]:
    """A family for each file."""
    return tuple(Family(title, (module,)) for module, title in titles.items())


GROUPS = (
    Group(
        "creation",
        _families(
            leaves="Constant tensors and ranges",
            creation="Window functions and tensors from sizes",
            kinds="Masks, counts and conversions",
        ),
        "zeros ones full eye arange linspace detach",
    ),
    Group(
        "shapes",
        _families(
            shaping="Reshaping and repeating",
            ordering="Transposing, permuting and shifting",
            joining="Joining",
            splitting="Splitting",
            diagonals="Diagonals and triangles",
        ),
        "reshape view permute transpose cat stack diag",
    ),
    Group(
        "indexing",
        _families(
            indexing="Indexing and slicing",
            selecting="Gathering and selecting",
            scattering="Scattering",
            slices="Updates by index",
            overwriting="Filling and overwriting",
            segments="Segment reductions",
        ),
        "gather index_select scatter_add masked_fill",
    ),
    Group(
        "arithmetic",
        _families(
            arithmetic="Elementwise arithmetic",
            pairs="Functions of several tensors",
            rounding="Rounding and remainders",
            comparisons="Comparisons and conditions",
            floats="Floating-point numbers",
            guards="Guards",
        ),
        "add mul div pow abs clamp where maximum round",
    ),
    Group(
        "functions",
        _families(
            pointwise="Exponentials, logarithms and roots",
            trigonometry="Trigonometric and hyperbolic functions",
            special="Special functions",
            gamma="Gamma function",
            incomplete="Incomplete gamma and zeta functions",
            underived="Bessel functions and orthogonal polynomials",
        ),
        "exp log sqrt sin cos tanh erf lgamma xlogy",
    ),
    Group(
        "reductions",
        _families(
            reductions="Sums, products and extremes",
            statistics="Statistics",
            norms="Norms",
            order="Sorting and order statistics",
            running="Cumulative sums and differences",
            logcumsumexp="Cumulative logsumexp",
        ),
        "sum mean max prod logsumexp std norm sort topk",
    ),
    Group(
        "matrices",
        _families(
            matrix="Matrix products",
            products="Products of several matrices and vectors",
            contractions="Tensor contractions",
        ),
        "matmul bmm mv dot outer kron trace einsum",
    ),
    Group(
        "linear algebra",
        _families(
            inverses="Inverses and linear systems",
            determinants="Determinants",
            triangular="Cholesky decomposition and triangular systems",
            decompositions="LU and QR decompositions",
            lu_solving="Linear systems from LU factors",
            reflections="Householder reflections",
            spectral="Eigenvalues and matrix exponential",
            singular="Singular value decomposition",
            least_squares="Pseudoinverse and least squares",
        ),
        "inv solve det logdet cholesky qr svd eigh pinv",
    ),
    Group(
        "convolution",
        (
            Family("Convolutions", ("convolution", "convolution_names")),
            *_families(
                pooling="Pooling",
                unpooling="Unpooling",
                windows="Sliding windows",
                padding="Padding",
                resampling="Interpolation",
                sampling="Grid sampling",
                grids="Affine grids",
            ),
        ),
        "conv2d max_pool2d avg_pool2d pad interpolate",
    ),
    Group(
        "activations",
        _families(
            activations="Activation functions",
            gates="Gated linear units",
        ),
        "relu sigmoid gelu silu softplus elu mish",
    ),
    Group(
        "networks",
        _families(
            networks="Softmax and linear layers",
            normalisation="Normalization",
            recurrent="Recurrent layers",
            attention="Attention",
            dropout="Dropout",
            embeddings="Embeddings",
            quantisation="Fake quantization",
        ),
        "softmax linear layer_norm batch_norm embedding",
    ),
    Group(
        "losses",
        _families(
            regression="Regression losses",
            classification="Classification losses",
            losses="Losses of single predictions",
            distances="Distances and similarity losses",
            sequences="Connectionist temporal classification",
        ),
        "mse_loss cross_entropy nll_loss kl_div cdist",
    ),
)
ACTIVATIONS = ("sigmoid", "relu", "leaky_relu", "elu", "softplus", "silu", "logsigmoid")
POOLING = ("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
ELSEWHERE = {  # families of operators that are defined in files of another family
    **dict.fromkeys(ACTIVATIONS, "activations"),
    **dict.fromkeys(POOLING, "pooling"),
    "erf": "special",
}
BY_MODULE = Family("Functions that differ between modules", ("functional_names",))


def all_families() -> Iterator[Family]:
    """The families of all groups, and names that mean other things in `torch` than in `F`."""
    for group in GROUPS:
        yield from group.families
    yield BY_MODULE
