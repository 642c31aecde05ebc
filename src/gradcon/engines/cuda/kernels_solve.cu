// The linear solver of the CUDA engine: conjugate gradients with a multigrid V-cycle, as in _cpu_multigrid.py, in one
// persistent kernel.  All blocks are resident at once (a cooperative launch) and meet at a barrier between phases, so
// that no host is asked whether it has converged.  The coarsest levels fit into shared memory: every block does all of
// their work for itself, which takes less time than telling the others.
// What happens on a level stands in kernels_cells.h.

#ifdef __CUDACC__
DEVICE unsigned arrive(unsigned *at) {
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(at) : "memory");
    return before;
}
DEVICE unsigned look(const unsigned *at) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
DEVICE void publish(unsigned *at, unsigned value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}
#define WAIT_A_LITTLE
#endif

// Nobody goes on before all blocks have come here, and all that they wrote is seen.  gate: arrived, generation.
DEVICE void meet(unsigned *gate) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned generation = look(gate + 1);
        if (arrive(gate) == gridDim.x - 1) {
            gate[0] = 0;
            publish(gate + 1, generation + 1);
        } else {
            while (look(gate + 1) == generation) { WAIT_A_LITTLE }
        }
    }
    __syncthreads();
}

// The sum of a phase's values over the grid, in a fixed order: first each block's, into partial[block] ...
DEVICE void sum_in_block(double value, double *partial, double *shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = shared[0];
}

// ... and, after the blocks have met, of all blocks.
DEVICE double sum_of_blocks(const double *partial, double *shared) {
    if (threadIdx.x < 32) {
        double sum = 0.0;
        for (int i = threadIdx.x; i < (int)gridDim.x; i += 32) sum += partial[i];
        shared[threadIdx.x] = sum;
    }
    __syncthreads();
    double total = 0.0;
    for (int i = 0; i < 32; ++i) total += shared[i];
    __syncthreads();
    return total;
}

// ---- two levels in one phase
//
// A block works on a tile of pixels of the level between, with one pixel more on each side than are its own, so that
// what the other level needs of them is in shared memory and the blocks need not meet.

#define TILE_DOWN 16
#define TILE_OVER 32
#define TILE_STRIDE (TILE_OVER + 2)
#define TILE_PIXELS ((TILE_DOWN + 2) * TILE_STRIDE)

// Calls each(y, x, i) for all pixels of a tile and of the ring around it: where they are in the level, and in the tile.
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

// `coarse_z` -> z of `fine`, by way of `middle`'s, of which nothing remains.
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

// The arrays of the levels from `first` on in shared memory; the data term, which the cycle does not need,
// lies where z will be.
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

// ---- conjugate gradients

#define MOST_LEVELS 20

