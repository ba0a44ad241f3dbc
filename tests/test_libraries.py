"""Functions of NumPy, SciPy and JAX mean what they mean there: the libraries are the oracles."""

import ast
import json
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

import gradcli
from gradcli.language.libraries import MODULES, UFUNCS, _tables, library_function

KEPT = Path(__file__).with_name("jax_kinks.json")
RNG = np.random.default_rng(3)
X = np.array([0.7, -1.3, 2.1, 0.4])
VALUES = {
    "x": X,
    "y": np.array([-0.6, 0.9, 1.7, -2.2]),
    "p": np.array([0.3, 1.4, 2.6, 0.8]),
    "u": np.array([0.15, 0.35, 0.62, 0.9]),
    "n": np.array([0.5, np.nan, -1.2, 2.5]),
    "c": np.array(1.3),
    "M": RNG.normal(size=(3, 4)),
    "K": RNG.normal(size=(3, 4)),
    "A": RNG.normal(size=(3, 3)) + 3 * np.eye(3),
    "B": RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3),
    "T": RNG.normal(size=(2, 3, 4)),
    "W": np.where(RNG.uniform(size=(3, 4)) < 0.2, np.nan, RNG.normal(size=(3, 4))),
    "S": np.array([[2.0, 0.3, -0.4], [0.3, 1.5, 0.2], [-0.4, 0.2, 1.8]]),
}

# ---- programs, one a line; "# flat": with integers or jumps, which have no slope -----------------

