// Text to tokens: words by the Unicode rules, runs of letters and digits, or characters; n-grams of them.
#pragma once
#include <Python.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "table/ascii_masks.hpp"
#include "table/word_break.hpp"

namespace bayeskit::table {

struct Span {
    uint32_t begin, end;
};

// Bytes that may be read up to 16 past their end, so that a short token is loaded at once.
class Bytes {
public:
    Bytes() : data_(SPARE) {}
    void clear() { size_ = 0; }
    uint32_t size() const { return size_; }
    const char* data() const { return data_.data(); }
    char* room(size_t more) {
        if (size_ + more + SPARE > data_.size()) {
            if (size_ + more > UINT32_MAX / 2) throw std::length_error("a document is longer than 2 GB.");
            data_.resize(2 * (size_ + more) + SPARE);
        }
        return data_.data() + size_;
    }
    void rewind(uint32_t size) { size_ = size; }
    void use(size_t more) { size_ += static_cast<uint32_t>(more); }
    void push(char byte) {
        *room(1) = byte;
        ++size_;
    }
    void append(const char* text, size_t n) {
        std::memcpy(room(n), text, n);
        use(n);
    }
    void push_code(uint32_t code) {
        char* out = room(4);
        if (code < 0x80) {
            out[0] = static_cast<char>(code);
            size_ += 1;
        } else if (code < 0x800) {
            out[0] = static_cast<char>(0xC0 | code >> 6);
            out[1] = static_cast<char>(0x80 | (code & 63));
            size_ += 2;
        } else if (code < 0x10000) {
            out[0] = static_cast<char>(0xE0 | code >> 12);
            out[1] = static_cast<char>(0x80 | (code >> 6 & 63));
            out[2] = static_cast<char>(0x80 | (code & 63));
            size_ += 3;
        } else {
            out[0] = static_cast<char>(0xF0 | code >> 18);
            out[1] = static_cast<char>(0x80 | (code >> 12 & 63));
            out[2] = static_cast<char>(0x80 | (code >> 6 & 63));
            out[3] = static_cast<char>(0x80 | (code & 63));
            size_ += 4;
        }
    }

private:
    static constexpr size_t SPARE = 32;
    std::vector<char> data_;
    uint32_t size_ = 0;
};

// The tokens of one document: slices of bytes in UTF-8. Where n-grams are asked for, each is followed by one space, so
// that neighbours make an n-gram as they lie.
struct Tokens {
    Bytes bytes;
    std::vector<Span> spans;
    std::vector<Span> source;  // the code points of the text that each token covers, when asked for
    bool with_source = false;

    void clear() {
        bytes.clear();
        spans.clear();
        source.clear();
    }
    // A token that lies in the bytes as it lay in the text.
    void slice(uint32_t begin, uint32_t end) {
        spans.push_back({begin, end});
        if (with_source) source.push_back({begin, end});
    }
    void end_token(uint32_t begin, size_t first, size_t last) {
        spans.push_back({begin, bytes.size()});
        bytes.push(' ');
        if (with_source) source.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(last)});
    }
};

// One byte per code point, unpacked once from the runs.
inline const uint8_t* break_classes() {
    static std::vector<uint8_t> classes;
    static std::once_flag once;
    std::call_once(once, [] {
        classes.resize(0x110000);
        constexpr size_t n = sizeof(BREAK_RUNS) / sizeof(BREAK_RUNS[0]);
        for (size_t k = 0; k < n; ++k) {
            const size_t end = k + 1 < n ? BREAK_RUNS[k + 1] >> 5 : classes.size();
            std::memset(classes.data() + (BREAK_RUNS[k] >> 5), BREAK_RUNS[k] & 31, end - (BREAK_RUNS[k] >> 5));
        }
    });
    return classes.data();
}

inline uint32_t lower_ascii(uint32_t code) { return code - 'A' < 26u ? code + 32 : code; }

enum class Unit : int { word = 0, run = 1, character = 2 };

