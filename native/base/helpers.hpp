// Threads that stay for the work to come: to start one takes longer than many a step of a search.
#pragma once

namespace bayeskit {

// Calls run(work, 0) in this thread and, meanwhile, run(work, 1), run(work, 2) … in up to `n_helpers` others, as far as they
// are free before this one is done; returns when all that began have ended. `run` may not throw.
//
// A helper that has not begun is not waited for, so that on a busy machine it takes no longer than without helpers. All calls
// of a process share the helpers, whichever thread they come from. After a fork the child starts its own.
void with_helpers(int n_helpers, void (*run)(void* work, int thread), void* work);

}  // namespace bayeskit