NUMPY = r"""
np.max(M, axis=()) + np.min(M, axis=(), keepdims=True) + np.sum(M, axis=()) * np.mean(M, axis=())
np.prod(M, axis=()) + np.median(M, axis=()) + np.average(M, axis=()) + np.exp(M).sum(())
np.var(M, axis=()) + np.sum(M, axis=(), where=M > 0, initial=2.0) + np.quantile(M, 0.3, axis=())
np.std(M, axis=()) + np.ptp(M, axis=()) + np.all(M > 0, axis=()) * M # flat
np.quantile(M, [0.3, 0.6], axis=())
np.nansum(n, axis=()) + np.nanprod(n, axis=())
np.linalg.vector_norm(M, axis=()) + np.flip(M, axis=()) + np.squeeze(M, axis=())
np.expand_dims(M, ()) + np.roll(M, 1, axis=()) + np.maximum.reduce(M, axis=())
np.array([[1, 2, 3, 4], [5, 6, 7, 8]]) @ x
(np.sin(x) > 0) @ x + x @ np.arange(4) + (np.sin(x) > 0) @ np.arange(4)
np.einsum("ij,j", np.array([[1, 2, 3, 4], [5, 6, 7, 8]]), x)
np.einsum("i,i", x > 0, x) + np.inner(np.array([1, 2, 3, 4]), x) + np.inner(x, [1, 2, 3, 4])
np.sum((np.array([[1, 2, 3, 4]]) @ x - np.array([1])) ** 2)
(np.array([1, 2, 3, 4]) - (np.sin(x) > 0)) * x
np.take(x, -1) + np.take(x, [-1, 0]) + np.take(M, -1, axis=0)[:2]
np.round(np.array([1, 2, 3, 4]), 1) * x
np.real(x) + np.imag(y)
np.sort(x)[::-1]
np.exp(T)[0, ::-2, 1:]
np.exp(T)[:, -1:0:-1, [0, 2]]
np.exp(x)[0:3:-1]
np.exp(T)[0, :, [1, 2]]
np.exp(T)[1, ..., [[0, 1], [1, 2]]]
np.exp(T)[0, :, None, [1, 2]]
np.exp(T)[:, 0, [1, 2]]
np.exp(T)[[0, 1], :, 1]
np.exp(A)[[[0, 1], [1, 2]]]
np.exp(M)[[(0, 1), (1, 2)]]
np.exp(M).compress([True, False, True], axis=0)
np.polyder(x, 2) + np.polyder(y, m=2)
np.polyder(x, 0) + np.polyint(y, 2)[:4]
np.add.reduce(M)
np.add.reduce(M, axis=1, keepdims=True)
np.add.accumulate(x)
np.multiply.accumulate(M, axis=1)
np.multiply.reduce(T, axis=(0, 2))
np.multiply.outer(x, y)
np.multiply.outer(M, K)
np.subtract.outer(x, y)
np.divide.outer(x, [1.0, 2.0])
np.power.outer(p, y)
np.maximum.reduce(M, axis=0)
np.maximum.outer(x, y)
np.logaddexp.reduce(x)
np.logaddexp.reduce(M, axis=1)
np.logaddexp.accumulate(x)
np.var(M, where=M > -1)
np.var(M, axis=1, ddof=1, where=[True, True, False, True])
np.std(M, axis=0, where=M > -1.5, keepdims=True)
np.exp(M).flat[3] + np.exp(M).item(2) + np.exp(M).item(1, 1) + np.sum(np.exp(M).flat[1:3])
np.linspace(x, y, 3, axis=1)
np.divmod(x, p)[1] + divmod(np.sin(x), p)[1]
np.invert(np.array([1, 2, 3, 4])) * x + ~np.array([1, 0, -1, 2]) * x
np.nonzero(x)[0] * x + np.flatnonzero(x) * y
np.ediff1d(x, to_begin=0.0)
np.ediff1d(x, to_end=[1, 2])
np.ediff1d(x, 3.0, y)
np.linalg.lstsq(M.T, x, rcond=None)[0]
np.linalg.lstsq(M.T, T[0].T, None)[0]
np.median(x)
np.median(M, axis=1)
np.median(T, axis=(0, 2), keepdims=True)
np.nanmedian(n)
np.nanmedian(W, axis=0)
np.sort(x)[0]
np.sort(M, axis=0)
np.sort(M, axis=None)
np.argsort(M, axis=0) * M
np.meshgrid(x, y)[0] * np.meshgrid(x, p)[1]
np.meshgrid(x, M[:, 0])[0]
np.meshgrid(x, M[:, 0], indexing="ij")[1]
np.meshgrid(x, y[:2], p[:3])[2]
np.dot(x, y)
np.dot(M, x)
np.dot(A, M)
np.dot(A, B)
np.dot(B, A)
np.dot(x[:3], B)
np.dot(B, B)
np.dot(3, M)
np.eye(3, k=1) @ M
np.tril(A, k=-1) + np.triu(A, k=1)
np.diag(x, k=1)
np.diag(A, k=-1)
np.diagonal(B, offset=1, axis1=1, axis2=2)
np.trace(B, axis1=1, axis2=2)
np.trace(A, offset=1)
np.clip(x, a_min=-1, a_max=1)
np.clip(x, -1, None)
np.clip(x, y, p + 1)
np.tile(x, reps=(2, 1))
np.tile(x, 3)
np.repeat(x, 2)
np.repeat(M, 2, axis=1)
np.repeat(x, [1, 0, 2, 1])
np.repeat(x, np.array([1, 0, 2, 1]))
np.pad(x, 2)
np.pad(M, ((1, 0), (0, 2)))
np.pad(M, 1, constant_values=3.5)
np.pad(M, (1, 2), mode="edge")
np.pad(M, ((1, 1), (2, 0)), "reflect")
np.pad(x, 3, mode="symmetric")
np.pad(x, (2, 3), mode="wrap")
np.pad(x, (1, 2), constant_values=(4.0, 5.0))
np.flip(x)
np.flip(M)
np.flip(M, 1)
np.flip(T, axis=(0, -1))
np.cumprod(M)
np.cumsum(M)
np.cumsum(M, axis=1)
np.cumprod(M, 0)
np.transpose(T)
np.transpose(T, (1, 0, 2))
np.multiply(M.transpose(), 2)
np.sin(T.transpose(1, 0, 2))
np.sin(T.transpose((2, 0, 1)))
np.sin(M.T)
np.exp(x[np.newaxis]) + x[:, np.newaxis]
np.expand_dims(x, (0, 2))
np.expand_dims(x, -1)
np.outer(M, A)
np.outer(x, 2)
np.array([x[0] ** 2, x[1]])
np.array([[x[0], 1.0], [c, x[3] * c]])
np.array([x, y, [1, 2, 3, 4]])
np.array_split(x, 3)[0] * 2
np.array_split(M, 3, axis=1)[2]
np.split(M, [1, 3], axis=1)[1]
np.split(M, 2, axis=1)[1]
np.hsplit(M, 2)[0] + np.vsplit(M, 3)[1][:, :2]
np.dsplit(T, 2)[1]
np.average(x)
np.average(x, weights=p)
np.average(M, axis=0, weights=[1, 2, 3])
np.average(M, weights=K * K)
np.percentile(x, 30)
np.percentile(M, 75, axis=1)
np.percentile(M, [10, 60], axis=0)
np.quantile(M, 0.25)
np.quantile(M, 0.4, axis=1, method="lower")
np.quantile(T, 0.4, axis=(0, 1), keepdims=True)
np.nanquantile(W, 0.4, axis=1)
np.nanpercentile(n, 30)
np.ptp(M, axis=0)
np.append(x, y)
np.append(M, 3.0)
np.append(M, K, axis=0)
np.radians(x) + np.deg2rad(y)
np.degrees(x) + np.rad2deg(y)
np.cbrt(x)
np.interp(x, [-1, 0, 1, 2], [3, 1, 4, 2])
np.interp(x, [-1, 0, 1], p[:3], left=0.5, right=c)
np.convolve(x, p)
np.convolve(x[:2], p, "same")
np.convolve(x, p[:3], mode="same")
np.convolve(x, p[:2], mode="valid")
np.correlate(x, p[:2])
np.correlate(x, p, "full")
np.correlate(x, p[:3], "same")
np.take_along_axis(M, np.argsort(M, axis=1), axis=1)
np.take_along_axis(x, np.array([2, 0]), 0)
np.take(M, [2, 0], axis=0)
np.take(M, [[5, 0], [1, 1]])
np.nanmax(n)
np.nanmin(W, axis=1)
np.nanstd(n)
np.nanstd(W, axis=0, ddof=1)
np.nanvar(W, axis=1, keepdims=True)
np.nansum(W, axis=0)
np.nanmean(W, axis=1)
np.nanprod(W)
np.nancumsum(n)
np.nancumprod(W, axis=0)
np.polyval([1, 2, 3], x)
np.polyval(p, x)
np.polyadd(x, p[:2])
np.polysub(x[:2], p)
np.polymul(x, p[:2])
np.polyder(x)
np.polyint(x)
np.poly(x)
np.block([[A, M], [M.T, np.eye(4)]])
np.block([x, y])
np.std(M)
np.std(M, axis=0, ddof=1)
np.var(M, axis=1)
np.sin(M).std()
np.sin(M).var(axis=0)
np.sin(M).max(axis=0)
np.sin(M).min()
np.sin(M).cumsum()
np.sin(x).repeat(2)
np.sin(M).repeat(2, axis=0)
np.sin(M).prod(axis=(0, 1))
np.sin(M).argmax() * x
np.sin(x).clip(0, 1)
np.sin(M).take([0, 3])
np.sin(M).trace() + np.sin(A).diagonal(1).sum()
np.sum(x) / x.size
np.sum(M) / np.size(M, 0) + np.shape(M)[1] * np.ndim(M)
np.mean(M, axis=(0, 1), keepdims=True)
np.sum(M, axis=0, keepdims=True)
np.sum(M, where=M > 0)
np.mean(M, axis=1, where=M > -1)
np.max(M, axis=1, keepdims=True) - np.amin(M)
np.max(M, initial=1.0)
np.prod(M, axis=0)
np.argmax(M, axis=1, keepdims=True) + np.nanargmin(W, axis=1)[:, None] + 0 * M
np.any(M > 1, axis=0) * M + np.all(M > -9) + np.count_nonzero(M > 0, axis=0)
np.diff(M) 
np.diff(x, n=2)
np.diff(x, prepend=0, append=[1.0, 2.0])
np.ediff1d(x)
np.gradient(x)
np.gradient(M)[1]
np.gradient(M, 2.0, axis=0)
np.gradient(x, [0.0, 1.0, 3.0, 4.0])
np.trapezoid(x)
np.trapezoid(M, dx=0.5, axis=0)
np.trapezoid(x, p)
np.full_like(x > 0, y) * x + np.full_like([1, 2, 3, 4], 2.5) * y # flat
np.unwrap(5 * x)
np.roll(x, 1)
np.roll(M, 1, axis=1)
np.roll(M, (1, 2), (0, 1))
np.roll(M, 5)
np.rot90(M, k=3)
np.rot90(T, axes=(1, 2))
np.rollaxis(T, 2)
np.rollaxis(T, 0, 3)
np.moveaxis(T, 0, -1)
np.moveaxis(T, [0, 1], [2, 0])
np.swapaxes(T, 0, 2)
np.squeeze(T[:, :1], axis=1)
np.squeeze(x[None, :, None])
np.reshape(T, (6, -1))
np.ravel(T)
np.atleast_2d(x)
np.atleast_3d(M)
np.broadcast_to(x, (3, 4))
np.broadcast_arrays(x, M)[0]
np.concatenate([x, y, [1, 2]])
np.concatenate((M, K), axis=1)
np.concatenate([M, K], axis=None)
np.stack([x, y], axis=1)
np.stack([x, y, 2 * x])
np.hstack([x, y]) 
np.hstack((M, A))
np.vstack([x, M])
np.dstack([x, y])
np.column_stack([x, y])
np.c_[x, y]
np.r_[x, 0.5, y]
np.r_[M, [x]]
np.unstack(M, axis=1)[2]
np.insert(x, 1, 5.0)
np.insert(M, 1, x, axis=0)
np.delete(x, 1)
np.delete(M, [0, 2], axis=1)
np.resize(x, (2, 3))
np.fliplr(M) + np.flipud(M)
np.where(x > 0, x, 2 * y)
np.where(M, x, 0)
np.select([x > 1, x > 0], [x, y], default=7)
np.choose([0, 1, 1, 0], [x, y])
np.compress([True, False, True], M, axis=0)
np.extract([True, False, True, True], x)
np.inner(x, y)
np.inner(M, K)
np.inner(M, x)
np.vdot(M, K)
np.vecdot(M, K)
np.matvec(M, x)
np.vecmat(x[:3], M)
np.matmul(B, A)
np.tensordot(T, M, axes=([1, 2], [0, 1]))
np.tensordot(A, M, axes=1)
np.tensordot(x, y, 0)
np.einsum("ij,kj->ik", M, K)
np.einsum("...j,j", T, x)
np.kron(A, x)
np.kron(x[:2], y[:2])
np.cross(A, S)
np.cross(x[:3], y[:3])
np.cross(A, S, axis=0)
np.cov(M)
np.cov(M, rowvar=False, bias=True)
np.cov(x, y)
np.corrcoef(M)
np.vander(x)
np.vander(x, 3, increasing=True)
np.hypot(x, y) + np.arctan2(x, y)
np.fmod(x, p) + np.mod(x, p) + np.remainder(3.3 * x, p) + np.floor_divide(x, p)
np.divmod(x, p)[1]
np.signbit(np.mod(np.array([-0.0, 4, -6, 0]), -2)) * x
np.signbit(np.mod([4, -6, 0, -0.0], 2)) * y
np.signbit(np.divmod(np.array([-4.0, 4, -6, 0]), 2)[1]) * x
np.signbit(np.array([4.0, -0.0, -6, 0]) % -2) * x
np.signbit(np.fmod(np.array([-4.0, 4, -6, 0]), 2)) * x
np.signbit(np.array([-0.0, -0.0, 1, -1]) // -2) * y
np.modf(x)[0]
np.modf(np.array([np.inf, -np.inf, -2.0, 1.5]))[0] * x
np.signbit(np.modf(np.array([np.inf, -np.inf, -2.0, 2.0]))[0]) * x
np.power(p, x) + np.float_power(p, 2)
np.logaddexp(x, y) + np.logaddexp2(x, y)
np.maximum(x, y) + np.fmax(x, 0.5) + np.minimum(x, 0) + np.fmin(x, y)
np.exp2(x) + np.expm1(x) + np.log1p(p) + np.log2(p) + np.log10(p)
np.sinc(x) + np.i0(x)
np.arcsin(u) + np.arccos(u) + np.arctan(x) + np.arcsinh(x) + np.arccosh(p + 1) + np.arctanh(u)
np.sinh(x) * np.cosh(x) + np.tanh(x) + np.tan(x)
np.fabs(x) + np.absolute(y) + np.sign(x) * x + np.reciprocal(p) + np.negative(x) + np.positive(y)
np.square(x) + np.sqrt(p) + np.true_divide(x, y) + np.subtract(x, 1)
np.rint(x) + np.fix(x) + np.trunc(x) + np.ceil(x) + np.floor(x) + np.around(x, 1) + 0 * x
np.copysign(x, y) + np.heaviside(x, 0.5) * x + np.ldexp(x, 2)
np.ldexp(x, -1) + np.ldexp(y, np.array([-1, 0, 2, -3]))
np.nan_to_num(n, nan=3.0)
np.real(x) + np.conj(x) + np.real_if_close(x)
np.isnan(n) + np.isfinite(n) * x
np.logical_and(x > 0, y < 1) * x + np.logical_not(x > 0) + np.invert(y > 0)
np.logical_and(x, y) * x + np.logical_not(np.array([0, 1, 2, 0])) * y
np.left_shift(np.array([1, -2, 3, 0]), 2) * x + (np.array([5, 1, 2, 3]) & 6 | 1) * y
(np.array([5, 1, -2, 3]) ^ np.array([1, 1, 2, 2])) * x + (np.array([5, 1, -2, 3]) >> 1)
np.equal(x, x) + np.not_equal(x, y) + np.greater(x, y) * x + np.less_equal(x, y)
np.linspace(0, c, 4) * x
np.linspace(0, 1, 4, endpoint=False) * x
np.logspace(0, 1, 4) * x + np.geomspace(1, 8, 4) * x
np.arange(4) * x + np.arange(1, 9, 2) * x
np.full((2, 4), 1.5) * x + np.full_like(x, c)
np.zeros((2, 4)) + x + np.ones(4) + np.zeros_like(x) + np.ones_like(x)
np.identity(4) @ x + np.eye(4, 4) @ x + np.tri(4) @ x
np.hanning(4) * x + np.hamming(4) * x + np.blackman(4) + np.bartlett(4) + np.kaiser(4, 2.0)
np.indices((3, 4))[1] * M
np.searchsorted(np.sort(p), x) * x + np.searchsorted(np.sort(p), p, side="right")
np.digitize(x, [0, 1]) * x + np.digitize(x, [0, 1], right=True)
np.bincount([0, 2, 2, 1], weights=x)
np.median(np.array([1.0, np.inf])) + np.median([np.inf, np.inf, 1]) + 0 * x # flat
np.nanmedian([-np.inf, 1.0, 3, -np.inf, np.nan]) + 0 * x # flat
np.unique([3, 1, 3])[1] * x + np.unique(np.array([1, 2, 2]), False, True, True)[2][1] # flat
np.unique(x > 0).sum() * x # flat
np.isin([1, 2, 3, 4], [2, 3]) * x
np.isclose(x, x) * x + np.allclose(x, x) + np.array_equal(x, x)
np.cumulative_sum(x)
np.fft.fftshift(x) + np.fft.ifftshift(x)
M[np.tril_indices(3)] + M[np.ix_([0, 1], [2, 0, 3])].sum()
M[np.nonzero([1, 0, 1])]
np.cumulative_prod(M, axis=1)
np.sqrt(p).astype(int) * x
np.pi * x
np.copy(x) * 2 + np.angle(x) * x
np.sign(n * x) + np.angle(0 * y) + np.sin(x) // 0.3 # flat
np.linalg.norm(x)
np.linalg.norm(M)
np.linalg.norm(M, axis=1)
np.linalg.norm(M, 2)
np.linalg.norm(M, "nuc")
np.linalg.norm(x, 1) + np.linalg.norm(x, np.inf)
np.linalg.det(A) + np.linalg.slogdet(A)[1]
np.linalg.det(B)
np.linalg.inv(A)
np.linalg.solve(A, x[:3])
np.linalg.solve(A, M)
np.linalg.solve(B, x[:3])
np.linalg.cholesky(S)
np.linalg.cholesky(S, upper=True)
np.linalg.eigh(S)[0]
np.linalg.eigvalsh(S)
np.linalg.svd(M, compute_uv=False)
np.linalg.svd(M, full_matrices=False)[1]
np.linalg.svdvals(M)
np.linalg.qr(A)[1]
np.linalg.qr(A, mode="r")
np.linalg.pinv(M)
np.linalg.pinv(A, hermitian=True)
np.linalg.svd(A, hermitian=True)[1]
np.linalg.cond(A, 1)
np.linalg.matrix_power(A, 3)
np.linalg.multi_dot([A, M, x])
np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 2, 3), T[:, :, 0])
np.linalg.matrix_norm(A) + np.linalg.vector_norm(M)
np.linalg.trace(B, offset=1)
np.linalg.diagonal(B)
np.linalg.cross(A, S)
np.linalg.outer(x, y)
np.linalg.cond(A) * x
np.linalg.matrix_rank(A) * x
np.linalg.matrix_transpose(B)
""".strip().splitlines()