struct Tokeniser {
    Unit unit = Unit::word;
    bool punctuation = false;  // words: signs that are no words become tokens too
    bool pairs = true;         // words: ideographs in overlapping pairs, else one by one
    int min_n = 1, max_n = 1;
    bool fold = true;  // A-Z to a-z; letters beyond ASCII are folded before

    template <typename Char>
    void run(const Char* text, size_t n, bool is_ascii, Tokens& out) const {
        out.clear();
        if (unit == Unit::character) {
            characters(text, n, out);
            return;
        }
        const bool single = min_n == 1 && max_n == 1;  // else tokens must lie side by side
        const char* bytes = reinterpret_cast<const char*>(text);
        if (is_ascii && single && unit == Unit::word) ascii<true>(bytes, n, out);
        else if (is_ascii && single) ascii<false>(bytes, n, out);
        else if (unit == Unit::run) runs(text, n, out);
        else words(text, n, out);
        if (!single) join(out);
    }

    // n-grams of neighbouring tokens, which lie side by side with one space between them.
    void join(Tokens& out) const {
        const size_t single = out.spans.size();
        std::vector<Span> spans, source;
        for (int k = min_n; k <= max_n; ++k)
            for (size_t i = 0; i + k <= single; ++i) {
                spans.push_back({out.spans[i].begin, out.spans[i + k - 1].end});
                if (out.with_source) source.push_back({out.source[i].begin, out.source[i + k - 1].end});
            }
        out.spans.swap(spans);
        out.source.swap(source);
    }

private:
    // The rules of `words` and of `runs` for plain ASCII, 64 signs at a time. No mark or format sign can come between;
    // a sign in the middle stays inside its word when letters, or digits, are on both of its sides. The tokens are
    // slices of the text in lower case.
    template <bool rules>
    void ascii(const char* text, size_t n, Tokens& out) const {
        constexpr size_t BLOCK = 64;
        char* lower = out.bytes.room(n + 2 * BLOCK);
        char tail[BLOCK];
        const auto masks_at = [&](size_t at) {
            if (at + BLOCK <= n) return ascii_masks<rules>(text + at, lower + at, fold);
            std::memset(tail, ' ', BLOCK);
            if (at < n) std::memcpy(tail, text + at, n - at);
            return ascii_masks<rules>(tail, lower + at, fold);
        };
        uint32_t begin = 0;
        uint64_t inside = 0, before_letter = 0, before_digit = 0;  // what the last sign of the block before is
        AsciiMasks now = masks_at(0);
        for (size_t at = 0; at < n + 1; at += BLOCK) {
            const AsciiMasks next = rules || at + BLOCK < n + 1 ? masks_at(at + BLOCK) : AsciiMasks{};
            uint64_t in_word = now.letter;
            if constexpr (rules) {
                const auto between = [](uint64_t bits, uint64_t before, uint64_t after) {
                    return (bits << 1 | before) & (bits >> 1 | after << 63);
                };
                in_word |= now.digit | now.line;
                in_word |= now.mid_letter & between(now.letter, before_letter, next.letter & 1);
                in_word |= now.mid_digit & between(now.digit, before_digit, next.digit & 1);
                before_letter = now.letter >> 63;
                before_digit = now.digit >> 63;
            }
            const uint64_t shifted = in_word << 1 | inside;
            const uint32_t base = static_cast<uint32_t>(at);
            const uint64_t alone = rules && punctuation ? ~(in_word | now.space) : 0;
            uint64_t starts = in_word & ~shifted, ends = ~in_word & shifted;
            if (rules && alone) {
                with_signs(lower, base, starts, ends, alone, begin, out);
            } else {
                for (; ends; ends &= ends - 1) {
                    if (!inside) {
                        begin = base + static_cast<uint32_t>(lowest_bit(starts));
                        starts &= starts - 1;
                    }
                    inside = 0;
                    end_ascii(lower, begin, base + static_cast<uint32_t>(lowest_bit(ends)), out);
                }
                if (starts) begin = base + static_cast<uint32_t>(lowest_bit(starts));
            }
            inside = in_word >> 63;
            now = next;
        }
        out.bytes.use(n);
    }

