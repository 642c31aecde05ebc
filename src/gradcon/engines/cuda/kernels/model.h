// What the CUDA kernels compute at one pixel: the functions of model.py under the same names, and the sums over views
// and scales built from them.
//
// The engine puts definitions of IRLS_FLOOR, DIRECTIONS and VARIANCE_RADIUS (of the filter with SIGMA_C) before this
// file.

DEVICE float along(float cx, float cy, float dx, float dy) { return cx * dx + cy * dy; }

DEVICE float mean_gradient(float d_t, float d_r) { return 0.5f * (d_t + d_r); }

DEVICE float gradient_inconsistency(float d_t, float d_r) { return 0.5f * (d_t - d_r); }

DEVICE float residual_disparity(float sum_abs_dI, float sum_abs_g, float epsilon) {
    return sum_abs_dI / (sum_abs_g + epsilon);
}

DEVICE float scale_inconsistency(float blurred_g2, float blurred_dw2) { return blurred_g2 * blurred_dw2; }

DEVICE float disparity_error(float noise, float sum_dI2, float sum_g2, float epsilon, float variance) {
    return (noise + sum_dI2) / (sum_g2 + epsilon) + variance;
}

DEVICE float noise_power(float G, float dw2_e, float O2, float noise) { return G * G * dw2_e + O2 + noise; }

DEVICE float data_reweight(float dI) { return inverse_root(dI * dI + IRLS_FLOOR); }

DEVICE float smoothness_reweight(float wx, float wy) { return 0.5f * inverse_root(wx * wx + wy * wy + IRLS_FLOOR); }

DEVICE float link(float phi_i, float phi_j) { return 0.5f * (phi_i + phi_j); }

DEVICE float data_deviation(float information, float prior) {
    return inverse_root(information + 1.0f / (prior * prior));
}

DEVICE float deviation(float data, float variance) { return sqrtf(data * data + variance); }

// var(w) around a pixel in rows of `stride`, from the differences to it: in float32, a difference of large squares
// would be lost to rounding.
DEVICE float local_variance(const float *w, int stride, const float *taps) {
    float middle = w[0], first = 0.0f, second = 0.0f;
#pragma unroll
    for (int i = -VARIANCE_RADIUS; i <= VARIANCE_RADIUS; ++i) {
        float row_first = 0.0f, row_second = 0.0f;
#pragma unroll
        for (int j = -VARIANCE_RADIUS; j <= VARIANCE_RADIUS; ++j) {
            float difference = w[i * stride + j] - middle, weighted = taps[VARIANCE_RADIUS + j] * difference;
            row_first += weighted;
            row_second += weighted * difference;
        }
        first += taps[VARIANCE_RADIUS + i] * row_first;
        second += taps[VARIANCE_RADIUS + i] * row_second;
    }
    return fmaxf(second - first * first, 0.0f);
}

// Where pixel (x, y) lies in the first plane of a scale's fields.
DEVICE long long field_of(const Scale &scale, int x, int y, Image image) {
    return (long long)(y - scale.first_row) * image.pitch + x;
}

// Two fields of some views at one pixel, loaded at once, so that their latencies overlap.  Past the last view, its
// values are repeated.
#define BATCH 8

struct Batch { float a[BATCH], b[BATCH]; };

DEVICE Batch load_batch(const float *a, const float *b, long long stride, int k, int end) {
    Batch batch;
#pragma unroll
    for (int j = 0; j < BATCH; ++j) {
        long long at = (k + j < end ? k + j : end - 1) * stride;
        batch.a[j] = a[at];
        batch.b[j] = b[at];
    }
    return batch;
}

// At scale 0: g^2 of every view, followed by the squared residual disparity that all views together suggest.
DEVICE void residual_pixel(int T, const Scale &finest, float epsilon, long long pixel, long long plane, float *g2) {
    float sum_dI = 0.0f, sum_g = 0.0f;
    for (int k = 0; k < T; k += BATCH) {
        Batch f = load_batch(finest.dI + pixel, finest.g + pixel, plane, k, T);
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            if (k + j >= T) break;
            sum_dI += fabsf(f.a[j]);
            sum_g += fabsf(f.b[j]);
            g2[(k + j) * plane + pixel] = f.b[j] * f.b[j];
        }
    }
    float dw = residual_disparity(sum_dI, sum_g, epsilon);
    g2[T * plane + pixel] = dw * dw;
}

DEVICE void accumulate(float dI, float g, float weight, int reweight, System &sums) {
    float R = reweight ? data_reweight(dI) : 1.0f;
    float weighted = weight * R * g;
    sums.diagonal += weighted * g;
    sums.rhs -= weighted * dI;
}

// The data term of a pixel with all weights 1.
DEVICE System unweighted_pixel(int T, const Scale *scales, int Q, int x, int y, int reweight, Image image) {
    System sums = {0.0f, 0.0f, 0.0f};
    for (int q = 0; q < Q; ++q) {
        const Scale &scale = scales[q];
        const long long field = field_of(scale, x, y, image);
        for (int k = 0; k < T; k += BATCH) {
            Batch f = load_batch(scale.dI + field, scale.g + field, scale.stride, k, T);
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                if (k + j < T) accumulate(f.a[j], f.b[j], 1.0f, reweight, sums);
        }
    }
    return sums;
}

