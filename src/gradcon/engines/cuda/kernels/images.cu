// The kernels of the CUDA engine, except the linear solver (solve.cu).  geometry.h and model.h say what happens at a
// pixel, filters.h how a tile is filtered; this file says which thread computes what.
//
// Images are planes whose rows are `pitch` floats apart, a multiple of 32; nothing reads the columns past the width.

// Warped views -> dI, g and G of every scale.  Grid: tiles, views, scales.
template <bool ANY_GENERAL>
DEVICE void linearise_tile(
    const float *warped, const float *w, const View &view, const Scale &scale, int tile_width, int first_row, int end_row,
    Image size, float *shared
) {
    const int kind = view.kind;
    const long long plane = (long long)size.height * size.pitch;
    Tile tile = start_tile(scale, tile_width, first_row, size.width, shared);
    filter_tile(tile, warped + blockIdx.y * plane, size, kind != COLUMN, kind != ROW);
    const float *smooth = tile.plane(0), *dx = tile.plane(1), *dy = tile.plane(kind == COLUMN ? 1 : 2);
    const long long field = blockIdx.y * scale.stride - (long long)scale.first_row * size.pitch;
    for_quads(tile, end_row, size.width, [&](int x, int y, int i) {
        const long long pixel = (long long)y * size.pitch + x;
        const float *reference = scale.reference + pixel;
        const Quad disparity = load_quad(w + pixel), smooth_r = load_quad(reference), smooth_t = load_quad(smooth + i);
        Quad dx_t, dx_r, dy_t, dy_r, dI, g, G;
        if (kind != COLUMN) dx_t = load_quad(dx + i), dx_r = load_quad(reference + plane);
        if (kind != ROW) dy_t = load_quad(dy + i), dy_r = load_quad(reference + 2 * plane);
        for (int j = 0; j < 4; ++j) {
            Coupling c = coupling<ANY_GENERAL>(view, x + j, y, disparity.v[j]);
            float d_t, d_r;
            if (kind == ROW) d_t = c.cx * dx_t.v[j], d_r = c.cx * dx_r.v[j];
            else if (kind == COLUMN) d_t = c.cy * dy_t.v[j], d_r = c.cy * dy_r.v[j];
            else d_t = along(c.cx, c.cy, dx_t.v[j], dy_t.v[j]), d_r = along(c.cx, c.cy, dx_r.v[j], dy_r.v[j]);
            dI.v[j] = smooth_t.v[j] - smooth_r.v[j];
            g.v[j] = mean_gradient(d_t, d_r);
            G.v[j] = gradient_inconsistency(d_t, d_r);
        }
        store_quad(scale.dI + field + pixel, dI);
        store_quad(scale.g + field + pixel, g);
        store_quad(scale.G + field + pixel, G);
    });
}

#define LINEARISE(name, any_general, blocks)                                                                           \
    KERNEL void LAUNCH_BOUNDS(256, blocks) name(                                                                       \
        const float *warped, const float *w, const View *views, const Scale *scales, int tile_width, int first_row,    \
        int end_row, int height, int width, int pitch                                                                  \
    ) {                                                                                                                \
        SHARED(float, shared);                                                                                         \
        linearise_tile<any_general>(warped, w, views[blockIdx.y], scales[blockIdx.z], tile_width, first_row, end_row,  \
                                    {height, width, pitch}, shared);                                                   \
    }
LINEARISE(linearise, false, 4)
LINEARISE(linearise_general, true, 2)

// Planes -> blurred_g2 of every scale.  Grid: tiles, planes, scales.
KERNEL void LAUNCH_BOUNDS(256, 4) blur(
    const float *planes, const Scale *scales, int tile_width, int first_row, int end_row, int height, int width, int pitch
) {
    SHARED(float, shared);
    const Scale scale = scales[blockIdx.z];
    const float *image = planes + (long long)blockIdx.y * height * pitch;
    float *out = scale.blurred_g2 + blockIdx.y * scale.stride - (long long)scale.first_row * pitch;
    Tile tile = start_tile(scale, tile_width, first_row, width, shared);
    filter_tile(tile, image, {height, width, pitch}, false, false);
    const float *smooth = tile.plane(0);
    for_quads(tile, end_row, width, [&](int x, int y, int i) {
        store_quad(out + (long long)y * pitch + x, load_quad(smooth + i));
    });
}

