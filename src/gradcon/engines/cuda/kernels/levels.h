// The linear solver's levels in fewer phases, so that the blocks meet less often.
//
// ---- two levels in one phase
//
// A block works on a tile of the middle level, plus one pixel on each side.  The other level then finds everything it
// needs in shared memory, and the blocks need not meet in between.

#define TILE_DOWN 16
#define TILE_OVER 32
#define TILE_STRIDE (TILE_OVER + 2)
#define TILE_PIXELS ((TILE_DOWN + 2) * TILE_STRIDE)

// Call each(y, x, i) for all pixels of a tile and of the ring around it: the place in the level, and in the tile.
template <class Each> DEVICE void for_tile(int y0, int x0, Each each) {
    for (int i = threadIdx.x; i < TILE_PIXELS; i += blockDim.x) {
        int row = i / TILE_STRIDE;
        each(y0 + row - 1, x0 + i - row * TILE_STRIDE - 1, i);
    }
}

DEVICE bool is_inside(const Level &level, int y, int x) {
    return y >= 1 && x >= 1 && y <= level.height && x <= level.width;
}

DEVICE bool is_own(int i) {
    int row = i / TILE_STRIDE, column = i - row * TILE_STRIDE;
    return row >= 1 && row <= TILE_DOWN && column >= 1 && column <= TILE_OVER;
}

// b and step of `fine` -> those of `middle` and of `coarse`.
DEVICE void descend_twice(
    const Level &fine, const Level &middle, const Level &coarse, const float *inverse, const float *right,
    const float *below, float *b, float *step, float *shared
) {
    float *tile_b = shared, *tile_step = shared + TILE_PIXELS;
    const int across = (middle.width + TILE_OVER - 1) / TILE_OVER, down = (middle.height + TILE_DOWN - 1) / TILE_DOWN;
    for (int tile = blockIdx.x; tile < across * down; tile += gridDim.x) {
        int y0 = tile / across * TILE_DOWN + 1, x0 = tile % across * TILE_OVER + 1;
        for_tile(y0, x0, [&](int y, int x, int i) {
            float left = 0.0f, taken = 0.0f;
            if (is_inside(middle, y, x)) {
                Cell cell = cell_of(fine, middle, (y - 1) * middle.width + x - 1);
                left = left_over(pull(links(fine, cell, right, below), patch(fine, cell, step)), pair(b + cell.a),
                                 pair(b + cell.c));
                taken = DAMPING * inverse[cell.coarse] * left;
                if (is_own(i)) b[cell.coarse] = left, step[cell.coarse] = taken;
            }
            tile_b[i] = left;
            tile_step[i] = taken;
        });
        __syncthreads();
        for (int k = threadIdx.x; k < TILE_DOWN / 2 * (TILE_OVER / 2); k += blockDim.x) {
            int row = k / (TILE_OVER / 2), column = k - row * (TILE_OVER / 2);
            int y = y0 / 2 + row + 1, x = x0 / 2 + column + 1, at = (2 * row + 1) * TILE_STRIDE + 2 * column + 1;
            if (!is_inside(coarse, y, x)) continue;
            Cell cell = cell_of(middle, coarse, (y - 1) * coarse.width + x - 1);
            const float *s = tile_step + at, *v = tile_b + at;
            Patch around = {{s[-TILE_STRIDE], s[1 - TILE_STRIDE]}, {s[0], s[1]}, {s[TILE_STRIDE], s[TILE_STRIDE + 1]},
                            {s[2 * TILE_STRIDE], s[2 * TILE_STRIDE + 1]}, s[-1], s[2], s[TILE_STRIDE - 1], s[TILE_STRIDE + 2]};
            leave(cell, left_over(pull(links(middle, cell, right, below), around), {v[0], v[1]},
                                  {v[TILE_STRIDE], v[TILE_STRIDE + 1]}), inverse, b, step);
        }
        __syncthreads();
    }
}

// `coarse_z` -> z of `fine`; z of `middle` is computed on the way and not kept.
DEVICE void ascend_twice(
    const Level &fine, const Level &middle, const Level &coarse, const float *inverse, const float *right,
    const float *below, const float *b, const float *step, const float *coarse_z, float *z, float *shared
) {
    const int across = (middle.width + TILE_OVER - 1) / TILE_OVER, down = (middle.height + TILE_DOWN - 1) / TILE_DOWN;
    for (int tile = blockIdx.x; tile < across * down; tile += gridDim.x) {
        int y0 = tile / across * TILE_DOWN + 1, x0 = tile % across * TILE_OVER + 1;
        for_tile(y0, x0, [&](int y, int x, int i) {
            float up = 0.0f;
            if (is_inside(middle, y, x)) {
                int s = middle.stride, at = middle.offset + y * s + x;
                auto corrected = [&](int k, int ky, int kx) {
                    return step[k] + coarse_z[coarse.offset + (ky + 1) / 2 * coarse.stride + (kx + 1) / 2];
                };
                float pulled = right[at] * corrected(at + 1, y, x + 1) + right[at - 1] * corrected(at - 1, y, x - 1)
                    + (below[at] * corrected(at + s, y + 1, x) + below[at - s] * corrected(at - s, y - 1, x));
                up = (1.0f - DAMPING) * corrected(at, y, x) + DAMPING * inverse[at] * (b[at] + pulled);
            }
            shared[i] = up;
        });
        __syncthreads();
        for_tile(y0, x0, [&](int y, int x, int i) {
            if (!is_own(i) || !is_inside(middle, y, x)) return;
            Cell cell = cell_of(fine, middle, (y - 1) * middle.width + x - 1);
            Four up = risen(shared + i, TILE_STRIDE, patch(fine, cell, step), links(fine, cell, right, below),
                            pair(inverse + cell.a), pair(inverse + cell.c), pair(b + cell.a), pair(b + cell.c));
            store(z, cell, up.a, up.b, up.c, up.d);
        });
        __syncthreads();
    }
}