// Solve (diagonal + alpha L) dw = rhs - alpha L w; counts[0] = the iterations it took, counts[1] = 0.
// There are at least two levels; those from `first` on, at least the last, fit into shared memory.  `partial` holds two
// sums for each block.
KERNEL void LAUNCH_BOUNDS(1024, 1) solve(
    const float *w, const float *diagonal, const float *rhs, float alpha, int reweight, const Level *all_levels, int count,
    int first, float *arrays, int n, double *partial, unsigned *gate, double tolerance, int most, float *dw,
    unsigned *counts, int height, int width, int pitch
) {
    SHARED(double, totals);
    Level *levels = (Level *)(totals + blockDim.x);
    float *shared = (float *)(levels + MOST_LEVELS), *kept = shared + 2 * TILE_PIXELS;
    if ((int)threadIdx.x < count) levels[threadIdx.x] = all_levels[threadIdx.x];
    __syncthreads();
    const Crew all = {(int)(blockIdx.x * blockDim.x + threadIdx.x), (int)(gridDim.x * blockDim.x)};
    const Level fine = levels[0], coarse = levels[1];
    const int cells = coarse.height * coarse.width;
    float *data = arrays + DATA_TERM * n, *right = arrays + RIGHT * n, *below = arrays + BELOW * n;
    float *inverse = arrays + INVERSE * n, *b = arrays + RHS * n, *step = arrays + STEP * n, *z = arrays + Z * n;
    float *product = arrays + PRODUCT * n, *solution = arrays + SOLUTION * n;
    const Bottom bottom = bottom_in(kept, levels, first, n);

    assemble(all, w, diagonal, rhs, alpha, reweight, {height, width, pitch}, fine, arrays, n);
    meet(gate);
    for (int k = 0; k < first; ++k) {
        coarsen(all, levels[k], levels[k + 1], data, right, below);
        meet(gate);
    }
    for (int k = 1; k <= first; ++k) invert(all, levels[k], data, right, below, inverse);
    set_up_bottom(bottom, levels, first, count, arrays, n);
    meet(gate);

    double rz = 0.0, goal = 0.0, beta = 0.0, a = 0.0;
    int iteration = 0;
    for (int now = 0;; now ^= 1) {  // which of two buffers holds the residual; the other one gets the next
        float *r = arrays + (now ? R_1 : R_0) * n, *r_next = arrays + (now ? R_0 : R_1) * n;
        float *p = arrays + (now ? P_1 : P_0) * n, *p_next = arrays + (now ? P_0 : P_1) * n;
        // x += a p and r -= a q, and down from the finest level.
        const float fa = (float)a;
        for (int i = all.first; i < cells; i += all.step) {
            Cell cell = cell_of(fine, coarse, i);
            Patch rest = combine(patch(fine, cell, r), patch(fine, cell, product), [=](float u, float v) { return u - fa * v; });
            Pair x1 = pair(solution + cell.a), x2 = pair(solution + cell.c), p1 = pair(p + cell.a), p2 = pair(p + cell.c);
            store(r_next, cell, rest.ab.x, rest.ab.y, rest.cd.x, rest.cd.y);
            store(solution, cell, x1.x + fa * p1.x, x1.y + fa * p1.y, x2.x + fa * p2.x, x2.y + fa * p2.y);
            Patch steps = combine(rest, patch(fine, cell, inverse), [](float u, float v) { return DAMPING * u * v; });
            leave(cell, left_over(pull(links(fine, cell, right, below), steps), rest.ab, rest.cd), inverse, b, step);
        }
        meet(gate);
        int level = 1;
        for (; level + 1 < first; level += 2) {
            descend_twice(levels[level], levels[level + 1], levels[level + 2], inverse, right, below, b, step, shared);
            meet(gate);
        }
        if (level < first) {
            descend(all, levels[level], levels[level + 1], inverse, right, below, b, step);
            meet(gate);
        }
        bottom_cycle(bottom, levels, first, count, arrays, n);
        const float *below_z = bottom.z;  // of the level that was done last, and the level as it lies there
        Level done = local(levels[first], bottom);
        if (level < first) {
            ascend(all, levels[level], done, inverse, right, below, b, step, below_z, z);
            meet(gate);
            below_z = z, done = levels[level];
        }
        for (level -= 2; level >= 1; level -= 2) {
            ascend_twice(levels[level], levels[level + 1], done, inverse, right, below, b, step, below_z, z, shared);
            meet(gate);
            below_z = z, done = levels[level];
        }
        // Up to the finest level, with <r, z>.
        double dot = 0.0;
        for (int i = all.first; i < cells; i += all.step) {
            Cell cell = cell_of(fine, done, i);
            Patch rest = patch(fine, cell, r_next), inverses = patch(fine, cell, inverse);
            Patch steps = combine(rest, inverses, [](float u, float v) { return DAMPING * u * v; });
            Four up = risen(below_z + cell.coarse, done.stride, steps, links(fine, cell, right, below), inverses.ab,
                            inverses.cd, rest.ab, rest.cd);
            store(z, cell, up.a, up.b, up.c, up.d);
            dot += ((double)rest.ab.x * up.a + (double)rest.ab.y * up.b)
                + ((double)rest.cd.x * up.c + (double)rest.cd.y * up.d);
        }
        sum_in_block(dot, partial, totals);
        meet(gate);
        double rz_next = sum_of_blocks(partial, totals);
        if (iteration == 0) goal = rz_next * tolerance * tolerance;
        else beta = rz_next / rz;
        rz = rz_next;
        if (iteration == most || !(rz > goal)) break;  // also where rz is 0 or not a number
        // p = z + beta p and q = A p, with <p, q>.
        const float fb = (float)beta;
        dot = 0.0;
        for (int i = all.first; i < cells; i += all.step) {
            Cell cell = cell_of(fine, coarse, i);
            Patch turned = combine(patch(fine, cell, z), patch(fine, cell, p), [=](float u, float v) { return u + fb * v; });
            Four Lp = smoothness_of(links(fine, cell, right, below), turned);
            Pair d1 = pair(data + cell.a), d2 = pair(data + cell.c);
            Four q = {d1.x * turned.ab.x + Lp.a, d1.y * turned.ab.y + Lp.b, d2.x * turned.cd.x + Lp.c,
                      d2.y * turned.cd.y + Lp.d};
            store(p_next, cell, turned.ab.x, turned.ab.y, turned.cd.x, turned.cd.y);
            store(product, cell, q.a, q.b, q.c, q.d);
            dot += ((double)turned.ab.x * q.a + (double)turned.ab.y * q.b)
                + ((double)turned.cd.x * q.c + (double)turned.cd.y * q.d);
        }
        sum_in_block(dot, partial + gridDim.x, totals);
        meet(gate);
        double curvature = sum_of_blocks(partial + gridDim.x, totals);
        if (!(curvature > 0.0)) break;
        a = rz / curvature;
        iteration += 1;
    }
    for (int i = all.first; i < fine.height * fine.width; i += all.step) {
        int y = i / fine.width, x = i - y * fine.width;
        dw[(long long)y * pitch + x] = solution[fine.offset + (y + 1) * fine.stride + x + 1];
    }
    if (all.first == 0) {
        counts[0] = iteration;
        counts[1] = 0;
    }
}
