// The kernels of semi-global matching: one warp walks along each path; one warp finds the best label of each pixel.

#define LANES 32

// The lowest value of all lanes.
DEVICE int lowest_of_warp(int value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_min_sync(~0u, value);
#else
    for (int other = LANES / 2; other; other /= 2) {
        int theirs = __shfl_xor_sync(~0u, value, other);
        value = theirs < value ? theirs : value;
    }
    return value;
#endif
}

// floor(penalty * edge + 0.5), rounded after each operation, as everywhere.
DEVICE int rounded(float penalty, float edge) {
#ifdef __CUDACC__
    return (int)floorf(__fadd_rn(__fmul_rn(penalty, edge), 0.5f));
#else
    volatile float product = penalty * edge;
    return (int)floorf(product + 0.5f);
#endif
}

struct Path { int x, y, dx, dy; };

DEVICE bool within(int x, int y, int height, int width) { return x >= 0 && y >= 0 && x < width && y < height; }

// The first pixel of a path.  Paths are numbered along the row where they begin, then along the column.
DEVICE bool begin_path(int direction, int number, int height, int width, Path &path) {
    const int kind = direction / 2, sign = direction % 2 ? -1 : 1;  // the steps are ordered as the edges
    path.dx = sign * (kind == 1 ? 0 : kind == 3 ? -1 : 1);
    path.dy = sign * (kind == 0 ? 0 : 1);
    const int top = path.dy > 0 ? 0 : height - 1, side = path.dx > 0 ? 0 : width - 1;
    const int from_row = path.dy ? width : 0;
    if (number < from_row) {
        path.x = number, path.y = top;
        return true;
    }
    const int j = number - from_row + (path.dy && path.dx);  // the corner has begun already
    path.x = side, path.y = path.dy >= 0 ? j : height - 1 - j;
    return path.dx && j < height;
}

// Walk along a path with N labels in each lane, and add its costs L to the sums.
template <int N>
DEVICE void walk(
    const unsigned short *costs, const float *edge, Path path, int height, int width, int labels, float small,
    float large, unsigned *sums
) {
    const int lane = threadIdx.x % LANES, far = 1 << 28;
    const int before = (lane + LANES - 1) % LANES, after = (lane + 1) % LANES;
    int x = path.x, y = path.y, L[N], next[N], lowest = 0, P1 = 0, P2 = 0;
    long long at = ((long long)y * width + x) * labels;
    const long long step = ((long long)path.dy * width + path.dx) * labels;
#pragma unroll
    for (int i = 0; i < N; ++i) next[i] = i * LANES + lane < labels ? costs[at + i * LANES + lane] : far;
    for (bool first = true;; first = false) {
        int C[N];
#pragma unroll
        for (int i = 0; i < N; ++i) C[i] = next[i];
        const int then_x = x + path.dx, then_y = y + path.dy;
        const bool more = within(then_x, then_y, height, width);
        float then_edge = 0.0f;
        if (more) {  // load what the next pixel needs while this one is computed
#pragma unroll
            for (int i = 0; i < N; ++i)
                if (i * LANES + lane < labels) next[i] = costs[at + step + i * LANES + lane];
            const bool forwards = path.dy > 0 || (path.dy == 0 && path.dx > 0);
            then_edge = edge[forwards ? (long long)then_y * width + then_x : (long long)y * width + x];
        }
        if (!first) {
            int from_left[N], from_right[N];
#pragma unroll
            for (int i = 0; i < N; ++i) {
                from_left[i] = __shfl_sync(~0u, L[i], before);
                from_right[i] = __shfl_sync(~0u, L[i], after);
            }
#pragma unroll
            for (int i = 0; i < N; ++i) {
                const int left = lane > 0 ? from_left[i] : i > 0 ? from_left[i - (i > 0)] : far;
                const int right = lane < LANES - 1 ? from_right[i] : i < N - 1 ? from_right[i + (i < N - 1)] : far;
                const int beside = (left < right ? left : right) + P1, anywhere = lowest + P2;
                const int changed = beside < anywhere ? beside : anywhere;
                C[i] += (changed < L[i] ? changed : L[i]) - lowest;
            }
        }
        int least = far;
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const bool exists = i * LANES + lane < labels;
            L[i] = exists ? C[i] : far;
            if (exists) atomicAdd(sums + at + i * LANES + lane, (unsigned)L[i]);
            least = L[i] < least ? L[i] : least;
        }
        if (!more) return;
        lowest = lowest_of_warp(least);
        P1 = rounded(small, then_edge), P2 = rounded(large, then_edge);
        x = then_x, y = then_y, at += step;
    }
}

// The sums of all paths.  They are integers, so their order does not matter.  Grid: warps of paths, eight directions.
KERNEL void LAUNCH_BOUNDS(128, 4) add_paths(
    const unsigned short *costs, const float *edges, int height, int width, int labels, float small, float large,
    unsigned *sums
) {
    Path path;
    const int number = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, direction = blockIdx.y;
    if (!begin_path(direction, number, height, width, path)) return;
    const float *edge = edges + (long long)(direction / 2) * height * width;
    switch ((labels + LANES - 1) / LANES) {
#define WALK(n) case n: return walk<n>(costs, edge, path, height, width, labels, small, large, sums);
        WALK(1) WALK(2) WALK(3) WALK(4) WALK(5) WALK(6) WALK(7) WALK(8)
    }
}

// The best label of each pixel.  A sum and its label make one integer, so that the lowest of equal sums has the lowest
// label.
KERNEL void best_labels(
    const unsigned *sums, long long pixels, int labels, float *label, float *lowest, float *curvature, float *second
) {
    const long long p = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    const int lane = threadIdx.x % LANES, none = 0x7fffffff;
    if (p >= pixels) return;
    const unsigned *sum = sums + p * labels;
    int least = none;
    for (int n = lane; n < labels; n += LANES) {
        int both = (int)(sum[n] << 8) | n;
        least = both < least ? both : least;
    }
    const int best = lowest_of_warp(least) & 255;
    int other = none;
    for (int n = lane; n < labels; n += LANES)
        if ((n < best - 2 || n > best + 2) && (int)sum[n] < other) other = sum[n];
    other = lowest_of_warp(other);
    if (lane > 0) return;
    float here = (float)sum[best], bend = 0.0f, fraction = 0.0f;
    if (best > 0 && best < labels - 1) {
        float left = (float)sum[best - 1], right = (float)sum[best + 1];
        bend = left - 2.0f * here + right;
        if (bend > 0.0f) fraction = 0.5f * (left - right) / bend;
    }
    label[p] = best + fraction;
    lowest[p] = here;
    curvature[p] = bend;
    second[p] = other == none ? INFINITY : (float)other;
}
