// The kernels of the CUDA engine, all but the linear solver's (kernels_solve.cu).  What happens at a pixel stands in
// kernels_pixel.h; here is who computes which pixel.
//
// Images are planes of rows of `pitch` floats, a multiple of 32; what the columns past the width hold, nobody reads.

#define TILE_ROWS 32   // of the filters: one a lane, so that all lanes read different banks of shared memory
#define RUN 8          // neighbouring outputs a thread keeps in registers

// ---- filters
//
// A block filters a tile: first down the columns, into shared memory, then along the rows, into planes.  Every value that
// is read serves RUN outputs.  The taps of the finest scales, FIXED(radius), are known to the compiler, through
// even_tap<radius>(k) and odd_tap<radius>(k), which the engine puts in front of this file; radius 0 stands for any other
// filter, whose taps are read from shared memory.

// One tile of one scale: where it is, and its shared memory.
struct Tile {
    int x0, y0, width, radius, steps, row_stride;
    const float *even, *odd;
    float *rows, *planes;
    DEVICE float *plane(int k) const { return planes + k * TILE_ROWS * (width + 1); }
};

DEVICE Tile start_tile(const Scale &scale, int tile_width, int first_row, int width, float *shared) {
    int across = (width + tile_width - 1) / tile_width, down = (int)blockIdx.x / across;
    Tile tile;
    tile.x0 = ((int)blockIdx.x - down * across) * tile_width;
    tile.y0 = first_row + down * TILE_ROWS;
    tile.width = tile_width;
    tile.radius = scale.radius;
    tile.steps = scale.steps;
    tile.row_stride = (tile_width + scale.steps - RUN) | 1;
    for (int i = threadIdx.x; i < 2 * scale.steps; i += blockDim.x) shared[i] = scale.taps[i];
    tile.even = shared;
    tile.odd = shared + scale.steps;
    tile.rows = shared + 2 * scale.steps;
    tile.planes = tile.rows + TILE_ROWS * tile.row_stride;
    __syncthreads();
    return tile;
}

// RUN neighbouring taps, from where they are aligned to four.
DEVICE void load_taps(const float *from, float *taps) {
#ifdef __CUDACC__
    float4 a = ((const float4 *)from)[0], b = ((const float4 *)from)[1];
    taps[0] = a.x, taps[1] = a.y, taps[2] = a.z, taps[3] = a.w, taps[4] = b.x, taps[5] = b.y, taps[6] = b.z, taps[7] = b.w;
#else
    for (int j = 0; j < RUN; ++j) taps[j] = from[j];
#endif
}

// RUN neighbouring outputs of one or of both filters: out[j] = sum over i of taps[i - j] * value(i).
template <int RADIUS, bool EVEN, bool ODD, class Value>
DEVICE void filter_run(const Tile &tile, Value value, float *smooth, float *derived) {
    for (int j = 0; j < RUN; ++j) smooth[j] = derived[j] = 0.0f;
    if (RADIUS > 0) {
#pragma unroll
        for (int i = 0; i < 2 * RADIUS + RUN; ++i) {
            float v = value(i);
#pragma unroll
            for (int j = 0; j < RUN; ++j)
                if (i - j >= 0 && i - j <= 2 * RADIUS) {
                    if (EVEN) smooth[j] += even_tap<RADIUS>(i - j) * v;
                    if (ODD) derived[j] += odd_tap<RADIUS>(i - j) * v;
                }
        }
        return;
    }
    // RUN values at a time; they meet the taps loaded with them, and those loaded before.
    float even_before[RUN] = {}, odd_before[RUN] = {}, even[RUN] = {}, odd[RUN] = {};
    for (int i = 0; i < tile.steps; i += RUN) {
        if (EVEN) load_taps(tile.even + i, even);
        if (ODD) load_taps(tile.odd + i, odd);
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            float v = value(i + u);
#pragma unroll
            for (int j = 0; j < RUN; ++j) {
                if (EVEN) smooth[j] += (j <= u ? even[u - j] : even_before[u - j + RUN]) * v;
                if (ODD) derived[j] += (j <= u ? odd[u - j] : odd_before[u - j + RUN]) * v;
            }
        }
#pragma unroll
        for (int j = 0; j < RUN; ++j) even_before[j] = even[j], odd_before[j] = odd[j];
    }
}

