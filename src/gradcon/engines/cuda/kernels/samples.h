// What the kernels of the look at a scene share: a sample of the pixels of a small copy, and what a block does together.

struct Sample { int height, width, every, columns, pixels; };

DEVICE int sampled_x(Sample s, int n) { return n % s.columns * s.every + s.every / 2; }
DEVICE int sampled_y(Sample s, int n) { return n / s.columns * s.every + s.every / 2; }

#ifdef __CUDACC__
DEVICE unsigned bits_of(float value) { return __float_as_uint(value); }
DEVICE float value_of(unsigned bits) { return __uint_as_float(bits); }
#else
#include <cstring>
DEVICE unsigned bits_of(float value) { unsigned bits; memcpy(&bits, &value, 4); return bits; }
DEVICE float value_of(unsigned bits) { float value; memcpy(&value, &bits, 4); return value; }
#endif

// The memory that the threads of a block share for sums and selections.
struct Workspace { double sums[COMPARING]; unsigned counts[COMPARING], prefix, rank; };

// The sum over the block in one order, in every thread.
DEVICE double total(double value, Workspace *work) {
    work->sums[threadIdx.x] = value;
    __syncthreads();
    for (int half = COMPARING / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) work->sums[threadIdx.x] += work->sums[threadIdx.x + half];
        __syncthreads();
    }
    const double sum = work->sums[0];
    __syncthreads();
    return sum;
}

// The pixels of a sample that a target sees, and those of them that fit best: with differences up to the limit.
struct Fitting {
    const unsigned char *seen;
    float *difference;
    float limit;
    DEVICE bool keeps(int n) const { return seen[n] && difference[n] <= limit; }
};

// The seen difference that `rank` others are smaller than.  None is negative, so they have the order of their bits, which
// are found byte by byte.
DEVICE float ranked(const Fitting &all, int N, unsigned rank, Workspace *work) {
    if (threadIdx.x == 0) work->prefix = 0, work->rank = rank;
    for (int shift = 24; shift >= 0; shift -= 8) {
        work->counts[threadIdx.x] = 0;
        __syncthreads();
        const unsigned prefix = work->prefix;
        for (int n = threadIdx.x; n < N; n += COMPARING) {
            const unsigned bits = bits_of(all.difference[n]);
            if (all.seen[n] && (shift == 24 || bits >> (shift + 8) == prefix))
                atomicAdd(&work->counts[bits >> shift & 255], 1u);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned rest = work->rank, digit = 0;
            while (digit < 255 && rest >= work->counts[digit]) rest -= work->counts[digit++];
            work->prefix = prefix << 8 | digit, work->rank = rest;
        }
        __syncthreads();
    }
    const float value = value_of(work->prefix);
    __syncthreads();
    return value;
}

// The limit that keeps a share of the `count` pixels that are seen.
DEVICE float best(const Fitting &all, int N, double share, double count, Workspace *work) {
    return count > 0.0 ? ranked(all, N, (unsigned)(share * (count - 1.0)), work) : -1.0f;
}
