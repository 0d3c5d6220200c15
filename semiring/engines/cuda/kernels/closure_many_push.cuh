// The visitors of a push from many sources (see expand.cuh).
//
// Included by closure_many.cuh after `Many`.

#pragma once

#include "closure_many_rows.cuh"

// Adds the bits of row k that row j lacks, word by word.
struct SpreadWords {
    static constexpr bool APPENDS = true;
    static constexpr bool NEEDS_ROW = true;
    typedef u32 Payload;  // which words of row k are not 0
    const Many& s;
    const u32* frontier;
    u32* next;
    u32* next_present;

    DEVICE u32 payload(i64 k, i64) const {
        u32 nonzero = 0;
        for (int part = 0; part < LANES; part++) {
            const Part bits = load_part(frontier + k * WORDS + part * PART);
#pragma unroll
            for (int i = 0; i < PART; i++) nonzero |= u32(bits.word[i] != 0) << (part * PART + i);
        }
        return nonzero;
    }
    DEVICE bool open(u32 nonzero, i64 k, i64 j, i64) const {
        for (; nonzero; nonzero &= nonzero - 1) {
            const int w = __ffs(int(nonzero)) - 1;
            if (frontier[k * WORDS + w] & ~s.visited[j * WORDS + w]) return true;
        }
        return false;
    }
    // Bits are only set during the pass: an outdated word costs an atomic.
    DEVICE bool visit(u32 nonzero, i64 k, i64 j, i64) const {
        bool added = false;
        for (; nonzero; nonzero &= nonzero - 1) {
            const int w = __ffs(int(nonzero)) - 1;
            const i64 to = j * WORDS + w;
            const u32 bits = frontier[k * WORDS + w] & ~s.visited[to];
            if (bits == 0 || (bits & ~load_relaxed(next + to)) == 0) continue;
            atomicOr(next + to, bits);
            added = true;
        }
        return added && bit_claim(next_present, j);
    }
};

// The same for a row of one or two words, which one atomic updates.
struct SpreadRow {
    static constexpr bool APPENDS = true;
    static constexpr bool NEEDS_ROW = true;
    typedef choose<WORDS == 1, u32, u64> Payload;  // the bits of row k
    const Many& s;
    const u32* frontier;
    u32* next;
    u32* next_present;

    DEVICE Payload payload(i64 k, i64) const { return reinterpret_cast<const Payload*>(frontier)[k]; }
    DEVICE Payload fresh(Payload bits, i64 j) const { return bits & ~reinterpret_cast<const Payload*>(s.visited)[j]; }
    DEVICE bool open(Payload bits, i64, i64 j, i64) const { return fresh(bits, j) != 0; }
    // Bits are only set during the pass: an outdated row costs an atomic.
    DEVICE bool visit(Payload bits, i64, i64 j, i64) const {
        Payload* const to = reinterpret_cast<Payload*>(next) + j;
        const Payload mine = fresh(bits, j);
        if ((mine & ~load_relaxed(to)) == 0) return false;
        atomicOr(to, mine);
        return bit_claim(next_present, j);
    }
};

typedef choose<WORDS <= 2, SpreadRow, SpreadWords> ManySpread;

// A push of one or two words that lists no rows: a pass over all rows finds those that were reached (`enter_unlisted`).
struct SpreadUnlisted {
    static constexpr bool APPENDS = false;
    static constexpr bool NEEDS_ROW = true;
    typedef SpreadRow::Payload Payload;
    const SpreadRow row;

    DEVICE Payload payload(i64 k, i64 place) const { return row.payload(k, place); }
    // Bits are only set during the pass: an outdated row costs an atomic.
    DEVICE bool open(Payload bits, i64, i64 j, i64) const {
        return (row.fresh(bits, j) & ~load_relaxed(reinterpret_cast<const Payload*>(row.next) + j)) != 0;
    }
    DEVICE bool visit(Payload bits, i64, i64 j, i64) const {
        atomicOr(reinterpret_cast<Payload*>(row.next) + j, row.fresh(bits, j));
        return false;
    }
};