JAX = r"""
jnp.signbit(jnp.mod(jnp.array([-0.0, 4, -6, 0]), -2)) * x + jnp.signbit(jnp.modf(-2 + 0 * x)[0])
jnp.signbit(jnp.divmod(jnp.array([-0.0, 1, -1, 0]), -3)[0]) * x + jnp.modf(x)[0]
jnp.signbit(jnp.array([-1.0, 1, -0.0, 0]) // 3) * x
jnp.signbit(jnp.array([4.0, -6, 0, 1]) % -2) * y
jnp.max(M, axis=()) + jnp.mean(M, axis=()) + jnp.sum(M, axis=()) + jnp.ptp(M, axis=())
jax.nn.softmax(M, axis=()) + jax.nn.log_softmax(M, axis=()) + jax.nn.logsumexp(M, axis=())
jax.scipy.special.logsumexp(M, axis=()) + jax.nn.standardize(M, axis=()) + jnp.std(M, axis=())
jnp.array([[1, 2, 3, 4], [5, 6, 7, 8]]) @ jnp.sin(x)
jnp.einsum("i,i", jnp.arange(4), x) + jnp.inner(jnp.arange(4), x) + (jnp.sin(x) > 0) @ x
jnp.take(x, -1) + jnp.take(x, jnp.array([-1, 0])) + jnp.take(x, -1, mode="wrap")
jnp.sort(x)[::-1]
jnp.hypot(x, y) + jnp.hypot(0 * x, 0 * y)
jax.nn.gelu(x)
jax.nn.gelu(x, approximate=False)
jax.nn.softmax(x)
jax.nn.softmax(M, axis=0)
jax.nn.softmax(M, axis=(0, 1))
jax.nn.softmax(x, where=x > 0)
jax.nn.log_softmax(M)
jax.nn.log_softmax(x, where=x > 0)[::2] + jax.nn.log_softmax(M, where=M > 0).sum()
jax.scipy.stats.dirichlet.pdf(u[:3], p[:3]) + jax.scipy.stats.poisson.pmf(1.5, p[0])
jax.nn.hard_tanh(k)
jax.nn.soft_sign(k)
jax.nn.log_sigmoid(30 * x)
jax.nn.softplus(30 * x)
jax.nn.relu(k) + jax.nn.relu6(k) + jax.nn.sigmoid(k) + jax.nn.silu(k) + jax.nn.swish(k)
jax.nn.leaky_relu(k)
jax.nn.leaky_relu(k, 0.2)
jax.nn.elu(k, alpha=0.7) + jax.nn.celu(k, 0.7) + jax.nn.selu(k)
jax.nn.hard_sigmoid(k) + jax.nn.hard_silu(k) + jax.nn.hard_swish(k)
jax.nn.mish(k) + jax.nn.tanh(k) + jax.nn.squareplus(k) + jax.nn.sparse_plus(k)
jax.nn.sparse_sigmoid(k)
jax.nn.glu(M)
jax.nn.glu(M, axis=1)
jax.nn.standardize(M)
jax.ops.segment_sum(x, jnp.array([0, 2, 0, 2]), 3)
jax.ops.segment_sum(M.T, jnp.array([1, 0, 1, 1]), num_segments=2)
jax.nn.one_hot(jnp.array([0, 2, 1, 3]), 4) @ x
jax.nn.logsumexp(M, axis=1) + jax.nn.logmeanexp(M, axis=1)
jax.nn.log1mexp(p)
jax.nn.identity(x)
jax.nn.dot_product_attention(T[:, :, None], 2 * T[:, :, None], T[:, :, None] ** 2)
jax.nn.dot_product_attention(T[:, :, None], T[:, :, None], T[:, :, None], is_causal=True)
jnp.power(k, jnp.roll(k, 1)) + jnp.power(k, 0.0)
jnp.exp(x).at[1].multiply(y[0]) + jnp.exp(x).at[:2].divide(p[:2])
jnp.exp(x).at[:2].power(2.0) + jnp.exp(x).at[jnp.array([1, 1])].subtract(p[:2])
jnp.exp(M).at[:, 1].mul(x[:3]) + jnp.exp(M).at[0].max(x) + jnp.exp(M).at[0].min(jnp.exp(M[0]))
jnp.maximum.accumulate(x) + jnp.minimum.reduce(x, initial=0.5)
jnp.sqrt(jnp.abs(z)) + 1 / jnp.fabs(z) + jax.lax.rsqrt(z) + jnp.abs(z) ** 0.5
jax.lax.digamma(z) + jax.scipy.special.digamma(-z)
jax.scipy.special.gamma(z) + jax.scipy.special.loggamma(z) + jax.scipy.special.poch(z, 0.5)
jax.nn.logsumexp(x, where=x > 0) + jnp.sort(x, descending=True)
jnp.linspace(x, y, 3, axis=1)
jnp.abs(k) ** jnp.roll(k, 1) + jnp.sin(k) // 0.3
jnp.arctan2(k, k) + jax.lax.atan2(k, jnp.roll(k, 1)) + jnp.angle(k)
jnp.exp(x).at[1].set(2.0) + jnp.exp(x).at[-1].add(y[0]) + jnp.sin(x).at[::2].set(y[:2])
jnp.exp(M).at[1:, 0].set(x[:2]) + jnp.exp(M).at[0].add(x) + M.at[:, -1].get()[:, None]
jnp.exp(x).at[jnp.array([0, 0, 2])].add(y[:3]) + jnp.exp(x).at[jnp.array([3, 1])].set(1)
jnp.exp(x).at[jnp.array([0, 0, 2])].set(y[:3]) + jnp.exp(x).at[jnp.array([1, -3])].set(y[:2])
jnp.exp(M).at[:, jnp.array([1, 1])].set(M[:, :2])
abs(k) + jnp.sin(k)
pow(k, jnp.roll(k, 1)) + jnp.sin(k)
jnp.float_power(k, 0) + jnp.float_power(k, 2)
jnp.hypot(jnp.array([jnp.inf, 1.0]), x[:2])
jnp.exp(M).at[::-1].add(x)
jnp.copysign(k, jnp.roll(k, 1))
jnp.sign(n) * x
jnp.logaddexp(k, jnp.inf) + jnp.logaddexp2(k, jnp.roll(k, 1))
jnp.linalg.norm(k, 1) + jnp.linalg.norm(k, jnp.inf) + jnp.linalg.norm(k, -jnp.inf)
jnp.linalg.norm(k, 0.5) + jnp.linalg.norm(k - k, jnp.inf) + jnp.linalg.vector_norm(k, ord=3)
jnp.linalg.norm(0 * M, 1) + jnp.linalg.norm(M, -1) + jnp.linalg.matrix_norm(M, ord=jnp.inf)
jnp.linalg.norm(M, -jnp.inf, axis=(1, 0), keepdims=True) + jnp.linalg.norm(M, "fro")
jax.scipy.special.xlogy(k, jnp.roll(k, 1)) + jax.scipy.special.xlog1py(k, jnp.roll(k, 1))
jax.scipy.special.logit(k) + jax.scipy.special.ndtri(k)
jax.scipy.special.gammaln(k) + jax.lax.lgamma(k + 1) + jax.scipy.special.factorial(k)
jax.scipy.special.gamma(k)
jax.scipy.special.digamma(jnp.abs(k)) + jax.scipy.special.i0(k)
jax.scipy.special.logsumexp(x, b=jnp.array([1.0, 0.0, 2.0, 1.0])) + jax.nn.log1mexp(k)
jax.scipy.stats.laplace.logpdf(k, 1.0) + jax.scipy.stats.laplace.cdf(k)
jax.scipy.stats.norm.ppf(k) + jax.scipy.stats.norm.isf(k)
jax.lax.round(k / 2) + jax.lax.round(k / 2, 1) + jax.lax.sign(k)
jnp.clip(k, -1, 1)
jnp.clip(k, min=0)
jnp.fmax(k, 1.0) + jnp.fmin(k, -1.0)
jnp.max(k) + jnp.min(k) + jnp.maximum(k, 0.0) + jnp.minimum(k, 1)
jnp.std(jnp.ones(4) * x[0])
jnp.add.reduce(M, axis=1) + jnp.maximum.reduce(M, 1)
jnp.var(M, axis=0, where=M > -1)
jnp.linalg.lstsq(M.T, x)[0]
jnp.linalg.pinv(A, hermitian=True)
jnp.linalg.cholesky(S + A, symmetrize_input=False)
jnp.linalg.eigh(S + A, symmetrize_input=True)[0]
jnp.linalg.eigvalsh(S + A, symmetrize_input=True)
jnp.linalg.cholesky(S + A, upper=True, symmetrize_input=False)
jax.scipy.linalg.cholesky(S)
jax.scipy.linalg.cholesky(S + A, lower=True)
jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(S + A), x[:3])
jax.scipy.linalg.eigh(A)[0]
jax.scipy.linalg.qr(A, mode="r")[0]
jnp.linalg.norm(0 * x)
jnp.linalg.norm(x, axis=0) + jnp.linalg.norm(M)
jnp.abs(k) + jnp.sign(k)
jnp.sort(k) * x[:1]
jnp.sin(M).std() + M.var(axis=0).sum()
jnp.sin(x).sort()
jnp.cbrt(k)
jnp.median(x) + jnp.median(k)
jnp.median(jnp.append(k, jnp.inf)) + jnp.median(jnp.append(x[:1], jnp.inf))
jax.scipy.special.logsumexp(jnp.append(x, jnp.inf), b=jnp.array([1.0, 2.0, 1.0, 1.0, 0.0]))
jax.lax.stop_gradient(x) * x
jax.lax.add(x, y) + jax.lax.sub(x, y) * jax.lax.mul(x, y) / jax.lax.div(x, y)
jax.lax.max(x, y) + jax.lax.min(x, 0.0) + jax.lax.rem(x, p) + jax.lax.pow(p, x)
jax.lax.exp(x) + jax.lax.rsqrt(p) + jax.lax.logistic(x) + jax.lax.erf(x) + jax.lax.erf_inv(u)
jax.lax.lgamma(p) + jax.lax.digamma(p) + jax.lax.bessel_i0e(x) + jax.lax.integer_pow(x, 3)
jax.lax.bessel_i1e(x) + jax.lax.polygamma(1.0, p) + jax.lax.cbrt(x) + jax.lax.round(x)
jax.lax.clamp(-1.0, k, 1.0)
jax.lax.clamp(c, 0.3, 0.4) + jax.lax.clamp(0.6, 0.3, c) + jax.lax.clamp(0.2, c, 2.0)
jax.lax.select(x > 0, x, y) + jax.lax.select_n(x > 0, x, y)
jax.lax.cumsum(M) + jax.lax.cumprod(M, axis=1) + jax.lax.cummax(M, axis=1, reverse=True)
jax.lax.cummin(M) + jax.lax.cumlogsumexp(M, axis=1, reverse=True)
jax.lax.reduce_sum(T, axes=(0, 2)) + jax.lax.reduce_max(T, (0, 2)) + jax.lax.reduce_prod(T, (0, 2))
jax.lax.reduce_min(T, axes=(1,))
jax.lax.argmax(M, 1, jnp.int32) * x[:3]
jax.lax.sort(M, dimension=0)
jax.lax.top_k(x, 2)[0]
jax.lax.broadcast(x, (2, 3))
jax.lax.broadcast_in_dim(x, (4, 3), (0,))
jax.lax.reshape(M, (2, 6))
jax.lax.transpose(T, (2, 0, 1))
jax.lax.rev(T, dimensions=(0, 2))
jax.lax.expand_dims(x, (0, 2))
jax.lax.squeeze(x[None, :, None], (0, 2))
jax.lax.collapse(T, 1)
jax.lax.concatenate([M, K], 1)
jax.lax.pad(M, 2.0, ((1, 2, 1), (-1, 0, 0)))
jax.lax.slice(M, (0, 1), (3, 4), (2, 1))
jax.lax.slice_in_dim(M, 1, 3, axis=1)
jax.lax.index_in_dim(M, 1) + jax.lax.index_in_dim(M, 0, axis=0, keepdims=False)
jax.lax.dynamic_slice(M, (1, 3), (2, 2))
jax.lax.dynamic_slice_in_dim(M, 1, 2, axis=1)
jax.lax.dynamic_index_in_dim(M, 2, keepdims=False)
jax.lax.dynamic_update_slice(M, K[:2, :2], (1, 3))
jax.lax.dynamic_update_slice_in_dim(M, K[:1], 1, axis=0)
jax.lax.dynamic_update_index_in_dim(M, x, 1, 0)
jax.lax.dot(A, M)
jax.lax.dot_general(B, B, (((2,), (1,)), ((0,), (0,))))
jax.lax.batch_matmul(B, B)
jax.lax.conv(T[:, :2, :, None], T[:, :2, :2, None], (1, 1), "SAME")
jax.lax.conv_general_dilated(T[:1], T[:, :, :2], (2,), ((1, 2),), rhs_dilation=(2,))
jax.lax.conv_with_general_padding(T[:1], T[:, :, :2], (1,), ((1, 0),), (2,), (1,))
jax.lax.iota(jnp.float64, 4) * x + jax.lax.broadcasted_iota(jnp.float64, (3, 4), 1)
jax.lax.split(M, (1, 3), axis=1)[1]
jax.lax.full((2, 8), 3.0) * jax.lax.tile(x, (2,))
""".strip().splitlines()

