// Documents straight into counts: for each word and class, how often and in how many documents.
#include <optional>
#include <variant>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "counts/token_rows.hpp"
#include "kernels.hpp"
#include "table/documents.hpp"

namespace bayeskit::counts {
namespace {

using table::Documents;
using table::Key;
using table::NO_WORD;
using table::Reader;
using table::Vectoriser;
using table::Vocabulary;

const double* doubles_or_none(const std::optional<Array>& array, size_t n, const char* what) {
    if (!array) return nullptr;
    if (array->ndim() != 1 || type_of(*array) != Type::f64 || array->shape(0) != n || (n > 1 && array->stride(0) != 1))
        throw std::invalid_argument(std::string(what) + " must be contiguous float64, one for each.");
    return static_cast<const double*>(array->data());
}

template <typename T>
nb::object copied(const std::vector<T>& values) {
    Owned<T> out({values.size()});
    std::copy(values.begin(), values.end(), out.data);
    return out.to_numpy();
}

// The growing counts of one model. Whole counts are int64 and exact; weights and transforms make them float64.
class TokenCounter {
public:
    TokenCounter(const Reader& reader, bool weighted, int64_t n_classes)
        : reader_(reader), rows_(weighted ? Rows(TokenRows<double>(static_cast<uint32_t>(n_classes)))
                                          : Rows(TokenRows<int64_t>(static_cast<uint32_t>(n_classes)))),
          n_class_(n_classes, 0.0) {}

    // Counts documents of the classes y. Returns how many tokens they have.
    int64_t count(nb::list list, Array y, std::optional<Array> weight, int64_t n_classes, bool tf, std::optional<Array> idf,
                  double idf_of_others, bool length) {
        const Documents documents(list);
        const Classes classes(y);
        classes.check(static_cast<int64_t>(documents.size()), n_classes);
        const std::vector<uint32_t> codes = class_codes(y);
        const double* w = doubles_or_none(weight, documents.size(), "weights");
        const size_t n_idf = idf ? idf->shape(0) : 0;
        const double* factor = doubles_or_none(idf, n_idf, "inverse document frequencies");
        if ((w || tf || factor || length) && std::holds_alternative<TokenRows<int64_t>>(rows_))
            throw std::invalid_argument("weights and transforms need a weighted counter.");
        set_classes(static_cast<uint32_t>(n_classes));
        int64_t n_tokens = 0;
        const auto work = [&] {
            std::visit([&](auto& rows) {
                for (size_t i = 0; i < documents.size(); ++i) {
                    if (reader_.calls_python()) reader_.tokens_from_python(documents.objects[i], vectoriser_.tokens);
                    else reader_.tokens(documents.texts[i], vectoriser_.tokens);
                    n_tokens += static_cast<int64_t>(vectoriser_.tokens.spans.size());
                    vectoriser_.build(reader_, [&](const Key& key) { words_.touch(key); },
                                      [&](const Key& key) { return words_.find_or_add(key); });
                    if (tf || factor || length) vectoriser_.transform(tf, factor, idf_of_others, n_idf, length);
                    rows.set_words(words_.size());
                    add(rows, codes[i], w ? w[i] : 1.0);
                }
            }, rows_);
        };
        if (reader_.calls_python()) {
            work();
        } else {
            nb::gil_scoped_release release;
            work();
        }
        return n_tokens;
    }

    // Adds counts that came as arrays, times `sign`. Returns −1, or the first of their words that is not here or would
    // fall below zero: a word too many can only be there when taking away.
    int64_t absorb(Array bytes, Array offsets, Array indptr, Array classes, Array n_token, Array n_document, int64_t n_classes,
                   int sign) {
        set_classes(static_cast<uint32_t>(n_classes));
        Vocabulary theirs;
        load_words(bytes, offsets, theirs);
        const size_t n_words = offsets.shape(0) - 1;
        if (theirs.size() != n_words) throw std::invalid_argument("a word stands twice in the vocabulary.");
        const auto pointer = column_as<int64_t>(indptr, n_words + 1), c = column_as<int64_t>(classes, classes.shape(0));
        for (size_t k = 0; k < n_words; ++k)
            if (pointer[k] > pointer[k + 1] || pointer[0] != 0) throw std::invalid_argument("row pointers must rise.");
        if (pointer[n_words] != static_cast<int64_t>(c.size())) throw std::invalid_argument("row pointers must fit.");
        for (int64_t code : c)
            if (code < 0 || code >= n_classes) throw std::invalid_argument("a class code is out of range.");
        return std::visit([&](auto& rows) {
            using Number = std::decay_t<decltype(rows.cell(0, 0).token)>;
            const auto token = column_as<Number>(n_token, c.size()), document = column_as<Number>(n_document, c.size());
            const std::vector<char>& text = theirs.bytes();
            table::Bytes room;
            for (size_t k = 0; k < n_words; ++k) {
                room.clear();
                const int64_t size = theirs.offsets()[k + 1] - theirs.offsets()[k];
                room.append(text.data() + theirs.offsets()[k], static_cast<size_t>(size));
                const Key key(room.data(), static_cast<uint32_t>(size), 0);
                const uint32_t word = sign > 0 ? words_.find_or_add(key) : words_.find(key);
                if (word == NO_WORD) return static_cast<int64_t>(k);
                rows.set_words(words_.size());
                for (int64_t at = pointer[k]; at < pointer[k + 1]; ++at) {
                    auto& cell = rows.cell(word, static_cast<uint32_t>(c[at]));
                    if (!change(cell.token, token[at], sign) || !change(cell.document, document[at], sign))
                        return static_cast<int64_t>(k);
                }
            }
            return int64_t{-1};
        }, rows_);
    }

