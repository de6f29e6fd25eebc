// What each of 64 signs of ASCII is to the word rules, as bits.
#pragma once
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/bits.hpp"

namespace bayeskit::table {

// Letters and digits, and the signs that matter where the word rules ask for them.
struct AsciiMasks {
    uint64_t letter = 0, digit = 0, line = 0, mid_letter = 0, mid_digit = 0, space = 0;
};

// Reads 64 bytes and writes them in lower case where `fold` is set. Without `rules`, `letter` holds all that
// (?u)\w would match, and nothing else is told.
#if defined(__SSE2__)
template <bool rules>
inline AsciiMasks ascii_masks(const char* text, char* lower, bool fold) {
    AsciiMasks masks;
    const auto is = [](__m128i signs, char sign) { return _mm_cmpeq_epi8(signs, _mm_set1_epi8(sign)); };
    const __m128i folding = _mm_set1_epi8(fold ? 32 : 0);
    for (int part = 0; part < 4; ++part) {
        const __m128i signs = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * part));
        const auto bits = [&](__m128i mask) {
            return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(mask))) << (16 * part);
        };
        const __m128i small = _mm_or_si128(signs, _mm_set1_epi8(32));
        const __m128i letter = _mm_and_si128(_mm_cmpgt_epi8(small, _mm_set1_epi8('a' - 1)),
                                             _mm_cmpgt_epi8(_mm_set1_epi8('z' + 1), small));
        const __m128i digit = _mm_and_si128(_mm_cmpgt_epi8(signs, _mm_set1_epi8('0' - 1)),
                                            _mm_cmpgt_epi8(_mm_set1_epi8('9' + 1), signs));
        if constexpr (rules) {
            const __m128i both = _mm_or_si128(is(signs, '.'), is(signs, '\''));
            masks.letter |= bits(letter);
            masks.digit |= bits(digit);
            masks.line |= bits(is(signs, '_'));
            masks.mid_letter |= bits(_mm_or_si128(both, is(signs, ':')));
            masks.mid_digit |= bits(_mm_or_si128(both, _mm_or_si128(is(signs, ','), is(signs, ';'))));
            masks.space |= bits(_mm_or_si128(_mm_cmpgt_epi8(_mm_set1_epi8(33), signs), is(signs, 127)));
        } else {
            masks.letter |= bits(_mm_or_si128(_mm_or_si128(letter, digit), is(signs, '_')));
        }
        _mm_storeu_si128(reinterpret_cast<__m128i*>(lower + 16 * part), _mm_or_si128(signs, _mm_and_si128(letter, folding)));
    }
    return masks;
}
#else
template <bool rules>
inline AsciiMasks ascii_masks(const char* text, char* lower, bool fold) {
    AsciiMasks masks;
    for (int k = 0; k < 64; ++k) {
        const char sign = text[k], small = static_cast<char>(sign | 32);
        const uint64_t bit = uint64_t{1} << k;
        const bool letter = small >= 'a' && small <= 'z', both = sign == '.' || sign == '\'';
        const bool digit = sign >= '0' && sign <= '9';
        lower[k] = fold && letter ? small : sign;
        if constexpr (rules) {
            if (letter) masks.letter |= bit;
            if (digit) masks.digit |= bit;
            if (sign == '_') masks.line |= bit;
            if (both || sign == ':') masks.mid_letter |= bit;
            if (both || sign == ',' || sign == ';') masks.mid_digit |= bit;
            if (sign <= 32 || sign == 127) masks.space |= bit;
        } else if (letter || digit || sign == '_') {
            masks.letter |= bit;
        }
    }
    return masks;
}
#endif

}  // namespace bayeskit::table