SCIPY = r"""
scipy.special.logsumexp(M, axis=()) + scipy.special.softmax(M, axis=())
scipy.special.expit(x) + scipy.special.logit(u) + scipy.special.log_expit(30 * x)
scipy.special.erf(x) + scipy.special.erfc(x) + scipy.special.erfinv(u)
scipy.special.erfcx(x) + scipy.special.erfcinv(u)
scipy.special.gammaln(x) + scipy.special.gamma(x) + scipy.special.digamma(x)
scipy.special.rgamma(x) + scipy.special.psi(x)
scipy.special.gammasgn(x) * x + scipy.special.loggamma(p)
scipy.special.polygamma(2, p) + scipy.special.multigammaln(p + 2, 2)
scipy.special.beta(p, u) + scipy.special.betaln(p, u) + scipy.special.poch(p, u)
scipy.special.gammainc(2.0, p) + scipy.special.gammaincc(1.5, p)
scipy.special.zeta(2.0, p)
scipy.special.i0(x) + scipy.special.i0e(x) + scipy.special.i1(x) + scipy.special.i1e(x)
scipy.special.ndtr(x) + scipy.special.ndtri(u) + scipy.special.log_ndtr(x)
scipy.special.xlogy(x, p) + scipy.special.xlog1py(x, p) + scipy.special.entr(p)
scipy.special.kl_div(p, u) + scipy.special.rel_entr(u, p)
scipy.special.kl_div(x, p) + scipy.special.rel_entr(0 * x, p) # flat
scipy.special.logsumexp(M)
scipy.special.logsumexp(M, axis=1, keepdims=True)
scipy.special.logsumexp(M, axis=0, b=K * K)
scipy.special.logsumexp(x, b=[1, 0, 2, 1])
scipy.special.logsumexp(-np.inf * p, b=p) # flat
scipy.special.gamma([0.0, -1.0, -2.5, 3.0]) * x + scipy.special.rgamma([-np.inf, 0, 1, 2]) # flat
scipy.special.gammaln([-np.inf, -1, 0, np.inf]) + 0 * x # flat
scipy.special.gammasgn([-0.0, -1, -2.5, 3]) * p + scipy.special.loggamma([0.0, 1, 2, 3]) # flat
p * scipy.special.beta(0.0, 0.0) + scipy.special.exprel(np.inf) # flat
(scipy.special.poch([-3.0, -1.0, 0.0, 2.0], 2) + scipy.special.poch(0.0, [0, -1, -2, 1])) * x # flat
scipy.special.binom(x, y) + scipy.special.binom([-0.5, -1.5, -2, 3], [1, 2, 1, 2]) # flat
scipy.special.binom(x, y)
scipy.special.pseudo_huber(0.0, x) + scipy.stats.laplace.cdf(0 * x)
scipy.special.softmax(M)
scipy.special.softmax(M, axis=1)
scipy.special.log_softmax(M)
scipy.special.log_softmax(M, axis=0)
scipy.special.factorial(p) + scipy.special.boxcox(p, 0.5) + scipy.special.boxcox1p(p, 0.0)
scipy.special.huber(1.0, x) + scipy.special.pseudo_huber(1.5, x)
scipy.special.exprel(x) + scipy.special.exp10(x) + scipy.special.exp2(x)
scipy.special.cbrt(x) + scipy.special.cosm1(x) + scipy.special.sindg(x)
scipy.special.cosdg(x) + scipy.special.tandg(x)
scipy.special.inv_boxcox(x, 0.4) + scipy.special.binom(p + 3, u)
scipy.special.rgamma(k) + scipy.special.poch(k, 2) + scipy.special.poch(1.5, k)
scipy.special.binom(k + 4, 9) + scipy.special.binom(7.0, k + 4) + scipy.special.beta(k + 0.5, -0.5)
scipy.special.boxcox(p, k[1]) + scipy.special.boxcox1p(p, k[1])
scipy.special.inv_boxcox(x, k[1]) + scipy.special.inv_boxcox1p(x, k[1]) + scipy.special.exprel(k[1])
scipy.linalg.cholesky(S)
scipy.linalg.cholesky(S, lower=True)
scipy.linalg.cho_solve(scipy.linalg.cho_factor(S), M)
scipy.linalg.cho_solve((scipy.linalg.cholesky(S, lower=True), True), x[:3])
scipy.linalg.cho_solve((A, True), M) + scipy.linalg.cho_solve((A, False), M)
scipy.linalg.solve_triangular(A, x[:3])
scipy.linalg.solve_triangular(A, M, lower=True)
scipy.linalg.solve_triangular(A, M, trans=1, lower=True)
scipy.linalg.solve_triangular(A, M, trans="T", unit_diagonal=True)
scipy.linalg.solve(A, M) + scipy.linalg.inv(A) @ M + scipy.linalg.det(A)
scipy.linalg.expm(A)
scipy.linalg.block_diag(A, M)
scipy.linalg.toeplitz(x, y)
scipy.linalg.circulant(x)
scipy.linalg.solve_sylvester(A, S, A)
scipy.signal.convolve(M, A[:2])
scipy.signal.convolve(x, p[:2], mode="same")
scipy.signal.correlate(A, M[:2, :2], "valid")
scipy.signal.correlate(M, A[:2, :2], "same")
scipy.signal.convolve2d(M, A[:2], mode="valid")
scipy.signal.fftconvolve(x, p[:2], mode="same")
scipy.stats.gamma.cdf(p, 2.5) + scipy.stats.chi2.cdf(p, 3.0)
scipy.stats.poisson.cdf(2, p)
scipy.stats.multivariate_normal.entropy(x[:3], S)
scipy.stats.multivariate_normal.logpdf(M, x, p[0]) + scipy.stats.multivariate_normal.pdf(0, x, 1)
scipy.linalg.eigh(S)[0]
scipy.linalg.eigh(S, eigvals_only=True)
scipy.linalg.svd(M, full_matrices=False)[1]
scipy.linalg.qr(A)[1]
scipy.linalg.qr(M, mode="r")[0]
scipy.linalg.qr(M.T, mode="economic")[1]
scipy.linalg.lu(A)[2]
scipy.stats.norm.logpdf(x) + scipy.stats.norm.pdf(x, y, p) + scipy.stats.norm.cdf(x, loc=y)
scipy.stats.norm.logcdf(x) + scipy.stats.norm.sf(x) + scipy.stats.norm.logsf(x)
scipy.stats.norm.ppf(u, 1.0, 2.0) + scipy.stats.norm.isf(u)
scipy.stats.t.logpdf(x, 3.0, y, p) + scipy.stats.t.pdf(x, p)
scipy.stats.gamma.logpdf(p, 2.5) + scipy.stats.gamma.pdf(x, p)
scipy.stats.beta.logpdf(u, p, 2.5) + scipy.stats.beta.pdf(u, p, p)
scipy.stats.chi2.logpdf(p, 3.0) + scipy.stats.chi2.pdf(p, 2.5)
scipy.stats.expon.logpdf(p, scale=p) + scipy.stats.expon.pdf(x)
scipy.stats.laplace.logpdf(x, y, p) + scipy.stats.laplace.cdf(x)
scipy.stats.logistic.logpdf(x) + scipy.stats.logistic.cdf(x) + scipy.stats.logistic.sf(x)
scipy.stats.cauchy.logpdf(x, y, p) + scipy.stats.cauchy.cdf(x)
scipy.stats.uniform.pdf(x, -1, 2) * x + scipy.stats.uniform.cdf(x)
scipy.stats.poisson.logpmf([0, 1, 2, 5], p) + scipy.stats.poisson.pmf([0, 1, 2, 5], p)
scipy.stats.bernoulli.logpmf([0, 1, 1, 0], u) + scipy.stats.bernoulli.pmf([0, 1, 1, 0], u)
scipy.stats.multivariate_normal.logpdf(x[:3], y[:3], S)
scipy.stats.multivariate_normal.logpdf(M.T, y[:3], S)
scipy.stats.dirichlet.logpdf(u[:3] / np.sum(u[:3]), p[:3])
""".strip().splitlines()


