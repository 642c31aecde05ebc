// The kernels that fit the brightness and the place of each target to the reference, at a sample of pixels
// (`methods/look/gains.py` and `agreement.py`).  One block does one target.

// What remains of the difference between a target and the reference in one channel, once its brightness is undone.
struct Equalised {
    const float *reference, *target;
    int N;
    DEVICE float off(long long c, int n, double gain, double offset) const {
        const long long i = c * N + n;
        return (target[i] - (float)offset) / (float)gain - reference[i];
    }
};

// The results of a target: gain and offset by channel; the mean difference that remains at the pixels that fit best; the
// number of pixels that it sees; the largest deviation of a channel over them.
KERNEL void fit_gains(
    const float *reference, const float *targets, const unsigned char *seen, int channels, int N, int fits,
    double share, double flattest, double largest, float *differences, double *found
) {
    SHARED(Workspace, work);
    const long long t = blockIdx.x;
    const Equalised both = {reference, targets + t * channels * N, N};
    Fitting pixels = {seen + t * N, differences + t * N, INFINITY};
    double gain[MOST_CHANNELS], offset[MOST_CHANNELS], count = 0.0, contrast = 0.0;
    for (int n = threadIdx.x; n < N; n += COMPARING) pixels.difference[n] = 0.0f;
    for (int fit = 0; fit < fits; ++fit) {
        double kept = 0.0;
        for (int n = threadIdx.x; n < N; n += COMPARING) kept += pixels.keeps(n);
        kept = total(kept, work);
        if (fit == 0) count = kept;
        const double per = 1.0 / (kept > 1.0 ? kept : 1.0);
        for (int c = 0; c < channels; ++c) {
            const float *r = reference + (long long)c * N, *s = both.target + (long long)c * N;
            double r1 = 0.0, s1 = 0.0, r2 = 0.0, s2 = 0.0;
            for (int n = threadIdx.x; n < N; n += COMPARING)
                if (pixels.keeps(n)) r1 += r[n], s1 += s[n];
            r1 = total(r1, work) * per, s1 = total(s1, work) * per;
            for (int n = threadIdx.x; n < N; n += COMPARING)
                if (pixels.keeps(n)) r2 += (r[n] - r1) * (r[n] - r1), s2 += (s[n] - s1) * (s[n] - s1);
            r2 = sqrt(total(r2, work) * per), s2 = sqrt(total(s2, work) * per);
            gain[c] = r2 > flattest && s2 > flattest ? fmin(fmax(s2 / r2, 1.0 / largest), largest) : 1.0;
            offset[c] = s1 - gain[c] * r1;
            if (fit == 0) contrast = fmax(contrast, s2);
        }
        for (int n = threadIdx.x; n < N; n += COMPARING) {
            float sum = 0.0f;
            for (int c = 0; c < channels; ++c) sum += fabsf(both.off(c, n, gain[c], offset[c]));
            pixels.difference[n] = sum / channels;
        }
        __syncthreads();
        pixels.limit = best(pixels, N, share, count, work);
    }
    double kept = 0.0, rest = 0.0;
    for (int n = threadIdx.x; n < N; n += COMPARING)
        if (pixels.keeps(n)) kept += 1.0, rest += pixels.difference[n];
    kept = total(kept, work), rest = total(rest, work);
    if (threadIdx.x != 0) return;
    double *result = found + t * (2 * channels + 3);
    for (int c = 0; c < channels; ++c) result[c] = gain[c], result[channels + c] = offset[c];
    result += 2 * channels;
    result[0] = rest / (kept > 1.0 ? kept : 1.0), result[1] = count, result[2] = contrast;
}

// How a shift along x and y, a turn and a zoom around the middle change one channel of the reference at a pixel.
struct Moves { double a[4]; };

DEVICE Moves moves(const float *slopes, int channels, int c, Sample sample, double length, int n) {
    const double x = sampled_x(sample, n) - 0.5 * (sample.width - 1), y = sampled_y(sample, n) - 0.5 * (sample.height - 1);
    const double across = slopes[(long long)c * sample.pixels + n];
    const double down = slopes[(channels + (long long)c) * sample.pixels + n];
    return {{across, down, (x * down - y * across) / length, (x * across + y * down) / length}};
}

