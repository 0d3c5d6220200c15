// Readers of the varint codec: LEB128 numbers; the first number of a row is a column, the others are gaps.

#pragma once

#include "compressed.cuh"

constexpr int VARINT_PADDING = 16;
constexpr u64 TERMINATORS = 0x8080808080808080ull;
constexpr int LONGEST_NUMBER = 9;  // bytes; columns of 31 bits need 5, but encoders may write more

// Concatenates the low 7 bits of each byte.
DEVICE u64 seven_bits(u64 x) {
    x = (x & 0x007f007f007f007full) | (x & 0x7f007f007f007f00ull) >> 1;
    x = (x & 0x00003fff00003fffull) | (x & 0x3fff00003fff0000ull) >> 2;
    return (x & 0x0fffffffull) | (x & 0x0fffffff00000000ull) >> 4;
}
DEVICE u32 seven_bits(u32 x) {
    x = (x & 0x007f007fu) | (x & 0x7f007f00u) >> 1;
    return (x & 0x3fffu) | (x & 0x3fff0000u) >> 2;
}

struct VarintNumber {
    UJ value;
    int bytes;
};

// The bytes of a stream, whose address is a multiple of 16.
struct VarintBytes {
    const u8* stream;
    i64 limit;  // the last position from which 16 bytes can be loaded

    DEVICE VarintBytes(const void* stream, i64 size)
        : stream(static_cast<const u8*>(stream)), limit(size - VARINT_PADDING) {}

    // 8 bytes from a position, by two aligned loads.
    DEVICE u64 eight_bytes(i64 position) const {
        const i64 from = u64(position) < u64(limit) ? position : limit;
        const u64* const word = reinterpret_cast<const u64*>(stream + (from & ~i64(7)));
        const int shift = int(from & 7) * 8;
        return shift == 0 ? word[0] : word[0] >> shift | word[1] << (64 - shift);
    }
    // The number that begins at a position.
    DEVICE VarintNumber number(i64 position) const {
        const u64 bytes = eight_bytes(position);
        const u64 ends = ~bytes & TERMINATORS;
        const int length = ends == 0 ? 9 : __ffsll(i64(ends)) / 8;
        if constexpr (sizeof(UJ) == 4) {
            const u32 low = u32(bytes) & (length < 4 ? (1u << (8 * length)) - 1u : ~0u);
            return {seven_bits(low) | (length > 4 ? u32(bytes >> 32) << 28 : 0u), length};
        } else {
            if (length < 9) return {seven_bits(length < 8 ? bytes & ((1ull << (8 * length)) - 1) : bytes), length};
            return {seven_bits(bytes) | (eight_bytes(position + 8) & 0x7f) << 56, length};
        }
    }
    // The end of the search for `count` numbers from a position: their maximum length, but at most `end`, the end of
    // their tile.  Positions and ends may come from a malformed file; the bound limits the search in any case.
    DEVICE i64 search_end(i64 position, i64 end, int count) const {
        const i64 size = limit + VARINT_PADDING;
        if (u64(position) >= u64(size)) return position;
        const i64 reach = position + i64(LONGEST_NUMBER) * count;
        const i64 stop = reach < end ? reach : end;
        return stop < size ? stop : size;
    }
    // The position after `count` numbers, or a position past `end` if there are fewer.
    DEVICE i64 skip(i64 position, i64 end, int count) const {
        const i64 stop = search_end(position, end, count);
        while (count > 0 && position < stop) {
            u64 ends = ~eight_bytes(position) & TERMINATORS;
            const int found = __popcll(ends);
            if (found < count) {
                count -= found;
                position += 8;
                continue;
            }
            for (; count > 1; --count) ends &= ends - 1;
            return position + __ffsll(i64(ends)) / 8;
        }
        return position;
    }
    // The same by a whole warp, 256 bytes a round; valid in every lane.
    DEVICE i64 warp_skip(i64 position, i64 end, int count) const {
        const i64 stop = search_end(position, end, count);
        while (count > 0 && position < stop) {
            u64 ends = ~eight_bytes(position + 8 * lane_id()) & TERMINATORS;
            const int up_to = warp_scan_inclusive(__popcll(ends)), total = shuffle(up_to, 31);
            if (total < count) {
                count -= total;
                position += 256;
                continue;
            }
            const int owner = __ffs(int(__ballot_sync(FULL_WARP, up_to >= count))) - 1;
            for (int more = count - (up_to - __popcll(ends)); more > 1; --more) ends &= ends - 1;
            return shuffle(position + 8 * lane_id() + __ffsll(i64(ends)) / 8, owner);
        }
        return position;
    }
};

struct VarintColumns {
    VarintBytes bytes;
    const J* base;
    const AT* offsets;

    DEVICE explicit VarintColumns(const CompressedColumns* from)
        : bytes(from->stream, from->size), base(from->base), offsets(from->at) {}

