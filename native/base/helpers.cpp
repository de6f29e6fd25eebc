#include "base/helpers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>
#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace bayeskit {
namespace {

struct Task {
    void (*run)(void*, int);
    void* work;
    int open;  // helpers that may still join
    int joined = 0;
    std::atomic<int> active{0};
};

struct Team {
    std::mutex lock;  // of all that follows
    std::condition_variable task_came, helper_left;
    std::vector<std::thread> helpers;
    std::vector<Task*> tasks;          // those that helpers may join
    std::atomic<bool> waiting{false};  // whether there are such; also read without the lock
    int n_busy = 0;                    // helpers
    bool over = false;                 // helpers leave

    void remove(Task* task) {
        tasks.erase(std::remove(tasks.begin(), tasks.end(), task), tasks.end());
        waiting = !tasks.empty();
    }
};

// Never destroyed: helpers wait in it until the process ends.
std::atomic<Team*> team{new Team};

#if !defined(_WIN32)
// A fork takes no threads along, and Python warns of one while there are others: idle helpers leave before, and the next work
// starts them anew. The old team stays, since a caller may be about to use it: some hundred bytes.
void before_fork() {
    std::vector<std::thread> leaving;
    Team* const this_team = team;
    {
        const std::lock_guard<std::mutex> hold(this_team->lock);
        if (this_team->helpers.empty() || this_team->n_busy > 0) return;
        this_team->over = true;
        leaving.swap(this_team->helpers);
    }
    team = new Team;
    this_team->task_came.notify_all();
    for (auto& helper : leaving) helper.join();
}

// The lock of the team may have been held by a thread that the child does not have.
[[maybe_unused]] const int at_fork = pthread_atfork(before_fork, nullptr, [] { team = new Team; });
#endif

// The steps of a search follow each other within microseconds, while to sleep and to be woken takes tens of them.
template <typename Condition>
void look_for_a_while(Condition&& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    while (!holds() && std::chrono::steady_clock::now() < end) {
    }
}

void help(Team* this_team) {
    std::unique_lock<std::mutex> hold(this_team->lock);
    for (;;) {
        if (this_team->tasks.empty()) {
            hold.unlock();
            look_for_a_while([&] { return this_team->waiting.load(); });
            hold.lock();
            this_team->task_came.wait(hold, [&] { return this_team->over || !this_team->tasks.empty(); });
        }
        if (this_team->over) return;
        Task* task = this_team->tasks.front();
        const int thread = ++task->joined;
        ++task->active;
        ++this_team->n_busy;
        if (--task->open == 0) this_team->remove(task);
        hold.unlock();
        task->run(task->work, thread);
        hold.lock();
        --this_team->n_busy;
        if (--task->active == 0) this_team->helper_left.notify_all();
    }
}

}  // namespace

void with_helpers(int n_helpers, void (*run)(void*, int), void* work) {
    if (n_helpers < 1) return run(work, 0);
    Team* const this_team = team;
    Task task{run, work, n_helpers};
    {
        const std::lock_guard<std::mutex> hold(this_team->lock);
        try {
            while (!this_team->over && static_cast<int>(this_team->helpers.size()) < n_helpers) this_team->helpers.emplace_back(help, this_team);
        } catch (const std::system_error&) {
            // The system gives no more threads: those that there are do all of the work.
        }
        this_team->tasks.push_back(&task);
        this_team->waiting = true;
    }
    for (int helper = 0; helper < n_helpers; ++helper) this_team->task_came.notify_one();
    run(work, 0);
    {
        const std::lock_guard<std::mutex> hold(this_team->lock);
        this_team->remove(&task);
    }
    look_for_a_while([&] { return task.active == 0; });
    std::unique_lock<std::mutex> hold(this_team->lock);
    this_team->helper_left.wait(hold, [&] { return task.active == 0; });
}

}  // namespace bayeskit
