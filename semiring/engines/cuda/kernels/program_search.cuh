// The extreme entry of each group in a program; each search is a namespace of its own.
//
// The prologue defines KEY and DESCENDING (order_keys.cuh), and PAIRS: an entry bids its sort key of 32 bits with its
// position below it.  Else keys are bid first, then the positions of the entries that have the winning key.  The
// smallest bid wins.

#include "order_keys.cuh"

constexpr u64 NO_BID = ~u64(0);

template <class T>
DEVICE u64 first_bid(T value, i64 i) {
    return PAIRS ? (u64(value_key(value)) << 32) | u64(u32(i)) : u64(value_key(value));
}
// Slots only decrease, so a bid that is not below a possibly outdated slot never wins and needs no atomic.
DEVICE void place_bid(u64* slot, u64 bid) {
    if (load_relaxed(slot) > bid) atomicMin(slot, bid);
}
DEVICE i64 place_of(u64 bid) { return PAIRS ? i64(u32(bid)) : i64(bid); }