    struct DecodeState {
        i64 position;  // of the number of the next entry, in bytes
        UJ column;     // of the entry before it, or 0 at the beginning of a row
        i64 next;      // the next entry
    };
    // The state before the nearest entry from which entry p can be decoded: the first of its row or of its tile.  With
    // WARP every lane of a warp calls, for the same entry.
    template <bool WARP>
    DEVICE DecodeState start(i64 row_start, i64 p) const {
        const i64 t = p / TILE_ENTRIES, first = TILE_ENTRIES * t;
        const i64 begin = i64(offsets[t]);
        if (row_start >= first) {
            const i64 end = i64(offsets[t + 1]);
            const int numbers = int(row_start - first);
            return {WARP ? bytes.warp_skip(begin, end, numbers) : bytes.skip(begin, end, numbers), UJ(0), row_start};
        }
        return {begin + bytes.number(begin).bytes, UJ(base[t]), first + 1};
    }
    // The state after entry p, whose column it contains.
    DEVICE DecodeState after(i64 row_start, i64 p) const {
        DecodeState state = start<false>(row_start, p);
        for (; state.next <= p; ++state.next) {
            const VarintNumber number = bytes.number(state.position);
            state.column += number.value;
            state.position += number.bytes;
        }
        return state;
    }
    DEVICE i64 at(i64 row_start, i64 p) const { return i64(J(after(row_start, p).column)); }
};

struct VarintCursor {
    const VarintBytes& bytes;
    i64 position;
    UJ here;

    DEVICE VarintCursor(const VarintColumns& columns, i64 row_start, i64 p) : bytes(columns.bytes) {
        const VarintColumns::DecodeState state = columns.after(row_start, p);
        position = state.position;
        here = state.column;
    }
    DEVICE i64 column() const { return i64(J(here)); }
    DEVICE void next() {
        const VarintNumber number = bytes.number(position);
        here += number.value;
        position += number.bytes;
    }
};

struct VarintWarp {
    const VarintBytes& bytes;
    i64 begin, first, last;  // `begin` is the next entry to decode; entries in [first, last) are returned
    i64 position;
    UJ before;
    i64 p, column;
    bool inside;

    DEVICE VarintWarp(const VarintColumns& columns, i64 row_start, i64 first, i64 last)
        : bytes(columns.bytes), begin(last), first(first), last(last), position(0), before(0), p(0), column(0),
          inside(false) {
        if (first >= last) return;
        const VarintColumns::DecodeState state = columns.start<true>(row_start, first);
        position = state.position;
        before = state.column;
        begin = state.next;
        if (begin > first) begin = include_anchor(columns);
    }
    // If `first` begins a tile, its column is the anchor, and decoding starts at its number.
    DEVICE i64 include_anchor(const VarintColumns& columns) {
        const i64 number_begins = i64(columns.offsets[first / TILE_ENTRIES]);
        before -= bytes.number(number_begins).value;
        position = number_begins;
        return first;
    }
    DEVICE bool next() {
        while (begin < last) {
            // 256 bytes, 8 a lane: each lane counts the numbers that end in its bytes; lane i then finds the i-th end.
            const u64 mine = ~bytes.eight_bytes(position + 8 * lane_id()) & TERMINATORS;
            const int ends = __popcll(mine);
            const int up_to = warp_scan_inclusive(ends);
            const int total = shuffle(up_to, 31);
            if (total == 0) return false;  // malformed: no number ends in 256 bytes
            int owner = 0;                 // the first lane whose bytes contain the end of number `lane`
#pragma unroll
            for (int half = 16; half > 0; half /= 2)
                if (shuffle(up_to, owner + half - 1) <= lane_id()) owner += half;
            u64 theirs = shuffle(mine, owner & 31);
            for (int skip = lane_id() - (shuffle(up_to, owner & 31) - __popcll(theirs)); skip > 0; --skip)
                theirs &= theirs - 1;
            const i64 end = position + 8 * owner + (theirs == 0 ? 8 : __ffsll(i64(theirs)) / 8);
            const i64 above = shuffle_up(end, 1);
            const i64 left = last - begin;
            int count = total < 32 ? total : 32;
            if (i64(count) > left) count = int(left);
            const bool taken = lane_id() < count;
            const UJ gap = taken ? bytes.number(lane_id() == 0 ? position : above).value : UJ(0);
            const UJ here = before + warp_scan_inclusive(gap);
            before = shuffle(here, 31);
            position = shuffle(end, count - 1);
            p = begin + lane_id();
            begin += count;
            inside = taken && p >= first;
            column = i64(J(here));
            if (begin > first) return true;
        }
        return false;
    }
};

struct varint {
    static constexpr bool COMPRESSED = true;
    // Whether the first number of each row is a column, so that sums of numbers restart at every row.
    static constexpr bool RESTARTS_AT_ROWS = true;
    static constexpr int ELEMENT_BYTES = 1;
    static constexpr int PADDING = VARINT_PADDING;  // elements
    typedef const CompressedColumns* Argument;
    typedef VarintColumns Columns;
    typedef VarintCursor Cursor;
    typedef VarintWarp Warp;
};