// Raise N^2 of each view to its share of N^2 of the views in the same direction that stand no farther out.  This is done
// for the views `first` to `end`, whose N^2 lie `step` apart, followed by those of the views that they look ahead to;
// `tops` holds the largest N^2 of each direction so far.
DEVICE void make_monotone(
    const Trust *trusts, const float *shares, int first, int end, float *N2, int step, float *tops
) {
    for (int k = first; k < end; ++k) {
        const Trust &trust = trusts[k];
        const float own = N2[(k - first) * step];
        float top = own;
#pragma unroll
        for (int d = 0; d < DIRECTIONS; ++d) {
            const float belongs = trust.belongs[d];
            if (belongs > 0.0f) {
                tops[d] = fmaxf(tops[d], belongs * own);
                top = fmaxf(top, belongs * tops[d]);
            }
        }
        for (int other = k + 1; other < trust.reach; ++other)
            top = fmaxf(top, shares[trust.first_share + other - k - 1] * N2[(other - first) * step]);
        N2[(k - first) * step] = top;
    }
}

// The data term of a pixel with the model's weights, and the information 1 / variance that it holds.  N2 has room for
// one number for each view that the largest group needs, `step` apart.  If KEEPS, the weights 1 / N^2 are written to
// `kept`, scale by scale.
template <bool KEEPS>
DEVICE System weighted_pixel(
    const Trust *trusts, const float *shares, int T, const Scale *scales, int Q, int use_gradient, float epsilon,
    float variance, int x, int y, int reweight, Image image, float *N2, int step, float *kept
) {
    float sum_dI2 = 0.0f, sum_g2 = 0.0f, weights = 0.0f;
    for (int q = 0; q < Q; ++q) {
        const long long stride = scales[q].stride, field = field_of(scales[q], x, y, image);
        const float *dI = scales[q].dI + field, *g = scales[q].g + field;
#pragma unroll 4
        for (int k = 0; k < T; ++k) {
            float dI_k = dI[k * stride], g_k = g[k * stride];
            sum_dI2 += dI_k * dI_k;
            sum_g2 += g_k * g_k;
        }
    }
    System sums = {0.0f, 0.0f, 0.0f};
    for (int q = 0; q < Q; ++q) {
        const Scale &scale = scales[q];
        const long long stride = scale.stride, field = field_of(scale, x, y, image);
        const float *dI = scale.dI + field, *g = scale.g + field, *G = scale.G + field;
        const float *blurred_g2 = scale.blurred_g2 + field, noise = scale.noise;
        const bool scale_term = scale.has_scale_term;
        const float blurred_dw2 = scale_term ? blurred_g2[T * stride] : 0.0f;
        float dw2_e = disparity_error(noise, sum_dI2, sum_g2, epsilon, variance);
        if (!use_gradient) dw2_e = 0.0f;  // as G = 0
        float tops[DIRECTIONS] = {};
        for (int first = 0, end; first < T; first = end) {
            end = trusts[first].group_end;
            const int ahead = trusts[end - 1].reach;
            float *N2_k = N2;
            if (scale_term) {
#pragma unroll 4
                for (int k = first; k < ahead; ++k, N2_k += step) {
                    float O2 = scale_inconsistency(blurred_g2[k * stride], blurred_dw2);
                    *N2_k = noise_power(G[k * stride], dw2_e, O2, noise);
                }
            } else {
#pragma unroll 4
                for (int k = first; k < ahead; ++k, N2_k += step)
                    *N2_k = noise_power(G[k * stride], dw2_e, 0.0f, noise);
            }
            make_monotone(trusts, shares, first, end, N2, step, tops);
            N2_k = N2;
#pragma unroll 4
            for (int k = first; k < end; ++k, N2_k += step) {
                float weight = 1.0f / *N2_k, g_k = g[k * stride];
                weights += weight;
                if (KEEPS) kept[q * T + k] = weight;
                sums.precision += g_k * g_k * weight;
                accumulate(dI[k * stride], g_k, weight, reweight, sums);
            }
        }
    }
    float Z = (float)(T * Q) / weights;  // so that the weights of a pixel sum to T Q
    return {Z * sums.diagonal, Z * sums.rhs, sums.precision};
}

// ---- the smoothness term

struct Phi { float x, y; };  // of the differences along x and along y

DEVICE Phi phi(const float *w, int x, int y, int reweight, int isotropic, Image image) {
    if (!reweight) return {1.0f, 1.0f};
    const float *line = w + (long long)y * image.pitch;
    float wx = 0.5f * (line[clamp(x + 1, image.width)] - line[clamp(x - 1, image.width)]);
    float wy = 0.5f * (w[(long long)clamp(y + 1, image.height) * image.pitch + x]
                       - w[(long long)clamp(y - 1, image.height) * image.pitch + x]);
    if (!isotropic) return {smoothness_reweight(wx, 0.0f), smoothness_reweight(wy, 0.0f)};
    const float both = smoothness_reweight(wx, wy);
    return {both, both};
}

// The strength of the link to the neighbour at (x, y), of which `here` is this pixel's phi along the link's `axis`; 0
// where the neighbour is outside.
DEVICE float link_to(
    const float *w, int x, int y, int reweight, int isotropic, Image image, float here, float Phi::*axis
) {
    if (x < 0 || y < 0 || x >= image.width || y >= image.height) return 0.0f;
    return link(here, phi(w, x, y, reweight, isotropic, image).*axis);
}

// ---- the step

DEVICE float limited(float step, float limit) { return fminf(fmaxf(step, -limit), limit); }

// Index i brought inside 0 .. n - 1 by reflection about the border's edges: -1 -> 0, -2 -> 1.
DEVICE int reflected(int i, int n) {
    while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i;
}

#define ORDER(i, j) { float low = fminf(v[i], v[j]); v[j] = fmaxf(v[i], v[j]); v[i] = low; }

// The middle of 25 values, by the network that the engine puts before this file.
DEVICE float median25(float *v) {
    MEDIAN_NETWORK
    return v[12];
}
