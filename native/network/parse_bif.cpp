// The interchange format BIF: text in, names, states, parents and tables out, or the place of the first fault.
#include <Python.h>

#include <cmath>
#include <string_view>
#include <unordered_map>

#include "base/column.hpp"
#include "kernels.hpp"
#include "network/bif_tokens.hpp"

namespace bayeskit::network {
namespace {

using namespace bif;

using Words = std::unordered_map<std::string_view, uint32_t>;

// A file may ask for more numbers than it holds only by `default` rows; this many more are granted.
constexpr size_t SPARE_NUMBERS = size_t{1} << 22;
// Below this many states a look at each is as fast as a hash.
constexpr size_t FEW_STATES = 16;

struct Variable {
    std::string_view name;
    std::vector<std::string_view> states;
    Words places;  // of states, where they are many
    std::vector<uint32_t> parents;
    size_t first = 0, size = 0;  // its table in `numbers`
    const char* block = nullptr;  // its probability block in the file
    bool has_table = false;
};

class Reader : private Tokens {
  public:
    Reader(const char* begin, const char* end, bool normalise, double tolerance)
        : Tokens(begin, end), normalise_(normalise), tolerance_(tolerance) {}

    std::vector<Variable> variables;
    std::vector<double> numbers;
    std::string_view name;

    void read() {
        for (;;) {
            skip();
            if (at_ == end_) break;
            const char* start = at_;
            const std::string_view word = take_word("'network', 'variable' or 'probability'");
            if (word == "network") read_network();
            else if (word == "variable") read_variable();
            else if (word == "probability") read_probability();
            else throw Fault{start, "expected 'network', 'variable' or 'probability', found " + quoted(word) + "."};
        }
        if (variables.empty()) throw Fault{end_, "the file has no variable; a network needs at least one."};
        for (const Variable& variable : variables)
            if (!variable.has_table)
                throw Fault{variable.name.data(), "variable " + quoted(variable.name) + " has no probability block."};
    }

  private:
    bool normalise_;
    double tolerance_;
    Words places_;

    void read_network() {
        if (!next_is('{')) name = take_word("the network's name");
        need('{');
        while (!take('}')) {
            const char* start = at_;
            const std::string_view word = take_word("'property' or '}'");
            if (word != "property") throw Fault{start, "expected 'property' or '}', found " + quoted(word) + "."};
            skip_property();
        }
    }

    void read_variable() {
        Variable variable;
        variable.name = take_word("the variable's name");
        if (!places_.emplace(variable.name, static_cast<uint32_t>(variables.size())).second)
            throw Fault{variable.name.data(), "variable " + quoted(variable.name) + " appears twice."};
        need('{');
        while (!take('}')) {
            const char* start = at_;
            const std::string_view word = take_word("'type', 'property' or '}'");
            if (word == "property") skip_property();
            else if (word == "type") read_type(variable);
            else throw Fault{start, "expected 'type', 'property' or '}', found " + quoted(word) + "."};
        }
        if (variable.states.empty())
            throw Fault{variable.name.data(), "variable " + quoted(variable.name) + " has no type and states."};
        variables.push_back(std::move(variable));
    }

    void read_type(Variable& variable) {
        skip();
        const char* start = at_;
        const std::string_view kind = take_word("'discrete'");
        if (kind != "discrete") throw Fault{start, "only discrete variables can be read, found " + quoted(kind) + "."};
        if (!variable.states.empty()) throw Fault{start, "the type appears twice."};
        need('[');
        skip();
        const char* count_at = at_;
        const double count = take_number();
        need(']');
        need('{');
        while (!take('}')) {
            skip();
            const std::string_view state = take_word("a state");
            if (place_of(variable, state) >= 0)
                throw Fault{state.data(), "state " + quoted(state) + " of " + quoted(variable.name) + " appears twice."};
            variable.states.push_back(state);
            if (variable.states.size() == FEW_STATES)
                for (size_t k = 0; k < FEW_STATES; ++k) variable.places.emplace(variable.states[k], static_cast<uint32_t>(k));
            else if (variable.states.size() > FEW_STATES)
                variable.places.emplace(state, static_cast<uint32_t>(variable.states.size() - 1));
            take(',');
        }
        take(';');
        if (static_cast<double>(variable.states.size()) != count)
            throw Fault{count_at, "variable " + quoted(variable.name) + " says another number of states than the " +
                                      std::to_string(variable.states.size()) + " that it lists."};
    }

