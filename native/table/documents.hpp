// Documents as Python gives them, and the sparse vector of token counts of one of them.
#pragma once
#include <Python.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/column.hpp"
#include "table/tokenise.hpp"
#include "table/vocabulary.hpp"

namespace bayeskit::table {

// A Python string where it lies.
struct Text {
    const void* data;
    size_t length;
    int bytes_per_code;
    bool ascii;

    static Text of(PyObject* object) {
        if (PyUnicode_READY(object) != 0) throw nb::python_error();
        return {PyUnicode_DATA(object), static_cast<size_t>(PyUnicode_GET_LENGTH(object)),
                static_cast<int>(PyUnicode_KIND(object)), PyUnicode_IS_ASCII(object) != 0};
    }
};

// How documents become vectors: the tokeniser, or a Python function; hashing into buckets, or a vocabulary.
struct Reader {
    Tokeniser tokeniser;
    nb::object callable;  // None, or text -> tokens
    uint64_t buckets = 0, seed = 0;

    Reader(int unit, bool punctuation, bool pairs, int min_n, int max_n, bool fold, nb::object function, uint64_t n_buckets,
           uint64_t hash_seed)
        : callable(std::move(function)), buckets(n_buckets), seed(n_buckets ? hash_seed : 0) {
        tokeniser.unit = static_cast<Unit>(unit);
        tokeniser.punctuation = punctuation;
        tokeniser.pairs = pairs;
        tokeniser.min_n = min_n;
        tokeniser.max_n = max_n;
        tokeniser.fold = fold;
    }

    bool calls_python() const { return !callable.is_none(); }

    void tokens(const Text& text, Tokens& out) const {
        switch (text.bytes_per_code) {
            case 1: tokeniser.run(static_cast<const Py_UCS1*>(text.data), text.length, text.ascii, out); break;
            case 2: tokeniser.run(static_cast<const Py_UCS2*>(text.data), text.length, false, out); break;
            default: tokeniser.run(static_cast<const Py_UCS4*>(text.data), text.length, false, out); break;
        }
    }

    // Asks the Python function; the lock must be held.
    void tokens_from_python(PyObject* text, Tokens& out) const {
        out.clear();
        nb::object given_tokens = callable(nb::handle(text));
        for (nb::handle token : given_tokens) {
            if (!PyUnicode_Check(token.ptr()))
                throw nb::type_error(("the tokenizer must give strings; got " +
                                      std::string(Py_TYPE(token.ptr())->tp_name) + ".").c_str());
            const Text read = Text::of(token.ptr());
            const uint32_t begin = out.bytes.size();
            for (size_t i = 0; i < read.length; ++i)
                out.bytes.push_code(PyUnicode_READ(read.bytes_per_code, read.data, i));
            out.end_token(begin, 0, 0);
        }
        if (tokeniser.max_n > 1 || tokeniser.min_n > 1) tokeniser.join(out);
    }

    Key key(const Tokens& tokens, const Span& span) const {
        return Key(tokens.bytes.data() + span.begin, span.end - span.begin, seed);
    }

    // The bucket of a token as a token of its own: from here on buckets are words like any other.
    Key bucket_key(const Key& key, char (&room)[16]) const {
        uint64_t bucket;
#if defined(__SIZEOF_INT128__)
        bucket = static_cast<uint64_t>(static_cast<unsigned __int128>(key.hash) * buckets >> 64);
#else
        _umul128(key.hash, buckets, &bucket);
#endif
        std::memset(room, 0, 16);
        for (int k = 0; k < 8; ++k) room[k] = static_cast<char>(bucket >> (8 * k));
        return Key(room, 8, 0);
    }
};

// The strings of a Python list, kept alive while the lock is given away.
struct Documents {
    nb::object owner;
    std::vector<PyObject*> objects;
    std::vector<Text> texts;

    explicit Documents(nb::list list) : owner(nb::steal(PyList_AsTuple(list.ptr()))) {
        const size_t n = list.size();
        objects.reserve(n);
        texts.reserve(n);
        for (size_t i = 0; i < n; ++i) {
            PyObject* object = PyTuple_GET_ITEM(owner.ptr(), i);
            if (!PyUnicode_Check(object)) throw nb::type_error("documents must be strings.");
            objects.push_back(object);
            texts.push_back(Text::of(object));
        }
    }
    size_t size() const { return texts.size(); }
};

// The words of one document, each once, with how often it stands there.
struct Vector {
    std::vector<uint32_t> word;
    std::vector<double> value;
};

// Builds the vector of one document after the other. Where a word was last seen is kept in an array over the
// vocabulary, so that nothing is sorted or cleared.
class Vectoriser {
public:
    Vector vector;
    Tokens tokens;
    size_t unknown = 0;  // tokens of the last document that are not in the vocabulary

