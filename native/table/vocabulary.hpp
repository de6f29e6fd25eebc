// A growing vocabulary: each token gets a number in order of first appearance.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>
#if defined(_MSC_VER)
#include <intrin.h>
#endif

#include "base/column.hpp"

namespace bayeskit::table {

constexpr uint32_t NO_WORD = 0xFFFFFFFFu;

inline void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

// The 128-bit product of two numbers, folded to 64 bits: every bit of the result depends on all bits of both.
BAYESKIT_INLINE uint64_t mix(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#else
    uint64_t high;
    const uint64_t low = _umul128(a, b, &high);
    return low ^ high;
#endif
}

// Which bits of the first sixteen bytes belong to a token of 0, 1, … 16 bytes.
constexpr uint64_t first_bytes(int n) { return n <= 0 ? 0 : n >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * n)) - 1; }
constexpr uint64_t KEPT[17][2] = {
    {first_bytes(0), 0},  {first_bytes(1), 0},  {first_bytes(2), 0},  {first_bytes(3), 0},  {first_bytes(4), 0},
    {first_bytes(5), 0},  {first_bytes(6), 0},  {first_bytes(7), 0},  {~uint64_t{0}, 0},    {~uint64_t{0}, first_bytes(1)},
    {~uint64_t{0}, first_bytes(2)}, {~uint64_t{0}, first_bytes(3)}, {~uint64_t{0}, first_bytes(4)},
    {~uint64_t{0}, first_bytes(5)}, {~uint64_t{0}, first_bytes(6)}, {~uint64_t{0}, first_bytes(7)},
    {~uint64_t{0}, ~uint64_t{0}},
};

// A token ready to be looked up: its first sixteen bytes, its length and its hash. Equal on every machine for equal
// bytes and seed, so that hashed models can be moved and merged.
struct Key {
    uint64_t head[2];
    uint64_t hash;
    const char* bytes;
    uint32_t length;

    // At least 16 bytes from `text` on may be read, whatever the length.
    Key() = default;
    Key(const char* text, uint32_t n, uint64_t seed) : bytes(text), length(n) {
        std::memcpy(head, text, 16);
        // Lengths come in no order that a branch could learn.
        const uint64_t* kept = KEPT[n < 16 ? n : 16];
        head[0] &= kept[0];
        head[1] &= kept[1];
        hash = mix(head[0] ^ 0x9E3779B97F4A7C15ull ^ seed, head[1] ^ 0xD1B54A32D192ED03ull ^ n);
        for (uint32_t at = 16; at < n; at += 16) {
            uint64_t part[2] = {0, 0};
            std::memcpy(part, text + at, n - at < 16 ? n - at : 16);
            hash = mix(part[0] ^ hash, part[1] ^ 0x8CB92BA72F3D8DD7ull);
        }
        hash = mix(hash, 0xA0761D6478BD642Full);
    }
};

class Vocabulary {
public:
    Vocabulary() : slots_(64), offsets_(1, 0) {}

    uint32_t size() const { return static_cast<uint32_t>(offsets_.size() - 1); }
    const std::vector<char>& bytes() const { return bytes_; }
    const std::vector<int64_t>& offsets() const { return offsets_; }

    void touch(const Key& key) const { prefetch(&slots_[key.hash & (slots_.size() - 1)]); }

    uint32_t find(const Key& key) const {
        const size_t mask = slots_.size() - 1;
        for (size_t s = key.hash & mask;; s = (s + 1) & mask) {
            const Slot& slot = slots_[s];
            if (slot.id == NO_WORD || same(slot, key)) return slot.id;
        }
    }

    uint32_t find_or_add(const Key& key) {
        const size_t mask = slots_.size() - 1;
        size_t s = key.hash & mask;
        for (; slots_[s].id != NO_WORD; s = (s + 1) & mask)
            if (same(slots_[s], key)) return slots_[s].id;
        const uint32_t id = size();
        slots_[s] = {{key.head[0], key.head[1]}, static_cast<uint32_t>(key.hash), key.length, id};
        bytes_.insert(bytes_.end(), key.bytes, key.bytes + key.length);
        offsets_.push_back(static_cast<int64_t>(bytes_.size()));
        if (5 * static_cast<size_t>(id) > 3 * slots_.size()) grow();
        return id;
    }

    void reserve(size_t n) {
        size_t wanted = slots_.size();
        while (5 * n > 3 * wanted) wanted *= 2;
        if (wanted > slots_.size()) rebuild(wanted);
    }

private:
    // Short tokens are compared where they are found, without a look at their bytes elsewhere.
    struct Slot {
        uint64_t head[2] = {0, 0};
        uint32_t hash = 0;
        uint32_t length = 0;
        uint32_t id = NO_WORD;
    };
    LargeVector<Slot> slots_;
    std::vector<char> bytes_;
    std::vector<int64_t> offsets_;

    bool same(const Slot& slot, const Key& key) const {
        return slot.head[0] == key.head[0] && slot.head[1] == key.head[1] && slot.length == key.length &&
               (key.length <= 16 ||
                (slot.hash == static_cast<uint32_t>(key.hash) &&
                 std::memcmp(bytes_.data() + offsets_[slot.id] + 16, key.bytes + 16, key.length - 16) == 0));
    }
    void grow() { rebuild(2 * slots_.size()); }
    void rebuild(size_t n_slots) {
        // 32 bits of the hash find the slot: there are fewer slots than 2 to the power of 32.
        LargeVector<Slot> wider(n_slots);
        const size_t mask = wider.size() - 1;
        for (const Slot& slot : slots_) {
            if (slot.id == NO_WORD) continue;
            size_t s = slot.hash & mask;
            while (wider[s].id != NO_WORD) s = (s + 1) & mask;
            wider[s] = slot;
        }
        slots_.swap(wider);
    }
};

}  // namespace bayeskit::table
