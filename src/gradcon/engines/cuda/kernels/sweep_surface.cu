// The kernels of the plane sweep that smooth a disparity map (`fit_planes` and `median` of the contract).

// The first of the offsets -radius, -radius + stride, ... that leads inside the frame from position x.
DEVICE int first_offset(int x, int radius, int stride) {
    return x >= radius ? -radius : -radius + (radius - x + stride - 1) / stride * stride;
}

DEVICE int last_offset(int x, int radius, int size) { return x + radius < size ? radius : size - 1 - x; }

// The factors of squares in a neighbour's weight 2^-(colour^2 c + distance^2 d + disparity^2 w).
struct Falloff { float colour, distance, disparity; };

// Sums over a row of the window are taken first, because all its pixels have the same vertical offset.
template <class T, int CHANNELS>
DEVICE void fit_plane(
    const Pixel<T, CHANNELS> *reference, const float *w, int radius, int stride, Falloff falloff, float ridge,
    float least_weight, int height, int width, float *fitted
) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const long long p = (long long)y * width + x;
    const Pixel<T, CHANNELS> colour = reference[p];
    const float middle = w[p], unit = 1.0f / radius;
    const int first = first_offset(x, radius, stride), last = last_offset(x, radius, width);
    const int bottom = last_offset(y, radius, height);
    float S = 0.0f, U = 0.0f, V = 0.0f, UU = 0.0f, UV = 0.0f, VV = 0.0f, Z = 0.0f, ZU = 0.0f, ZV = 0.0f;
    for (int dy = first_offset(y, radius, stride); dy <= bottom; dy += stride) {
        const float v = dy * unit, far = falloff.distance * dy * dy;
        const Pixel<T, CHANNELS> *colours = reference + p + (long long)dy * width;
        const float *values = w + p + (long long)dy * width;
        float s = 0.0f, su = 0.0f, suu = 0.0f, sz = 0.0f, szu = 0.0f;
#pragma unroll 4
        for (int dx = first; dx <= last; dx += stride) {
            const float d = distance(colours[dx], colour), z = values[dx] - middle, u = dx * unit;
            const float squares = falloff.colour * d * d + falloff.disparity * z * z + falloff.distance * dx * dx;
            const float g = exp2f(-(squares + far)), gu = g * u;
            s += g, su += gu, suu += gu * u, sz += g * z, szu += gu * z;
        }
        S += s, U += su, UU += suu, Z += sz, ZU += szu;
        V += v * s, UV += v * su, VV += v * v * s, ZV += v * sz;
    }
    if (S < least_weight) {
        fitted[p] = middle;
        return;
    }
    const float per = 1.0f / S;
    U *= per, V *= per, Z *= per;
    UU = UU * per - U * U + ridge, UV = UV * per - U * V, VV = VV * per - V * V + ridge;
    ZU = ZU * per - Z * U, ZV = ZV * per - Z * V;
    const float determinant = UU * VV - UV * UV;
    fitted[p] = middle + Z - ((ZU * VV - ZV * UV) * U + (ZV * UU - ZU * UV) * V) / determinant;
}

// The lowest value of the window up to which the weights add up to half of the whole.  `shared` has room for the value
// and the weight of each neighbour, for each thread.
template <class T, int CHANNELS>
DEVICE void weighted_median(
    const Pixel<T, CHANNELS> *reference, const float *w, int radius, float falloff, int height, int width, float *found,
    float *shared
) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    const long long p = (long long)y * width + x;
    const int step = blockDim.x, side = 2 * radius + 1;
    const int left = first_offset(x, radius, 1), right = last_offset(x, radius, width);
    const int top = first_offset(y, radius, 1), bottom = last_offset(y, radius, height);
    float *values = shared + threadIdx.x, *weights = values + side * side * step, whole = 0.0f;
    int n = 0;
    for (int dy = top; dy <= bottom; ++dy)
        for (int dx = left; dx <= right; ++dx, n += step) {
            const long long q = p + (long long)dy * width + dx;
            const float d = distance(reference[q], reference[p]), weight = exp2f(-falloff * d * d);
            values[n] = w[q];
            weights[n] = weight;
            whole += weight;
        }
    float lowest = INFINITY;
    for (int i = 0; i < n; i += step) {
        const float value = values[i];
        if (value >= lowest) continue;
        float sum = 0.0f;
        for (int j = 0; j < n; j += step) sum += values[j] <= value ? weights[j] : 0.0f;
        if (sum >= 0.5f * whole) lowest = value;
    }
    found[p] = lowest;
}

#define SURFACES(name, type, channels)                                                                                 \
    KERNEL void planes_##name##_##channels(                                                                            \
        const Pixel<type, channels> *reference, const float *w, int radius, int stride, float colour, float distance,  \
        float disparity, float ridge, float least_weight, int height, int width, float *fitted                         \
    ) {                                                                                                                \
        fit_plane(reference, w, radius, stride, {colour, distance, disparity}, ridge, least_weight, height, width,     \
                  fitted);                                                                                             \
    }                                                                                                                  \
    KERNEL void median_##name##_##channels(                                                                            \
        const Pixel<type, channels> *reference, const float *w, int radius, float falloff, int height, int width,      \
        float *found                                                                                                   \
    ) {                                                                                                                \
        SHARED(float, shared);                                                                                         \
        weighted_median(reference, w, radius, falloff, height, width, found, shared);                                  \
    }
FOR_EVERY_PIXEL(SURFACES)