def program(line):
    """A line without its remark."""
    return line.partition(" # ")[0].strip()


def inputs_of(text):
    """The arrays that a program names."""
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    return {
        name: value for name, value in (VALUES | {"k": KINKS, "z": ZEROS}).items() if name in names
    }


ZEROS = np.array([-0.0, 0.0, -1.0, -2.0, np.inf, 1.0])
KINKS = np.array([-1.0, 0.0, 1.0, 1.0, 6.0, -3.0, 3.0, 0.5])


def answer(text, **fields):
    """What gradcli computes."""
    values = inputs_of(text)
    request = {"expr": text, "values": values, "want": ["output"]} | fields
    (found,) = gradcli.batch([request])
    assert found["ok"], found["error"]
    return found


def numbers(value):
    return np.array(value, dtype=float)


@pytest.mark.parametrize("line", NUMPY + SCIPY)
def test_values_are_those_of_the_library(line):
    text = program(line)
    expected = eval(text, {"np": np, "scipy": scipy}, inputs_of(text))
    found = numbers(answer(text)["output"])
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def directions(given):
    """How the inputs of a program move; those that are symmetric stay it."""
    moves = {
        name: np.cos(3.0 * np.arange(v.size) + 1).reshape(v.shape) for name, v in given.items()
    }
    return {name: m + m.T if name == "S" else m for name, m in moves.items()}


