// The kernels of the CUDA engine, all but the linear solver's (kernels_solve.cu).  What happens at a pixel stands in
// kernels_pixel.h; here is who computes which pixel.
//
// Images are planes of rows of `pitch` floats, a multiple of 32; what the columns past the width hold, nobody reads.

#define TILE_ROWS 32     // of the filters: one a lane
#define TILE_WIDTH 128   // of the filters that the compiler knows; others may have narrower tiles
#define RUN 8            // neighbouring outputs a thread keeps in registers

// ---- filters
//
// A block filters a tile: first down the columns, into shared memory, then along the rows, into planes.  Every value that
// is read serves RUN outputs.  The taps of the finest scales, FIXED(radius), are known to the compiler, through
// even_tap<radius>(k) and odd_tap<radius>(k), which the engine puts in front of this file; radius 0 stands for any other
// filter, whose taps are read from shared memory.

// Four neighbouring numbers, from or to where they are aligned to four.
struct Quad { float v[4]; };

DEVICE Quad load_quad(const float *from) {
#ifdef __CUDACC__
    float4 q = *(const float4 *)from;
    return {{q.x, q.y, q.z, q.w}};
#else
    return {{from[0], from[1], from[2], from[3]}};
#endif
}

DEVICE void store_quad(float *to, Quad q) {
#ifdef __CUDACC__
    *(float4 *)to = make_float4(q.v[0], q.v[1], q.v[2], q.v[3]);
#else
    for (int j = 0; j < 4; ++j) to[j] = q.v[j];
#endif
}

// One tile of one scale: where it is, and its shared memory.  Rows begin 4 banks apart (modulo 32), so that quads of
// eight neighbouring rows are in different banks.
struct Tile {
    int x0, y0, width, radius, steps, row_stride, plane_stride;
    const float *even, *odd;
    float *rows, *planes;
    DEVICE float *plane(int k) const { return planes + k * TILE_ROWS * plane_stride; }
};

DEVICE int skewed(int n) { return (n + 27) / 32 * 32 + 4; }  // at least n

DEVICE Tile start_tile(const Scale &scale, int tile_width, int first_row, int width, float *shared) {
    int across = (width + tile_width - 1) / tile_width, down = (int)blockIdx.x / across;
    Tile tile;
    tile.x0 = ((int)blockIdx.x - down * across) * tile_width;
    tile.y0 = first_row + down * TILE_ROWS;
    tile.width = tile_width;
    tile.radius = scale.radius;
    tile.steps = scale.steps;
    tile.row_stride = skewed(tile_width + scale.steps - RUN);
    tile.plane_stride = skewed(tile_width);
    for (int i = threadIdx.x; i < 2 * scale.steps; i += blockDim.x) shared[i] = scale.taps[i];
    tile.even = shared;
    tile.odd = shared + scale.steps;
    tile.rows = shared + 2 * scale.steps;
    tile.planes = tile.rows + TILE_ROWS * tile.row_stride;
    __syncthreads();
    return tile;
}

// RUN neighbouring outputs of one or of both filters: out[j] = sum over i of taps[i - j] * value(i); quad(i) has the four
// values from i on.
template <int RADIUS, bool EVEN, bool ODD, class Values>
DEVICE void filter_run(const Tile &tile, Values quad, float *smooth, float *derived) {
    for (int j = 0; j < RUN; ++j) smooth[j] = derived[j] = 0.0f;
    if (RADIUS > 0) {
#pragma unroll
        for (int i = 0; i < 2 * RADIUS + RUN; i += 4) {
            Quad values = quad(i);
#pragma unroll
            for (int u = 0; u < 4; ++u)
#pragma unroll
                for (int j = 0; j < RUN; ++j)
                    if (i + u - j >= 0 && i + u - j <= 2 * RADIUS) {
                        if (EVEN) smooth[j] += even_tap<RADIUS>(i + u - j) * values.v[u];
                        if (ODD) derived[j] += odd_tap<RADIUS>(i + u - j) * values.v[u];
                    }
        }
        return;
    }
    // RUN values at a time; they meet the taps loaded with them, and those loaded before.
    float even[2 * RUN] = {}, odd[2 * RUN] = {};
    for (int i = 0; i < tile.steps; i += RUN) {
#pragma unroll
        for (int h = 0; h < RUN; h += 4) {
            if (EVEN) { Quad t = load_quad(tile.even + i + h); for (int k = 0; k < 4; ++k) even[RUN + h + k] = t.v[k]; }
            if (ODD) { Quad t = load_quad(tile.odd + i + h); for (int k = 0; k < 4; ++k) odd[RUN + h + k] = t.v[k]; }
        }
#pragma unroll
        for (int h = 0; h < RUN; h += 4) {
            Quad values = quad(i + h);
#pragma unroll
            for (int u = 0; u < 4; ++u)
#pragma unroll
                for (int j = 0; j < RUN; ++j) {
                    if (EVEN) smooth[j] += even[RUN + h + u - j] * values.v[u];
                    if (ODD) derived[j] += odd[RUN + h + u - j] * values.v[u];
                }
        }
#pragma unroll
        for (int j = 0; j < RUN; ++j) even[j] = even[RUN + j], odd[j] = odd[RUN + j];
    }
}

