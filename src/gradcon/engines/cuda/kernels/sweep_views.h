// What the kernels of the plane sweep know about views: their pixels, and where a view sees the reference at a label.
//
// The colours of a pixel lie side by side, three of them in the room of four, so that one load brings them all.

template <class T, int CHANNELS> struct alignas((CHANNELS == 3 ? 4 : 1) * sizeof(T)) Pixel {
    T c[CHANNELS == 3 ? 4 : 1];
};

template <class T> struct Holes { static constexpr bool possible = false; };
template <> struct Holes<float> { static constexpr bool possible = true; };  // NaN

template <int CHANNELS> struct Colour { float c[CHANNELS]; };

template <class T, int CHANNELS> DEVICE void add(Colour<CHANNELS> &sum, float weight, Pixel<T, CHANNELS> pixel) {
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) sum.c[c] += weight * (float)pixel.c[c];
}

template <class T, int CHANNELS> DEVICE float distance(Pixel<T, CHANNELS> a, Pixel<T, CHANNELS> b) {
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) sum += fabsf((float)a.c[c] - (float)b.c[c]);
    return sum;
}

// How one view sees the reference at one label.  It sees the pixels from (first_x, first_y) to (last_x, last_y), each
// moved by (dx - x shrink, dy - y shrink).  Where `shrink` is 0, all pixels have the same taps.
enum Way { WHOLE, ALONG_ROWS, ALONG_COLUMNS, BOTH, EACH };

struct alignas(16) Sight {
    int first_x, last_x, first_y, last_y;
    Cubic along, across;
    int i, j, way;
    float weight;
    float dx, dy, shrink, padding;
};

struct Range { int first, last; };

// The pixels 0 <= x < n that are seen at 0 <= (x + shift) / z <= n - 1.
DEVICE Range seen(double shift, double z, int n) {
    double first = ceil(-shift), last = floor((n - 1) * z - shift);
    if ((last + 1 + shift) / z <= n - 1) last += 1;  // by rounding
    if ((last + shift) / z > n - 1) last -= 1;
    first = first < 0 ? 0 : first > n ? n : first;
    last = last < -1 ? -1 : last > n - 1 ? n - 1 : last;
    return {(int)first, (int)last};
}

// Split a shift into whole pixels and a fraction; return whether there is a fraction worth interpolating for.
DEVICE bool split(double shift, int &whole, float &fraction) {
    double below = floor(shift);
    whole = (int)below;
    fraction = (float)(shift - below);
    if (fraction > 1.0f - 1e-6f) {
        whole += 1;
        fraction = 0.0f;
    }
    if (fraction < 1e-6f) fraction = 0.0f;
    return fraction > 0.0f;
}

// Label k stands for the disparity k * step.  If views may have holes, no tap is skipped: a hole spreads even with the
// weight 0.
DEVICE Sight sight(const double *epipole, float weight, int k, double step, bool holes, int height, int width) {
    Sight s;
    double w = k * step, x = epipole[0] * w, y = epipole[1] * w, z = 1.0 + epipole[2] * w;
    s.weight = weight;
    if (!(z > 0)) {
        s.first_x = s.first_y = 1;
        s.last_x = s.last_y = 0;
        return s;
    }
    Range columns = seen(x, z, width), rows = seen(y, z, height);
    s.first_x = columns.first, s.last_x = columns.last, s.first_y = rows.first, s.last_y = rows.last;
    s.dx = (float)(x / z), s.dy = (float)(y / z), s.shrink = (float)(epipole[2] * w / z);
    float fx = 0.0f, fy = 0.0f;
    bool along = split(columns.first <= columns.last ? x : 0.0, s.j, fx);
    bool across = split(rows.first <= rows.last ? y : 0.0, s.i, fy);
    s.along = cubic(fx), s.across = cubic(fy);
    s.way = holes || (along && across) ? BOTH : along ? ALONG_ROWS : across ? ALONG_COLUMNS : WHOLE;
    if (s.shrink != 0.0f) s.way = EACH;
    return s;
}

DEVICE bool sees(const Sight &s, int x, int y) {
    return x >= s.first_x && x <= s.last_x && y >= s.first_y && y <= s.last_y;
}

template <class T, int CHANNELS>
DEVICE Colour<CHANNELS> interpolate(
    const Pixel<T, CHANNELS> *view, int i, int j, const Cubic &along, const Cubic &across, int height, int width
) {
    Colour<CHANNELS> sum = {};
#pragma unroll
    for (int a = 0; a < 4; ++a) {
        const Pixel<T, CHANNELS> *line = view + (long long)clamp(i + a - 1, height) * width;
        Colour<CHANNELS> row = {};
#pragma unroll
        for (int b = 0; b < 4; ++b) add(row, along.a[b], line[clamp(j + b - 1, width)]);
#pragma unroll
        for (int c = 0; c < CHANNELS; ++c) sum.c[c] += across.a[a] * row.c[c];
    }
    return sum;
}

// The view's colour where it sees the reference pixel (x, y).
template <class T, int CHANNELS>
DEVICE Colour<CHANNELS> look_at(const Pixel<T, CHANNELS> *view, const Sight &s, int x, int y, int height, int width) {
    if (s.way == EACH) {
        float dx = s.dx - x * s.shrink, dy = s.dy - y * s.shrink, j = floorf(dx), i = floorf(dy);
        return interpolate(view, y + (int)i, x + (int)j, cubic(dx - j), cubic(dy - i), height, width);
    }
    const int i = y + s.i, j = x + s.j;
    if (s.way == BOTH) return interpolate(view, i, j, s.along, s.across, height, width);
    Colour<CHANNELS> sum = {};
    if (s.way == ALONG_ROWS) {
        const Pixel<T, CHANNELS> *line = view + (long long)clamp(i, height) * width;
#pragma unroll
        for (int b = 0; b < 4; ++b) add(sum, s.along.a[b], line[clamp(j + b - 1, width)]);
    } else if (s.way == ALONG_COLUMNS) {
        const Pixel<T, CHANNELS> *column = view + clamp(j, width);
#pragma unroll
        for (int a = 0; a < 4; ++a) add(sum, s.across.a[a], column[(long long)clamp(i + a - 1, height) * width]);
    } else {
        add(sum, 1.0f, view[(long long)clamp(i, height) * width + clamp(j, width)]);
    }
    return sum;
}

// |I_t - I_r| summed over the channels; NaN where the view sees nothing.
template <class T, int CHANNELS>
DEVICE float difference(
    const Pixel<T, CHANNELS> *view, const Sight &s, Pixel<T, CHANNELS> reference, int x, int y, int height, int width
) {
    Colour<CHANNELS> colour = look_at(view, s, x, y, height, width);
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) sum += fabsf(colour.c[c] - (float)reference.c[c]);
    return sum;
}

// Instantiates a kernel for every kind of pixel.
#define FOR_EVERY_PIXEL(KERNEL_OF)                                                                                     \
    KERNEL_OF(uint8, unsigned char, 1)                                                                                 \
    KERNEL_OF(uint8, unsigned char, 3)                                                                                 \
    KERNEL_OF(uint16, unsigned short, 1)                                                                               \
    KERNEL_OF(uint16, unsigned short, 3)                                                                               \
    KERNEL_OF(float32, float, 1)                                                                                       \
    KERNEL_OF(float32, float, 3)
