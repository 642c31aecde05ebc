// The filters of the CUDA engine: a block smooths and derives one tile of an image.
//
// It filters down the columns first, into shared memory, and then along the rows, into planes.  Every value that is
// read serves RUN outputs.  The compiler knows the taps of the finest scales, FIXED(radius), through
// even_tap<radius>(k) and odd_tap<radius>(k), which the engine puts before this file; radius 0 stands for any other
// filter, whose taps are read from shared memory.

#define TILE_ROWS 32     // one per lane
#define TILE_WIDTH 128   // of the filters that the compiler knows; others may have narrower tiles
#define RUN 8            // neighbouring outputs that a thread keeps in registers

// Four neighbouring numbers, at an address that is aligned to four of them.
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

// RUN neighbouring outputs of one or of both filters: out[j] = sum over i of taps[i - j] * value(i); quad(i) has the
// four values from i on.
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

// Filter down the columns, by even or by odd taps, into the tile's rows, which are wider than the tile by the filter's
// reach.
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

// Filter along the rows, by even taps into one plane and, if BOTH, by odd taps into another.
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

// Smooth the image into plane 0, and write whichever of d/dx and d/dy is wanted into the next planes.
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

// Call output(x, y, i) for every four neighbouring pixels of the tile whose first one is in the image and before
// `end_row`; i is their place in the planes.
template <class Output> DEVICE void for_quads(const Tile &tile, int end_row, int width, Output output) {
    const int across = tile.width / 4;
    for (int item = threadIdx.x; item < TILE_ROWS * across; item += blockDim.x) {
        int row = tile.width == TILE_WIDTH ? item / (TILE_WIDTH / 4) : item / across, column = (item - row * across) * 4;
        if (tile.y0 + row < end_row && tile.x0 + column < width)
            output(tile.x0 + column, tile.y0 + row, row * tile.plane_stride + column);
    }
}