// Down the columns, by even or by odd taps, into the tile's rows, which are wider than the tile by the filter's reach.
template <int RADIUS, bool EVEN> DEVICE void filter_columns(const Tile &tile, const float *image, Image size) {
    const int columns = RADIUS > 0 ? TILE_WIDTH + 2 * RADIUS : tile.width + tile.steps - RUN;
    const int reach = RADIUS > 0 ? (2 * RADIUS + RUN + 3) / 4 * 4 : tile.steps, top = tile.y0 - tile.radius;
    const bool within = top >= 0 && top + TILE_ROWS - RUN + reach <= size.height;
    for (int item = threadIdx.x; item < columns * (TILE_ROWS / RUN); item += blockDim.x) {
        int segment = item / columns, column = item - segment * columns, row = segment * RUN;
        const float *source = image + clamp(tile.x0 - tile.radius + column, size.width);
        float smooth[RUN], derived[RUN];
        if (within) {
            source += (long long)(top + row) * size.pitch;
            filter_run<RADIUS, EVEN, !EVEN>(tile, [=](int i) {
                const float *at = source + (long long)i * size.pitch;
                return Quad{{at[0], at[size.pitch], at[2 * size.pitch], at[3 * size.pitch]}};
            }, smooth, derived);
        } else {
            filter_run<RADIUS, EVEN, !EVEN>(tile, [=](int i) {
                Quad values;
                for (int u = 0; u < 4; ++u)
                    values.v[u] = source[(long long)clamp(top + row + i + u, size.height) * size.pitch];
                return values;
            }, smooth, derived);
        }
        for (int j = 0; j < RUN; ++j) tile.rows[(row + j) * tile.row_stride + column] = EVEN ? smooth[j] : derived[j];
    }
    __syncthreads();
}

// Along the rows by even taps into one plane, and where asked by odd taps into another.
template <int RADIUS, bool BOTH> DEVICE void filter_rows(const Tile &tile, float *smooth_plane, float *derived_plane) {
    for (int item = threadIdx.x; item < TILE_ROWS * (tile.width / RUN); item += blockDim.x) {
        int row = item % TILE_ROWS, column = item / TILE_ROWS * RUN, to = row * tile.plane_stride + column;
        const float *line = tile.rows + row * tile.row_stride + column;
        float smooth[RUN], derived[RUN];
        filter_run<RADIUS, true, BOTH>(tile, [=](int i) { return load_quad(line + i); }, smooth, derived);
        for (int j = 0; j < RUN; j += 4) {
            store_quad(smooth_plane + to + j, {{smooth[j], smooth[j + 1], smooth[j + 2], smooth[j + 3]}});
            if (BOTH) store_quad(derived_plane + to + j, {{derived[j], derived[j + 1], derived[j + 2], derived[j + 3]}});
        }
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
    switch (tile.width == TILE_WIDTH ? tile.radius : 0) {
#define FIXED(radius) case radius: filter_radius<radius>(tile, image, size, dx, dy); break;
        FIXED_RADII
#undef FIXED
        default: filter_radius<0>(tile, image, size, dx, dy);
    }
}

// Calls output(x, y, i) for every four neighbouring pixels of the tile, of which some are in the image and before
// `end_row`; i is their place in the planes.
template <class Output> DEVICE void for_quads(const Tile &tile, int end_row, int width, Output output) {
    const int across = tile.width / 4;
    for (int item = threadIdx.x; item < TILE_ROWS * across; item += blockDim.x) {
        int row = tile.width == TILE_WIDTH ? item / (TILE_WIDTH / 4) : item / across, column = (item - row * across) * 4;
        if (tile.y0 + row < end_row && tile.x0 + column < width)
            output(tile.x0 + column, tile.y0 + row, row * tile.plane_stride + column);
    }
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
    for_quads(tile, end_row, size.width, [&](int x, int y, int i) {
        const long long pixel = (long long)y * size.pitch + x;
        const float *reference = scale.reference + pixel;
        const Quad disparity = load_quad(w + pixel), smooth_r = load_quad(reference), smooth_t = load_quad(smooth + i);
        Quad dx_t, dx_r, dy_t, dy_r, dI, g, G;
        if (kind != COLUMN) dx_t = load_quad(dx + i), dx_r = load_quad(reference + plane);
        if (kind != ROW) dy_t = load_quad(dy + i), dy_r = load_quad(reference + 2 * plane);
        for (int j = 0; j < 4; ++j) {
            Coupling c = coupling<ANY_GENERAL>(view, x + j, y, disparity.v[j], size);
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
    if (x < width && y < height) residual_pixel(T, *finest, epsilon, pixel, (long long)height * pitch, g2);
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