// Down the columns, by even or by odd taps, into the tile's rows, which are wider than the tile by the filter's reach.
template <int RADIUS, bool EVEN> DEVICE void filter_columns(const Tile &tile, const float *image, Image size) {
    const int columns = RADIUS > 0 ? tile.width + 2 * RADIUS : tile.width + tile.steps - RUN;
    const int reach = RADIUS > 0 ? 2 * RADIUS + RUN : tile.steps, top = tile.y0 - tile.radius;
    const bool within = top >= 0 && top + TILE_ROWS - RUN + reach <= size.height;
    for (int item = threadIdx.x; item < columns * (TILE_ROWS / RUN); item += blockDim.x) {
        int segment = item / columns, column = item - segment * columns, row = segment * RUN;
        const float *source = image + clamp(tile.x0 - tile.radius + column, size.width);
        float smooth[RUN], derived[RUN];
        if (within) {
            source += (long long)(top + row) * size.pitch;
            filter_run<RADIUS, EVEN, !EVEN>(
                tile, [=](int i) { return source[(long long)i * size.pitch]; }, smooth, derived);
        } else {
            filter_run<RADIUS, EVEN, !EVEN>(
                tile, [=](int i) { return source[(long long)clamp(top + row + i, size.height) * size.pitch]; }, smooth,
                derived);
        }
        for (int j = 0; j < RUN; ++j) tile.rows[(row + j) * tile.row_stride + column] = EVEN ? smooth[j] : derived[j];
    }
    __syncthreads();
}

// Along the rows by even taps into one plane, and where asked by odd taps into another.
template <int RADIUS, bool BOTH> DEVICE void filter_rows(const Tile &tile, float *smooth_plane, float *derived_plane) {
    for (int item = threadIdx.x; item < TILE_ROWS * (tile.width / RUN); item += blockDim.x) {
        int row = item % TILE_ROWS, column = item / TILE_ROWS * RUN, to = row * (tile.width + 1) + column;
        const float *line = tile.rows + row * tile.row_stride + column;
        float smooth[RUN], derived[RUN];
        filter_run<RADIUS, true, BOTH>(tile, [=](int i) { return line[i]; }, smooth, derived);
        for (int j = 0; j < RUN; ++j) smooth_plane[to + j] = smooth[j];
        if (BOTH)
            for (int j = 0; j < RUN; ++j) derived_plane[to + j] = derived[j];
    }
    __syncthreads();
}

// The image smoothed into plane 0; its derivatives, where they are wanted, d/dx and then d/dy, into the planes behind.
template <int RADIUS> DEVICE void filter_radius(const Tile &tile, const float *image, Image size, bool dx, bool dy) {
    filter_columns<RADIUS, true>(tile, image, size);
    if (dx) filter_rows<RADIUS, true>(tile, tile.plane(0), tile.plane(1));
    else filter_rows<RADIUS, false>(tile, tile.plane(0), nullptr);
    if (!dy) return;
    filter_columns<RADIUS, false>(tile, image, size);
    filter_rows<RADIUS, false>(tile, tile.plane(dx ? 2 : 1), nullptr);
}

DEVICE void filter_tile(const Tile &tile, const float *image, Image size, bool dx, bool dy) {
    switch (tile.radius) {
#define FIXED(radius) case radius: filter_radius<radius>(tile, image, size, dx, dy); break;
        FIXED_RADII
#undef FIXED
        default: filter_radius<0>(tile, image, size, dx, dy);
    }
}

// Calls output(x, y, i) for every pixel of the tile in the image and before `end_row`; i is its place in the planes.
template <class Output> DEVICE void for_pixels(const Tile &tile, int end_row, int width, Output output) {
    for (int row = threadIdx.x / 32; row < TILE_ROWS && tile.y0 + row < end_row; row += blockDim.x / 32)
        for (int column = threadIdx.x % 32; column < tile.width && tile.x0 + column < width; column += 32)
            output(tile.x0 + column, tile.y0 + row, row * (tile.width + 1) + column);
}

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
    for_pixels(tile, end_row, size.width, [&](int x, int y, int i) {
        long long pixel = (long long)y * size.pitch + x;
        const float *reference = scale.reference + pixel;
        Coupling c = coupling<ANY_GENERAL>(view, x, y, w[pixel], size);
        float d_t, d_r;
        if (kind == ROW) d_t = c.cx * dx[i], d_r = c.cx * reference[plane];
        else if (kind == COLUMN) d_t = c.cy * dy[i], d_r = c.cy * reference[2 * plane];
        else d_t = along(c.cx, c.cy, dx[i], dy[i]), d_r = along(c.cx, c.cy, reference[plane], reference[2 * plane]);
        scale.dI[field + pixel] = smooth[i] - reference[0];
        scale.g[field + pixel] = mean_gradient(d_t, d_r);
        scale.G[field + pixel] = gradient_inconsistency(d_t, d_r);
    });
}

