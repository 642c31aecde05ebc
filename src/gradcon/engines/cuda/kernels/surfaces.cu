// The kernels that look from one view's map into other views: what is in front there, and what the maps there say.

// Floats as integers in the same order; 0 stands for none.
DEVICE unsigned ordered(float value) {
    const unsigned bits = bits_of(value);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

DEVICE float from_ordered(unsigned order, float none) {
    return order == 0 ? none : value_of(order >> 31 ? order & 0x7fffffffu : ~order);
}

// Where a view sees the pixels of another one, and their disparities there (`methods/every_view/relations.py`).
struct Relation { float M[9], m[3], offset; int planar; };
struct Seen { float u, v, w; bool ahead; };

DEVICE Seen seen_by(const Relation &view, float x, float y, float w) {
    const float *M = view.M, *m = view.m;
    if (view.planar) return {x + m[0] * w, y + m[1] * w, w, true};
    const float p = M[0] * x + M[1] * y + M[2] + m[0] * w, q = M[3] * x + M[4] * y + M[5] + m[1] * w;
    const float z = M[6] * x + M[7] * y + M[8] + m[2] * w;
    return {p / z, q / z, (w + view.offset) / z - view.offset, z > 0.0f};
}

// The pixel of a view that lies nearest; -1 outside its frame.
DEVICE long long nearest_pixel(Seen at, int height, int width) {
    const bool inside = at.ahead && at.u > -0.5f && at.u < width - 0.5f && at.v > -0.5f && at.v < height - 0.5f;
    return inside ? (long long)rintf(at.v) * width + (long long)rintf(at.u) : -1;
}

// Bring a map into another view: at each pixel, the surface that is nearest there.
KERNEL void carry(const float *w, const Relation *view, int height, int width, unsigned *front) {
    const long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= (long long)height * width) return;
    const Seen at = seen_by(*view, p % width, p / width, w[p]);
    const long long place = nearest_pixel(at, height, width);
    if (place >= 0) atomicMax(front + place, ordered(at.w));
}

KERNEL void uncover(const unsigned *front, long long pixels, float *w) {
    const long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < pixels) w[p] = from_ordered(front[p], value_of(0x7fc00000u));  // NaN
}

// Another view, with its map.
struct Witness { Relation relation; int height, width; const float *w, *deviation; };

// How many views confirm a pixel, contradict it, and cannot see it (`methods/every_view/evidence.py`).
KERNEL void evidence(
    const float *x, const float *y, const float *w, const float *deviation, long long pixels, const Witness *witnesses,
    int count, float deviations, float most, float least, float *confirming, float *contradicting, float *hidden, float *mean
) {
    const long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pixels) return;
    float confirms = 0.0f, contradicts = 0.0f, hides = 0.0f, sum = w[p];
    for (int k = 0; k < count; ++k) {
        const Witness &view = witnesses[k];
        const Seen at = seen_by(view.relation, x[p], y[p], w[p]);
        const long long place = nearest_pixel(at, view.height, view.width);
        if (place < 0) continue;
        const float spread = view.deviation[place], ahead = view.w[place] - at.w;
        const float reach = fminf(deviations * sqrtf(deviation[p] * deviation[p] + spread * spread), most) + least;
        if (fabsf(ahead) <= reach) confirms += 1.0f, sum += w[p] + ahead;
        if (ahead < -reach) contradicts += 1.0f;
        if (ahead > reach) hides += 1.0f;
    }
    confirming[p] = confirms, contradicting[p] = contradicts, hidden[p] = hides, mean[p] = sum / (1.0f + confirms);
}

// The nearest and the farthest surface that land on each pixel of the views at some baselines.
KERNEL void fronts(const float *w, const double *baselines, int height, int width, unsigned *nearest, unsigned *farthest) {
    const long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x, pixels = (long long)height * width;
    const int view = blockIdx.y;
    if (p >= pixels) return;
    const double u = rint(p % width + baselines[2 * view] * w[p]), v = rint(p / width + baselines[2 * view + 1] * w[p]);
    if (!(u >= 0 && u < width && v >= 0 && v < height)) return;
    const long long place = view * pixels + (long long)v * width + (long long)u;
    atomicMax(nearest + place, ordered(w[p]));
    atomicMax(farthest + place, ordered(-w[p]));
}

