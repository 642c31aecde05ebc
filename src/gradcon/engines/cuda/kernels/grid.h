// What all blocks of the linear solver do together: meet at a barrier, and add up sums in a fixed order.

#ifdef __CUDACC__
DEVICE unsigned arrive(unsigned *at) {
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(at) : "memory");
    return before;
}
DEVICE unsigned look(const unsigned *at) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
DEVICE void publish(unsigned *at, unsigned value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}
#define WAIT_A_LITTLE
#endif

// Wait until all blocks have come here and everything they wrote is visible.  gate: arrived, generation.
DEVICE void meet(unsigned *gate) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned generation = look(gate + 1);
        if (arrive(gate) == gridDim.x - 1) {
            gate[0] = 0;
            publish(gate + 1, generation + 1);
        } else {
            while (look(gate + 1) == generation) { WAIT_A_LITTLE }
        }
    }
    __syncthreads();
}

// Sum a phase's values over the grid in a fixed order: first over each block, into partial[block] ...
DEVICE void sum_in_block(double value, double *partial, double *shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = shared[0];
}

// ... and, after the blocks have met, over all blocks.
DEVICE double sum_of_blocks(const double *partial, double *shared) {
    if (threadIdx.x < 32) {
        double sum = 0.0;
        for (int i = threadIdx.x; i < (int)gridDim.x; i += 32) sum += partial[i];
        shared[threadIdx.x] = sum;
    }
    __syncthreads();
    double total = 0.0;
    for (int i = 0; i < 32; ++i) total += shared[i];
    __syncthreads();
    return total;
}
