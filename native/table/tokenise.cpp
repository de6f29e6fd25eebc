// The tokeniser as Python sees it: one text to its tokens, with the places they came from.
#include <nanobind/stl/string.h>

#include "kernels.hpp"
#include "table/documents.hpp"

namespace bayeskit::table {
namespace {

nb::object to_python(const Tokens& tokens, const Span& span) {
    // A lone surrogate, which Python's strings may hold, stays what it is.
    return nb::steal(PyUnicode_DecodeUTF8(tokens.bytes.data() + span.begin, span.end - span.begin, "surrogatepass"));
}

void read(const Reader& reader, nb::str text, Tokens& tokens) {
    if (reader.calls_python()) reader.tokens_from_python(text.ptr(), tokens);
    else reader.tokens(Text::of(text.ptr()), tokens);
}

nb::list tokens_of(const Reader& reader, nb::str text) {
    Tokens tokens;
    read(reader, text, tokens);
    nb::list out;
    for (const Span& span : tokens.spans) out.append(to_python(tokens, span));
    return out;
}

// (token, begin, end) in the code points of the text; a Python function does not say where its tokens came from.
nb::list spans_of(const Reader& reader, nb::str text) {
    if (reader.calls_python()) throw std::invalid_argument("a function gives tokens without their places.");
    Tokens tokens;
    tokens.with_source = true;
    read(reader, text, tokens);
    nb::list out;
    for (size_t k = 0; k < tokens.spans.size(); ++k)
        out.append(nb::make_tuple(to_python(tokens, tokens.spans[k]), tokens.source[k].begin, tokens.source[k].end));
    return out;
}

}  // namespace

void bind_tokenise(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Reader>(m, "TextReader")
        .def(nb::init<int, bool, bool, int, int, bool, nb::object, uint64_t, uint64_t>(), "unit"_a, "punctuation"_a,
             "pairs"_a, "min_n"_a, "max_n"_a, "fold"_a, "function"_a.none(), "buckets"_a, "seed"_a)
        .def("tokens", &tokens_of, "text"_a)
        .def("spans", &spans_of, "text"_a);
}

}  // namespace bayeskit::table
