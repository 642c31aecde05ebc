"""The model's equations along a row: each function reads some rows of the table S and writes others."""

import numpy as np

from gradcon.engines import model
from gradcon.engines.cpu.rows import compiled, row

along = compiled(model.along)
mean_gradient = compiled(model.mean_gradient)
gradient_inconsistency = compiled(model.gradient_inconsistency)
scale_inconsistency = compiled(model.scale_inconsistency)
disparity_error = compiled(model.disparity_error)
noise_power = compiled(model.noise_power)
data_reweight = compiled(model.data_reweight)
information = compiled(model.information)
residual_disparity = compiled(model.residual_disparity)


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
    """The same if only one component of c is not 0, directly from the derivatives along it."""
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
    """Overwrite the sum of |dI| with the residual disparity."""
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
    """Overwrite G with N^2 without the scale term."""
    G_, bound_ = row(S, G, 0), row(S, bound, 0)
    for x in range(n):
        G_[x] = noise_power(G_[x], bound_[x], model.ZERO, noise)


@compiled
def noise_with_scale_term(S, G, bound, blurred_g2, blurred_dw2, y, x0, noise, n):
    """Overwrite G with N^2."""
    G_, bound_, g2_, dw2_ = row(S, G, 0), row(S, bound, 0), row(S, blurred_g2, 0), row(blurred_dw2, y, x0)
    for x in range(n):
        G_[x] = noise_power(G_[x], bound_[x], scale_inconsistency(g2_[x], dw2_[x]), noise)


@compiled
def raise_to(S, a, share, other, n):
    """S[a] = max(S[a], share * S[other])."""
    a_, other_ = row(S, a, 0), row(S, other, 0)
    for x in range(n):
        a_[x] = np.maximum(a_[x], share * other_[x])


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
        R = data_reweight(dI_[x]) if reweight else model.ONE  # the compiler moves this choice out of the loop
        weighted = weight_[x] * R * g_[x]
        diagonal_[x] += weighted * g_[x]
        rhs_[x] -= weighted * dI_[x]