// What an image shows between its pixels; NaN outside its frame.
DEVICE float shown_at(const float *image, double u, double v, int height, int width) {
    if (!(u >= 0 && u <= width - 1 && v >= 0 && v <= height - 1)) return value_of(0x7fc00000u);
    const int left = width > 1 ? clamp((int)u, width - 1) : 0, right = clamp(left + 1, width);
    const int top = height > 1 ? clamp((int)v, height - 1) : 0, bottom = clamp(top + 1, height);
    const float along = (float)(u - left), across = (float)(v - top);
    const float *upper = image + (long long)top * width, *lower = image + (long long)bottom * width;
    const float above = (1.0f - along) * upper[left] + along * upper[right];
    const float below = (1.0f - along) * lower[left] + along * lower[right];
    return (1.0f - across) * above + across * below;
}

// The sums of the differences behind nearer and behind farther surfaces, and how many there are, by block.
KERNEL void behind(
    const float *w, const float *reference, const float *targets, const double *baselines, const unsigned *nearest,
    const unsigned *farthest, int views, int height, int width, int every, double step, double *found
) {
    SHARED(Workspace, work);
    const int columns = (width + every - 1) / every, rows = (height + every - 1) / every;
    const long long pixels = (long long)height * width, all = (long long)columns * rows * views;
    double sums[4] = {};
    for (long long i = (long long)blockIdx.x * COMPARING + threadIdx.x; i < all; i += (long long)gridDim.x * COMPARING) {
        const int x = i % columns * every, y = i / columns % rows * every, view = i / columns / rows;
        const double bx = baselines[2 * view], by = baselines[2 * view + 1];
        const float at = w[(long long)y * width + x];
        const double u = x + bx * at, v = y + by * at, column = rint(u), row = rint(v);
        if (!(column >= 0 && column < width && row >= 0 && row < height)) continue;
        const long long place = view * pixels + (long long)row * width + (long long)column;
        const double ahead = step / sqrt(bx * bx + by * by);
        const float difference =
            fabsf(shown_at(targets + view * pixels, u, v, height, width) - reference[(long long)y * width + x]);
        if (!(difference < INFINITY)) continue;
        if (from_ordered(nearest[place], -INFINITY) > at + ahead) sums[0] += difference, sums[1] += 1.0;
        if (from_ordered(farthest[place], -INFINITY) > -at + ahead) sums[2] += difference, sums[3] += 1.0;
    }
    for (int k = 0; k < 4; ++k) sums[k] = total(sums[k], work);
    if (threadIdx.x == 0)
        for (int k = 0; k < 4; ++k) found[4 * blockIdx.x + k] = sums[k];
}

// The least and the most of a map in a square window around each pixel.
KERNEL void window_ends(const float *w, int radius, int height, int width, float *least, float *most) {
    const long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= (long long)height * width) return;
    const int x = p % width, y = p / width;
    float low = INFINITY, high = -INFINITY;
    for (int i = y > radius ? y - radius : 0; i <= y + radius && i < height; ++i)
        for (int j = x > radius ? x - radius : 0; j <= x + radius && j < width; ++j) {
            const float value = w[(long long)i * width + j];
            low = fminf(low, value), high = fmaxf(high, value);
        }
    least[p] = low, most[p] = high;
}

// Look along every row and column in both directions: what is the farthest of the last known values before each hole?
// A thread goes along one line.  The values are negated, so that 0 stands for none.
KERNEL void look_into_holes(const float *w, int height, int width, unsigned *farthest) {
    const int line = blockIdx.x * blockDim.x + threadIdx.x, direction = blockIdx.y;
    const bool along_rows = direction < 2;
    const int length = along_rows ? width : height;
    if (line >= (along_rows ? height : width)) return;
    const long long step = along_rows ? 1 : width, first = along_rows ? (long long)line * width : line;
    unsigned before = 0;
    for (int i = 0; i < length; ++i) {
        const long long p = first + step * (direction % 2 ? length - 1 - i : i);
        if (w[p] == w[p]) before = ordered(-w[p]);
        else if (before) atomicMax(farthest + p, before);
    }
}

KERNEL void fill_holes(const float *w, const unsigned *farthest, long long pixels, float *filled) {
    const long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < pixels) filled[p] = w[p] == w[p] ? w[p] : -from_ordered(farthest[p], 0.0f);
}
