// scatter: t(index[p]) = u(p).  If an index repeats, one entry wins: without an operator the largest p; with an
// operator the smallest p, and the other entries are combined into it.
//
// NATIVE is the atomic instruction of the operator (atomics.cuh).  Types: U of the values, X of an index array, L of an index list with the p's, W of winners, an unsigned integer
// in which all bits set means no entry yet.

#include "entries.cuh"

// The target of the k-th entry.
DEVICE i64 scatter_target(const L* list, const X* index, i64 start, i64 step, i64 k) {
    return index_at(index, start, step, index_at(list, 0, 1, k));
}

// winners[i] becomes the smallest k, or ~(k + 1) of the largest k, so both cases are a minimum over initially set bits.
// Winners only decrease, so a bid that is not below a possibly outdated winner never wins and needs no atomic.
extern "C" __global__ void scatter_claim(i64 n, const u32* words, const L* list, const X* index, i64 start,
                                         i64 step, W* winners) {
    for (i64 k = thread_id(); k < n; k += thread_count()) {
        if (!is_present(words, k)) continue;
        W* const winner = winners + scatter_target(list, index, start, step, k);
        const W bid = COMBINED ? W(k) : W(~W(k + 1));
        if (load_relaxed(winner) > bid) atomicMin(winner, bid);
    }
}

// Writes presence and the values of the winners.
extern "C" __global__ void scatter_settle(i64 size, const W* winners, const U* values, U iso,
                                          u32* out_words, U* out_values, i64* count) {
    add_count(count, write_bits(size, out_words, [=](i64 i) {
        const W winner = winners[i];
        if (winner == W(~W(0))) return false;
        if (out_values != nullptr) out_values[i] = value_at(values, iso, i64(COMBINED ? winner : W(~winner - 1)));
        return true;
    }));
}

// Combines all entries but the winners into the output; the operator is commutative and associative.
extern "C" __global__ void scatter_combine(i64 n, const u32* words, const L* list, const X* index, i64 start,
                                           i64 step, const W* winners, const U* values, U iso, U* out) {
    for (i64 k = thread_id(); k < n; k += thread_count()) {
        if (!is_present(words, k)) continue;
        const i64 i = scatter_target(list, index, start, step, k);
        if (winners[i] == W(k)) continue;
        const U mine = value_at(values, iso, k);
        atomic_combine_shared<NATIVE>(out + i, mine, [](U before, U other) { return cast<U>(dup(before, other)); });
    }
}
