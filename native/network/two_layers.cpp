// Noisy-OR networks of two layers: one running table over the open diseases and findings, positive numbers only.
//
// The table has one bit of its index for each open variable. The bit of a disease is its state; the bit of a positive
// finding says whether one of the links used so far has caused it (Zhang & Poole 1996). The order in which variables are
// closed is searched first; the backward sweep is the transpose of the forward one and gives every posterior at once.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <nanobind/stl/vector.h>

#include "base/column.hpp"

namespace bayeskit::network {
namespace {

// Below this a table is multiplied by a power of two, which rounds nothing.
constexpr double SMALL = 0x1p-300;
constexpr double LARGE_STEP = 0x1p300;
constexpr double LOG_LARGE_STEP = 300.0 * 0.693147180559945309417;

struct Links {
    int n_diseases = 0, n_findings = 0;
    std::vector<std::vector<int>> near;  // diseases first, then findings; each with the variables it is linked to
    std::vector<std::vector<double>> chance;

    Links(int diseases, int findings, const std::vector<int>& disease, const std::vector<int>& finding,
          const std::vector<double>& q)
        : n_diseases(diseases), n_findings(findings), near(diseases + findings), chance(diseases + findings) {
        if (disease.size() != finding.size() || q.size() != disease.size())
            throw std::invalid_argument("links need a disease, a finding and a probability each.");
        for (size_t k = 0; k < q.size(); ++k) {
            const int d = disease[k], f = diseases + finding[k];
            if (d < 0 || d >= diseases || f < diseases || f >= diseases + findings)
                throw std::invalid_argument("a link outside the network.");
            near[d].push_back(f);
            near[f].push_back(d);
            chance[d].push_back(q[k]);
            chance[f].push_back(q[k]);
        }
    }
    int size() const { return n_diseases + n_findings; }
};

struct Layout {
    std::vector<int> order;
    double work = std::numeric_limits<double>::infinity();  // cells that all steps go through
    int peak = 0;                                           // the largest number of open variables
};

// One greedy order: next comes the variable that opens the fewest others; noise makes tries differ.
Layout greedy(const Links& links, double noise, std::mt19937_64& rng, double give_up) {
    const int n = links.size();
    std::vector<int> unopened(n), left(n);  // linked variables that are not open yet, and those not closed yet
    std::vector<char> open(n, 0), closed(n, 0);
    std::vector<double> shift(n, 0.0);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int v = 0; v < n; ++v) {
        unopened[v] = left[v] = static_cast<int>(links.near[v].size());
        if (noise > 0.0) shift[v] = noise * uniform(rng);
    }
    Layout out;
    out.work = 0.0;
    int n_open = 0;
    const auto opened = [&](int v) {
        if (open[v]) return;
        open[v] = 1;
        ++n_open;
        for (int u : links.near[v]) --unopened[u];
    };
    for (int step = 0; step < n; ++step) {
        int best = -1;
        double least = std::numeric_limits<double>::infinity();
        for (int v = 0; v < n; ++v) {
            if (closed[v]) continue;
            const double score = unopened[v] - open[v] + 1e-3 * left[v] + shift[v];
            if (score < least) least = score, best = v;
        }
        opened(best);
        for (int u : links.near[best])
            if (!closed[u]) opened(u);
        out.peak = std::max(out.peak, n_open);
        out.work += std::ldexp(1.0, n_open) * (1 + left[best]);
        closed[best] = 1;
        open[best] = 0;
        --n_open;
        for (int u : links.near[best]) --left[u];
        out.order.push_back(best);
        if (out.work >= give_up) {
            out.work = std::numeric_limits<double>::infinity();
            return out;
        }
    }
    return out;
}

// Tries go on until they have cost a share of what the best layout will.
Layout search(const Links& links, int tries, uint64_t seed) {
    std::mt19937_64 rng(seed);
    Layout best = greedy(links, 0.0, rng, std::numeric_limits<double>::infinity());
    const double per_try = 0.5 * static_cast<double>(links.size()) * links.size() + 64.0;
    double spent = per_try;
    for (int t = 1; t < tries && spent < 0.5 * best.work; ++t) {
        const double noise = (t % 3 == 0) ? 0.5 : (t % 3 == 1) ? 1.0 : 2.0;
        Layout next = greedy(links, noise, rng, best.work);
        spent += per_try;
        if (next.work < best.work) best = std::move(next);
    }
    return best;
}

enum class Kind : uint8_t { open_disease, open_finding, link, close_disease, close_finding };

struct Step {
    Kind kind;
    int variable;   // disease or finding
    int a = 0;      // bit of the variable, or of the disease of a link
    int b = 0;      // bit of the finding of a link
    double q = 0.0;
    int bits = 0;   // open variables before the step
};

std::vector<Step> program(const Links& links, const std::vector<int>& order) {
    std::vector<Step> steps;
    std::vector<int> slots;  // the variable of each bit
    std::vector<char> closed(links.size(), 0), open(links.size(), 0);
    const auto slot = [&](int v) {
        if (!open[v]) {
            const bool disease = v < links.n_diseases;
            steps.push_back({disease ? Kind::open_disease : Kind::open_finding,
                             disease ? v : v - links.n_diseases, 0, 0, 0.0, static_cast<int>(slots.size())});
            slots.push_back(v);
            open[v] = 1;
        }
        return static_cast<int>(std::find(slots.begin(), slots.end(), v) - slots.begin());
    };
    for (int v : order) {
        slot(v);
        const bool disease = v < links.n_diseases;
        for (size_t k = 0; k < links.near[v].size(); ++k) {
            const int u = links.near[v][k];
            if (closed[u]) continue;  // the link was used when u was closed
            const int other = slot(u), mine = slot(v);
            steps.push_back({Kind::link, v, disease ? mine : other, disease ? other : mine, links.chance[v][k],
                             static_cast<int>(slots.size())});
        }
        steps.push_back({disease ? Kind::close_disease : Kind::close_finding, disease ? v : v - links.n_diseases,
                         slot(v), 0, 0.0, static_cast<int>(slots.size())});
        slots.erase(slots.begin() + slot(v));
        closed[v] = 1;
        open[v] = 0;
    }
    return steps;
}

using Cells = std::vector<double>;

// The cells where bit a is 1, in pairs that differ in bit b.
template <typename Pair> BAYESKIT_INLINE void pairs(double* cells, int bits, int a, int b, Pair pair) {
    const int high = std::max(a, b), low = std::min(a, b);
    const int64_t outer = int64_t{1} << (bits - high - 1), middle = int64_t{1} << (high - low - 1), inner = int64_t{1} << low;
    const int64_t at_a = int64_t{1} << a, at_b = int64_t{1} << b;
    for (int64_t i = 0; i < outer; ++i)
        for (int64_t j = 0; j < middle; ++j) {
            double* no = cells + (i << (high + 1)) + (j << (low + 1)) + at_a;
            double* yes = no + at_b;
            for (int64_t k = 0; k < inner; ++k) pair(no[k], yes[k]);
        }
}

BAYESKIT_SIMD void link_forward(double* cells, int bits, int a, int b, double q) {
    const double rest = 1.0 - q;
    pairs(cells, bits, a, b, [q, rest](double& no, double& yes) {
        yes += q * no;
        no *= rest;
    });
}

BAYESKIT_SIMD void link_backward(double* cells, int bits, int a, int b, double q) {
    const double rest = 1.0 - q;
    pairs(cells, bits, a, b, [q, rest](double& no, double& yes) { no = rest * no + q * yes; });
}

// Removes bit a: out = from0 · (bit 0) + (bit 1); returns the largest cell.
BAYESKIT_SIMD double close_bit(const double* cells, int64_t n, int a, double from0, double* out) {
    const int64_t half = int64_t{1} << a;
    double largest = 0.0;
    for (int64_t i = 0; i < n / (2 * half); ++i) {
        const double *zero = cells + 2 * i * half, *one = zero + half;
        double* to = out + i * half;
        for (int64_t k = 0; k < half; ++k) {
            to[k] = from0 * zero[k] + one[k];
            largest = to[k] > largest ? to[k] : largest;
        }
    }
    return largest;
}

struct Sweep {
    const std::vector<Step>& steps;
    const std::vector<double>&prior, &leak;
    double budget;  // bytes that kept halves may take
    double log_z = 0.0;
    std::vector<double> posterior, slope;