@pytest.mark.parametrize("line", [n for n in NUMPY + SCIPY if "# flat" not in n])
def test_gradients_are_the_slopes_of_the_library(line):
    text = program(line)
    given = inputs_of(text)
    moves, scope, step = directions(given), {"np": np, "scipy": scipy}, 1e-5

    def at(distance):
        moved = {name: v + distance * moves[name] for name, v in given.items()}
        return np.asarray(eval(text, scope, moved), dtype=float)

    seed = np.cos(np.arange(at(0.0).size)).reshape(at(0.0).shape) + 0.5
    slope = np.sum(seed * (at(step) - at(-step))) / (2 * step)
    grads = answer(text, want=["grad"], grad=seed)["grad"]
    found = sum(np.nansum(moves[k] * numbers(g)) for k, g in grads.items() if g is not None)
    np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-7)


@cache
def of_jax():
    """Values and gradients of all programs of JAX, compiled together."""
    import jax
    import jax.scipy.linalg

    jax.config.update("jax_enable_x64", True)
    scope = {"jax": jax, "jnp": jax.numpy}

    def one(text):
        out, vjp = jax.vjp(lambda given: eval(text, scope, dict(given)) * 1.0, inputs_of(text))
        seed = np.cos(np.arange(out.size)).reshape(out.shape) + 0.5
        return out, seed, vjp(jax.numpy.asarray(seed))[0]

    return jax.jit(lambda: {text: one(text) for text in JAX})()


@pytest.mark.oracle
@pytest.mark.parametrize("text", JAX)
def test_values_and_gradients_are_those_of_jax(text):
    assert_those_of_jax(text, *of_jax()[text])


def assert_those_of_jax(text, out, seed, grads):
    digits = 1e-4 if "attention" in text else 1e-8  # attention is in single precision there
    found = answer(text, want=["output", "grad"], grad=np.asarray(seed))
    np.testing.assert_allclose(numbers(found["output"]), out, rtol=digits, atol=1e-11)
    for name, expected in grads.items():
        grad = found["grad"][name]
        grad = np.zeros(expected.shape) if grad is None else numbers(grad)
        np.testing.assert_allclose(grad, expected, rtol=digits, atol=1e-10, err_msg=name)


AT_KINKS = [text for text in JAX if {"k", "z"} & inputs_of(text).keys()]


@cache
def stored():
    """What JAX answers at kinks; `python tests/test_libraries.py`, with JAX, writes it."""
    return json.loads(KEPT.read_text("utf-8"))


@pytest.mark.parametrize("text", AT_KINKS)
def test_at_kinks_values_and_gradients_are_those_of_jax(text):
    out, seed, grads = stored()[text]
    assert_those_of_jax(text, *map(numbers, (out, seed)), {k: numbers(g) for k, g in grads.items()})


# ---- the libraries' public lists -----------------------------------------------------------------