    static int64_t place_of(const Variable& variable, std::string_view state) {
        if (variable.states.size() >= FEW_STATES) {
            const auto place = variable.places.find(state);
            return place == variable.places.end() ? -1 : static_cast<int64_t>(place->second);
        }
        for (size_t k = 0; k < variable.states.size(); ++k)
            if (variable.states[k] == state) return static_cast<int64_t>(k);
        return -1;
    }

    uint32_t take_variable() {
        skip();
        const char* start = at_;
        const std::string_view word = take_word("a variable");
        const auto place = places_.find(word);
        if (place == places_.end())
            throw Fault{start, "variable " + quoted(word) + " is not declared above this line."};
        return place->second;
    }

    void read_probability() {
        skip();
        const char* start = at_;
        need('(');
        const uint32_t child = take_variable();
        Variable& variable = variables[child];
        if (variable.has_table) throw Fault{start, "variable " + quoted(variable.name) + " has two probability blocks."};
        variable.has_table = true;
        variable.block = start;
        if (!take('|')) take(',');
        while (!take(')')) {
            skip();
            const char* parent_at = at_;
            const uint32_t parent = take_variable();
            for (uint32_t known : variable.parents)
                if (known == parent) throw Fault{parent_at, "the parent appears twice."};
            if (parent == child) throw Fault{parent_at, "a variable cannot be its own parent."};
            variable.parents.push_back(parent);
            take(',');
        }
        make_room(variable, start);
        read_rows(variable, start);
    }

    void make_room(Variable& variable, const char* start) {
        const size_t limit = static_cast<size_t>(end_ - begin_) + SPARE_NUMBERS;
        double size = static_cast<double>(variable.states.size());
        for (uint32_t p : variable.parents) size *= static_cast<double>(variables[p].states.size());
        if (static_cast<double>(numbers.size()) + size > static_cast<double>(limit))
            throw Fault{start, "the table of " + quoted(variable.name) + " would need more numbers than the file can hold."};
        variable.first = numbers.size();
        variable.size = static_cast<size_t>(size);
        numbers.resize(variable.first + variable.size);
    }

    void read_numbers(std::vector<double>& row, size_t wanted, const std::string& what) {
        row.clear();
        const char* start = at_;
        while (!take(';')) {
            skip();
            if (row.size() == wanted) throw Fault{at_, what + " has more than " + std::to_string(wanted) + " numbers."};
            const char* number_at = at_;
            const double value = take_number();
            if (!(value >= 0.0) || !std::isfinite(value)) throw Fault{number_at, "a probability is a finite number of 0 or more."};
            row.push_back(value);
            take(',');
        }
        if (row.size() < wanted)
            throw Fault{start, what + " has " + std::to_string(row.size()) + " numbers and needs " + std::to_string(wanted) + "."};
    }

    void read_rows(Variable& variable, const char* start) {
        const size_t card = variable.states.size(), n_rows = variable.size / card;
        double* table = numbers.data() + variable.first;
        std::vector<const char*> places(n_rows, nullptr);  // where each row stands in the file
        std::vector<double> row, rest;
        const char* rest_at = nullptr;
        need('{');
        while (!take('}')) {
            const char* row_at = at_;
            if (take('(')) {
                const size_t r = take_states(variable);
                if (places[r]) throw Fault{row_at, "the row appears twice."};
                read_numbers(row, card, "the row");
                std::copy(row.begin(), row.end(), table + r * card);
                places[r] = row_at;
                continue;
            }
            const std::string_view word = take_word("'table', 'default', '(' or '}'");
            if (word == "property") {
                skip_property();
            } else if (word == "table") {
                read_numbers(row, variable.size, "the table");
                for (size_t r = 0; r < n_rows; ++r) {
                    if (places[r]) throw Fault{row_at, "the row appears twice."};
                    places[r] = row_at;
                    // The child's states change slowest here.
                    for (size_t k = 0; k < card; ++k) table[r * card + k] = row[k * n_rows + r];
                }
            } else if (word == "default") {
                if (rest_at) throw Fault{row_at, "'default' appears twice."};
                read_numbers(rest, card, "the row");
                rest_at = row_at;
            } else {
                throw Fault{row_at, "expected 'table', 'default', '(' or '}', found " + quoted(word) + "."};
            }
        }
        for (size_t r = 0; r < n_rows; ++r) {
            if (!places[r] && !rest_at)
                throw Fault{start, row_words(variable, r) + " is not there."};
            if (!places[r]) std::copy(rest.begin(), rest.end(), table + r * card);
            check_sum(variable, table + r * card, r, places[r] ? places[r] : rest_at);
        }
    }