    struct Kept {
        Cells half;  // where the closed bit was 1 (disease) or 0 (finding), after scaling
        double scale = 1.0;
    };

    // Runs one step; where something is closed, `kept` (if any) gets what the backward sweep needs.
    void forward(const Step& step, Cells& table, double* log_scale, Kept* kept) const {
        const int64_t n = int64_t{1} << step.bits;
        switch (step.kind) {
            case Kind::open_finding: table.resize(2 * n, 0.0); return;
            case Kind::open_disease: {
                const double p = prior[step.variable];
                table.resize(2 * n);
                for (int64_t k = 0; k < n; ++k) {
                    table[n + k] = p * table[k];
                    table[k] *= 1.0 - p;
                }
                return;
            }
            case Kind::link: link_forward(table.data(), step.bits, step.a, step.b, step.q); return;
            default: break;
        }
        const bool disease = step.kind == Kind::close_disease;
        const int64_t half = int64_t{1} << step.a;
        double scale = 1.0;
        if (kept) {
            kept->half.resize(n / 2);
            for (int64_t i = 0; i < n / (2 * half); ++i)
                std::memcpy(kept->half.data() + i * half, table.data() + 2 * i * half + (disease ? half : 0),
                            sizeof(double) * half);
        }
        // In place: what is written lies before what is read.
        const double largest = close_bit(table.data(), n, step.a, disease ? 1.0 : leak[step.variable], table.data());
        table.resize(n / 2);
        if (largest < SMALL && largest > 0.0) {
            scale = LARGE_STEP;
            for (double& cell : table) cell *= scale;
            if (log_scale) *log_scale -= LOG_LARGE_STEP;
            if (kept)
                for (double& cell : kept->half) cell *= scale;
        }
        if (kept) kept->scale = scale;
    }

