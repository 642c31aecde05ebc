// The kernels of the plane sweep that compare views (`difference` and `costs` of the contract).

// Bring the colours of each pixel together.  Grid: runs of pixels, views.
template <class T, int CHANNELS>
DEVICE void pack_pixel(const T *planes, Pixel<T, CHANNELS> *views, long long pixels) {
    long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pixels) return;
    Pixel<T, CHANNELS> pixel = {};
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) pixel.c[c] = planes[(blockIdx.y * CHANNELS + c) * pixels + p];
    views[blockIdx.y * pixels + p] = pixel;
}

// What `differences` and `costs` know about the targets.
struct Targets {
    const double *epipoles;  // (T, 3)
    const float *weights;
    int T;
    double step;
    int height, width;
};

// All threads of a block prepare the sights of a label.
template <class T> DEVICE void prepare_sights(const Targets &targets, int k, Sight *sights) {
    for (int t = threadIdx.x; t < targets.T; t += blockDim.x)
        sights[t] = sight(targets.epipoles + 3 * t, targets.weights[t], k, targets.step, Holes<T>::possible,
                          targets.height, targets.width);
}

// The smallest mean difference at any label.  Grid: runs of a row's pixels, every `every`-th row.
template <class T, int CHANNELS>
DEVICE void smallest_difference(
    const Pixel<T, CHANNELS> *views, const Targets &targets, float scale, int first, int labels, int every,
    float *found, Sight *sights
) {
    const int height = targets.height, width = targets.width, y = blockIdx.y * every;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const long long pixels = (long long)height * width, p = (long long)y * width + x;
    float lowest = INFINITY;
    for (int k = first; k < first + labels; ++k) {
        prepare_sights<T>(targets, k, sights);
        __syncthreads();
        if (x < width) {
            float sum = 0.0f, count = 0.0f;
            for (int t = 0; t < targets.T; ++t) {
                if (!sees(sights[t], x, y)) continue;
                float d = difference(views + (1 + t) * pixels, sights[t], views[p], x, y, height, width);
                if (Holes<T>::possible && d != d) continue;
                sum += d;
                count += 1.0f;
            }
            if (count > 0.0f) lowest = fminf(lowest, sum / count);
        }
        __syncthreads();
    }
    if (x < width) found[(long long)blockIdx.y * width + x] = lowest * scale / CHANNELS;
}

#define TILE_X 32
#define TILE_Y 16
#define THREADS 256
#define OWN (TILE_X * TILE_Y / THREADS)  // pixels of a thread
#define CHUNK 16  // labels that a block computes in a row
#define UNSEEN 2.0f  // stands for the cost of an arm that does not count

// The weighted mean cost of an arm's views at one pixel.
template <class T, int CHANNELS>
DEVICE float arm_cost(
    const Pixel<T, CHANNELS> *views, const Sight *sights, int first, int end, float inverse_noise, int x, int y,
    int height, int width
) {
    const long long pixels = (long long)height * width;
    const Pixel<T, CHANNELS> reference = views[(long long)y * width + x];
    float sum = 0.0f, weights = 0.0f;
    for (int t = first; t < end; ++t) {
        if (!sees(sights[t], x, y)) continue;
        float d = difference(views + (1 + t) * pixels, sights[t], reference, x, y, height, width);
        if (Holes<T>::possible && d != d) continue;
        sum += sights[t].weight * fminf(d * inverse_noise, 1.0f);
        weights += sights[t].weight;
    }
    return weights > 0.0f ? fminf(sum / weights, 1.0f) : UNSEEN;
}

// How an arm's cost is smoothed and weighed.
struct Arms {
    const int *first;  // target of each arm, and the number of targets
    int count;
    const float *blur;  // taps from -radius to radius
    int radius;
    float c0;
    int sharpness;
};

// Sums over the arms at one pixel.  In the mean, (c_min + c0)^sharpness cancels out.
struct Mean {
    float costs = 0.0f, weights = 0.0f;
    DEVICE void add(float c, const Arms &arms) {
        float weight = 1.0f / (c + arms.c0);
        if (arms.sharpness == 2) weight *= weight;
        costs += weight * c;
        weights += weight;
    }
    DEVICE float value() const { return weights > 0.0f ? fminf(costs / weights, 1.0f) : 1.0f; }
};

// The band of one pixel.
struct OwnBand {
    bool inside;
    int first, end;  // labels at which it has costs of its own
    float fraction;
    DEVICE bool needs(int k) const { return inside && k >= first && k < end + (fraction > 0.0f); }
};

DEVICE unsigned short stored(float cost, float unit) { return (unsigned short)(unit * cost + 0.5f); }

