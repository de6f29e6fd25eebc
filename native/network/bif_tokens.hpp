// The words, signs and numbers of a BIF file, one after the other; comments are skipped.
#pragma once
#include <Python.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace bayeskit::network::bif {

struct Fault {
    const char* at;
    std::string message;
};

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\v'; }

// The signs of the grammar; every other character may stand in a word, since files have states such as <=5 or 1/2.
inline bool is_sign(char c) { return c == '{' || c == '}' || c == '(' || c == ')' || c == '[' || c == ']' || c == ',' || c == ';' || c == '|'; }

inline std::string quoted(std::string_view text) {
    std::string shown(text.substr(0, 40));
    return "'" + shown + (text.size() > 40 ? "…'" : "'");
}

class Tokens {
public:
    Tokens(const char* begin, const char* end) : begin_(begin), at_(begin), end_(end) {}

protected:
    const char *begin_, *at_, *end_;

    void skip() {
        for (;;) {
            while (at_ < end_ && is_space(*at_)) ++at_;
            if (end_ - at_ < 2 || *at_ != '/') return;
            if (at_[1] == '/') {
                const void* stop = std::memchr(at_, '\n', end_ - at_);
                at_ = stop ? static_cast<const char*>(stop) : end_;
            } else if (at_[1] == '*') {
                const std::string_view rest(at_ + 2, end_ - at_ - 2);
                const size_t stop = rest.find("*/");
                if (stop == std::string_view::npos) throw Fault{at_, "the comment is not closed by '*/'."};
                at_ += stop + 4;
            } else {
                return;
            }
        }
    }

    bool next_is(char sign) {
        skip();
        return at_ < end_ && *at_ == sign;
    }

    bool take(char sign) {
        if (!next_is(sign)) return false;
        ++at_;
        return true;
    }

    std::string what_came() {
        if (at_ == end_) return "the end of the file";
        if (is_sign(*at_)) return quoted({at_, 1});
        const char* stop = at_;
        while (stop < end_ && !is_space(*stop) && !is_sign(*stop)) ++stop;
        return quoted({at_, static_cast<size_t>(stop - at_)});
    }

    void need(char sign) {
        if (!take(sign)) throw Fault{at_, "expected '" + std::string(1, sign) + "', found " + what_came() + "."};
    }

    std::string_view take_word(const char* what) {
        skip();
        if (at_ < end_ && *at_ == '"') {
            const char* stop = static_cast<const char*>(std::memchr(at_ + 1, '"', end_ - at_ - 1));
            if (!stop) throw Fault{at_, "the quoted name is not closed."};
            const std::string_view word(at_ + 1, stop - at_ - 1);
            if (word.empty()) throw Fault{at_, "a name must not be empty."};
            at_ = stop + 1;
            return word;
        }
        const char* start = at_;
        while (at_ < end_ && !is_space(*at_) && !is_sign(*at_) && *at_ != '"') ++at_;
        if (at_ == start) throw Fault{at_, std::string("expected ") + what + ", found " + what_came() + "."};
        return {start, static_cast<size_t>(at_ - start)};
    }

    // Free text up to the semicolon.
    void skip_property() {
        const char* start = at_;
        bool inside = false;
        for (; at_ < end_; ++at_) {
            if (*at_ == '"') inside = !inside;
            if (*at_ == ';' && !inside) {
                ++at_;
                return;
            }
        }
        throw Fault{start, "the property is not closed by ';'."};
    }

    // Up to 19 digits and small powers of ten are exact in one multiplication or division (Clinger 1990); the rest
    // goes to Python's own correctly rounded routine.
    double take_number() {
        skip();
        const char* start = at_;
        const char* p = at_;
        bool negative = false;
        if (p < end_ && (*p == '-' || *p == '+')) negative = *p++ == '-';
        uint64_t digits = 0;
        int n_digits = 0, exponent = 0;
        bool any = false;
        for (; p < end_ && *p >= '0' && *p <= '9'; ++p, any = true)
            if (n_digits < 19) { digits = digits * 10 + (*p - '0'); n_digits += digits != 0; } else { n_digits = 20; }
        if (p < end_ && *p == '.') {
            ++p;
            for (; p < end_ && *p >= '0' && *p <= '9'; ++p, any = true)
                if (n_digits < 19) { digits = digits * 10 + (*p - '0'); n_digits += digits != 0; --exponent; } else { n_digits = 20; }
        }
        if (any && p < end_ && (*p == 'e' || *p == 'E')) {
            ++p;
            bool down = false;
            if (p < end_ && (*p == '-' || *p == '+')) down = *p++ == '-';
            if (p == end_ || *p < '0' || *p > '9') any = false;
            int power = 0;
            for (; p < end_ && *p >= '0' && *p <= '9'; ++p) power = power < 10000 ? power * 10 + (*p - '0') : power;
            exponent += down ? -power : power;
        }
        if (!any || (p < end_ && !is_space(*p) && !is_sign(*p))) throw Fault{start, "expected a number, found " + what_came() + "."};
        at_ = p;
        static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
        double value;
        if (digits <= (uint64_t{1} << 53) && n_digits < 20 && exponent >= -22 && exponent <= 22) {
            value = static_cast<double>(digits);
            value = exponent < 0 ? value / POWERS[-exponent] : value * POWERS[exponent];
            return negative ? -value : value;
        }
        const std::string text(start, p);
        value = PyOS_string_to_double(text.c_str(), nullptr, nullptr);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            throw Fault{start, "expected a number, found " + quoted(text) + "."};
        }
        return value;
    }
};

}  // namespace bayeskit::network::bif