    // Words and signs of one block in the order of the text; a sign that is a token begins and ends at once.
    void with_signs(const char* lower, uint32_t base, uint64_t starts, uint64_t ends, uint64_t alone, uint32_t& begin,
                    Tokens& out) const {
        for (uint64_t all = starts | ends | alone; all; all &= all - 1) {
            const uint64_t lowest = all & (~all + 1);
            const uint32_t position = base + static_cast<uint32_t>(lowest_bit(all));
            if (ends & lowest) end_ascii(lower, begin, position, out);
            if (starts & lowest) begin = position;
            if (alone & lowest) out.slice(position, position + 1);
        }
    }

    void end_ascii(const char* lower, uint32_t begin, uint32_t end, Tokens& out) const {
        if (unit == Unit::run) {
            if (end - begin >= 2) out.slice(begin, end);
            return;
        }
        // Low lines alone are no word.
        if (lower[begin] == '_' && !punctuation) {
            uint32_t at = begin;
            while (at < end && lower[at] == '_') ++at;
            if (at == end) return;
        }
        out.slice(begin, end);
    }

    static bool is_mark(Break b) { return b == Break::extend || b == Break::format || b == Break::joiner; }
    static bool is_letter(Break b) { return b == Break::letter || b == Break::hebrew; }
    // Inside a word the typographic signs are the apostrophe of a keyboard: don’t is don't.
    static bool is_apostrophe(uint32_t code) { return code == 0x2019 || code == 0x2018 || code == 0xFF07; }
    static bool is_wordlike(Break b) { return is_letter(b) || b == Break::number || b == Break::katakana; }

    // WB5, WB8-10, WB13-13b: the two stand in one word.
    static bool joins(Break a, Break b) {
        if (is_letter(a) || a == Break::number) return is_letter(b) || b == Break::number || b == Break::connector;
        if (a == Break::katakana) return b == Break::katakana || b == Break::connector;
        return a == Break::connector && (is_wordlike(b) || b == Break::connector);
    }

    // WB6-7, WB7b-c, WB11-12: the sign in the middle holds both sides together.
    static bool holds(Break a, Break middle, Break b) {
        const bool both = middle == Break::mid_both || middle == Break::single_quote;
        if (is_letter(a) && is_letter(b) && (both || middle == Break::mid_letter)) return true;
        if (a == Break::number && b == Break::number && (both || middle == Break::mid_number)) return true;
        return a == Break::hebrew && b == Break::hebrew && middle == Break::double_quote;
    }

    // Where the segment that begins at i ends, by Unicode Standard Annex #29; `word` says whether it holds a letter or
    // a digit.
    template <typename Char>
    static size_t segment(const Char* text, size_t n, size_t i, const uint8_t* classes, bool& word) {
        const auto kind = [&](size_t at) { return static_cast<Break>(classes[text[at]]); };
        Break last = kind(i);
        word = is_wordlike(last);
        bool paired = false;  // WB15-16: flags go two by two
        size_t j = i + 1;
        for (;;) {
            bool joined = last == Break::joiner;
            for (; j < n && is_mark(kind(j)); ++j) joined = kind(j) == Break::joiner;  // WB4
            if (j == n) return j;
            const Break next = kind(j);
            if (joined && next == Break::pictograph) {  // WB3c
                last = next;
                ++j;
            } else if (joins(last, next)) {
                last = next;
                word = word || is_wordlike(next);
                ++j;
            } else if (last == Break::flag && next == Break::flag && !paired) {
                paired = true;
                ++j;
            } else {
                size_t k = j + 1;
                while (k < n && is_mark(kind(k))) ++k;
                if (k < n && holds(last, next, kind(k))) {
                    last = kind(k);
                    j = k + 1;
                } else if (last == Break::hebrew && next == Break::single_quote) {  // WB7a
                    last = next;
                    ++j;
                } else {
                    return j;
                }
            }
        }
    }