// Solve A x = b for a positive definite A of 4 x 4, of which the upper triangle is given, row by row.
DEVICE void solve_four(const double *triangle, const double *b, double *x) {
    double A[4][4];
    for (int i = 0, k = 0; i < 4; ++i)
        for (int j = i; j < 4; ++j, ++k) A[i][j] = A[j][i] = triangle[k];
    for (int i = 0; i < 4; ++i) x[i] = b[i];
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j) {
            const double factor = A[j][i] / A[i][i];
            for (int k = i; k < 4; ++k) A[j][k] -= factor * A[i][k];
            x[j] -= factor * x[i];
        }
    for (int i = 3; i >= 0; --i) {
        for (int j = i + 1; j < 4; ++j) x[i] -= A[i][j] * x[j];
        x[i] /= A[i][i];
    }
}

// The results of a target: the four moves that make it agree with the reference, by least squares; the difference
// without and with them, summed over the pixels that fit best; the number of pixels that it sees.
KERNEL void fit_motion(
    const float *reference, const float *targets, const unsigned char *seen, const float *slopes, const double *gains,
    const double *offsets, int channels, int height, int width, int every, int columns, int N, int fits, double share,
    double ridge, double length, float *differences, double *found
) {
    SHARED(Workspace, work);
    const Sample sample = {height, width, every, columns, N};
    const long long t = blockIdx.x;
    const Equalised both = {reference, targets + t * channels * N, N};
    const double *gain = gains + t * channels, *offset = offsets + t * channels;
    Fitting pixels = {seen + t * N, differences + t * N, INFINITY};
    double motion[4] = {}, count = 0.0;
    for (int n = threadIdx.x; n < N; n += COMPARING) {
        pixels.difference[n] = 0.0f;
        count += pixels.seen[n];
    }
    count = total(count, work);
    for (int fit = 0; fit < fits; ++fit) {
        double normal[10] = {}, right[4] = {};
        for (int n = threadIdx.x; n < N; n += COMPARING) {
            if (!pixels.keeps(n)) continue;
            for (int c = 0; c < channels; ++c) {
                const Moves by = moves(slopes, channels, c, sample, length, n);
                const double off = both.off(c, n, gain[c], offset[c]);
                for (int p = 0, k = 0; p < 4; ++p) {
                    right[p] -= by.a[p] * off;
                    for (int q = p; q < 4; ++q, ++k) normal[k] += by.a[p] * by.a[q];
                }
            }
        }
        for (int k = 0; k < 10; ++k) normal[k] = total(normal[k], work);
        for (int p = 0, k = 0; p < 4; k += 4 - p, ++p) {
            right[p] = total(right[p], work);
            normal[k] += ridge;
        }
        solve_four(normal, right, motion);
        for (int n = threadIdx.x; n < N; n += COMPARING) {
            double sum = 0.0;
            for (int c = 0; c < channels; ++c) {
                const Moves by = moves(slopes, channels, c, sample, length, n);
                double off = both.off(c, n, gain[c], offset[c]);
                for (int p = 0; p < 4; ++p) off += motion[p] * by.a[p];
                sum += fabs(off);
            }
            pixels.difference[n] = (float)(sum / channels);
        }
        __syncthreads();
        pixels.limit = best(pixels, N, share, count, work);
    }
    double before = 0.0, after = 0.0;
    for (int n = threadIdx.x; n < N; n += COMPARING) {
        if (!pixels.keeps(n)) continue;
        double sum = 0.0;
        for (int c = 0; c < channels; ++c) sum += fabsf(both.off(c, n, gain[c], offset[c]));
        before += sum / channels, after += pixels.difference[n];
    }
    before = total(before, work), after = total(after, work);
    if (threadIdx.x != 0) return;
    double *result = found + 7 * t;
    for (int p = 0; p < 4; ++p) result[p] = motion[p];
    result[4] = before, result[5] = after, result[6] = count;
}
