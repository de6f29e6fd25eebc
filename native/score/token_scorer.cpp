// Documents straight to scores: log P(d, c) = bias(c) + Σ over the words of d of value(w) · table(w, c).
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/score.hpp"
#include "kernels.hpp"
#include "score/linear_rows.hpp"
#include "table/documents.hpp"

namespace bayeskit::score {
namespace {

using table::Documents;
using table::Key;
using table::Reader;
using table::Vectoriser;
using table::Vocabulary;

class TokenScorer {
public:
    TokenScorer(const Reader& reader, Array bytes, Array offsets, Array row, Array column, Array scale, Array indptr,
                Array classes, Array cells, Array bias, std::optional<Array> others, bool binary)
        : reader_(reader), table_(all<double>(row), all<double>(column), all<double>(scale), all<int64_t>(indptr),
                                  all<int64_t>(classes), all<double>(cells)),
          bias_(all<double>(bias)), binary_(binary) {
        load_words(bytes, offsets, words_);
        if (words_.size() != table_.n_rows() || bias_.size() != table_.n_classes())
            throw std::invalid_argument("the table needs one row per word and one column per class.");
        if (others) others_ = doubles(*others, static_cast<int64_t>(bias_.size()));
    }

    // (scores, first document that no class can give or -1)
    nb::tuple score(nb::list list, Score wanted, bool fallback, std::vector<double> log_prior, int n_threads) const {
        const Documents documents(list);
        const int64_t n = static_cast<int64_t>(documents.size());
        Scores scores(wanted, n, static_cast<int64_t>(bias_.size()));
        std::atomic<int64_t> impossible{n};
        const auto chunk = [&](int64_t begin, int64_t end, Vectoriser& vectoriser) {
            std::vector<double> sum(table_.lanes());
            std::vector<uint32_t> known;
            for (int64_t i = begin; i < end; ++i) {
                read(documents, i, vectoriser);
                add(vectoriser, known, sum);
                if (!scores.write(i, sum.data(), fallback ? log_prior.data() : nullptr)) lower(impossible, i);
            }
        };
        if (reader_.calls_python()) {
            Vectoriser vectoriser;
            chunk(0, n, vectoriser);
        } else {
            nb::gil_scoped_release release;
            constexpr int64_t CHUNK = 128;
            const int64_t n_chunks = (n + CHUNK - 1) / CHUNK;
            std::vector<Vectoriser> vectorisers(threads_used(n_chunks, n_threads));
            parallel_chunks(n_chunks, n_threads, [&](int64_t k, int thread) {
                chunk(k * CHUNK, std::min(n, (k + 1) * CHUNK), vectorisers[thread]);
            });
        }
        return nb::make_tuple(scores.to_numpy(), impossible.load() < n ? impossible.load() : -1);
    }

    // The documents as a sparse matrix (indptr, word, value), words in order of appearance, and the tokens of each
    // that are not in the vocabulary.
    nb::tuple vectors(nb::list list) const {
        const Documents documents(list);
        Vectoriser vectoriser;
        std::vector<int64_t> pointer(1, 0), unknown;
        std::vector<uint32_t> word;
        std::vector<double> value;
        for (size_t i = 0; i < documents.size(); ++i) {
            read(documents, static_cast<int64_t>(i), vectoriser);
            build(vectoriser);
            word.insert(word.end(), vectoriser.vector.word.begin(), vectoriser.vector.word.end());
            value.insert(value.end(), vectoriser.vector.value.begin(), vectoriser.vector.value.end());
            pointer.push_back(static_cast<int64_t>(word.size()));
            unknown.push_back(static_cast<int64_t>(vectoriser.unknown));
        }
        return nb::make_tuple(copied(pointer), copied(word), copied(value), copied(unknown));
    }

    // The numbers of words, or -1.
    nb::object find(nb::list tokens) const {
        Owned<int64_t> out({tokens.size()});
        table::Bytes room;
        char bucket[16];
        for (size_t k = 0; k < tokens.size(); ++k) {
            Py_ssize_t size;
            nb::object encoded = nb::steal(PyUnicode_AsEncodedString(nb::handle(tokens[k]).ptr(), "utf-8", "surrogatepass"));
            if (!encoded) throw nb::python_error();
            char* text;
            if (PyBytes_AsStringAndSize(encoded.ptr(), &text, &size) != 0) throw nb::python_error();
            room.clear();
            room.append(text, static_cast<size_t>(size));
            Key key(room.data(), static_cast<uint32_t>(size), reader_.seed);
            if (reader_.buckets) key = reader_.bucket_key(key, bucket);
            const uint32_t id = words_.find(key);
            out.data[k] = id == table::NO_WORD ? -1 : static_cast<int64_t>(id);
        }
        return out.to_numpy();
    }

