// Readers of the packed codec: 128 gaps of one bit width a tile; arithmetic is modulo 2^b.

#pragma once

#include "compressed.cuh"

constexpr int PACKED_PADDING = 4;

// The number of words that a tile uses for the column of entry 64.
DEVICE u32 anchor_words(u64 mask) { return mask > 0x7fffffffull ? 2 : 1; }

// The words of one tile.  Offsets are clamped to the last word of the stream.
struct PackedWords {
    const u32* words;
    u32 limit;

    DEVICE PackedWords(const u32* stream, i64 size, i64 begin) {
        const i64 from = u64(begin) < u64(size) ? begin : size - 1;
        const i64 left = size - 1 - from;
        words = stream + from;
        limit = u32(left < 0xffff ? left : 0xffff);  // every tile is much shorter
    }
    DEVICE u32 operator[](u32 k) const { return words[k < limit ? k : limit]; }

    // `width` bits (fewer than UJ has), from bit `bit` after the beginning of word `start`.
    DEVICE UJ bits(u32 start, u32 bit, u32 width) const {
        const u32 k = start + (bit >> 5);
        if constexpr (sizeof(UJ) == 4) {
            return __funnelshift_r((*this)[k], (*this)[k + 1], bit) & ((1u << width) - 1u);
        } else {
            const u32 middle = (*this)[k + 1];
            const u32 low = __funnelshift_r((*this)[k], middle, bit);
            const u32 high = width > 32 ? __funnelshift_r(middle, (*this)[k + 2], bit) : 0u;
            return (u64(high) << 32 | low) & ((u64(1) << width) - 1);
        }
    }
};

// A tile and its decoded header.
struct PackedTile {
    PackedWords words;
    u32 width, exceptions, high;  // w, x and h of the header
    u32 gaps, positions, highs;      // the first word of the gaps, of the exceptions' positions and of their high parts

    DEVICE PackedTile(const u32* stream, i64 size, i64 begin, int count, u64 mask) : words(stream, size, begin) {
        const u32 header = words[0];
        width = header & u32(COLUMN_BITS);  // 31 or 63; larger widths are malformed
        exceptions = header >> 6 & 127u;
        high = header >> 14 & u32(COLUMN_BITS);
        gaps = 1 + (count > 64 ? anchor_words(mask) : 0);
        positions = gaps + u32(count + 31) / 32 * width;
        highs = positions + (exceptions + 3) / 4;
    }

    // The column of entry 64.
    DEVICE UJ middle(u64 mask) const {
        UJ column = words[1];
        if constexpr (sizeof(UJ) == 8) {
            if (anchor_words(mask) == 2) column |= UJ(u64(words[2]) << 32);
        }
        return column;
    }
    // The gap of entry s without the high part of an exception.
    DEVICE UJ gap(u32 s) const { return words.bits(gaps, s * width, width); }
    // Exception e: its entry, and the high part of its gap.
    DEVICE u32 position(u32 e) const { return words[positions + (e >> 2)] >> (8 * (e & 3)) & 127u; }
    DEVICE UJ high_part(u32 e) const { return words.bits(highs, e * high, high) << width; }
    // The number of exceptions at entries 0 to s.
    DEVICE u32 exceptions_to(u32 s) const {
        u32 found = 0;
        // Four positions a word: bit 7 of (128 + s - position) is set if position <= s; no byte borrows from the next.
        const u32 least = (128u + s) * 0x01010101u;
        for (u32 e = 0; e < exceptions; e += 4) {
            const u32 left = exceptions - e;
            const u32 valid = left >= 4 ? 0x80808080u : ((1u << (8 * left)) - 1u) & 0x80808080u;
            const u32 hits = (least - words[positions + (e >> 2)]) & valid;
            found += __popc(hits);
            if (hits != 0x80808080u) break;
        }
        return found;
    }
};

struct PackedColumns {
    const u32* stream;
    const J* base;
    const AT* offsets;
    u64 mask;
    i64 nvals, size;

