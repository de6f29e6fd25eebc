// Strings to codes: each cell becomes the number of its distinct string, in order of first appearance.
#include <Python.h>

#include <cstring>
#include <string_view>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "kernels.hpp"

namespace bayeskit::table {
namespace {

constexpr uint32_t NONE = 0xFFFFFFFFu;

// Up to eight bytes as one number; loads that overlap are cheaper than a copy of unknown length.
inline uint64_t short_word(const char* text, size_t size) {
    if (size >= 4) {
        uint32_t low, high;
        std::memcpy(&low, text, 4);
        std::memcpy(&high, text + size - 4, 4);
        return low | static_cast<uint64_t>(high) << (8 * (size - 4));
    }
    uint64_t word = 0;
    for (size_t k = 0; k < size; ++k) word |= static_cast<uint64_t>(static_cast<uint8_t>(text[k])) << (8 * k);
    return word;
}

// FNV-1a over eight bytes at a time, with a final mix: short strings are what we meet.
inline uint64_t hash_bytes(const char* text, size_t size) {
    uint64_t h = 0xcbf29ce484222325ull ^ (size * 0x9E3779B97F4A7C15ull);
    while (size >= 8) {
        uint64_t word;
        std::memcpy(&word, text, 8);
        h = (h ^ word) * 0x100000001b3ull;
        h ^= h >> 29;
        text += 8;
        size -= 8;
    }
    h = (h ^ short_word(text, size)) * 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 32);
}

// Open addressing from a hash to a number; `same(id)` compares the candidate with what is looked for.
struct Index {
    std::vector<uint32_t> slots = std::vector<uint32_t>(64, NONE);
    std::vector<uint64_t> hashes;
    template <typename Same>
    uint32_t find_or_add(uint64_t hash, bool& added, Same&& same) {
        const size_t mask = slots.size() - 1;
        for (size_t s = hash & mask;; s = (s + 1) & mask) {
            const uint32_t id = slots[s];
            if (id == NONE) {
                const uint32_t fresh = static_cast<uint32_t>(hashes.size());
                slots[s] = fresh;
                hashes.push_back(hash);
                added = true;
                if (2 * hashes.size() > slots.size()) grow();
                return fresh;
            }
            if (hashes[id] == hash && same(id)) return id;
        }
    }
    void grow() {
        std::vector<uint32_t> wider(slots.size() * 4, NONE);
        const size_t mask = wider.size() - 1;
        for (uint32_t id = 0; id < hashes.size(); ++id) {
            size_t s = hashes[id] & mask;
            while (wider[s] != NONE) s = (s + 1) & mask;
            wider[s] = id;
        }
        slots.swap(wider);
    }
};

bool is_ascii(PyObject* object) { return PyUnicode_CheckExact(object) && PyUnicode_IS_COMPACT_ASCII(object); }

// Whether two strings of plain letters are equal, without asking Python.
bool same_ascii(PyObject* a, PyObject* b) {
    const Py_ssize_t size = PyUnicode_GET_LENGTH(a);
    return size == PyUnicode_GET_LENGTH(b) && std::memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), static_cast<size_t>(size)) == 0;
}

// Python objects. Most cells point to an object met before, so the pointer is looked up first and the text only when
// it is new. `missing` holds the objects that stand for a missing cell besides None and NaN.
nb::tuple encode_objects(nb::object array, nb::list missing) {
    Py_buffer view;
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) throw nb::python_error();
    struct Release {
        Py_buffer* view;
        ~Release() { PyBuffer_Release(view); }
    } release{&view};
    if (view.ndim != 1 || !view.format || std::strcmp(view.format, "O") != 0)
        throw std::invalid_argument("a column of objects must be a 1-D object array.");
    const int64_t n = view.shape[0], stride = view.strides[0];
    std::vector<PyObject*> absent;
    for (nb::handle item : missing) absent.push_back(item.ptr());

    constexpr size_t CACHE = 4096;  // a direct-mapped memory of pointers
    std::vector<PyObject*> known(CACHE, nullptr);
    std::vector<uint32_t> known_code(CACHE);
    Index index;
    nb::list levels;
    Owned<uint32_t> codes({static_cast<size_t>(n)});
    const char* cell = static_cast<const char*>(view.buf);
    constexpr int64_t AHEAD = 16;  // objects lie anywhere in memory, and are asked for before they are read
    for (int64_t i = 0; i < n; ++i, cell += stride) {
        PyObject* object = *reinterpret_cast<PyObject* const*>(cell);
        if (i + AHEAD < n) fetch_line(*reinterpret_cast<const uintptr_t*>(cell + AHEAD * stride));
        const size_t slot = (reinterpret_cast<uintptr_t>(object) * 0x9E3779B97F4A7C15ull) >> 52;
        if (known[slot] == object && object) {
            codes.data[i] = known_code[slot];
            continue;
        }
        uint32_t code;
        const bool gap = !object || object == Py_None ||
                         (!PyUnicode_CheckExact(object) &&
                          ((PyFloat_Check(object) && PyFloat_AS_DOUBLE(object) != PyFloat_AS_DOUBLE(object)) ||
                           std::find(absent.begin(), absent.end(), object) != absent.end()));
        if (gap) {
            code = MISSING<uint32_t>;
        } else {
            const Py_hash_t hash = PyObject_Hash(object);
            if (hash == -1) throw nb::python_error();
            bool added = false;
            const uint64_t mixed = static_cast<uint64_t>(hash) * 0x9E3779B97F4A7C15ull;
            code = index.find_or_add(mixed ^ (mixed >> 32), added, [&](uint32_t id) {
                PyObject* level = PyList_GET_ITEM(levels.ptr(), id);
                if (level == object) return true;
                if (Py_TYPE(level) != Py_TYPE(object)) return false;
                if (is_ascii(level) && is_ascii(object)) return same_ascii(level, object);
                const int equal = PyObject_RichCompareBool(level, object, Py_EQ);
                if (equal < 0) throw nb::python_error();
                return equal == 1;
            });
            if (added) levels.append(nb::handle(object));
        }
        known[slot] = object;
        known_code[slot] = code;
        codes.data[i] = code;
    }
    return nb::make_tuple(codes.to_numpy(), levels);
}