    // Calls use(ids, n) with the numbers of the tokens, some at a time; `look_up(key)` gives the number of a token, or
    // NO_WORD.
    template <typename Touch, typename LookUp, typename Use>
    void look_up_all(const Reader& reader, Touch&& touch, LookUp&& look_up, Use&& use) const {
        constexpr size_t AHEAD = 64;  // keys on their way from memory at once
        Key keys[AHEAD];
        char rooms[AHEAD][16];
        uint32_t ids[AHEAD];
        const std::vector<Span>& spans = tokens.spans;
        for (size_t begin = 0; begin < spans.size(); begin += AHEAD) {
            const size_t n = std::min(AHEAD, spans.size() - begin);
            for (size_t k = 0; k < n; ++k) {
                keys[k] = reader.key(tokens, spans[begin + k]);
                if (reader.buckets) keys[k] = reader.bucket_key(keys[k], rooms[k]);
                touch(keys[k]);
            }
            for (size_t k = 0; k < n; ++k) ids[k] = look_up(keys[k]);
            use(static_cast<const uint32_t*>(ids), n);
        }
    }

    // The vector of the tokens.
    template <typename Touch, typename LookUp>
    void build(const Reader& reader, Touch&& touch, LookUp&& look_up) {
        if (++document_ == 0) {  // after four thousand million documents the numbers begin anew
            seen_.assign(seen_.size(), Seen{});
            document_ = 1;
        }
        vector.word.resize(tokens.spans.size());
        vector.value.resize(tokens.spans.size());
        unknown = 0;
        size_t used = 0;
        look_up_all(reader, touch, look_up, [&](const uint32_t* ids, size_t n) {
            for (size_t k = 0; k < n; ++k) {
                if (ids[k] == NO_WORD) continue;
                if (ids[k] >= seen_.size()) seen_.resize(std::max<size_t>(2 * seen_.size(), ids[k] + 1));
                prefetch(&seen_[ids[k]]);
            }
            for (size_t k = 0; k < n; ++k) {
                if (ids[k] == NO_WORD) {
                    ++unknown;
                    continue;
                }
                // Without a branch: whether a word is new in its document is as good as a coin.
                Seen& seen = seen_[ids[k]];
                const bool fresh = seen.document != document_;
                const uint32_t place = fresh ? static_cast<uint32_t>(used) : seen.place;
                seen = {document_, place};
                vector.word[place] = ids[k];
                vector.value[place] = (fresh ? 0.0 : vector.value[place]) + 1.0;
                used += fresh;
            }
        });
        vector.word.resize(used);
        vector.value.resize(used);
    }

    // The transforms of Rennie et al. (2003), in their order: log(1 + d), times the inverse document frequency, and
    // divided by the length of the vector.
    void transform(bool tf, const double* idf, double idf_of_others, size_t n_idf, bool length) {
        double squares = 0.0;
        for (size_t k = 0; k < vector.word.size(); ++k) {
            double& value = vector.value[k];
            if (tf) value = std::log1p(value);
            if (idf) value *= vector.word[k] < n_idf ? idf[vector.word[k]] : idf_of_others;
            squares += value * value;
        }
        if (length && squares > 0.0) {
            const double factor = 1.0 / std::sqrt(squares);
            for (double& value : vector.value) value *= factor;
        }
    }

private:
    struct Seen {
        uint32_t document = 0, place = 0;
    };
    std::vector<Seen> seen_;
    uint32_t document_ = 0;
};

// A list of words as one array of bytes and where each begins.
inline void load_words(const Array& bytes, const Array& offsets, Vocabulary& vocabulary) {
    if (bytes.ndim() != 1 || type_of(bytes) != Type::u8 || offsets.ndim() != 1 || type_of(offsets) != Type::i64)
        throw std::invalid_argument("words come as bytes and int64 offsets.");
    const auto* text = static_cast<const char*>(bytes.data());
    const auto* at = static_cast<const int64_t*>(offsets.data());
    const size_t n = offsets.shape(0) ? offsets.shape(0) - 1 : 0;
    vocabulary.reserve(vocabulary.size() + n);
    Bytes room;
    for (size_t k = 0; k < n; ++k) {
        if (at[k] < 0 || at[k + 1] < at[k] || at[k + 1] > static_cast<int64_t>(bytes.shape(0)) ||
            at[k + 1] - at[k] > INT32_MAX)
            throw std::invalid_argument("the words' offsets do not rise within their bytes.");
        room.clear();
        room.append(text + at[k], static_cast<size_t>(at[k + 1] - at[k]));
        vocabulary.find_or_add(Key(room.data(), static_cast<uint32_t>(at[k + 1] - at[k]), 0));
    }
}

}  // namespace bayeskit::table