    void backward(const Step& step, Cells& back, const Kept* kept) {
        const int64_t n = int64_t{1} << step.bits;  // cells before the step
        switch (step.kind) {
            case Kind::open_finding: back.resize(n); return;
            case Kind::open_disease: {
                const double p = prior[step.variable];
                for (int64_t k = 0; k < n; ++k) back[k] = (1.0 - p) * back[k] + p * back[n + k];
                back.resize(n);
                return;
            }
            case Kind::link: link_backward(back.data(), step.bits, step.a, step.b, step.q); return;
            default: break;
        }
        const bool disease = step.kind == Kind::close_disease;
        double total = 0.0;
        for (int64_t k = 0; k < n / 2; ++k) total += back[k] * kept->half[k];
        (disease ? posterior : slope)[step.variable] = total;
        const double from0 = (disease ? 1.0 : leak[step.variable]) * kept->scale;
        const int64_t half = int64_t{1} << step.a;
        Cells before(n);
        for (int64_t i = 0; i < n / (2 * half); ++i)
            for (int64_t k = 0; k < half; ++k) {
                const double cell = back[i * half + k];
                before[2 * i * half + k] = from0 * cell;
                before[(2 * i + 1) * half + k] = kept->scale * cell;
            }
        back = std::move(before);
    }

