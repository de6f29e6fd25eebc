// Rows split over threads, in chunks whose borders do not depend on the number of threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace bayeskit {

// Calls work(chunk, thread) once for each chunk in 0 .. n_chunks - 1. Which thread takes which chunk is open,
// so a result must depend on the chunk alone (or be a sum of integers).
template <typename Work>
void parallel_chunks(int64_t n_chunks, int n_threads, Work&& work) {
    const int used = static_cast<int>(std::min<int64_t>(std::max(n_threads, 1), n_chunks));
    if (used <= 1) {
        for (int64_t chunk = 0; chunk < n_chunks; ++chunk) work(chunk, 0);
        return;
    }
    std::atomic<int64_t> next{0};
    auto run = [&](int thread) {
        for (int64_t chunk; (chunk = next.fetch_add(1)) < n_chunks;) work(chunk, thread);
    };
    std::vector<std::thread> helpers;
    for (int thread = 1; thread < used; ++thread) helpers.emplace_back(run, thread);
    run(0);
    for (auto& helper : helpers) helper.join();
}

inline int threads_used(int64_t n_chunks, int n_threads) {
    return static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(std::max(n_threads, 1), n_chunks)));
}

}  // namespace bayeskit

// Wheels are built for the oldest CPU; the loader picks the wide version where the CPU has it.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define BAYESKIT_SIMD __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define BAYESKIT_SIMD
#endif
#if defined(_MSC_VER)
#define BAYESKIT_INLINE __forceinline
#else
#define BAYESKIT_INLINE inline __attribute__((always_inline))
#endif
