// The functions that operator expressions may call (operators/vocabulary.py defines them).
// Generated operator functions are in this namespace too, so `min`, `abs` and `pow` name these functions and not
// the compiler's.  Arguments are computed in their common type, as C++ promotes them (bool as int).  The functions
// of math.h compute in float if all arguments are float, else in double.  complex_functions.cuh defines those on complex
// numbers; division and choice, here, accept both.

#pragma once

#include "types.cuh"

namespace op {

template <class A>
using counted = choose<is_bool<A>, int, A>;
template <class A, class B>
using common = joined<A, B>;
template <class A, class B = A>
using floating = typename complex_type<is_complex<A> || is_complex<B>,
                                       choose<is_same<part<A>, f32> && is_same<part<B>, f32>, f32, f64>>::type;
template <class A, class B>
using chosen = choose<is_bool<A> && is_bool<B>, bool, common<A, B>>;

template <class A, class B>
DEVICE common<A, B> min(A a, B b) {
    typedef common<A, B> T;
    if constexpr (is_same<T, f32>) return ::fminf(a, b);
    else if constexpr (is_same<T, f64>) return ::fmin(T(a), T(b));
    else return T(a) < T(b) ? T(a) : T(b);
}
template <class A, class B>
DEVICE common<A, B> max(A a, B b) {
    typedef common<A, B> T;
    if constexpr (is_same<T, f32>) return ::fmaxf(a, b);
    else if constexpr (is_same<T, f64>) return ::fmax(T(a), T(b));
    else return T(a) > T(b) ? T(a) : T(b);
}
template <class C, class A, class B>
DEVICE chosen<A, B> select(C c, A a, B b) {
    return c != C(0) ? cast<chosen<A, B>>(a) : cast<chosen<A, B>>(b);
}
template <class A, class B>
DEVICE bool land(A a, B b) {
    return (a != A(0)) & (b != B(0));
}
template <class A, class B>
DEVICE bool lor(A a, B b) {
    return (a != A(0)) | (b != B(0));
}
template <class A, class B>
DEVICE bool lxor(A a, B b) {
    return (a != A(0)) != (b != B(0));
}
template <class A, class B>
DEVICE bool lxnor(A a, B b) {
    return (a != A(0)) == (b != B(0));
}
template <class A>
DEVICE bool lnot(A a) {
    return a == A(0);
}

// a + b, a - b and a * b in the type that C++ computes them in, but integers wrap.
#define WRAPPED(name, operation)                                                    \
    template <class A, class B>                                                     \
    DEVICE auto name(A a, B b) {                                                    \
        typedef decltype(a operation b) T;                                          \
        if constexpr (is_integer<T>) {                                              \
            typedef unsigned_of<sizeof(T)> U;                                       \
            return T(U(a) operation U(b));                                          \
        } else return a operation b;                                                \
    }
WRAPPED(wrapped_add, +)
WRAPPED(wrapped_sub, -)
WRAPPED(wrapped_mul, *)
#undef WRAPPED

// -a, but integers wrap.
template <class A>
DEVICE auto negated(A a) {
    typedef decltype(-a) T;
    if constexpr (is_integer<T>) return T(unsigned_of<sizeof(T)>(0) - unsigned_of<sizeof(T)>(a));
    else return -a;
}

template <class A, class B>
DEVICE common<A, B> div(A a, B b) {
    typedef common<A, B> T;
    const T x = cast<T>(a), y = cast<T>(b);
    if constexpr (is_float<T> || is_complex<T>) {
        return x / y;
    } else {
        if (y == T(0)) return x == T(0) ? T(0) : x > T(0) ? highest<T>() : lowest<T>();
        if constexpr (is_signed<T>) {
            if (y == T(-1)) return negated(x);
        }
        return T(x / y);
    }
}
template <class A>
DEVICE counted<A> minv(A a) {
    return div(A(1), a);
}
template <class A, class B>
DEVICE floating<A, B> truediv(A a, B b) {
    typedef floating<A, B> T;
    return cast<T>(a) / cast<T>(b);
}
template <class A, class B>
DEVICE common<A, B> floordiv(A a, B b) {
    typedef common<A, B> T;
    const T x = a, y = b;
    if constexpr (is_same<T, f32>) return ::floorf(x / y);
    else if constexpr (is_same<T, f64>) return ::floor(x / y);
    else {
        const T quotient = div(x, y);
        if constexpr (is_signed<T>) {
            if (y != T(0) && y != T(-1) && x % y != 0 && (x < T(0)) != (y < T(0))) return T(quotient - T(1));
        }
        return quotient;
    }
}
template <class A, class B>
DEVICE common<A, B> fmod(A a, B b) {
    typedef common<A, B> T;
    const T x = a, y = b;
    if constexpr (is_same<T, f32>) return ::fmodf(x, y);
    else if constexpr (is_same<T, f64>) return ::fmod(x, y);
    else {
        if (y == T(0)) return T(0);
        if constexpr (is_signed<T>) {
            if (y == T(-1)) return T(0);
        }
        return T(x % y);
    }
}
template <class A, class B>
DEVICE common<A, B> mod(A a, B b) {
    typedef common<A, B> T;
    const T y = b;
    T rest = fmod(a, b);
    if constexpr (is_float<T> || is_signed<T>) {
        if (rest != T(0)) {
            if ((rest < T(0)) != (y < T(0))) rest = T(rest + y);
        } else if constexpr (is_float<T>) {
            rest = ::copysign(rest, y);
        }
    }
    return rest;
}
template <class A, class B>
DEVICE floating<A, B> remainder(A a, B b) {
    if constexpr (is_same<floating<A, B>, f32>) return ::remainderf(a, b);
    else return ::remainder(f64(a), f64(b));
}
template <class A, class B>
DEVICE common<A, B> real_power(A a, B b) {
    typedef common<A, B> T;
    if constexpr (is_same<T, f32>) return ::powf(a, b);
    else if constexpr (is_same<T, f64>) return ::pow(T(a), T(b));
    else {
        typedef unsigned_of<sizeof(T)> U;  // products wrap
        const T x = a, y = b;
        U base = U(x), power = U(1);
        for (U n = U(y); n != 0; n = U(n >> 1)) {
            if (n & 1) power = U(power * base);
            base = U(base * base);
        }
        // A negative power truncates to 0, unless the base is 1 or -1 (it equals the positive power) or 0.
        if (y < T(0) && x != T(1) && x != T(-1)) return x == T(0) ? highest<T>() : T(0);
        return T(power);
    }
}

// |a| as an unsigned number, also of the least one.
template <class T>
DEVICE u64 magnitude(T a) {
    if constexpr (is_signed<T>) return a < T(0) ? u64(0) - u64(i64(a)) : u64(a);
    else return u64(a);
}
// The greatest common divisor of two unsigned numbers.
DEVICE u64 common_divisor(u64 a, u64 b) {
    while (b != 0) {
        const u64 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
template <class A, class B>
DEVICE common<A, B> gcd(A a, B b) {
    typedef common<A, B> T;
    return T(common_divisor(magnitude(T(a)), magnitude(T(b))));
}
// The product of (a - m + i) / i, for m = min(b, a - b) and i = 1 ... m, which are integers at every i.
template <class A, class B>
DEVICE common<A, B> binom(A a, B b) {
    typedef common<A, B> T;
    const T x = a, y = b;
    if (y < T(0) || y > x) return T(0);
    const u64 n = u64(x), rest = n - u64(y), count = u64(y) < rest ? u64(y) : rest;
    u64 made = 1;
    for (u64 i = 1; i <= count; ++i) {
        const u64 shared = common_divisor(made, i);
        const u64 factor = (n - count + i) / (i / shared);
        made /= shared;
        if (made > u64(highest<T>()) / factor) return highest<T>();
        made *= factor;
    }
    return T(made);
}

template <class A, class B>
DEVICE common<A, B> band(A a, B b) {
    typedef common<A, B> T;
    return T(T(a) & T(b));
}
template <class A, class B>
DEVICE common<A, B> bor(A a, B b) {
    typedef common<A, B> T;
    return T(T(a) | T(b));
}
template <class A, class B>
DEVICE common<A, B> bxor(A a, B b) {
    typedef common<A, B> T;
    return T(T(a) ^ T(b));
}
template <class A>
DEVICE counted<A> bnot(A a) {
    return counted<A>(~counted<A>(a));
}
template <class A, class B>
DEVICE common<A, B> bxnor(A a, B b) {
    return bnot(bxor(a, b));
}
template <class A, class B>
DEVICE counted<A> shl(A a, B b) {
    typedef counted<A> T;
    if (b < B(0) || u64(b) >= 8 * sizeof(T)) return T(0);
    return T(unsigned_of<sizeof(T)>(a) << int(b));
}
template <class A, class B>
DEVICE counted<A> shr(A a, B b) {
    typedef counted<A> T;
    if (b < B(0) || u64(b) >= 8 * sizeof(T)) return T(a) < T(0) ? T(-1) : T(0);
    return T(T(a) >> int(b));
}
template <class A, class B>
DEVICE counted<A> bshift(A a, B b) {
    if (b >= B(0)) return shl(a, b);
    return shr(a, negated(i64(b)));
}
// A's type with only bit b set, counted from 1; 0 if the type has no such bit.
template <class A, class B>
DEVICE counted<A> one_bit(B b) {
    return b >= B(1) ? shl(counted<A>(1), i64(b) - 1) : counted<A>(0);
}
template <class A, class B>
DEVICE counted<A> bget(A a, B b) {
    return (counted<A>(a) & one_bit<A>(b)) != 0;
}
template <class A, class B>
DEVICE counted<A> bset(A a, B b) {
    return counted<A>(counted<A>(a) | one_bit<A>(b));
}
template <class A, class B>
DEVICE counted<A> bclr(A a, B b) {
    return counted<A>(counted<A>(a) & ~one_bit<A>(b));
}

template <class A>
DEVICE counted<A> abs(A a) {
    typedef counted<A> T;
    if constexpr (is_same<T, f32>) return ::fabsf(a);
    else if constexpr (is_same<T, f64>) return ::fabs(a);
    else return T(a) < T(0) ? negated(T(a)) : T(a);
}
template <class A>
DEVICE counted<A> sign(A a) {
    typedef counted<A> T;
    if constexpr (is_float<T>) {
        if (a != a) return a;
    }
    return T(a) > T(0) ? T(1) : T(a) < T(0) ? T(-1) : T(0);
}
template <class A>
DEVICE bool isnan(A a) {
    return a != a;
}
template <class A>
DEVICE bool isfinite(A a) {
    if constexpr (is_float<A>) return a - a == A(0);
    else return true;
}
template <class A>
DEVICE bool isinf(A a) {
    return !isfinite(a) && !isnan(a);
}
template <class A>
DEVICE i64 toint(A a) {
    return cast<i64>(a);
}
template <class A>
DEVICE f64 tofloat(A a) {
    return f64(a);
}

// A number in [0, 1): the highest 53 bits of a mixture of three integers (expression_numpy.py names the source).
template <class A, class B, class C>
DEVICE f64 random(A i, B j, C k) {
    u64 z = u64(cast<i64>(i)) * 0x9E3779B97F4A7C15ull + u64(cast<i64>(j)) * 0xD1B54A32D192ED03ull +
            u64(cast<i64>(k)) * 0x8CB92BA72F3D8DD7ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return f64((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// Rounding does not change integers; the other functions of C convert them to double.
#define ROUNDING(name, function32, function64)                  \
    template <class A>                                          \
    DEVICE A name(A a) {                                        \
        if constexpr (is_same<A, f32>) return function32(a);    \
        else if constexpr (is_same<A, f64>) return function64(a); \
        else return a;                                          \
    }
#define FLOATING(name)                                          \
    template <class A>                                          \
    DEVICE floating<A> name(A a) {                              \
        if constexpr (is_same<A, f32>) return ::name##f(a);     \
        else return ::name(f64(a));                             \
    }
#define FLOATING2(name)                                         \
    template <class A, class B>                                 \
    DEVICE floating<A, B> name(A a, B b) {                      \
        if constexpr (is_same<floating<A, B>, f32>) return ::name##f(a, b); \
        else return ::name(f64(a), f64(b));                     \
    }
ROUNDING(floor, ::floorf, ::floor)
ROUNDING(ceil, ::ceilf, ::ceil)
ROUNDING(round, ::roundf, ::round)
ROUNDING(rint, ::rintf, ::rint)
ROUNDING(trunc, ::truncf, ::trunc)
FLOATING(sqrt)
FLOATING(cbrt)
FLOATING(exp)
FLOATING(exp2)
FLOATING(expm1)
FLOATING(log)
FLOATING(log2)
FLOATING(log10)
FLOATING(log1p)
FLOATING(sin)
FLOATING(cos)
FLOATING(tan)
FLOATING(asin)
FLOATING(acos)
FLOATING(atan)
FLOATING(sinh)
FLOATING(cosh)
FLOATING(tanh)
FLOATING(asinh)
FLOATING(acosh)
FLOATING(atanh)
FLOATING(erf)
FLOATING(erfc)
FLOATING(lgamma)
FLOATING(tgamma)
FLOATING2(atan2)
FLOATING2(copysign)
FLOATING2(nextafter)
#undef ROUNDING
#undef FLOATING
#undef FLOATING2

// The error of the device library's hypot, 2 ulp, would overflow to infinity near the largest double.
DEVICE f64 hypot_near_limit(f64 a, f64 b) {
    const f64 longer = fmax(fabs(a), fabs(b)), shorter = fmin(fabs(a), fabs(b));
    const f64 ratio = shorter / longer;
    return longer * ::sqrt(1.0 + ratio * ratio);
}
template <class A, class B>
DEVICE floating<A, B> hypot(A a, B b) {
    if constexpr (is_same<floating<A, B>, f32>) return ::hypotf(a, b);
    else {
        const f64 x = f64(a), y = f64(b);
        const bool near_limit = fmax(fabs(x), fabs(y)) > 0x1p1023 && isfinite(x) && isfinite(y);
        return near_limit ? hypot_near_limit(x, y) : ::hypot(x, y);
    }
}

template <class A, class B>
DEVICE floating<A> ldexp(A a, B b) {
    const i64 exponent = cast<i64>(b);
    const int shift = exponent > 10000 ? 10000 : exponent < -10000 ? -10000 : int(exponent);
    if constexpr (is_same<A, f32>) return ::ldexpf(a, shift);
    else return ::ldexp(f64(a), shift);
}
template <class A>
DEVICE floating<A> frexpx(A a) {
    int exponent;
    if constexpr (is_same<A, f32>) return ::frexpf(a, &exponent);
    else return ::frexp(f64(a), &exponent);
}
template <class A>
DEVICE floating<A> frexpe(A a) {
    int exponent = 0;
    if (isfinite(a)) {
        if constexpr (is_same<A, f32>) ::frexpf(a, &exponent);
        else ::frexp(f64(a), &exponent);
    }
    return floating<A>(exponent);
}

}  // namespace op

#include "complex_functions.cuh"