    DEVICE explicit PackedColumns(const CompressedColumns* from)
        : stream(static_cast<const u32*>(from->stream)), base(from->base), offsets(from->at), mask(from->mask),
          nvals(from->nvals), size(from->size) {}

    DEVICE PackedTile tile(i64 t) const {
        return PackedTile(stream, size, i64(offsets[t]), tile_entries(nvals, t), mask);
    }
    // The sum of the gaps of entries first to last, first > 0.
    static DEVICE UJ sum(const PackedTile& tile, u32 first, u32 last) {
        UJ total = 0;
        if constexpr (sizeof(UJ) == 4) {  // each word is loaded once
            u32 shift = first * tile.width & 31, k = tile.gaps + (first * tile.width >> 5);
            u32 low = tile.words[k], high = tile.words[++k];
            const u32 field = (1u << tile.width) - 1u;
            for (u32 s = first; s <= last; ++s) {
                total += __funnelshift_r(low, high, shift) & field;
                shift += tile.width;
                if (shift >= 32) {
                    shift -= 32;
                    low = high;
                    high = tile.words[++k];
                }
            }
        } else {
            for (u32 s = first; s <= last; ++s) total += tile.gap(s);
        }
        const u32 below = tile.exceptions == 0 ? 0 : tile.exceptions_to(first - 1);
        for (u32 e = below; e < tile.exceptions && tile.position(e) <= last; ++e) total += tile.high_part(e);
        return total;
    }
    // The column of entry s of tile t, from the nearer of the anchors at entries 0 and 64.
    DEVICE UJ column(const PackedTile& opened, i64 t, u32 s) const {
        UJ column;
        if (s <= 32 || tile_entries(nvals, t) <= 64) column = UJ(base[t]) + (s > 0 ? sum(opened, 1, s) : UJ(0));
        else if (s <= 64) column = opened.middle(mask) - (s < 64 ? sum(opened, s + 1, 64) : UJ(0));
        else column = opened.middle(mask) + sum(opened, 65, s);
        return column & UJ(mask);
    }
    DEVICE i64 at(i64, i64 p) const {
        const i64 t = p / TILE_ENTRIES;
        const u32 s = u32(p % TILE_ENTRIES);
        return s == 0 ? i64(base[t]) : i64(column(tile(t), t, s));
    }
};

struct PackedCursor {
    const PackedColumns& columns;
    i64 p;
    UJ here;
    PackedTile tile;
    u32 exception;    // the next exception
    u32 exceptional;  // its entry; 128 after the last exception of the tile

    DEVICE PackedCursor(const PackedColumns& columns, i64, i64 p)
        : columns(columns), p(p), tile(columns.tile(p / TILE_ENTRIES)) {
        const u32 s = u32(p % TILE_ENTRIES);
        here = columns.column(tile, p / TILE_ENTRIES, s);
        exception = tile.exceptions_to(s);
        load_exception();
    }
    DEVICE void load_exception() { exceptional = exception < tile.exceptions ? tile.position(exception) : 128u; }
    DEVICE i64 column() const { return i64(here); }
    DEVICE void next() {
        ++p;
        const u32 s = u32(p % TILE_ENTRIES);
        if (s == 0) {
            if (p >= columns.nvals) return;
            here = UJ(columns.base[p / TILE_ENTRIES]);
            tile = columns.tile(p / TILE_ENTRIES);
            exception = 0;
            load_exception();
            return;
        }
        here += tile.gap(s);
        if (s == exceptional) {
            here += tile.high_part(exception++);
            load_exception();
        }
        here &= UJ(columns.mask);
    }
};

