// Sort keys: unsigned integers in the order of values, as engines/shared/order.py computes them.
//
// The prologue defines: KEY, u32, or u64 for values of 8 bytes; DESCENDING.  NaN has the largest key, and -0.0 that of 0.0.

#pragma once

#include "warp.cuh"

constexpr KEY LAST_KEY = KEY(~KEY(0));

template <class T>
DEVICE KEY value_key(T value) {
    constexpr KEY SIGN = KEY(1) << (8 * sizeof(KEY) - 1);
    KEY key;
    if constexpr (T(0.5) != T(0) && T(0.5) != T(1)) {  // a float
        if (value != value) return LAST_KEY;
        const KEY bits = from_bits<KEY>(value == T(0) ? T(0) : value);
        key = bits & SIGN ? KEY(~bits) : KEY(bits | SIGN);
    } else if constexpr (T(-1) < T(0)) {
        key = KEY(i64(value)) ^ SIGN;
    } else {
        key = KEY(value);
    }
    return DESCENDING ? KEY(~key) : key;
}
