// What a search for a structure asks for: the scores of families, by the compiled formulas or by those of a Python object.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

namespace bayeskit::select {

namespace nb = nanobind;
using Ints = std::vector<int>;

class Families {
public:
    virtual ~Families() = default;
    virtual double local(int child, Ints parents) = 0;
    // The score of the family with each candidate added, where `score` is that without; −∞ stands for "cannot gain".
    virtual void with_each(int child, const Ints& parents, double score, const Ints& candidates, double* out) = 0;
};

// A Python object with a method `local(child, parents)`: a score that is not compiled, or an oracle.
class CalledFamilies final : public Families {
public:
    explicit CalledFamilies(nb::object scores) : scores_(std::move(scores)) {}
    double local(int child, Ints parents) override {
        std::sort(parents.begin(), parents.end());
        nb::gil_scoped_acquire acquire;
        return nb::cast<double>(scores_.attr("local")(child, parents));
    }
    void with_each(int child, const Ints& parents, double, const Ints& candidates, double* out) override {
        for (size_t k = 0; k < candidates.size(); ++k) {
            Ints other(parents);
            other.push_back(candidates[k]);
            out[k] = local(child, std::move(other));
        }
    }

private:
    nb::object scores_;
};

// The scores that a search was given, kept alive as long as the search.
class HeldFamilies {
public:
    explicit HeldFamilies(nb::object scores) : held_(std::move(scores)) {
        if (nb::isinstance<Families>(held_)) {
            families_ = nb::cast<Families*>(held_);
        } else {
            called_ = std::make_unique<CalledFamilies>(held_);
            families_ = called_.get();
        }
    }
    Families* operator->() const { return families_; }

private:
    nb::object held_;
    std::unique_ptr<CalledFamilies> called_;
    Families* families_ = nullptr;
};

}  // namespace bayeskit::select