// The costs of a tile at every label that its pixels need, in chunks of successive labels.  Grid: tiles, chunks.
//
// At each label the arms' costs are computed in the tile and a margin, smoothed along the rows, then along the columns.
template <class T, int CHANNELS>
DEVICE void tile_costs(
    const Pixel<T, CHANNELS> *views, const Targets &targets, const Arms &arms, const float *start, int labels,
    const float *noise, float scale, float unit, unsigned short *volume, int *bounds
) {
    const int height = targets.height, width = targets.width, R = arms.radius;
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y, lx = threadIdx.x % TILE_X, ly = threadIdx.x / TILE_X;
    const int wide = TILE_X + 2 * R, area = wide * (TILE_Y + 2 * R), strip = TILE_X * (TILE_Y + 2 * R);
    int *needed = bounds + 2;
    Sight *sights = (Sight *)(bounds + 32);
    float *costs = (float *)(sights + targets.T), *rows = costs + arms.count * area;  // of each arm
    OwnBand own[OWN];
    float before[OWN];

    if (threadIdx.x == 0) bounds[0] = 1 << 30, bounds[1] = -(1 << 30);
    __syncthreads();
#pragma unroll
    for (int o = 0; o < OWN; ++o) {
        const int x = x0 + lx, y = y0 + ly + o * (TILE_Y / OWN);
        own[o].inside = x < width && y < height;
        const float from = own[o].inside ? start[(long long)y * width + x] : 0.0f;
        own[o].first = (int)floorf(from);
        own[o].end = own[o].first + labels;
        own[o].fraction = from - floorf(from);
        before[o] = 1.0f;
        if (own[o].inside) {
            atomicMin(bounds, own[o].first);
            atomicMax(bounds + 1, own[o].end);
        }
    }
    __syncthreads();
    const int lowest = bounds[0], end = bounds[1];
    for (int first = lowest + (int)blockIdx.z * CHUNK; first < end; first += gridDim.z * CHUNK) {
        if (threadIdx.x <= CHUNK) needed[threadIdx.x] = 0;
        __syncthreads();
#pragma unroll
        for (int o = 0; o < OWN; ++o)
            for (int s = 0; s <= CHUNK; ++s)
                if (own[o].needs(first + s) && (s < CHUNK || own[o].fraction > 0.0f)) needed[s] = 1;
        __syncthreads();
        for (int s = 0; s <= CHUNK; ++s) {
            const int k = first + s;
            if (!needed[s]) continue;
            prepare_sights<T>(targets, k, sights);
            __syncthreads();
            for (int n = threadIdx.x; n < arms.count * area; n += THREADS) {
                const int a = n / area, p = n - a * area, row = p / wide;
                const int x = clamp(x0 + p - row * wide - R, width), y = clamp(y0 + row - R, height);
                const float inverse_noise = scale / (CHANNELS * noise[(long long)y * width + x]);
                const int first_view = arms.first[a], end_view = arms.first[a + 1];
                costs[n] = arm_cost(views, sights, first_view, end_view, inverse_noise, x, y, height, width);
            }
            __syncthreads();
            if (R > 0) {
                for (int n = threadIdx.x; n < arms.count * strip; n += THREADS) {
                    const float *from = costs + n / TILE_X * wide + n % TILE_X;
                    float sum = 0.0f;
                    for (int i = 0; i <= 2 * R; ++i) sum += arms.blur[i] * fminf(from[i], 1.0f);
                    rows[n] = sum;
                }
                __syncthreads();
            }
#pragma unroll
            for (int o = 0; o < OWN; ++o) {
                if (!own[o].needs(k)) continue;
                const int row = ly + o * (TILE_Y / OWN);
                Mean mean;
                for (int a = 0; a < arms.count; ++a) {
                    float c = costs[a * area + (row + R) * wide + lx + R];
                    if (c == UNSEEN) continue;
                    if (R > 0) {
                        const float *from = rows + a * strip + row * TILE_X + lx;
                        c = 0.0f;
                        for (int i = 0; i <= 2 * R; ++i) c += arms.blur[i] * from[i * TILE_X];
                    }
                    mean.add(c, arms);
                }
                const float c = mean.value(), p = own[o].fraction;
                unsigned short *out = volume + ((long long)(y0 + row) * width + x0 + lx) * labels;
                if (p == 0.0f && s < CHUNK) out[k - own[o].first] = stored(c, unit);
                if (p > 0.0f && s > 0 && k > own[o].first)
                    out[k - 1 - own[o].first] = stored((1.0f - p) * before[o] + p * c, unit);
                before[o] = c;
            }
            __syncthreads();
        }
    }
}

#define COMPARISONS(name, type, channels)                                                                              \
    KERNEL void pack_##name##_##channels(const type *planes, Pixel<type, channels> *views, long long pixels) {         \
        pack_pixel<type, channels>(planes, views, pixels);                                                             \
    }                                                                                                                  \
    KERNEL void difference_##name##_##channels(                                                                        \
        const Pixel<type, channels> *views, const double *epipoles, const float *weights, int T, double step,          \
        int height, int width, float scale, int first, int labels, int every, float *found                             \
    ) {                                                                                                                \
        SHARED(Sight, sights);                                                                                         \
        smallest_difference(views, {epipoles, weights, T, step, height, width}, scale, first, labels, every, found,    \
                            sights);                                                                                   \
    }                                                                                                                  \
    KERNEL void LAUNCH_BOUNDS(THREADS, 4) costs_##name##_##channels(                                                   \
        const Pixel<type, channels> *views, const double *epipoles, const float *weights, int T, double step,          \
        int height, int width, float scale, const int *arms, int count, const float *blur, int radius, float c0,       \
        int sharpness, const float *start, int labels, const float *noise, float unit, unsigned short *volume          \
    ) {                                                                                                                \
        SHARED(int, bounds);                                                                                           \
        tile_costs(views, {epipoles, weights, T, step, height, width}, {arms, count, blur, radius, c0, sharpness},     \
                   start, labels, noise, scale, unit, volume, bounds);                                                 \
    }
FOR_EVERY_PIXEL(COMPARISONS)