// The Arrow C data interface, as its specification lays it out.
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};
struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

inline bool is_valid(const uint8_t* bits, int64_t i) { return !bits || (bits[i >> 3] >> (i & 7) & 1); }

// Arrow strings in any of the three layouts: 32-bit offsets, 64-bit offsets, views.
struct ArrowStrings {
    Index index;
    std::vector<std::string> texts;
    std::vector<uint64_t> words;  // the first eight bytes of each text
    std::vector<uint32_t> codes;

    uint32_t code_of(std::string_view text) {
        bool added = false;
        const uint64_t word = short_word(text.data(), std::min<size_t>(text.size(), 8));
        const uint32_t id = index.find_or_add(hash_bytes(text.data(), text.size()), added, [&](uint32_t k) {
            return words[k] == word && texts[k].size() == text.size() && (text.size() <= 8 || texts[k] == text);
        });
        if (added) {
            texts.emplace_back(text);
            words.push_back(word);
        }
        return id;
    }

    template <typename Text>
    void add(const ArrowArray& array, Text&& text_of) {
        const auto* valid = static_cast<const uint8_t*>(array.buffers[0]);
        if (array.null_count == 0) valid = nullptr;
        for (int64_t i = array.offset; i < array.offset + array.length; ++i)
            codes.push_back(is_valid(valid, i) ? code_of(text_of(i)) : MISSING<uint32_t>);
    }

    template <typename Offset>
    void add_offsets(const ArrowArray& array) {
        const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
        const auto* bytes = static_cast<const char*>(array.buffers[2]);
        add(array, [&](int64_t i) { return std::string_view(bytes + offsets[i], offsets[i + 1] - offsets[i]); });
    }

    void add_views(const ArrowArray& array) {
        const auto* views = static_cast<const char*>(array.buffers[1]);
        add(array, [&](int64_t i) {
            const char* view = views + 16 * i;
            int32_t size, buffer, offset;
            std::memcpy(&size, view, 4);
            if (size <= 12) return std::string_view(view + 4, size);
            std::memcpy(&buffer, view + 8, 4);
            std::memcpy(&offset, view + 12, 4);
            return std::string_view(static_cast<const char*>(array.buffers[2 + buffer]) + offset, size);
        });
    }
};

// A capsule of an Arrow stream whose arrays are strings.
nb::tuple encode_arrow(nb::object capsule) {
    auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (!stream) throw nb::python_error();
    ArrowSchema schema{};
    if (stream->get_schema(stream, &schema) != 0) throw std::runtime_error("the Arrow stream gave no schema.");
    const std::string format = schema.format;
    schema.release(&schema);
    if (format != "u" && format != "U" && format != "vu")
        throw std::invalid_argument("expected Arrow strings, got the format '" + format + "'.");
    ArrowStrings strings;
    {
        nb::gil_scoped_release release;
        for (;;) {
            ArrowArray array{};
            if (stream->get_next(stream, &array) != 0) throw std::runtime_error("the Arrow stream broke off.");
            if (!array.release) break;
            strings.codes.reserve(strings.codes.size() + array.length);
            if (format == "u") strings.add_offsets<int32_t>(array);
            else if (format == "U") strings.add_offsets<int64_t>(array);
            else strings.add_views(array);
            array.release(&array);
        }
    }
    nb::list levels;
    for (const std::string& text : strings.texts)
        levels.append(nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
    Owned<uint32_t> codes({strings.codes.size()});
    std::copy(strings.codes.begin(), strings.codes.end(), codes.data);
    return nb::make_tuple(codes.to_numpy(), levels);
}

// A contiguous 1-D array of fixed-width UCS-4 text ('<U7'), given as its bytes.
nb::tuple encode_fixed(Array bytes, int64_t width) {
    if (bytes.ndim() != 2 || type_of(bytes) != Type::u8 || bytes.stride(1) != 1 ||
        static_cast<int64_t>(bytes.shape(1)) != width)
        throw std::invalid_argument("fixed-width text comes as a 2-D array of bytes.");
    const int64_t n = static_cast<int64_t>(bytes.shape(0)), stride = bytes.stride(0);
    const char* data = static_cast<const char*>(bytes.data());
    Index index;
    std::vector<const char*> texts;
    Owned<uint32_t> codes({static_cast<size_t>(n)});
    {
        nb::gil_scoped_release release;
        for (int64_t i = 0; i < n; ++i) {
            const char* text = data + i * stride;
            bool added = false;
            codes.data[i] = index.find_or_add(hash_bytes(text, width), added, [&](uint32_t k) {
                return std::memcmp(texts[k], text, width) == 0;
            });
            if (added) texts.push_back(text);
        }
    }
    Owned<int64_t> rows({texts.size()});
    for (size_t k = 0; k < texts.size(); ++k) rows.data[k] = (texts[k] - data) / (stride ? stride : 1);
    return nb::make_tuple(codes.to_numpy(), rows.to_numpy());
}

}  // namespace

void bind_encode_strings(nb::module_& m) {
    using namespace nb::literals;
    m.def("encode_objects", &encode_objects, "column"_a, "missing"_a);
    m.def("encode_arrow", &encode_arrow, "stream"_a);
    m.def("encode_fixed", &encode_fixed, "bytes"_a, "width"_a);
}

}  // namespace bayeskit::table