// The reference smoothed and derived at every scale.  Grid: tiles, 1, scales.
KERNEL void reference_fields(
    const float *image, const Scale *scales, int tile_width, int first_row, int end_row, int height, int width, int pitch
) {
    SHARED(float, shared);
    const Scale scale = scales[blockIdx.z];
    Tile tile = start_tile(scale, tile_width, first_row, width, shared);
    filter_tile(tile, image, {height, width, pitch}, true, true);
    const float *smooth = tile.plane(0), *dx = tile.plane(1), *dy = tile.plane(2);
    for_quads(tile, end_row, width, [&](int x, int y, int i) {
        const long long plane = (long long)height * pitch;
        float *out = scale.reference + (long long)y * pitch + x;
        store_quad(out, load_quad(smooth + i));
        store_quad(out + plane, load_quad(dx + i));
        store_quad(out + 2 * plane, load_quad(dy + i));
    });
}

// ---- pixel by pixel

// The place of this thread's pixel, in rows from `first_row` on; and its index.
#define THIS_PLACE(first_row)                                  \
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);      \
    int y = first_row + (int)(blockIdx.y * blockDim.y + threadIdx.y);
#define THIS_PIXEL(first_row) \
    THIS_PLACE(first_row)     \
    long long pixel = (long long)y * pitch + x;

// Grid: pixels, pixels, views.
KERNEL void warp_views(
    const float *targets, const float *reference, const float *w, const View *views, float *warped, int height, int width,
    int pitch
) {
    THIS_PIXEL(0)
    if (x >= width || y >= height) return;
    long long plane = (long long)height * pitch;
    const View view = views[blockIdx.z];
    warped[blockIdx.z * plane + pixel] =
        warped_pixel(view, targets + view.target * plane, reference[pixel], w[pixel], x, y, {height, width, pitch});
}

KERNEL void residual(int T, const Scale *finest, float epsilon, float *g2, int height, int width, int pitch) {
    THIS_PIXEL(0)
    if (x < width && y < height) residual_pixel(T, *finest, epsilon, pixel, (long long)height * pitch, g2);
}

// The local variance at this thread's pixel (x, y).  The block, 32 pixels wide, puts w with a margin into shared
// memory: `patch_size` floats at `patch`.  All threads of a block must call it.
DEVICE int patch_size() { return (32 + 2 * VARIANCE_RADIUS) * ((int)blockDim.y + 2 * VARIANCE_RADIUS); }

DEVICE float variance_here(const float *w, const float *taps, int x, int y, Image image, float *patch) {
    const int across = 32 + 2 * VARIANCE_RADIUS;
    const int left = x - (int)threadIdx.x - VARIANCE_RADIUS, top = y - (int)threadIdx.y - VARIANCE_RADIUS;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < patch_size(); i += 32 * (int)blockDim.y) {
        int row = i / across, source_x = left + i - row * across;
        patch[i] = w[(long long)clamp(top + row, image.height) * image.pitch + clamp(source_x, image.width)];
    }
    __syncthreads();
    return local_variance(
        patch + (threadIdx.y + VARIANCE_RADIUS) * across + threadIdx.x + VARIANCE_RADIUS, across, taps);
}

// Shared memory: the patch of w, and N^2 of a group of views.
KERNEL void weigh(
    const float *w, const Trust *trusts, const float *shares, int T, const Scale *scales, int Q, int use_gradient,
    float epsilon, const float *variance_taps, int reweight, int first_row, int end_row, float *diagonal, float *rhs,
    float *precision, int height, int width, int pitch
) {
    SHARED(float, patch);
    THIS_PIXEL(first_row)
    float variance = variance_here(w, variance_taps, x, y, {height, width, pitch}, patch);
    if (x >= width || y >= end_row) return;
    float *N2 = patch + patch_size() + threadIdx.y * 32 + threadIdx.x;
    System sums = weighted_pixel<false>(trusts, shares, T, scales, Q, use_gradient, epsilon, variance, x, y, reweight,
                                        {height, width, pitch}, N2, 32 * (int)blockDim.y, nullptr);
    diagonal[pixel] = sums.diagonal;
    rhs[pixel] = sums.rhs;
    precision[pixel] = sums.precision;
}

// Only the weights, at the middle pixel of every `step` x `step` block; shared memory as for `weigh`.
KERNEL void keep_weights(
    const float *w, const Trust *trusts, const float *shares, int T, const Scale *scales, int Q, int use_gradient,
    float epsilon, const float *variance_taps, int step, int first_row, int end_row, float *kept, int height,
    int width, int pitch
) {
    SHARED(float, patch);
    THIS_PLACE(first_row)
    float variance = variance_here(w, variance_taps, x, y, {height, width, pitch}, patch);
    if (x >= width || y >= end_row || x % step != step / 2 || y % step != step / 2) return;
    float *N2 = patch + patch_size() + threadIdx.y * 32 + threadIdx.x;
    const int across = (width - step / 2 + step - 1) / step;
    weighted_pixel<true>(trusts, shares, T, scales, Q, use_gradient, epsilon, variance, x, y, 0, {height, width, pitch},
                         N2, 32 * (int)blockDim.y, kept + ((long long)(y / step) * across + x / step) * Q * T);
}