    template <typename Char>
    void write(const Char* text, size_t first, size_t last, const uint8_t* classes, Tokens& out) const {
        for (size_t p = first; p < last; ++p) {
            const uint32_t code = text[p];
            // Soft hyphens, direction marks and the like are not seen by a reader; nor is the style of a pictograph.
            if (static_cast<Break>(classes[code]) == Break::format || code == 0xFE0E || code == 0xFE0F) continue;
            out.bytes.push_code(p > first && is_apostrophe(code) ? '\'' : fold ? lower_ascii(code) : code);
        }
    }

    template <typename Char>
    void words(const Char* text, size_t n, Tokens& out) const {
        const uint8_t* classes = break_classes();
        const auto kind = [&](size_t at) { return static_cast<Break>(classes[text[at]]); };
        std::vector<size_t> line;  // where each ideograph of a run begins, and where the last ends
        size_t i = 0;
        while (i < n) {
            const Break first = kind(i);
            if (first == Break::space) {
                for (++i; i < n && is_mark(kind(i));) ++i;
                continue;
            }
            if (first == Break::ideograph) {
                line.assign(1, i);
                bool word;
                while (i < n && kind(i) == Break::ideograph) line.push_back(i = segment(text, n, i, classes, word));
                const size_t units = line.size() - 1, together = pairs && units > 1 ? 2 : 1;
                for (size_t u = 0; u + together <= units; ++u) put(text, line[u], line[u + together], classes, out);
                continue;
            }
            bool word;
            const size_t end = segment(text, n, i, classes, word);
            if (word || first == Break::pictograph || first == Break::flag || (punctuation && !is_mark(first)))
                put(text, i, end, classes, out);
            i = end;
        }
    }

    template <typename Char>
    void put(const Char* text, size_t first, size_t last, const uint8_t* classes, Tokens& out) const {
        const uint32_t begin = out.bytes.size();
        write(text, first, last, classes, out);
        out.end_token(begin, first, last);
    }

    // Two or more letters, digits and low lines in a row: what the pattern (?u)\b\w\w+\b finds, by Python's own tables.
    template <typename Char>
    void runs(const Char* text, size_t n, Tokens& out) const {
        size_t i = 0;
        while (i < n) {
            if (!in_run(text[i])) {
                ++i;
                continue;
            }
            const size_t first = i;
            const uint32_t begin = out.bytes.size();
            for (; i < n && in_run(text[i]); ++i) out.bytes.push_code(fold ? lower_ascii(text[i]) : text[i]);
            if (i - first >= 2) out.end_token(begin, first, i);
            else out.bytes.rewind(begin);
        }
    }

    static bool in_run(uint32_t code) {
        if (code < 128) return ((code | 32) - 'a' < 26u) || (code - '0' < 10u) || code == '_';
        return Py_UNICODE_ISALNUM(static_cast<Py_UCS4>(code));
    }

    // Every n characters in a row; two or more white spaces are one space, as in scikit-learn's analyzer="char".
    template <typename Char>
    void characters(const Char* text, size_t n, Tokens& out) const {
        std::vector<uint32_t> at;      // where each character begins in the bytes
        std::vector<size_t> position;  // and in the text
        size_t i = 0;
        while (i < n) {
            size_t end = i + 1;
            uint32_t code = fold ? lower_ascii(text[i]) : text[i];
            if (Py_UNICODE_ISSPACE(static_cast<Py_UCS4>(code))) {
                while (end < n && Py_UNICODE_ISSPACE(static_cast<Py_UCS4>(text[end]))) ++end;
                if (end - i >= 2) code = ' ';
            }
            at.push_back(out.bytes.size());
            position.push_back(i);
            out.bytes.push_code(code);
            i = end;
        }
        const size_t length = at.size();
        at.push_back(out.bytes.size());
        position.push_back(n);
        for (int k = min_n; k <= max_n; ++k)
            for (size_t u = 0; u + k <= length; ++u) {
                out.spans.push_back({at[u], at[u + k]});
                if (out.with_source)
                    out.source.push_back({static_cast<uint32_t>(position[u]), static_cast<uint32_t>(position[u + k])});
            }
    }
};

}  // namespace bayeskit::table
