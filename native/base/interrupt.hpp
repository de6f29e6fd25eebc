// Ctrl-C inside a kernel: Python only notes the signal, so a loop that takes long has to ask for it.
#pragma once
#include <nanobind/nanobind.h>

#include <chrono>

namespace bayeskit {

// Asks at most every 50 ms, since asking takes the GIL; throws KeyboardInterrupt, or what else a signal handler raised.
// Only Python's main thread runs signal handlers: in other threads nothing happens.
class Interrupts {
public:
    void check() {
        const auto now = Clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(50);
        nanobind::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(50);
};

}  // namespace bayeskit
