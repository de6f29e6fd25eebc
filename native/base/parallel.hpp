// Rows split over threads, in chunks whose borders do not depend on the number of threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "base/helpers.hpp"
#include "base/interrupt.hpp"

namespace bayeskit {

inline int threads_used(int64_t n_chunks, int n_threads) {
    return static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(std::max(n_threads, 1), n_chunks)));
}

// Calls work(chunk, thread) once for each chunk in 0 .. n_chunks - 1. Which thread takes which chunk is open,
// so a result must depend on the chunk alone (or be a sum of integers).
//
// What `work` throws in any thread ends all of them after their chunk and is thrown again in the caller; so is Ctrl-C,
// which the calling thread looks for between its chunks.
template <typename Work>
void parallel_chunks(int64_t n_chunks, int n_threads, Work&& work) {
    const int used = threads_used(n_chunks, n_threads);
    std::atomic<int64_t> next{0};
    std::exception_ptr error;
    std::mutex lock;
    auto run = [&](int thread) noexcept {
        try {
            Interrupts interrupts;
            for (int64_t chunk; (chunk = next.fetch_add(1)) < n_chunks;) {
                work(chunk, thread);
                if (thread == 0) interrupts.check();
            }
        } catch (...) {
            next = n_chunks;
            const std::lock_guard<std::mutex> hold(lock);
            if (!error) error = std::current_exception();
        }
    };
    with_helpers(
        used - 1, [](void* work, int thread) { (*static_cast<decltype(run)*>(work))(thread); }, &run);
    if (error) std::rethrow_exception(error);
}

}  // namespace bayeskit