// The gaps of 32 entries: lane i gets the complete gap of entry 32 chunk + i, or 0 past the end of the tile.  Every
// lane of the warp calls.  `exception` is the first exception of the chunk, and becomes that of the next chunk.
DEVICE UJ packed_gaps(const PackedTile& tile, u32 chunk, int count, u32& exception) {
    const u32 s = 32 * chunk + u32(lane_id());
    UJ gap = 0;
    if (s < u32(count) && s != 0) gap = tile.gap(s);
    if (exception < tile.exceptions) {  // lane k decodes the k-th exception; the lane of its entry receives it
        const u32 e = exception + u32(lane_id());
        const u32 position = e < tile.exceptions ? tile.position(e) : 128u;
        const bool mine = position < 32 * chunk + 32;
        const UJ high_part = mine ? tile.high_part(e) : UJ(0);
        const u32 exceptional = warp_or(mine ? 1u << (position & 31) : 0u);
        const UJ more = shuffle(high_part, __popc(exceptional & lanes_below()));
        if (exceptional >> lane_id() & 1u) gap += more;
        exception += u32(__popc(__ballot_sync(FULL_WARP, mine)));
    }
    return gap;
}

// The number of exceptions at entries 0 to s of a tile.  Every lane of the warp calls.
DEVICE u32 warp_exceptions_to(const PackedTile& tile, u32 s) {
    u32 found = 0;
    for (u32 e = u32(lane_id()); e - u32(lane_id()) < tile.exceptions; e += 32)
        found += u32(__popc(__ballot_sync(FULL_WARP, e < tile.exceptions && tile.position(e) <= s)));
    return found;
}

struct PackedWarp {
    const PackedColumns& columns;
    i64 first, last;
    i64 chunk;  // the next 32 entries, numbered over the whole matrix
    PackedTile tile;
    u32 exception;
    UJ before;  // the column of the entry before the chunk
    i64 p, column;
    bool inside;

    DEVICE PackedWarp(const PackedColumns& columns, i64, i64 first, i64 last)
        : columns(columns), first(first), last(last), chunk(first / 32),
          tile(columns.tile(first < last ? first / TILE_ENTRIES : 0)), exception(0), before(0), p(0), column(0),
          inside(false) {
        if (first >= last) return;
        const u32 part = u32(chunk % 4);
        if (part == 0) return;
        // The anchor of entry 64 begins chunk 2; chunks 1 and 3 add the gaps between an anchor and the chunk.
        exception = warp_exceptions_to(tile, 32 * part - 1);
        if (part == 2) {
            before = tile.middle(columns.mask) - gap_of_middle();
        } else {
            u32 from = part == 1 ? 0 : warp_exceptions_to(tile, 63);
            const UJ gaps = packed_gaps(tile, part - 1, 128, from);
            if (part == 1) before = UJ(columns.base[first / TILE_ENTRIES]) + warp_sum(gaps);
            else before = tile.middle(columns.mask) + warp_sum(lane_id() == 0 ? UJ(0) : gaps);
        }
    }
    DEVICE UJ gap_of_middle() const {
        UJ gap = tile.gap(64);
        for (u32 e = exception; e < tile.exceptions && tile.position(e) <= 64; ++e) gap += tile.high_part(e);
        return gap;
    }
    DEVICE bool next() {
        if (32 * chunk >= last) return false;
        const u32 part = u32(chunk % 4);
        const i64 t = chunk / 4;
        if (part == 0) {
            tile = columns.tile(t);
            exception = 0;
            before = UJ(columns.base[t]);
        }
        const UJ gap = packed_gaps(tile, part, tile_entries(columns.nvals, t), exception);
        const UJ here = (before + warp_scan_inclusive(gap)) & UJ(columns.mask);
        before = shuffle(here, 31);
        p = 32 * chunk + lane_id();
        inside = p >= first && p < last;
        column = i64(here);
        ++chunk;
        return true;
    }
};

struct packed {
    static constexpr bool COMPRESSED = true;
    // Whether the first number of each row is a column, so that sums of numbers restart at every row.
    static constexpr bool RESTARTS_AT_ROWS = false;
    static constexpr int ELEMENT_BYTES = 4;
    static constexpr int PADDING = PACKED_PADDING;  // elements
    typedef const CompressedColumns* Argument;
    typedef PackedColumns Columns;
    typedef PackedCursor Cursor;
    typedef PackedWarp Warp;
};