KERNEL void sum_unweighted(
    int T, const Scale *scales, int Q, int reweight, int first_row, int end_row, float *diagonal, float *rhs, int height,
    int width, int pitch
) {
    THIS_PIXEL(first_row)
    if (x >= width || y >= end_row) return;
    System sums = unweighted_pixel(T, scales, Q, x, y, reweight, {height, width, pitch});
    diagonal[pixel] = sums.diagonal;
    rhs[pixel] = sums.rhs;
}

// The two parts of the predicted deviation, to be smoothed; shared memory: the patch of w.
KERNEL void uncertainties(
    const float *precision, float prior, const float *w, const float *variance_taps, float *data, float *variances,
    int height, int width, int pitch
) {
    SHARED(float, patch);
    THIS_PIXEL(0)
    float variance = variance_here(w, variance_taps, x, y, {height, width, pitch}, patch);
    if (x >= width || y >= height) return;
    data[pixel] = data_deviation(precision[pixel], prior);
    variances[pixel] = variance;
}

KERNEL void deviations(
    const float *data, const float *variances, float *out, int height, int width, int pitch
) {
    THIS_PIXEL(0)
    if (x < width && y < height) out[pixel] = deviation(data[pixel], variances[pixel]);
}

// filtered = median(w + limited dw); counts[1] += the pixels that met the limit.  Blocks of 32 x 8.
KERNEL void update(
    const float *w, const float *dw, float limit, float *filtered, unsigned *counts, int height, int width, int pitch
) {
    SHARED(float, stepped);
    const int across = 32 + 4, down = 8 + 4;
    unsigned *met = (unsigned *)(stepped + across * down);
    int thread = threadIdx.y * 32 + threadIdx.x, left = blockIdx.x * 32 - 2, top = blockIdx.y * 8 - 2;
    if (thread == 0) *met = 0;
    for (int i = thread; i < across * down; i += 256) {
        int sx = left + i % across, sy = top + i / across;
        if (sx >= width + 2 || sy >= height + 2) continue;
        long long source = (long long)reflected(sy, height) * pitch + reflected(sx, width);
        stepped[i] = w[source] + limited(dw[source], limit);
    }
    __syncthreads();
    THIS_PIXEL(0)
    if (x < width && y < height) {
        float v[25];
        for (int i = 0; i < 5; ++i)
            for (int j = 0; j < 5; ++j) v[5 * i + j] = stepped[(threadIdx.y + i) * across + threadIdx.x + j];
        filtered[pixel] = median25(v);
        if (fabsf(dw[pixel]) > limit) atomicAdd(met, 1u);
    }
    __syncthreads();
    if (thread == 0 && *met) atomicAdd(counts + 1, *met);
}

// How `after` differs from `before` and from the truth, and its range: found[0, 1] = counts, then for every block
// sum |difference|, largest |difference|, sum of squared errors where the truth is known, lowest and highest value.
KERNEL void measure(
    const float *before, const float *after, const float *truth, const unsigned *counts, double *found, int height,
    int width, int pitch
) {
    SHARED(double, values);
    double sum = 0.0, most = 0.0, squares = 0.0, low = 1e300, high = -1e300;
    for (int y = blockIdx.x; y < height; y += gridDim.x)
        for (int x = threadIdx.x; x < width; x += blockDim.x) {
            long long pixel = (long long)y * pitch + x;
            double value = after[pixel], difference = fabs(value - before[pixel]);
            double error = truth ? value - truth[pixel] : 0.0;
            sum += difference;
            most = fmax(most, difference);
            squares += error == error ? error * error : 0.0;
            low = fmin(low, value);
            high = fmax(high, value);
        }
    double mine[5] = {sum, most, squares, low, high};
    for (int row = 0; row < 5; ++row) {
        values[threadIdx.x] = mine[row];
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if ((int)threadIdx.x < half) {
                double a = values[threadIdx.x], b = values[threadIdx.x + half];
                values[threadIdx.x] = row == 0 || row == 2 ? a + b : row == 3 ? fmin(a, b) : fmax(a, b);
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) found[2 + row * gridDim.x + blockIdx.x] = values[0];
        __syncthreads();
    }
    if (blockIdx.x == 0 && threadIdx.x < 2) found[threadIdx.x] = counts[threadIdx.x];
}