    // The rows of some words, of shape (n, n_classes); of -1, what a word outside the vocabulary adds.
    nb::object rows(Array words) const {
        const std::vector<int64_t> wanted = all<int64_t>(words);
        const size_t k = bias_.size();
        Owned<double> out({wanted.size(), k}, true);
        for (size_t i = 0; i < wanted.size(); ++i) {
            if (wanted[i] >= static_cast<int64_t>(words_.size())) throw std::invalid_argument("a word's number is too large.");
            if (wanted[i] >= 0) std::copy_n(table_.row(static_cast<size_t>(wanted[i])), k, out.data + i * k);
            else if (!others_.empty()) std::copy_n(others_.data(), k, out.data + i * k);
        }
        return out.to_numpy();
    }

private:
    Reader reader_;
    Vocabulary words_;
    LinearRows table_;
    std::vector<double> bias_, others_;
    bool binary_;

    template <typename T>
    static std::vector<T> all(const Array& array) {
        const Column column = column_of(array);
        std::vector<T> out(array.shape(0));
        with_type(column.type, [&](auto zero) {
            const char* cell = column.data;
            for (T& value : out) {
                value = static_cast<T>(*reinterpret_cast<const decltype(zero)*>(cell));
                cell += column.stride;
            }
        });
        return out;
    }

    template <typename T>
    static nb::object copied(const std::vector<T>& values) {
        Owned<T> out({values.size()});
        std::copy(values.begin(), values.end(), out.data);
        return out.to_numpy();
    }

    static void lower(std::atomic<int64_t>& least, int64_t row) {
        int64_t seen = least.load();
        while (row < seen && !least.compare_exchange_weak(seen, row)) {
        }
    }

    void read(const Documents& documents, int64_t i, Vectoriser& vectoriser) const {
        if (reader_.calls_python()) reader_.tokens_from_python(documents.objects[i], vectoriser.tokens);
        else reader_.tokens(documents.texts[i], vectoriser.tokens);
    }

    void build(Vectoriser& vectoriser) const {
        vectoriser.build(reader_, [&](const Key& key) { words_.touch(key); },
                         [&](const Key& key) { return words_.find(key); });
        if (binary_) std::fill(vectoriser.vector.value.begin(), vectoriser.vector.value.end(), 1.0);
    }

    void add(Vectoriser& vectoriser, std::vector<uint32_t>& known, std::vector<double>& sum) const {
        std::fill(sum.begin(), sum.end(), 0.0);
        std::copy(bias_.begin(), bias_.end(), sum.begin());
        if (binary_) {
            build(vectoriser);
            const auto& vector = vectoriser.vector;
            table_.add(vector.word.data(), nullptr, vector.word.size(), sum.data());
            return;
        }
        // Where a word counts each time that it comes, adding its row again is less work than finding out that it came
        // before.
        known.resize(vectoriser.tokens.spans.size());
        size_t used = 0;
        vectoriser.look_up_all(reader_, [&](const Key& key) { words_.touch(key); },
                               [&](const Key& key) { return words_.find(key); },
                               [&](const uint32_t* ids, size_t n) {
                                   for (size_t k = 0; k < n; ++k) {
                                       known[used] = ids[k];
                                       used += ids[k] != table::NO_WORD;
                                   }
                               });
        table_.add(known.data(), nullptr, used, sum.data());
        const double unknown = static_cast<double>(known.size() - used);
        for (size_t c = 0; unknown > 0 && c < others_.size(); ++c) sum[c] += unknown * others_[c];
    }
};

}  // namespace

void bind_token_scorer(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<TokenScorer>(m, "TokenScorer")
        .def(nb::init<const Reader&, Array, Array, Array, Array, Array, Array, Array, Array, Array, std::optional<Array>, bool>(),
             "reader"_a, "bytes"_a, "offsets"_a, "row"_a, "column"_a, "scale"_a, "indptr"_a, "classes"_a, "cells"_a, "bias"_a,
             "others"_a.none(), "binary"_a)
        .def("score", &TokenScorer::score, "documents"_a, "wanted"_a, "fallback"_a, "log_prior"_a, "n_threads"_a)
        .def("vectors", &TokenScorer::vectors, "documents"_a)
        .def("find", &TokenScorer::find, "tokens"_a)
        .def("rows", &TokenScorer::rows, "words"_a);
}

}  // namespace bayeskit::score
