// The linear solver's arithmetic on one level: what happens to the 2 x 2 pixels that the coarser level joins.
//
// A Jacobi step from zero is x = DAMPING D^-1 b.  D x then needs no diagonal, so only its inverse is kept.

#define DAMPING 0.9f

// A level: pixel (y, x), counted from 1, lies at offset + y * stride + x.  Around the pixels are margins, one wide on
// the left and above, at least two on the right and below, where links and values stay zero.  Offsets are odd and
// strides even, so that the pixels 1 and 2, 3 and 4, ... of a row, which a coarser level joins, can be loaded together.
struct Level { int height, width, offset, stride; };

// Flat arrays over all levels, one after the other.  STEP is the Jacobi step from zero.
enum { DATA_TERM, RIGHT, BELOW, INVERSE, RHS, STEP, Z, R_0, R_1, P_0, P_1, PRODUCT, SOLUTION, ARRAYS };

// The threads that work on a phase: all of the grid, or those of one block.
struct Crew { int first, step; };

// ---- the four pixels that a coarser level joins
//
//              n0  n1            a, b, c, d: the four.  Past the image's last row or column some of them are margin, where
//          w1  a   b   e1        everything is zero, so that only a store has to check whether a pixel is inside.
//          w2  c   d   e2
//              s0  s1

struct Pair { float x, y; };

DEVICE Pair pair(const float *at) {
#ifdef __CUDACC__
    float2 both = *(const float2 *)at;
    return {both.x, both.y};
#else
    return {at[0], at[1]};
#endif
}

struct Cell {
    int a, c;          // where the pixels a and c are
    int coarse;        // where the coarser level's pixel is
    bool over, down;   // whether b, and whether c, is inside the image
};

DEVICE Cell cell_of(const Level &fine, const Level &coarse, int i) {
    int y = i / coarse.width, x = i - y * coarse.width, a = fine.offset + (2 * y + 1) * fine.stride + 2 * x + 1;
    return {a, a + fine.stride, coarse.offset + (y + 1) * coarse.stride + x + 1,
            2 * x + 2 <= fine.width, 2 * y + 2 <= fine.height};
}

struct Patch { Pair n, ab, cd, s; float w1, e1, w2, e2; };

// A field around a cell.
DEVICE Patch patch(const Level &level, const Cell &cell, const float *field) {
    const float *a = field + cell.a, *c = field + cell.c;
    return {pair(a - level.stride), pair(a), pair(c), pair(c + level.stride), a[-1], a[2], c[-1], c[2]};
}

template <class Function> DEVICE Patch combine(const Patch &u, const Patch &v, Function f) {
    auto both = [=](Pair p, Pair q) { return Pair{f(p.x, q.x), f(p.y, q.y)}; };
    return {both(u.n, v.n), both(u.ab, v.ab), both(u.cd, v.cd), both(u.s, v.s),
            f(u.w1, v.w1), f(u.e1, v.e1), f(u.w2, v.w2), f(u.e2, v.e2)};
}

struct Four { float a, b, c, d; };

struct Links { Pair right1, right2, below0, below1, below2; float left1, left2; };

DEVICE Links links(const Level &level, const Cell &cell, const float *right, const float *below) {
    return {pair(right + cell.a), pair(right + cell.c), pair(below + cell.a - level.stride), pair(below + cell.a),
            pair(below + cell.c), right[cell.a - 1], right[cell.c - 1]};
}

// Links times the neighbours' values, for each of the four pixels.
DEVICE Four pull(const Links &l, const Patch &v) {
    return {l.left1 * v.w1 + l.right1.x * v.ab.y + (l.below0.x * v.n.x + l.below1.x * v.cd.x),
            l.right1.x * v.ab.x + l.right1.y * v.e1 + (l.below0.y * v.n.y + l.below1.y * v.cd.y),
            l.left2 * v.w2 + l.right2.x * v.cd.y + (l.below1.x * v.ab.x + l.below2.x * v.s.x),
            l.right2.x * v.cd.x + l.right2.y * v.e2 + (l.below1.y * v.ab.y + l.below2.y * v.s.y)};
}

// L v of the four pixels, by differences.  Links may be a million times as large as the data term; in a sum with them,
// it would be lost to rounding, and with it everything that is known about the disparity's mean.
DEVICE Four smoothness_of(const Links &l, const Patch &v) {
    float a = v.ab.x, b = v.ab.y, c = v.cd.x, d = v.cd.y;
    float ab = l.right1.x * (a - b), cd = l.right2.x * (c - d), ac = l.below1.x * (a - c), bd = l.below1.y * (b - d);
    return {l.left1 * (a - v.w1) + l.below0.x * (a - v.n.x) + (ab + ac),
            l.right1.y * (b - v.e1) + l.below0.y * (b - v.n.y) + (bd - ab),
            l.left2 * (c - v.w2) + l.below2.x * (c - v.s.x) + (cd - ac),
            l.right2.y * (d - v.e2) + l.below2.y * (d - v.s.y) - (cd + bd)};
}

DEVICE void store(float *field, const Cell &cell, float a, float b, float c, float d) {
    field[cell.a] = a;
    if (cell.over) field[cell.a + 1] = b;
    if (cell.down) field[cell.c] = c;
    if (cell.over && cell.down) field[cell.c + 1] = d;
}

// ---- setting up

