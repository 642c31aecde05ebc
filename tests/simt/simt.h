// Runs CUDA kernels on the host, thread by thread, so that they can be tested where there is no GPU.
//
// Every CUDA thread is a fiber.  A fiber runs until it waits: at __syncthreads() for its block, or in a spin loop for
// other blocks.  Blocks run one after the other, or all at once if the launch is cooperative.  A missing barrier shows,
// because the first fiber runs past it to the end before the second one starts.  Blocks and threads run in ascending or in
// descending order: a kernel that reads what only a smaller (or larger) thread has written by then gives other bytes.

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

struct dim3 { unsigned x, y, z; };

namespace simt {

struct Barrier { unsigned arrived = 0, generation = 0; };
struct Block {
    dim3 index;
    unsigned threads = 0, ended = 0;
    Barrier all;
    std::vector<Barrier> warps;
    std::vector<int> exchanged;  // by the lanes of each warp
    std::vector<unsigned char> shared;
};
struct Fiber { ucontext_t context; jmp_buf place; Block *block; dim3 thread; bool started = false, done = false; };

inline std::vector<std::vector<char>> stacks;  // kept from launch to launch
inline Fiber *now;
inline dim3 grid_size, block_size;
inline void (*body)(void **);
inline void **arguments;
inline bool descending;

// A fiber is entered once by its context, and from then on by a jump: that asks nothing of the system.
inline jmp_buf scheduler_place;

inline void yield() {
    if (!_setjmp(now->place)) _longjmp(scheduler_place, 1);
}

inline void resume(Fiber &fiber) {
    now = &fiber;
    if (_setjmp(scheduler_place)) return;
    if (fiber.started) _longjmp(fiber.place, 1);
    fiber.started = true;
    setcontext(&fiber.context);
}

inline void release(Block &block) {
    if (block.all.arrived > 0 && block.all.arrived + block.ended == block.threads) block.all = {0, block.all.generation + 1};
}

inline void wait_for(const Barrier &barrier, unsigned generation) {
    while (barrier.generation == generation) yield();
}

inline void synchronise() {
    Block &block = *now->block;
    unsigned generation = block.all.generation;
    ++block.all.arrived;
    release(block);
    wait_for(block.all, generation);
}

inline void synchronise_warp() {  // of threads that all come here
    Barrier &warp = now->block->warps[(now->thread.y * block_size.x + now->thread.x) / 32];
    unsigned generation = warp.generation;
    if (++warp.arrived == 32) warp = {0, generation + 1};
    wait_for(warp, generation);
}

// What a lane gives, for another one to take.
inline int exchange(int value, unsigned other) {
    unsigned thread = now->thread.y * block_size.x + now->thread.x;
    int *warp = now->block->exchanged.data() + thread / 32 * 32;
    warp[thread % 32] = value;
    synchronise_warp();
    value = warp[other % 32];
    synchronise_warp();
    return value;
}

inline void enter() {
    body(arguments);
    now->done = true;
    ++now->block->ended;
    release(*now->block);
    yield();
}

inline void run(std::vector<Block> &blocks) {
    std::vector<Fiber> fibers;
    unsigned threads = block_size.x * block_size.y * block_size.z;
    fibers.resize(blocks.size() * threads);
    for (size_t i = 0; i < fibers.size(); ++i) {
        Fiber &fiber = fibers[i];
        unsigned t = i % threads;
        fiber.block = &blocks[i / threads];
        fiber.thread = {t % block_size.x, t / block_size.x % block_size.y, t / block_size.x / block_size.y};
        if (i == stacks.size()) stacks.emplace_back(64 << 10);
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = stacks[i].data();
        fiber.context.uc_stack.ss_size = stacks[i].size();
        fiber.context.uc_link = nullptr;  // nobody returns: `enter` ends in a jump
        makecontext(&fiber.context, enter, 0);
    }
    for (bool busy = true; busy;) {
        busy = false;
        for (size_t i = 0; i < fibers.size(); ++i) {
            Fiber &fiber = fibers[descending ? fibers.size() - 1 - i : i];
            if (!fiber.done) {
                resume(fiber);
                busy = true;
            }
        }
    }
}

inline void launch(
    dim3 grid, dim3 block, unsigned shared, bool cooperative, bool from_the_end, void (*kernel)(void **), void **values
) {
    grid_size = grid, block_size = block, body = kernel, arguments = values, descending = from_the_end;
    std::vector<Block> blocks;
    unsigned count = grid.x * grid.y * grid.z;
    for (unsigned k = 0; k < count; ++k) {
        unsigned i = descending && !cooperative ? count - 1 - k : k;  // cooperative ones: `run` turns the order around
        Block one;
        one.index = {i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y};
        one.threads = block.x * block.y * block.z;
        one.warps.resize((one.threads + 31) / 32);
        one.exchanged.resize(32 * one.warps.size());
        one.shared.assign(shared + 16, 0xff);  // NaN, so that a read before the first write shows
        blocks.push_back(one);
        if (!cooperative) {
            run(blocks);
            blocks.clear();
        }
    }
    if (cooperative) run(blocks);
}

template <class... A> void call(void (*kernel)(A...), void **values) {
    [&]<size_t... I>(std::index_sequence<I...>) { kernel(*(A *)values[I]...); }(std::index_sequence_for<A...>());
}

}  // namespace simt

#define threadIdx (simt::now->thread)
#define blockIdx (simt::now->block->index)
#define gridDim (simt::grid_size)
#define blockDim (simt::block_size)
#define KERNEL static
#define LAUNCH_BOUNDS(threads, blocks)
#define SHARED(type, name) type *name = (type *)(((size_t)simt::now->block->shared.data() + 15) / 16 * 16)
#define WAIT_A_LITTLE simt::yield();

inline void __syncthreads() { simt::synchronise(); }
inline void __syncwarp() { simt::synchronise_warp(); }
inline unsigned atomicAdd(unsigned *at, unsigned value) { unsigned old = *at; *at += value; return old; }
inline unsigned atomicMax(unsigned *at, unsigned value) { unsigned old = *at; *at = std::max(old, value); return old; }
inline int atomicMin(int *at, int value) { int old = *at; *at = std::min(old, value); return old; }
inline int atomicMax(int *at, int value) { int old = *at; *at = std::max(old, value); return old; }
inline int __shfl_sync(unsigned, int value, int lane) { return simt::exchange(value, lane); }
inline int __shfl_xor_sync(unsigned, int value, int mask) { return simt::exchange(value, (threadIdx.x % 32) ^ mask); }
inline unsigned arrive(unsigned *at) { return atomicAdd(at, 1); }
inline unsigned look(const unsigned *at) { return *at; }
inline void publish(unsigned *at, unsigned value) { *at = value; }

#define EMULATE(name)                                                                                              \
    extern "C" void emulate_##name(                                                                                \
        const unsigned *g, const unsigned *b, unsigned shared, int together, int descending, void **values         \
    ) {                                                                                                            \
        simt::launch({g[0], g[1], g[2]}, {b[0], b[1], b[2]}, shared, together, descending,                         \
                     [](void **v) { simt::call(name, v); }, values);                                               \
    }