# Functions without a derivative: files, texts, dtypes, sets, integers, random numbers, settings.
UNDERIVED = """
    argpartition argwhere array2string array_equiv array_repr array_str asarray_chkfinite
    asfortranarray asmatrix base_repr binary_repr bitwise_count
    bmat busday_count busday_offset can_cast common_type copyto
    datetime_as_string datetime_data diag_indices_from einsum_path empty empty_like fill_diagonal
    format_float_positional format_float_scientific from_dlpack frombuffer fromfile fromfunction
    fromiter frompyfunc fromregex fromstring gcd genfromtxt get_include get_printoptions getbufsize
    geterr geterrcall histogram histogram2d histogram_bin_edges histogramdd info intersect1d
    is_busday iscomplex iscomplexobj isdtype isfortran isnat isrealobj isscalar issubdtype iterable
    lcm lexsort load loadtxt mask_indices may_share_memory min_scalar_type mintypecode
    nested_iters packbits printoptions promote_types put_along_axis ravel_multi_index require
    result_type save savetxt savez savez_compressed set_printoptions setbufsize
    setdiff1d seterr seterrcall setxor1d shares_memory show_config show_runtime spacing test
    tril_indices_from triu_indices_from typename union1d unique unique_all unique_counts
    unique_inverse unique_values unpackbits unravel_index put place putmask
    get_scaled_dot_general_config after_all all_gather all_to_all axis_index axis_size
    bitcast_convert_type clz conv_dimension_numbers conv_general_permutations
    conv_general_shape_tuple conv_shape_tuple conv_transpose_shape_tuple create_token dce_sink dtype
    mulhi padtype_to_pads pbroadcast pcast pmax pmean pmin population_count ppermute precv psend
    pshuffle psum psum_scatter pswapaxes ragged_all_to_all reduce_window_shape_tuple reduce_xor
    rng_bit_generator rng_uniform shape_as_value
    shift_right_logical stage with_sharding_constraint PrecisionLike platform_dependent
    ConvGeneralDilatedDimensionNumbers DotDimensionNumbers bernoulli
"""
MAKERS = {"numpy": "array asarray asanyarray ascontiguousarray shape size ndim"}


def missing(module, name, underived=UNDERIVED):
    """The differentiable functions of a module, and those that its table has not."""
    made = {*underived.split(), *MAKERS.get(name.removeprefix("jax."), "").split()}
    public = {n for n in dir(module) if not n.startswith("_")} - made
    public = {n for n in public if callable(getattr(module, n))}
    kinds = (type, type(np))
    public = {n for n in public if not isinstance(getattr(module, n), kinds)}
    return public, {n for n in public if library_function(f"{name}.{n}") is None}


def share(modules, functions=missing):
    """What share of modules' functions is refused, and which they are."""
    lists = [functions(module, name) for name, module in modules.items()]
    refused = [n for _, names in lists for n in sorted(names)]
    return len(refused) / sum(len(public) for public, _ in lists), refused


def test_a_tenth_of_numpy_is_refused_at_most():
    refused, names = share({"numpy": np, "numpy.linalg": np.linalg})
    assert refused <= 0.1, names


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("jnp.maximum(x, 1.0).sum()", [np.nan, 2.0], "nan or infinite"),
        ("jax.lax.cummax(x).sum()", [1.0, 1.0], "JAX shares the gradient of cummax"),
        ("jnp.log(x).sum()", [0.0, 1.0], "nan or infinite"),
        ("jnp.maximum(x, 1.0).sum() + jax.nn.softmax(x, where=x > 0).sum()", [1.0, -2.0], None),
        ("np.maximum(x, 1.0).sum()", [np.nan, 2.0], None),
    ],
)
def test_slopes_that_are_not_those_of_jax_are_named(text, value, words):
    (found,) = gradcli.batch([{"expr": text, "values": {"x": value}, "want": ["grad", "notes"]}])
    said = [note["message"] for note in found["notes"] if note["code"] == "not-in-jax"]
    assert [words in message for message in said] == ([True] if words else [])


@pytest.mark.oracle
def test_a_fifth_of_jax_is_refused_at_most():
    import jax
    import jax.scipy.special

    modules = {"jax.numpy": jax.numpy, "jax.numpy.linalg": jax.numpy.linalg, "jax.nn": jax.nn}
    modules |= {"jax.lax": jax.lax, "jax.scipy.special": jax.scipy.special}
    refused, names = share(modules)
    assert refused <= 0.2, names


@pytest.mark.oracle
def test_three_twentieths_of_autograd_are_refused_at_most():
    """Of the functions that autograd differentiates, but those of complex numbers."""
    autograd = pytest.importorskip("autograd")
    names = ("numpy", "numpy.linalg", "scipy.special", "scipy.linalg", "scipy.signal")
    names += ("scipy.integrate", *(f"scipy.stats.{n}" for n in STATS))

    def differentiated(module, name):
        public = {n for n in dir(module) if getattr(module, n).__hash__ and not n.startswith("_")}
        public = {n for n in public if getattr(module, n) in autograd.core.primitive_vjps}
        return public, {n for n in public if library_function(f"{name}.{n}") is None}

    modules = {name: import_module(f"autograd.{name}") for name in names}
    refused, names = share(modules, differentiated)
    assert refused <= 0.15, names


STATS = ("norm", "t", "gamma", "beta", "chi2", "dirichlet", "multivariate_normal", "poisson")


@pytest.mark.oracle
@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("jax.")])
def test_names_of_jax_are_those_that_it_has(module):
    pytest.importorskip("jax")
    names = {name for table in _tables(module) for name in table}
    assert [name for name in sorted(names) if not _in_jax(module, name)] == []
    others = {name for table in _tables(module.removeprefix("jax.")) for name in table} - names
    assert [name for name in sorted(others) if _in_jax(module, name)] == []


def _in_jax(module, name):
    path, _, last = module.rpartition(".")
    inside = module if last not in UFUNCS else path
    found = import_module(inside)
    return hasattr(found if inside == module else getattr(found, last), name)


# ---- what is refused, and what is not taken for PyTorch's ----------------------------------------