// Data term, links alpha L and right-hand side rhs - alpha L w of the finest level, and its inverse diagonal; the
// solution and the search direction begin at zero.
DEVICE void assemble(
    Crew crew, const float *w, const float *diagonal, const float *rhs, float alpha, int reweight, int isotropic,
    Image size, const Level &level, float *arrays, int n
) {
    for (int i = crew.first; i < level.height * level.width; i += crew.step) {
        int y = i / level.width, x = i - y * level.width, at = level.offset + (y + 1) * level.stride + x + 1;
        long long pixel = (long long)y * size.pitch + x;
        const Phi here = phi(w, x, y, reweight, isotropic, size);
        float east = alpha * link_to(w, x + 1, y, reweight, isotropic, size, here.x, &Phi::x);
        float west = alpha * link_to(w, x - 1, y, reweight, isotropic, size, here.x, &Phi::x);
        float south = alpha * link_to(w, x, y + 1, reweight, isotropic, size, here.y, &Phi::y);
        float north = alpha * link_to(w, x, y - 1, reweight, isotropic, size, here.y, &Phi::y);
        float middle = w[pixel], pulled = 0.0f;
        if (x + 1 < size.width) pulled += east * (middle - w[pixel + 1]);
        if (x > 0) pulled += west * (middle - w[pixel - 1]);
        if (y + 1 < size.height) pulled += south * (middle - w[pixel + size.pitch]);
        if (y > 0) pulled += north * (middle - w[pixel - size.pitch]);
        float total = diagonal[pixel] + ((east + west) + (south + north));
        arrays[DATA_TERM * n + at] = diagonal[pixel];
        arrays[RIGHT * n + at] = east;
        arrays[BELOW * n + at] = south;
        arrays[INVERSE * n + at] = total > 0.0f ? 1.0f / total : 0.0f;
        arrays[R_0 * n + at] = rhs[pixel] - pulled;
        arrays[P_0 * n + at] = arrays[PRODUCT * n + at] = arrays[SOLUTION * n + at] = 0.0f;
    }
}

// Data term and links of the coarser level.
DEVICE void coarsen(Crew crew, const Level &fine, const Level &coarse, float *data, float *right, float *below) {
    for (int i = crew.first; i < coarse.height * coarse.width; i += crew.step) {
        Cell cell = cell_of(fine, coarse, i);
        Pair d1 = pair(data + cell.a), d2 = pair(data + cell.c), b2 = pair(below + cell.c);
        data[cell.coarse] = (d1.x + d1.y) + (d2.x + d2.y);
        right[cell.coarse] = 0.5f * (right[cell.a + 1] + right[cell.c + 1]);
        below[cell.coarse] = 0.5f * (b2.x + b2.y);
    }
}

DEVICE void invert(Crew crew, const Level &level, const float *data, const float *right, const float *below, float *inverse) {
    for (int i = crew.first; i < level.height * level.width; i += crew.step) {
        int y = i / level.width, x = i - y * level.width, at = level.offset + (y + 1) * level.stride + x + 1;
        float total = data[at] + ((right[at] + right[at - 1]) + (below[at] + below[at - level.stride]));
        inverse[at] = total > 0.0f ? 1.0f / total : 0.0f;
    }
}

// ---- the V-cycle

// What a Jacobi step from zero leaves of b, summed over the four pixels ...
DEVICE float left_over(const Four &pulled, Pair b1, Pair b2) {
    return (1.0f - DAMPING) * ((b1.x + b1.y) + (b2.x + b2.y)) + ((pulled.a + pulled.b) + (pulled.c + pulled.d));
}

// ... becomes the coarser level's b.
DEVICE void leave(const Cell &cell, float left, const float *inverse, float *b, float *step) {
    b[cell.coarse] = left;
    step[cell.coarse] = DAMPING * inverse[cell.coarse] * left;
}

DEVICE void descend(
    Crew crew, const Level &fine, const Level &coarse, const float *inverse, const float *right, const float *below,
    float *b, float *step
) {
    for (int i = crew.first; i < coarse.height * coarse.width; i += crew.step) {
        Cell cell = cell_of(fine, coarse, i);
        Four pulled = pull(links(fine, cell, right, below), patch(fine, cell, step));
        leave(cell, left_over(pulled, pair(b + cell.a), pair(b + cell.c)), inverse, b, step);
    }
}

// z of the four pixels: the Jacobi step from zero and the coarse correction, then one more Jacobi step.  `z` is where
// the coarser level's is, in rows of `stride`.
DEVICE Four risen(
    const float *z, int stride, Patch step, const Links &l, Pair inverse1, Pair inverse2, Pair b1, Pair b2
) {
    float here = z[0], north = z[-stride], south = z[stride], west = z[-1], east = z[1];
    step.ab.x += here, step.ab.y += here, step.cd.x += here, step.cd.y += here;
    step.n.x += north, step.n.y += north, step.s.x += south, step.s.y += south;
    step.w1 += west, step.w2 += west, step.e1 += east, step.e2 += east;
    Four pulled = pull(l, step);
    const float keep = 1.0f - DAMPING;
    return {keep * step.ab.x + DAMPING * inverse1.x * (b1.x + pulled.a),
            keep * step.ab.y + DAMPING * inverse1.y * (b1.y + pulled.b),
            keep * step.cd.x + DAMPING * inverse2.x * (b2.x + pulled.c),
            keep * step.cd.y + DAMPING * inverse2.y * (b2.y + pulled.d)};
}

DEVICE void ascend(
    Crew crew, const Level &fine, const Level &coarse, const float *inverse, const float *right, const float *below,
    const float *b, const float *step, const float *coarse_z, float *z
) {
    for (int i = crew.first; i < coarse.height * coarse.width; i += crew.step) {
        Cell cell = cell_of(fine, coarse, i);
        Four up = risen(coarse_z + cell.coarse, coarse.stride, patch(fine, cell, step), links(fine, cell, right, below),
                        pair(inverse + cell.a), pair(inverse + cell.c), pair(b + cell.a), pair(b + cell.c));
        store(z, cell, up.a, up.b, up.c, up.d);
    }
}
