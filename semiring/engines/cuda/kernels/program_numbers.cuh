// Arithmetic of numbers as Python's, for the programs of compiled loops.

#pragma once

#include "types.cuh"

DEVICE bool add_overflows(i64 a, i64 b) {
    const i64 sum = i64(u64(a) + u64(b));
    return ((a ^ sum) & (b ^ sum)) < 0;
}
DEVICE bool subtract_overflows(i64 a, i64 b) {
    const i64 difference = i64(u64(a) - u64(b));
    return ((a ^ b) & (a ^ difference)) < 0;
}
DEVICE bool multiply_overflows(i64 a, i64 b) { return fabs(f64(a) * f64(b)) > 9.0e18; }
DEVICE bool python_isnan(f64 x) { return x != x; }
DEVICE bool python_isfinite(f64 x) { return fabs(x) <= 1.7976931348623157e308; }
DEVICE bool python_isinf(f64 x) { return fabs(x) > 1.7976931348623157e308; }
// isclose: |x - y| <= absolute + relative |y|, both finite.
DEVICE bool within_limits(f64 x, f64 y, f64 relative, f64 absolute) {
    return python_isfinite(x) && python_isfinite(y) && fabs(x - y) <= absolute + __dmul_rn(relative, fabs(y));
}
DEVICE i64 floor_divide(i64 a, i64 b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
DEVICE i64 modulo(i64 a, i64 b) {
    const i64 rest = a % b;
    return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
}
DEVICE f64 floor_divide(f64 a, f64 b) {
    const f64 rest = fmod(a, b);
    f64 quotient = (a - rest) / b;
    if (rest != 0.0 && (b < 0.0) != (rest < 0.0)) quotient -= 1.0;
    if (quotient == 0.0) return copysign(0.0, a / b);
    const f64 below = floor(quotient);
    return quotient - below > 0.5 ? below + 1.0 : below;
}
DEVICE f64 modulo(f64 a, f64 b) {
    const f64 rest = fmod(a, b);
    if (rest == 0.0) return copysign(0.0, b);
    return (b < 0.0) != (rest < 0.0) ? rest + b : rest;
}
