// What the CUDA kernels know about views, and where a pixel of the reference is seen: the functions of geometry.py
// under the same names, and the warp.
//
// This file and model.h are plain C++.  A compiler for the host takes them as they are, so that the tests can check the
// arithmetic without a GPU.

#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
#define KERNEL extern "C" __global__
#define LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define SHARED(type, name) extern __shared__ __align__(16) unsigned char shared_memory[]; type *name = (type *)shared_memory
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)  // NVRTC has no <cmath>
#endif
#else
#include <cmath>
#define DEVICE inline
#endif

enum Kind { ROW, COLUMN, PLANAR, GENERAL };  // by what moves a pixel: B_x w, B_y w, B w, (M, m)

// One target view.
struct View {
    int kind, target;
    int left, right, top, bottom;  // the pixels of the target that count, both ends included
    float bx, by;
    double M[9], m[3];
};

// How the trust in a view is ordered.  Views are sorted by distance.  Views before `reach` stand at most hardly farther
// out, and the table of shares says, from `first_share` on, how far each of those behind this one raises its N^2.  Views
// are weighed in groups; `group_end` is where the next group begins.
struct Trust {
    int reach, group_end, first_share;
    float belongs[DIRECTIONS];  // to each direction, from 0 to 1
};

// One scale: its filter, its constants, and its fields.  A field is one plane of `stride` pixels for each view, which
// begins at image row `first_row`.
struct Scale {
    const float *taps;      // of the smoothing and of the deriving filter, each padded with zeros to `steps`
    float *dI, *g, *G;      // of every view
    float *blurred_g2;      // G_sigma * g_{t,0}^2 of every view, followed by G_sigma * (residual disparity)^2
    float *reference;       // the reference smoothed, and its derivatives in x and y; of the whole image
    long long stride;
    int first_row, radius, steps, has_scale_term;
    float noise;            // acquisition noise
    int padding;
};

struct Image { int height, width, pitch; };

struct Coupling { float cx, cy; };

struct System { float diagonal, rhs, precision; };

DEVICE float inverse_root(float x) {
#ifdef __CUDACC__
    return rsqrtf(x);
#else
    return 1.0f / sqrtf(x);
#endif
}

DEVICE int clamp(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

// Whether i + shift is inside first .. last.  Adding them up would round a small shift away.
DEVICE bool inside(int i, float shift, int first, int last) {
    return shift >= (float)(first - i) && shift <= (float)(last - i);
}


// ---- geometry

struct Position { double u, v, z; };

DEVICE Position project(const double *M, const double *m, double x, double y, double w) {
    double p = M[0] * x + M[1] * y + M[2] + m[0] * w;
    double q = M[3] * x + M[4] * y + M[5] + m[1] * w;
    double z = M[6] * x + M[7] * y + M[8] + m[2] * w;
    return {p / z, q / z, z};
}

DEVICE bool sees(const View &view, Position at) {
    return at.z > 0 && at.u >= view.left && at.u <= view.right && at.v >= view.top && at.v <= view.bottom;
}

// Whether a view of a planar array sees the pixel (x + dx, y + dy).
DEVICE bool sees_at(const View &view, int x, float dx, int y, float dy) {
    return inside(x, dx, view.left, view.right) && inside(y, dy, view.top, view.bottom);
}

// c_t at reference pixel (x, y); 0 where the view does not see it.  Double precision takes many registers, so it is
// compiled in only if some view needs it.
template <bool ANY_GENERAL> DEVICE Coupling coupling(const View &view, int x, int y, float w) {
    if (!ANY_GENERAL || view.kind != GENERAL) {
        bool seen = sees_at(view, x, view.bx * w, y, view.by * w);
        return {seen ? view.bx : 0.0f, seen ? view.by : 0.0f};
    }
    Position at = project(view.M, view.m, x, y, w);
    if (!sees(view, at)) return {0.0f, 0.0f};
    const double *M = view.M, *m = view.m;
    double a = M[0] - at.u * M[6], b = M[1] - at.u * M[7], c = M[3] - at.v * M[6], d = M[4] - at.v * M[7];
    double e = m[0] - at.u * m[2], f = m[1] - at.v * m[2], determinant = a * d - b * c;
    return {(float)((d * e - b * f) / determinant), (float)((a * f - c * e) / determinant)};
}

// ---- the warp

struct Cubic { float a[4]; };

DEVICE Cubic cubic(float f) {
    float h = 0.5f * f, e = 1.0f - f;
    return {{-h * e * e, 1.0f - h * f * (5.0f - 3.0f * f), h * (1.0f + f * (4.0f - 3.0f * f)), -h * f * e}};
}

// Four taps around column j + f of one row; borders repeat.
DEVICE float sample_along(const float *line, int j, Cubic taps, int width) {
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) sum += taps.a[k] * line[clamp(j + k - 1, width)];
    return sum;
}

DEVICE float sample(const float *target, int i, float fv, int j, float fu, Image image) {
    Cubic along = cubic(fu), across = cubic(fv);
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        const float *line = target + (long long)clamp(i + k - 1, image.height) * image.pitch;
        sum += across.a[k] * sample_along(line, j, along, image.width);
    }
    return sum;
}

// The view as the reference would see it at (x, y); the reference's own value where the view does not see it.
DEVICE float warped_pixel(const View &view, const float *target, float reference, float w, int x, int y, Image image) {
    if (view.kind == GENERAL) {
        Position at = project(view.M, view.m, x, y, w);
        if (!sees(view, at)) return reference;
        double i = floor(at.v), j = floor(at.u);
        return sample(target, (int)i, (float)(at.v - i), (int)j, (float)(at.u - j), image);
    }
    float dx = view.bx * w, dy = view.by * w;
    if (!sees_at(view, x, dx, y, dy)) return reference;
    float i = floorf(dy), j = floorf(dx);
    if (view.kind == ROW)
        return sample_along(target + (long long)y * image.pitch, x + (int)j, cubic(dx - j), image.width);
    if (view.kind == COLUMN) {
        Cubic taps = cubic(dy - i);
        float sum = 0.0f;
        for (int k = 0; k < 4; ++k)
            sum += taps.a[k] * target[(long long)clamp(y + (int)i + k - 1, image.height) * image.pitch + x];
        return sum;
    }
    return sample(target, y + (int)i, dy - i, x + (int)j, dx - j, image);
}