REFUSED = [
    ("jax.lax.sort((x, y))[1]", "unsupported", "several arrays"),
    ("scipy.linalg.toeplitz(M)", "unsupported", "for each row"),
    ("jax.scipy.linalg.toeplitz(x, M)", "unsupported", "for each row"),
    ("scipy.linalg.circulant(M)", "unsupported", "for each row"),
    ("np.trapezoid(x[:3], B)", "unsupported", "broadcast y"),
    ("np.unsqueeze(x, 0)", "unknown-function", "np.unsqueeze()"),
    ("jnp.log_softmax(x)", "unknown-function", "jnp.log_softmax()"),
    ("scipy.special.relu(x)", "unknown-function", "scipy.special.relu()"),
    ("jax.scipy.special.psi(x)", "unknown-function", "JAX has no jax.scipy.special.psi()"),
    ("jax.scipy.special.expm1(x)", "unknown-function", "write jnp.expm1()"),
    ("jax.scipy.linalg.norm(x)", "unknown-function", "write jnp.linalg.norm()"),
    ("jnp.clip(x, a_min=0.0)", "arguments", "a_min"),
    ("jnp.take(x, [0, 1])", "arguments", "take() of JAX takes no list for indices"),
    ("jnp.sum([x, x])", "arguments", "sum() of JAX takes no list for a"),
    ("jax.lax.add(x, [1.0, 2.0, 3.0, 4.0])", "arguments", "write jnp.array([...])"),
    ("jax.nn.relu([1.0, 2.0]) * x", "arguments", "write jnp.array([...])"),
    ("jnp.quantile(x, [0.5])", "arguments", "no list for q"),
    ("from scipy import special\nspecial.betainc(x, x, x)", "unknown-function", "betainc()"),
    ("jax.vmap(x)", "unsupported", "takes a function"),
    ("jax.vmap(jnp.sin)(x)", "unsupported", "jax.vmap() takes a function"),
    ("np.vectorize(np.sin)(x)", "unsupported", "np.sin(x), not np.vectorize(np.sin)(x)"),
    ("np.apply_along_axis(np.sum, 0, x)", "unsupported", "np.sum(x, axis=0)"),
    ("np.r_[0:2, y]", "unknown-function", "write np.concatenate([a, b])"),
    ("np.c_[0:2, y]", "unknown-function", "write np.column_stack([a, b])"),
    ("x[np.s_[0:2]]", "unknown-function", "x[0:2]"),
    ("np.mgrid[0:3] * x", "unknown-function", "indexing='ij'"),
    ("np.unique(x)", "needs-value", "x determines the result of unique(), and has"),
    ("np.piecewise(x, [x < 0], [1.0, 2.0])", "unknown-function", "where(x < 0, a, b)"),
    ("np.median(x, dim=0)", "arguments", "dim"),
    ("np.argmax(M, axis=())", "arguments", "empty axis"),
    ("np.linalg.norm(M, axis=())", "arguments", "empty axis"),
    ("np.sum(x, out=y)", "unsupported", "out="),
    ("np.reshape(x, (2, 2), order='F')", "unsupported", "order="),
    ("torch.exp(x).std() + np.sum(x)", "unsupported", "std()"),
    ("np.pi * x.std()", "unsupported", "std()"),
    ("import numpy as np\nx.sort()", "unsupported", "np.sort(x)"),
    ("np.sin(x).median()", "unsupported", "np.median(x"),
    ("np.sin(x).sort()", "unsupported", "np.sort(x)"),
    ("np.sin(x).exp()", "unsupported", "np.exp(x"),
    ("import numpy as np\nx.exp()", "unsupported", "np.exp(x"),
    ("jnp.sin(x).softmax(-1)", "unsupported", "jax.nn.softmax(x"),
    ("np.sin(x).relu()", "unsupported", "relu(x, ...), a function of PyTorch"),
    ("jnp.exp(x)[[0, 1]]", "index", "x[jnp.array([0, 1])]"),
    ("jnp.exp(x).at[[0, 1]].set(0.0)", "index", "x[jnp.array([0, 1])]"),
    ("jnp.nextafter(x, y)", "not-differentiable", "jnp.nextafter()"),
    ("jnp.quantile(x, 0.5, method='nearest')", "unsupported", "method='lower'"),
    ("np.pad(x, -1)", "arguments", "negative"),
    ("np.eye(100000, k=1) * x[0]", "limit", "numbers"),
    ("np.quantile(x, 0.5, method='weibull')", "unsupported", "weibull"),
    ("np.pad(x, 1, mode='linear_ramp')", "unsupported", "linear_ramp"),
    ("np.array([x, y[:2]])", "shape", ""),
    ("jnp.linalg.eigh(A, symmetrize_input=False)[1]", "arguments", "eigh()"),
    ("jnp.exp(x).at[1].apply(jnp.sin)", "unsupported", "x.at[i].set(f(x[i]))"),
    ("jnp.exp(x).at[jnp.array([1, 1])].mul(y[:2])", "unsupported", "one element twice"),
    ("scipy.special.zeta(x)", "unsupported", "zeta(x, 1)"),
    ("np.polyval(np.ones(10000), x)", "limit", "coefficients"),
    ("jax.lax.conv_general_dilated(M, M, (1,), 'SAME')", "unsupported", "2-dimensional"),
    (
        "jax.lax.conv_general_dilated(T, T, (1,), 'SAME', dimension_numbers=('NHC', 'OIH', 'NHC'))",
        "unsupported",
        "dimension_numbers",
    ),
    (
        "jax.lax.conv_general_dilated(T, T, (1,), 'SAME', batch_group_count=2)",
        "unsupported",
        "batch_group_count",
    ),
]


@pytest.mark.parametrize(("text", "code", "part"), REFUSED)
def test_what_a_table_has_not_is_refused(text, code, part):
    (found,) = gradcli.batch([{"expr": text, "values": inputs_of(text), "want": ["output"]}])
    assert not found["ok"]
    assert found["error"]["code"] == code
    assert part in found["error"]["message"] + (found["error"].get("hint") or "")


IMPORTED = [
    ("import autograd.numpy as np\nnp.median(x)", np.median(X)),
    ("autograd.numpy.median(x) * x", np.median(X) * X),
    ("autograd.scipy.special.expit(x)", scipy.special.expit(X)),
    ("import numpy as np\nx.std() + x.transpose()", X.std() + X),
    ("import jax.numpy as jnp\nx.var() * x[::-1]", X.var() * X[::-1]),
    ("import numpy as np\nimport torch\nnp.pi * x.std()", np.pi * X.std(ddof=1)),
    ("import numpy as onp\nonp.sort(x)[0]", X.min()),
    ("np.ones(2) * sum(x.reshape(2, 2))", sum(X.reshape(2, 2))),
    ("a = np.array([3, 0, 5, 1])\na.nonzero()[0] * x[:3]", np.array([0, 2, 3]) * X[:3]),
    ("from jax import lax\nlax.rev(x, (0,))", X[::-1]),
    ("import scipy.special as sp\nsp.softmax(x)", scipy.special.softmax(X)),
    ("from scipy import special\nspecial.expit(x)", scipy.special.expit(X)),
    ("from scipy.special import logsumexp\nlogsumexp(x)", scipy.special.logsumexp(X)),
    ("from autograd.scipy.special import gammaln\ngammaln(x)", scipy.special.gammaln(X)),
    ("from numpy.linalg import norm\nnorm(x)", np.linalg.norm(X)),
    ("import jax.nn as jnn\njnn.relu6(9 * x)", np.clip(9 * X, 0, 6)),
    ("f = np.median\nf(x) + f(2 * x)", 3 * np.median(X)),
    ("special.expit(x)", scipy.special.expit(X)),
    ("(x > 0.5).to(float64) * x", (X > 0.5) * X),
    ("x * ones(4, dtype=float32)", X),
    ("jnp.exp(x).at[x > 0].set(2.0)", np.where(X > 0, 2.0, np.exp(X))),
    ("anp.median(x) + onp.std(x)", np.median(X) + np.std(X)),
    ("jnn.relu6(9 * x) + jsp.special.expit(x)", np.clip(9 * X, 0, 6) + scipy.special.expit(X)),
    ("median(x)", np.sort(X)[1]),
    ("np.sqrt(2) * x.exp() * x.std()", np.sqrt(2) * np.exp(X) * X.std(ddof=1)),
    ("np.log(2 * np.pi) * x.pow(2)", np.log(2 * np.pi) * X**2),
]


@pytest.mark.parametrize(("text", "expected"), IMPORTED)
def test_imports_say_whose_a_name_is(text, expected):
    (found,) = gradcli.batch([{"expr": text, "values": {"x": X}, "want": ["output"]}])
    assert found["ok"], found["error"]
    np.testing.assert_allclose(numbers(found["output"]), expected, rtol=1e-12)


WRITTEN_OUT = [
    ("import numpy as np\nx = np.array([1, 2, 3.0])\nx.std()", np.array([-1, 0, 1]) / np.sqrt(6)),
    ("import numpy as np; x = np.array([1, 2, 4.0]); np.sum(x ** 2)", np.array([2, 4, 8])),
    ("import jax.numpy as jnp; x = jnp.array([1, -2.0]); jnp.sum(x ** 2)", np.array([2, -4])),
]


@pytest.mark.parametrize(("text", "expected"), WRITTEN_OUT)
def test_arrays_that_a_program_writes_out_are_inputs(text, expected):
    np.testing.assert_allclose(gradcli.grad(text), expected, atol=1e-15)
    given = 2 * np.arange(expected.size) + 1.0
    if "**" in text:
        np.testing.assert_array_equal(gradcli.grad(text, values={"x": given}), 2 * given)


INFINITE = [
    ("np.convolve(x, y)", {"x": [np.inf, 2, 3], "y": [1, 2]}),
    ("np.convolve(x, y, 'same')", {"x": [np.nan, 0, 1, 2], "y": [1, 2]}),
    ("np.nanvar(x)", {"x": [np.inf, 1, np.nan]}),
]


@pytest.mark.parametrize(("text", "values"), INFINITE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_that_are_not_finite_spoil_nothing_else(text, values):
    (found,) = gradcli.batch([{"expr": text, "values": values, "want": ["output"]}])
    expected = eval(text, {"np": np}, {k: np.array(v, float) for k, v in values.items()})
    np.testing.assert_array_equal(numbers(found["output"]), expected)


if __name__ == "__main__":
    of_kinks = {
        text: [np.asarray(out).tolist(), seed.tolist(), {k: g.tolist() for k, g in grads.items()}]
        for text, (out, seed, grads) in of_jax().items()
        if text in AT_KINKS
    }
    lines = (
        f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in of_kinks.items()
    )
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
