// The kernels that read the views as they are: a sample of a small copy (`methods/look/small_copy.py`), and the edges of
// the reference (`methods/sweep/noise.py`).

// What the targets show of the reference's pixels at their disparities, by bilinear interpolation; 0 where they do not
// see them.
template <class T>
DEVICE void match(
    const T *colours, int channels, float scale, const float *w, const unsigned char *known, const double *epipoles,
    Sample sample, float *reference, float *shown, unsigned char *seen
) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y;
    if (n >= sample.pixels) return;
    const int x = sampled_x(sample, n), y = sampled_y(sample, n), width = sample.width, height = sample.height;
    const long long N = sample.pixels, p = (long long)y * width + x, plane = (long long)height * width;
    const float d = w[p], z = 1.0f + (float)epipoles[3 * t + 2] * d;
    const float u = z > 0.0f ? (x + (float)epipoles[3 * t] * d) / z : -1.0f;
    const float v = z > 0.0f ? (y + (float)epipoles[3 * t + 1] * d) / z : -1.0f;
    const bool inside = u >= 0.0f && u <= width - 1 && v >= 0.0f && v <= height - 1;
    const int left = inside && width > 1 ? clamp((int)u, width - 1) : 0, right = clamp(left + 1, width);
    const int top = inside && height > 1 ? clamp((int)v, height - 1) : 0, bottom = clamp(top + 1, height);
    const float along = u - left, across = v - top;
    bool sees = inside && (!known || known[p]);
    for (int c = 0; c < channels; ++c) {
        const T *image = colours + ((t + 1LL) * channels + c) * plane;
        const T *upper = image + (long long)top * width, *lower = image + (long long)bottom * width;
        const float above = (1.0f - along) * (float)upper[left] + along * (float)upper[right];
        const float below = (1.0f - along) * (float)lower[left] + along * (float)lower[right];
        const float value = ((1.0f - across) * above + across * below) * scale;
        sees = sees && fabsf(value) < INFINITY;  // there may be gaps, where it is NaN
        shown[((long long)t * channels + c) * N + n] = sees ? value : 0.0f;
        if (t == 0) reference[c * N + n] = (float)colours[c * plane + p] * scale;
    }
    seen[t * N + n] = sees;
}

// The derivative of an image along an axis: a central difference inside, a one-sided one at the ends.
template <class T> DEVICE float slope(const T *at, int i, int size, int step) {
    if (size < 2) return 0.0f;
    const int before = i > 0 ? step : 0, after = i < size - 1 ? step : 0;
    return ((float)at[after] - (float)at[-before]) / (before && after ? 2.0f : 1.0f);
}

// How the reference changes along x and along y.
template <class T> DEVICE void take_slopes(const T *colours, int channels, float scale, Sample sample, float *slopes) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (n >= sample.pixels) return;
    const int x = sampled_x(sample, n), y = sampled_y(sample, n);
    const T *at = colours + ((long long)c * sample.height + y) * sample.width + x;
    slopes[(long long)c * sample.pixels + n] = scale * slope(at, x, sample.width, 1);
    slopes[(channels + (long long)c) * sample.pixels + n] = scale * slope(at, y, sample.height, sample.width);
}

// What remains of a penalty between a pixel and its neighbour to the left, above, above to the left and above to the right.
template <class T>
DEVICE void factors(
    const T *colours, int channels, float scale, const float *noise, float jump, float edge, float least, int height,
    int width, float *found
) {
    const long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x, pixels = (long long)height * width;
    if (p >= pixels) return;
    const int x = p % width, y = p / width;
    const float across = -1.0f / fmaxf(least, edge * noise[p]);
    for (int k = 0; k < 4; ++k) {
        const int dx = k == 1 ? 0 : k == 3 ? 1 : -1, dy = k == 0 ? 0 : -1;
        float factor = 1.0f;
        if (y + dy >= 0 && x + dx >= 0 && x + dx < width) {
            float sum = 0.0f;
            for (int c = 0; c < channels; ++c) {
                const T *at = colours + c * pixels + p;
                sum += fabsf((float)at[0] * scale - (float)at[(long long)dy * width + dx] * scale);
            }
            factor = jump + (1.0f - jump) * expf(sum / channels * across);
        }
        found[k * pixels + p] = factor;
    }
}

#define SAMPLES(name, type)                                                                                            \
    KERNEL void match_##name(                                                                                          \
        const type *colours, int channels, float scale, const float *w, const unsigned char *known,                    \
        const double *epipoles, int height, int width, int every, int columns, int pixels, float *reference,           \
        float *shown, unsigned char *seen                                                                              \
    ) {                                                                                                                \
        match(colours, channels, scale, w, known, epipoles, {height, width, every, columns, pixels}, reference, shown, \
              seen);                                                                                                   \
    }                                                                                                                  \
    KERNEL void slopes_##name(                                                                                         \
        const type *colours, int channels, float scale, int height, int width, int every, int columns, int pixels,     \
        float *slopes                                                                                                  \
    ) {                                                                                                                \
        take_slopes(colours, channels, scale, {height, width, every, columns, pixels}, slopes);                        \
    }                                                                                                                  \
    KERNEL void factors_##name(                                                                                        \
        const type *colours, int channels, float scale, const float *noise, float jump, float edge, float least,       \
        int height, int width, float *found                                                                            \
    ) {                                                                                                                \
        factors(colours, channels, scale, noise, jump, edge, least, height, width, found);                             \
    }
SAMPLES(uint8, unsigned char)
SAMPLES(uint16, unsigned short)
SAMPLES(float32, float)