// ---- the coarsest levels in shared memory
//
// These are the arrays of the levels from `first` on.  The cycle does not need the data term, which is where z will be.
struct Bottom { float *right, *below, *inverse, *b, *step, *z; int base, size; };

DEVICE Bottom bottom_in(float *shared, const Level *levels, int first, int n) {
    int base = levels[first].offset - 1, size = n - base;
    return {shared, shared + size, shared + 2 * size, shared + 3 * size, shared + 4 * size, shared + 5 * size, base, size};
}

DEVICE Level local(const Level &level, const Bottom &bottom) {
    return {level.height, level.width, level.offset - bottom.base, level.stride};
}

DEVICE void set_up_bottom(const Bottom &bottom, const Level *levels, int first, int count, const float *arrays, int n) {
    Crew crew = {(int)threadIdx.x, (int)blockDim.x};
    int given = first + 1 < count ? levels[first + 1].offset - levels[first].offset : bottom.size - 1;
    for (int i = crew.first; i < 6 * bottom.size; i += crew.step) bottom.right[i] = 0.0f;
    __syncthreads();
    for (int i = crew.first; i < given; i += crew.step) {
        bottom.z[1 + i] = arrays[DATA_TERM * n + bottom.base + 1 + i];
        bottom.right[1 + i] = arrays[RIGHT * n + bottom.base + 1 + i];
        bottom.below[1 + i] = arrays[BELOW * n + bottom.base + 1 + i];
    }
    __syncthreads();
    for (int k = first; k + 1 < count; ++k) {
        coarsen(crew, local(levels[k], bottom), local(levels[k + 1], bottom), bottom.z, bottom.right, bottom.below);
        __syncthreads();
    }
    for (int k = first; k < count; ++k)
        invert(crew, local(levels[k], bottom), bottom.z, bottom.right, bottom.below, bottom.inverse);
    __syncthreads();
    for (int i = crew.first; i < bottom.size; i += crew.step) bottom.z[i] = 0.0f;
    __syncthreads();
}

// b of level `first` -> its z, in shared memory.
DEVICE void bottom_cycle(const Bottom &bottom, const Level *levels, int first, int count, const float *arrays, int n) {
    Crew crew = {(int)threadIdx.x, (int)blockDim.x};
    const Level top = local(levels[first], bottom);
    int pixels = top.height * top.width;
    for (int i = crew.first; i < pixels; i += crew.step) {
        int y = i / top.width, at = top.offset + (y + 1) * top.stride + i - y * top.width + 1;
        float b = arrays[RHS * n + bottom.base + at];
        bottom.b[at] = b;
        bottom.step[at] = DAMPING * bottom.inverse[at] * b;
    }
    __syncthreads();
    auto down = [&](Crew who, int k) {
        descend(who, local(levels[k], bottom), local(levels[k + 1], bottom), bottom.inverse, bottom.right, bottom.below,
                bottom.b, bottom.step);
    };
    auto up = [&](Crew who, int k) {
        ascend(who, local(levels[k], bottom), local(levels[k + 1], bottom), bottom.inverse, bottom.right, bottom.below,
               bottom.b, bottom.step, bottom.z, bottom.z);
    };
    int small = first;  // from here on, one warp does it
    for (; small + 1 < count && levels[small + 1].height * levels[small + 1].width > 64; ++small) {
        down(crew, small);
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        const Crew warp = {(int)threadIdx.x, 32};
        for (int k = small; k + 1 < count; ++k) {
            down(warp, k);
            __syncwarp();
        }
        const Level last = local(levels[count - 1], bottom);  // a single pixel
        int only = last.offset + last.stride + 1;
        if (threadIdx.x == 0) bottom.z[only] = bottom.inverse[only] * bottom.b[only];
        __syncwarp();
        for (int k = count - 2; k >= small; --k) {
            up(warp, k);
            __syncwarp();
        }
    }
    __syncthreads();
    for (int k = small - 1; k >= first; --k) {
        up(crew, k);
        __syncthreads();
    }
}
