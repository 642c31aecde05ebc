// The linear solver of the CUDA engine: conjugate gradients with a multigrid V-cycle, as in cpu/multigrid.py, in one
// persistent kernel.  All blocks are resident at once (a cooperative launch) and meet at a barrier between phases, so
// that the host need not ask whether the solver has converged.  The coarsest levels fit into shared memory: every block
// does all of their work by itself, which takes less time than sharing it.
//
// cells.h holds the arithmetic on one level, levels.h the ways through several, grid.h what all blocks do together.

#define MOST_LEVELS 20

// Solve (diagonal + alpha L) dw = rhs - alpha L w; counts[0] = the iterations it took, counts[1] = 0.
// There are at least two levels; those from `first` on, at least the last, fit into shared memory.  `partial` holds two
// sums for each block.
KERNEL void LAUNCH_BOUNDS(1024, 1) solve(
    const float *w, const float *diagonal, const float *rhs, float alpha, int reweight, int isotropic,
    const Level *all_levels, int count, int first, float *arrays, int n, double *partial, unsigned *gate, double tolerance,
    int most, float *dw, unsigned *counts, int height, int width, int pitch
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

    assemble(all, w, diagonal, rhs, alpha, reweight, isotropic, {height, width, pitch}, fine, arrays, n);
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