    // The counts as arrays: words as bytes and offsets, and for each word its classes with both counts. Class c of this
    // counter is class rank[c] of the arrays. Words without a count are left out.
    nb::tuple arrays(std::vector<uint32_t> rank) const {
        return std::visit([&](const auto& rows) {
            using Number = std::decay_t<decltype(Cell_of(rows).token)>;
            if (rank.size() < rows.n_classes()) throw std::invalid_argument("one rank per class.");
            std::vector<char> bytes;
            std::vector<int64_t> offsets(1, 0), pointer(1, 0);
            std::vector<int64_t> c;
            std::vector<Number> token, document;
            bytes.reserve(words_.bytes().size());
            for (uint32_t word = 0; word < rows.n_words(); ++word) {
                rows.visit(word, rank, [&](uint32_t code, const Cell<Number>& cell) {
                    c.push_back(code);
                    token.push_back(cell.token);
                    document.push_back(cell.document);
                });
                if (static_cast<int64_t>(c.size()) == pointer.back()) continue;
                pointer.push_back(static_cast<int64_t>(c.size()));
                bytes.insert(bytes.end(), words_.bytes().begin() + words_.offsets()[word],
                             words_.bytes().begin() + words_.offsets()[word + 1]);
                offsets.push_back(static_cast<int64_t>(bytes.size()));
            }
            std::vector<uint8_t> plain(bytes.begin(), bytes.end());
            return nb::make_tuple(copied(plain), copied(offsets), copied(pointer), copied(c), copied(token),
                                  copied(document));
        }, rows_);
    }

    nb::object n_class() const { return copied(n_class_); }
    int64_t n_words() const { return words_.size(); }

private:
    using Rows = std::variant<TokenRows<int64_t>, TokenRows<double>>;
    Reader reader_;
    Vocabulary words_;
    Vectoriser vectoriser_;
    Rows rows_;
    std::vector<double> n_class_;

    template <typename Number>
    static Cell<Number> Cell_of(const TokenRows<Number>&) { return {}; }

    void set_classes(uint32_t n_classes) {
        std::visit([&](auto& rows) { rows.set_classes(n_classes); }, rows_);
        if (n_class_.size() < n_classes) n_class_.resize(n_classes, 0.0);
    }

    template <typename Number>
    void add(TokenRows<Number>& rows, uint32_t c, double weight) {
        n_class_[c] += weight;
        const auto& vector = vectoriser_.vector;
        constexpr size_t FAR = 16, NEAR = 8;
        for (size_t k = 0; k < vector.word.size(); ++k) {
            if (k + FAR < vector.word.size()) rows.touch_row(vector.word[k + FAR]);
            if (k + NEAR < vector.word.size()) rows.touch_cell(vector.word[k + NEAR], c);
            Cell<Number>& cell = rows.cell(vector.word[k], c);
            cell.token += static_cast<Number>(vector.value[k] * weight);
            cell.document += static_cast<Number>(weight);
        }
    }

    // Sums of weights are rounded; what they leave near zero is rounding, not a document too many or too few.
    template <typename Number>
    static bool change(Number& cell, Number by, int sign) {
        if (sign > 0) {
            cell += by;
            return true;
        }
        const Number left = cell - by;
        if constexpr (std::is_floating_point_v<Number>) {
            if (left < -1e-9 * cell) return false;
            cell = left <= 1e-9 * cell ? 0.0 : left;
        } else {
            if (left < 0) return false;
            cell = left;
        }
        return true;
    }

    template <typename T>
    static std::vector<T> column_as(const Array& array, size_t n) {
        if (array.ndim() != 1 || array.shape(0) != n) throw std::invalid_argument("an array has the wrong length.");
        const Column column = column_of(array);
        std::vector<T> out(n);
        with_type(column.type, [&](auto zero) {
            using From = decltype(zero);
            const char* cell = column.data;
            for (size_t i = 0; i < n; ++i, cell += column.stride) out[i] = static_cast<T>(*reinterpret_cast<const From*>(cell));
        });
        return out;
    }
};

}  // namespace

void bind_count_tokens(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<TokenCounter>(m, "TokenCounter")
        .def(nb::init<const Reader&, bool, int64_t>(), "reader"_a, "weighted"_a, "n_classes"_a)
        .def("count", &TokenCounter::count, "documents"_a, "y"_a, "weight"_a.none(), "n_classes"_a, "tf"_a = false,
             "idf"_a.none() = nb::none(), "idf_of_others"_a = 0.0, "length"_a = false)
        .def("absorb", &TokenCounter::absorb, "bytes"_a, "offsets"_a, "indptr"_a, "classes"_a, "n_token"_a, "n_document"_a,
             "n_classes"_a, "sign"_a)
        .def("arrays", &TokenCounter::arrays, "rank"_a)
        .def_prop_ro("n_class", &TokenCounter::n_class)
        .def_prop_ro("n_words", &TokenCounter::n_words);
}

}  // namespace bayeskit::counts