#define LINEARISE(name, any_general)                                                                                   \
    KERNEL void LAUNCH_BOUNDS(256, 4) name(                                                                                            \
        const float *warped, const float *w, const View *views, const Scale *scales, int tile_width, int first_row,    \
        int end_row, int height, int width, int pitch                                                                  \
    ) {                                                                                                                \
        SHARED(float, shared);                                                                                         \
        linearise_tile<any_general>(warped, w, views[blockIdx.y], scales[blockIdx.z], tile_width, first_row, end_row,  \
                                    {height, width, pitch}, shared);                                                   \
    }
LINEARISE(linearise, false)
LINEARISE(linearise_general, true)

// Planes -> blurred_g2 of every scale that has a scale term.  Grid: tiles, planes, scales.
KERNEL void LAUNCH_BOUNDS(256, 4) blur(
    const float *planes, const Scale *scales, int tile_width, int first_row, int end_row, int height, int width, int pitch
) {
    SHARED(float, shared);
    const Scale scale = scales[blockIdx.z];
    if (!scale.has_scale_term) return;
    const float *image = planes + (long long)blockIdx.y * height * pitch;
    float *out = scale.blurred_g2 + blockIdx.y * scale.stride - (long long)scale.first_row * pitch;
    Tile tile = start_tile(scale, tile_width, first_row, width, shared);
    filter_tile(tile, image, {height, width, pitch}, false, false);
    const float *smooth = tile.plane(0);
    for_pixels(tile, end_row, width, [&](int x, int y, int i) { out[(long long)y * pitch + x] = smooth[i]; });
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
    for_pixels(tile, end_row, width, [&](int x, int y, int i) {
        long long plane = (long long)height * pitch;
        float *out = scale.reference + (long long)y * pitch + x;
        out[0] = smooth[i];
        out[plane] = dx[i];
        out[2 * plane] = dy[i];
    });
}

// ---- pixel by pixel

// The pixel of this thread in blocks of 32 x 8, rows from `first_row`.
#define THIS_PIXEL(first_row)                                  \
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);      \
    int y = first_row + (int)(blockIdx.y * blockDim.y + threadIdx.y); \
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
    if (x < width && y < height) residual_pixel(T, *finest, epsilon, x, y, {height, width, pitch}, g2);
}

// Blocks are 32 pixels wide.  Shared memory: w with the margin that the local variance needs, and N^2 of a group of views.
KERNEL void weigh(
    const float *w, const Trust *trusts, int T, const Scale *scales, int Q, int use_gradient, float epsilon,
    const float *variance_taps, int reweight, int first_row, int end_row, float *diagonal, float *rhs, float *precision,
    int height, int width, int pitch
) {
    SHARED(float, around);
    const int across = 32 + 2 * VARIANCE_RADIUS, down = (int)blockDim.y + 2 * VARIANCE_RADIUS;
    const int thread = threadIdx.y * 32 + threadIdx.x, threads = 32 * (int)blockDim.y;
    THIS_PIXEL(first_row)
    for (int i = thread; i < across * down; i += threads) {
        int row = i / across, source_x = x - (int)threadIdx.x + i - row * across - VARIANCE_RADIUS;
        int source_y = y - (int)threadIdx.y + row - VARIANCE_RADIUS;
        around[i] = w[(long long)clamp(source_y, height) * pitch + clamp(source_x, width)];
    }
    __syncthreads();
    if (x >= width || y >= end_row) return;
    float variance = local_variance(
        around + (threadIdx.y + VARIANCE_RADIUS) * across + threadIdx.x + VARIANCE_RADIUS, across, variance_taps);
    float *N2 = around + across * down + thread;
    System sums = weighted_pixel(trusts, T, scales, Q, use_gradient, epsilon, variance, x, y, reweight,
                                 {height, width, pitch}, N2, threads);
    diagonal[pixel] = sums.diagonal;
    rhs[pixel] = sums.rhs;
    precision[pixel] = sums.precision;
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

KERNEL void deviations(const float *precision, float prior, float *out, int height, int width, int pitch) {
    THIS_PIXEL(0)
    if (x < width && y < height) out[pixel] = deviation(precision[pixel], prior);
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
