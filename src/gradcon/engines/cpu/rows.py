"""Operations on rows of float32, the innermost loops of the cpu engine: a small vector machine.

Its registers are the rows of one table S, named by number; every function reads some rows and writes others over the
first n columns.  Loops run along x over plain pointers (`row`), which compile to vector instructions and cost nothing
to pass around: sliced arrays would count references at every call, which takes longer than the arithmetic.

Filters take one-sided taps in mirrored pairs, three pairs a pass, to spare the accumulating row.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from gradcon.engines import model

# No assumption that values are finite: the flags only allow reordering, fusing and reciprocals.
FAST = {"contract", "reassoc", "arcp", "nsz", "afn"}
OPTIONS: dict[str, Any] = {"cache": True, "fastmath": FAST, "nogil": True, "error_model": "numpy"}
PAIRS = 3

compiled = njit(**OPTIONS)

along = compiled(model.along)
mean_gradient = compiled(model.mean_gradient)
gradient_inconsistency = compiled(model.gradient_inconsistency)
scale_inconsistency = compiled(model.scale_inconsistency)
disparity_error = compiled(model.disparity_error)
noise_power = compiled(model.noise_power)
data_reweight = compiled(model.data_reweight)
information = compiled(model.information)
residual_disparity = compiled(model.residual_disparity)


def one_sided(taps, dtype=np.float32):
    """Taps for offsets 0, 1, ... in correlation order, filled up with zeros to whole passes of pairs."""
    half = taps[len(taps) // 2 :]
    return np.pad(half, (0, -(len(half) - 1) % PAIRS)).astype(dtype)


@intrinsic
def row(typing_context, array, i, x):
    """Pointer to array[i, x] of a 2-D array: what follows it can be indexed, and nobody checks bounds."""

    def generate(context, builder, signature, arguments):
        value, i, x = arguments
        struct = make_array(signature.args[0])(context, builder, value)
        step_i, step_x = cgutils.unpack_tuple(builder, struct.strides)
        offset = builder.add(builder.mul(i, step_i), builder.mul(x, step_x))
        start = builder.bitcast(struct.data, ir.IntType(8).as_pointer())
        return builder.bitcast(builder.gep(start, [offset]), context.get_value_type(signature.return_type))

    return types.CPointer(array.dtype)(array, types.intp, types.intp), generate


# The loops of the filters stand in functions of their own: compiled alone, where all rows are strangers to each other,
# they become vector code, which they would not where the compiler sees that several rows come from one table.  And a
# loop touches few rows, because each one written is first shown not to overlap the others.


@compiled
def start(centre, tap, out, n):
    for x in range(n):
        out[x] = tap * centre[x]


@compiled
def add_even(t0, t1, t2, a0, a1, a2, b0, b1, b2, out, n):
    for x in range(n):
        out[x] += t0 * (b0[x] + a0[x]) + t1 * (b1[x] + a1[x]) + t2 * (b2[x] + a2[x])


@compiled
def add_odd(t0, t1, t2, a0, a1, a2, b0, b1, b2, out, n):
    for x in range(n):
        out[x] += t0 * (b0[x] - a0[x]) + t1 * (b1[x] - a1[x]) + t2 * (b2[x] - a2[x])


@compiled
def smooth_across(image, y, x0, n, even, S, out, at):
    """S[out, at:] = row y, columns x0 to x0 + n, of the image smoothed across rows; borders are repeated."""
    last = image.shape[0] - 1
    out_ = row(S, out, at)
    start(row(image, y, x0), even[0], out_, n)
    for k in range(1, even.size, PAIRS):
        a0, b0 = row(image, max(y - k, 0), x0), row(image, min(y + k, last), x0)
        a1, b1 = row(image, max(y - k - 1, 0), x0), row(image, min(y + k + 1, last), x0)
        a2, b2 = row(image, max(y - k - 2, 0), x0), row(image, min(y + k + 2, last), x0)
        add_even(even[k], even[k + 1], even[k + 2], a0, a1, a2, b0, b1, b2, out_, n)


@compiled
def smooth_and_derive_across(image, y, x0, n, even, odd, S, smooth, derived, at):
    """The same, and S[derived, at:] = the derivative across rows."""
    last = image.shape[0] - 1
    s_, d_ = row(S, smooth, at), row(S, derived, at)
    start(row(image, y, x0), even[0], s_, n)
    start(row(image, y, x0), odd[0], d_, n)
    for k in range(1, even.size, PAIRS):
        a0, b0 = row(image, max(y - k, 0), x0), row(image, min(y + k, last), x0)
        a1, b1 = row(image, max(y - k - 1, 0), x0), row(image, min(y + k + 1, last), x0)
        a2, b2 = row(image, max(y - k - 2, 0), x0), row(image, min(y + k + 2, last), x0)
        add_even(even[k], even[k + 1], even[k + 2], a0, a1, a2, b0, b1, b2, s_, n)
        add_odd(odd[k], odd[k + 1], odd[k + 2], a0, a1, a2, b0, b1, b2, d_, n)


@compiled
def smooth_along(S, padded, even, out, n):
    """S[out] = row `padded`, which has a radius of columns more on either side, smoothed along itself."""
    radius = even.size - 1
    out_ = row(S, out, 0)
    start(row(S, padded, radius), even[0], out_, n)
    for k in range(1, even.size, PAIRS):
        a0, b0 = row(S, padded, radius - k), row(S, padded, radius + k)
        a1, b1 = row(S, padded, radius - k - 1), row(S, padded, radius + k + 1)
        a2, b2 = row(S, padded, radius - k - 2), row(S, padded, radius + k + 2)
        add_even(even[k], even[k + 1], even[k + 2], a0, a1, a2, b0, b1, b2, out_, n)


@compiled
def smooth_and_derive_along(S, padded, even, odd, smooth, derived, n):
    """The same, and S[derived] = its derivative."""
    radius = even.size - 1
    s_, d_ = row(S, smooth, 0), row(S, derived, 0)
    start(row(S, padded, radius), even[0], s_, n)
    start(row(S, padded, radius), odd[0], d_, n)
    for k in range(1, even.size, PAIRS):
        a0, b0 = row(S, padded, radius - k), row(S, padded, radius + k)
        a1, b1 = row(S, padded, radius - k - 1), row(S, padded, radius + k + 1)
        a2, b2 = row(S, padded, radius - k - 2), row(S, padded, radius + k + 2)
        add_even(even[k], even[k + 1], even[k + 2], a0, a1, a2, b0, b1, b2, s_, n)
        add_odd(odd[k], odd[k + 1], odd[k + 2], a0, a1, a2, b0, b1, b2, d_, n)


@compiled
def repeat_borders(S, padded, left, right, n):
    """Fill the first `left` and the last `right` of n columns with the nearest value between them."""
    line = row(S, padded, 0)
    for x in range(left):
        line[x] = line[left]
    for x in range(n - right, n):
        line[x] = line[n - right - 1]


@compiled
def window(x0, n, radius, width):
    """The columns that a filter of `radius` needs for x0 to x0 + n: the first, how many, and how many are missing."""
    xa, xb = max(x0 - radius, 0), min(x0 + n + radius, width)
    return xa, xb - xa, radius - (x0 - xa), radius - (xb - x0 - n)


@compiled
def smooth_padded(image, y, x0, n, even, S, padded):
    """As `smooth_across` into row `padded`, with the radius of columns on either side that the filters along need."""
    radius = even.size - 1
    xa, count, left, right = window(x0, n, radius, image.shape[1])
    smooth_across(image, y, xa, count, even, S, padded, left)
    repeat_borders(S, padded, left, right, n + 2 * radius)


@compiled
def smooth_and_derive_padded(image, y, x0, n, even, odd, S, padded_s, padded_d):
    radius = even.size - 1
    xa, count, left, right = window(x0, n, radius, image.shape[1])
    smooth_and_derive_across(image, y, xa, count, even, odd, S, padded_s, padded_d, left)
    repeat_borders(S, padded_s, left, right, n + 2 * radius)
    repeat_borders(S, padded_d, left, right, n + 2 * radius)


@compiled
def fill(S, out, value, n):
    out_ = row(S, out, 0)
    for x in range(n):
        out_[x] = value


@compiled
def subtract(S, a, image, y, x0, out, n):
    """S[out] = S[a] - image."""
    a_, image_, out_ = row(S, a, 0), row(image, y, x0), row(S, out, 0)
    for x in range(n):
        out_[x] = a_[x] - image_[x]


@compiled
def project_image(S, cx, cy, dx, dy, y, x0, out, n):
    """S[out] = <(dx, dy), c>, with dx and dy images."""
    cx_, cy_, dx_, dy_ = row(S, cx, 0), row(S, cy, 0), row(dx, y, x0), row(dy, y, x0)
    out_ = row(S, out, 0)
    for x in range(n):
        out_[x] = along(cx_[x], cy_[x], dx_[x], dy_[x])


@compiled
def project_rows(S, cx, cy, dx, dy, out, n):
    project_image(S, cx, cy, S[dx : dx + 1], S[dy : dy + 1], 0, 0, out, n)


@compiled
def gradients(S, d_t, d_r, g, G, n):
    """S[g], S[G] from the two directional derivatives."""
    d_t_, d_r_, g_, G_ = row(S, d_t, 0), row(S, d_r, 0), row(S, g, 0), row(S, G, 0)
    for x in range(n):
        t, r = d_t_[x], d_r_[x]
        g_[x] = mean_gradient(t, r)
        G_[x] = gradient_inconsistency(t, r)


@compiled
def axis_gradients(S, c, d, reference_d, y, x0, g, G, n):
    """The same where only one component of c is not 0, straight from the derivatives along it."""
    c_, d_, r_, g_, G_ = row(S, c, 0), row(S, d, 0), row(reference_d, y, x0), row(S, g, 0), row(S, G, 0)
    for x in range(n):
        t, r = c_[x] * d_[x], c_[x] * r_[x]
        g_[x] = mean_gradient(t, r)
        G_[x] = gradient_inconsistency(t, r)


@compiled
def add_absolute(S, a, total, n):
    a_, total_ = row(S, a, 0), row(S, total, 0)
    for x in range(n):
        total_[x] += abs(a_[x])


@compiled
def add_squares(S, a, total_a, b, total_b, n):
    a_, b_, total_a_, total_b_ = row(S, a, 0), row(S, b, 0), row(S, total_a, 0), row(S, total_b, 0)
    for x in range(n):
        total_a_[x] += a_[x] * a_[x]
        total_b_[x] += b_[x] * b_[x]


@compiled
def store(S, a, image, y, x0, n):
    """image = S[a]."""
    a_, image_ = row(S, a, 0), row(image, y, x0)
    for x in range(n):
        image_[x] = a_[x]


@compiled
def store_square(S, a, image, y, x0, n):
    """image = S[a]^2."""
    a_, image_ = row(S, a, 0), row(image, y, x0)
    for x in range(n):
        image_[x] = a_[x] * a_[x]


@compiled
def store_ratio(S, a, scale, b, image, y, x0, n):
    """image = scale S[a] / S[b]."""
    a_, b_, image_ = row(S, a, 0), row(S, b, 0), row(image, y, x0)
    for x in range(n):
        image_[x] = scale * a_[x] / b_[x]


@compiled
def residual(S, sum_dI, sum_g, epsilon, n):
    """The residual disparity, written over the sum of |dI|."""
    dI_, g_ = row(S, sum_dI, 0), row(S, sum_g, 0)
    for x in range(n):
        dI_[x] = residual_disparity(dI_[x], g_[x], epsilon)


@compiled
def error_bound(S, noise, sum_dI2, sum_g2, epsilon, variance, y, x0, out, n):
    """S[out] = delta w_e^2."""
    dI2_, g2_, variance_ = row(S, sum_dI2, 0), row(S, sum_g2, 0), row(variance, y, x0)
    out_ = row(S, out, 0)
    for x in range(n):
        out_[x] = disparity_error(noise, dI2_[x], g2_[x], epsilon, variance_[x])


@compiled
def noise_over_gradient(S, G, bound, noise, n):
    """N^2 without the scale term, written over G."""
    G_, bound_ = row(S, G, 0), row(S, bound, 0)
    for x in range(n):
        G_[x] = noise_power(G_[x], bound_[x], model.ZERO, noise)


@compiled
def noise_with_scale_term(S, G, bound, blurred_g2, blurred_dw2, y, x0, noise, n):
    """N^2, written over G."""
    G_, bound_, g2_, dw2_ = row(S, G, 0), row(S, bound, 0), row(S, blurred_g2, 0), row(blurred_dw2, y, x0)
    for x in range(n):
        G_[x] = noise_power(G_[x], bound_[x], scale_inconsistency(g2_[x], dw2_[x]), noise)


@compiled
def raise_to(S, a, other, n):
    """S[a] = max(S[a], S[other])."""
    a_, other_ = row(S, a, 0), row(S, other, 0)
    for x in range(n):
        a_[x] = np.maximum(a_[x], other_[x])


@compiled
def weigh(S, g, N2, weights, precision, n):
    """Add up weights and information; N^2 becomes the weight 1 / N^2."""
    g_, N2_, weights_, precision_ = row(S, g, 0), row(S, N2, 0), row(S, weights, 0), row(S, precision, 0)
    for x in range(n):
        precision_[x] += information(g_[x], N2_[x])
        weight = model.ONE / N2_[x]
        weights_[x] += weight
        N2_[x] = weight


@compiled
def accumulate(S, dI, g, weight, diagonal, rhs, reweight, n):
    """Add W R g^2 to the diagonal and -W R g dI to the right-hand side."""
    dI_, g_, weight_ = row(S, dI, 0), row(S, g, 0), row(S, weight, 0)
    diagonal_, rhs_ = row(S, diagonal, 0), row(S, rhs, 0)
    for x in range(n):
        R = data_reweight(dI_[x]) if reweight else model.ONE  # a choice that the compiler takes out of the loop
        weighted = weight_[x] * R * g_[x]
        diagonal_[x] += weighted * g_[x]
        rhs_[x] -= weighted * dI_[x]