    size_t take_states(const Variable& variable) {
        size_t r = 0;
        for (size_t k = 0; k < variable.parents.size(); ++k) {
            skip();
            const char* start = at_;
            const Variable& parent = variables[variable.parents[k]];
            const std::string_view state = take_word("a state");
            const int64_t place = place_of(parent, state);
            if (place < 0) throw Fault{start, "variable " + quoted(parent.name) + " has no state " + quoted(state) + "."};
            r = r * parent.states.size() + static_cast<size_t>(place);
            take(',');
        }
        need(')');
        return r;
    }

    std::string row_name(const Variable& variable, size_t r) const {
        std::string text;
        for (size_t k = variable.parents.size(); k-- > 0;) {
            const Variable& parent = variables[variable.parents[k]];
            const std::string part = std::string(parent.name) + "=" + std::string(parent.states[r % parent.states.size()]);
            text = part + (text.empty() ? "" : ", " + text);
            r /= parent.states.size();
        }
        return text;
    }

    std::string row_words(const Variable& variable, size_t r) const {
        const std::string given = row_name(variable, r);
        return given.empty() ? "the table of " + quoted(variable.name)
                             : "the row of " + quoted(variable.name) + " for " + given;
    }

    void check_sum(const Variable& variable, double* row, size_t r, const char* row_at) {
        const size_t card = variable.states.size();
        double sum = 0.0;
        for (size_t k = 0; k < card; ++k) sum += row[k];
        if (normalise_ && sum > 0.0 && std::isfinite(sum)) {
            for (size_t k = 0; k < card; ++k) row[k] /= sum;
            return;
        }
        if (std::fabs(sum - 1.0) <= tolerance_) return;
        char shown[64];
        std::snprintf(shown, sizeof shown, "%.10g, not to 1 within %g", sum, tolerance_);
        throw Fault{row_at, row_words(variable, r) + " sums to " + shown + (normalise_ ? "." : "; correct it or pass normalize=True.")};
    }
};

nb::object text_of(std::string_view text) {
    PyObject* made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict");
    if (!made) throw nb::python_error();
    return nb::steal(made);
}

// Line and column, both from 1, the column in characters.
nb::tuple place_of(const char* begin, const char* at) {
    int64_t line = 1, column = 1;
    for (const char* p = begin; p < at; ++p) {
        if (*p == '\n') { ++line; column = 1; }
        else if ((*p & 0xC0) != 0x80) ++column;
    }
    return nb::make_tuple(line, column);
}

nb::tuple parse_bif(nb::bytes data, bool normalise, double tolerance) {
    const char *begin = data.c_str(), *end = begin + data.size();
    Reader reader(begin, end, normalise, tolerance);
    try {
        reader.read();
    } catch (const Fault& fault) {
        PyObject* message = PyUnicode_DecodeUTF8(fault.message.data(), static_cast<Py_ssize_t>(fault.message.size()), "replace");
        return nb::make_tuple(place_of(begin, fault.at), nb::steal(message));
    }
    nb::list names, states, parents, sizes;
    for (const Variable& variable : reader.variables) {
        names.append(text_of(variable.name));
        nb::object state_names = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(variable.states.size())));
        for (size_t k = 0; k < variable.states.size(); ++k)
            PyTuple_SET_ITEM(state_names.ptr(), static_cast<Py_ssize_t>(k), text_of(variable.states[k]).release().ptr());
        states.append(state_names);
        nb::object above = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(variable.parents.size())));
        for (size_t k = 0; k < variable.parents.size(); ++k)
            PyTuple_SET_ITEM(above.ptr(), static_cast<Py_ssize_t>(k), PyLong_FromUnsignedLong(variable.parents[k]));
        parents.append(above);
        sizes.append(nb::make_tuple(variable.first, variable.size, variable.block - begin));
    }
    Owned<double> numbers({reader.numbers.size()});
    std::copy(reader.numbers.begin(), reader.numbers.end(), numbers.data);
    return nb::make_tuple(names, states, parents, numbers.to_numpy(), sizes);
}

}  // namespace

void bind_parse_bif(nb::module_& m) {
    using namespace nb::literals;
    m.def("parse_bif", &parse_bif, "data"_a, "normalise"_a, "tolerance"_a);
}

}  // namespace bayeskit::network