    double kept_bytes(size_t begin, size_t end) const {
        double total = 0.0;
        for (size_t s = begin; s < end; ++s)
            if (steps[s].kind == Kind::close_disease || steps[s].kind == Kind::close_finding)
                total += std::ldexp(4.0, steps[s].bits);
        return total;
    }

    // Goes back over steps [begin, end) from the table before them. Where what must be kept is too much, the second half
    // is done first, from a table that is made again.
    void back_over(size_t begin, size_t end, Cells table, Cells& back) {
        if (end - begin > 1 && kept_bytes(begin, end) > budget) {
            const size_t middle = begin + (end - begin) / 2;
            {
                Cells later = table;
                for (size_t s = begin; s < middle; ++s) forward(steps[s], later, nullptr, nullptr);
                back_over(middle, end, std::move(later), back);
            }
            back_over(begin, middle, std::move(table), back);
            return;
        }
        std::vector<Kept> kept(end - begin);
        for (size_t s = begin; s < end; ++s) forward(steps[s], table, nullptr, &kept[s - begin]);
        Cells().swap(table);
        for (size_t s = end; s-- > begin;) {
            backward(steps[s], back, &kept[s - begin]);
            Cells().swap(kept[s - begin].half);
        }
    }

    void run() {
        Cells table(1, 1.0);
        for (const Step& step : steps) forward(step, table, &log_z, nullptr);
        if (!(table[0] > 0.0)) {
            log_z = -std::numeric_limits<double>::infinity();
            return;
        }
        log_z += std::log(table[0]);
        Cells back(1, 1.0 / table[0]);
        back_over(0, steps.size(), Cells(1, 1.0), back);
    }
};

nb::tuple plan(int n_diseases, int n_findings, const std::vector<int>& disease, const std::vector<int>& finding,
               int tries, uint64_t seed) {
    const Links links(n_diseases, n_findings, disease, finding, std::vector<double>(disease.size(), 0.0));
    Layout best;
    {
        nb::gil_scoped_release release;
        best = search(links, tries, seed);
    }
    return nb::make_tuple(best.order, best.work, best.peak);
}

nb::tuple posterior(const std::vector<double>& prior, const std::vector<double>& leak, const std::vector<int>& disease,
                    const std::vector<int>& finding, const std::vector<double>& chance, const std::vector<int>& order,
                    double budget) {
    const Links links(static_cast<int>(prior.size()), static_cast<int>(leak.size()), disease, finding, chance);
    std::vector<char> seen(links.size(), 0);
    for (int v : order) {
        if (v < 0 || v >= links.size() || seen[v]) throw std::invalid_argument("an order names each variable once.");
        seen[v] = 1;
    }
    if (static_cast<int>(order.size()) != links.size()) throw std::invalid_argument("an order names each variable once.");
    Owned<double> diseases({prior.size()}), findings({leak.size()});
    double log_z = 0.0;
    {
        nb::gil_scoped_release release;
        const std::vector<Step> steps = program(links, order);
        Sweep sweep{steps, prior, leak, budget, 0.0, std::vector<double>(prior.size()), std::vector<double>(leak.size())};
        sweep.run();
        log_z = sweep.log_z;
        std::copy(sweep.posterior.begin(), sweep.posterior.end(), diseases.data);
        std::copy(sweep.slope.begin(), sweep.slope.end(), findings.data);
    }
    return nb::make_tuple(log_z, diseases.to_numpy(), findings.to_numpy());
}

}  // namespace

void bind_two_layers(nb::module_& m) {
    using namespace nb::literals;
    m.def("plan_two_layers", &plan, "n_diseases"_a, "n_findings"_a, "disease"_a, "finding"_a, "tries"_a, "seed"_a);
    m.def("posterior_two_layers", &posterior, "prior"_a, "leak"_a, "disease"_a, "finding"_a, "chance"_a, "order"_a,
          "budget"_a);
}

}  // namespace bayeskit::network
