"""The model's equations along n pixels of a row; every function takes pointers to the rows that it reads and writes."""

import numpy as np

from gradcon.engines import model
from gradcon.engines.cpu.rows import called, inlined

scale_inconsistency = inlined(model.scale_inconsistency)
disparity_error = inlined(model.disparity_error)
noise_power = inlined(model.noise_power)
data_reweight = inlined(model.data_reweight)
information = inlined(model.information)
residual_disparity = inlined(model.residual_disparity)


@called
def fill(out, value, n):
    for x in range(n):
        out[x] = value


@called
def add_absolute(dI, g, sum_dI, sum_g, n):
    for x in range(n):
        sum_dI[x] += abs(dI[x])
        sum_g[x] += abs(g[x])


@called
def add_squares(dI, g, sum_dI2, sum_g2, n):
    for x in range(n):
        sum_dI2[x] += dI[x] * dI[x]
        sum_g2[x] += g[x] * g[x]


@called
def residual(sum_dI, sum_g, epsilon, out, n):
    """out = the residual disparity."""
    for x in range(n):
        out[x] = residual_disparity(sum_dI[x], sum_g[x], epsilon)


@called
def error_bound(noise, sum_dI2, sum_g2, epsilon, variance, out, n):
    """out = delta w_e^2."""
    for x in range(n):
        out[x] = disparity_error(noise, sum_dI2[x], sum_g2[x], epsilon, variance[x])


@called
def noise_over_gradient(G, bound, noise, N2, n):
    """N2 = the noise power without the scale term."""
    for x in range(n):
        N2[x] = noise_power(G[x], bound[x], model.ZERO, noise)


@called
def noise_with_scale_term(G, bound, blurred_g2, blurred_dw2, noise, N2, n):
    for x in range(n):
        N2[x] = noise_power(G[x], bound[x], scale_inconsistency(blurred_g2[x], blurred_dw2[x]), noise)


@called
def raise_to(a, share, other, n):
    """a = max(a, share * other)."""
    for x in range(n):
        a[x] = np.maximum(a[x], share * other[x])


@called
def raise_both(a, b, n):
    """Both become the larger of the two."""
    for x in range(n):
        largest = np.maximum(a[x], b[x])
        a[x] = largest
        b[x] = largest


@called
def weigh(g, N2, total, precision, n):
    """Add up weights and information; N^2 becomes the weight 1 / N^2."""
    for x in range(n):
        precision[x] += information(g[x], N2[x])
        weight = model.ONE / N2[x]
        total[x] += weight
        N2[x] = weight


@called
def accumulate(dI, g, weight, diagonal, rhs, reweight, n):
    """Add W R g^2 to the diagonal and -W R g dI to the right-hand side."""
    for x in range(n):
        R = data_reweight(dI[x]) if reweight else model.ONE  # the compiler moves this choice out of the loop
        weighted = weight[x] * R * g[x]
        diagonal[x] += weighted * g[x]
        rhs[x] -= weighted * dI[x]


@called
def store(a, out, n):
    for x in range(n):
        out[x] = a[x]


@called
def store_ratio(a, scale, b, out, n):
    """out = scale a / b."""
    for x in range(n):
        out[x] = scale * a[x] / b[x]
