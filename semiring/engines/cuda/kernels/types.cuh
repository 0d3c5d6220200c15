// Fixed-width types, their limits, and the conversion rule that all engines share.

#pragma once

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#define DEVICE __device__ __forceinline__

template <class T, class U>
constexpr bool is_same = false;
template <class T>
constexpr bool is_same<T, T> = true;

template <class T>
constexpr bool is_bool = is_same<T, bool>;
template <class T>
constexpr bool is_float = is_same<T, f32> || is_same<T, f64>;
template <class T>
constexpr bool is_signed = T(-1) < T(0);
template <>
constexpr bool is_signed<bool> = false;

// choose: a type selected by a condition.
template <bool C, class A, class B>
struct choose_type {
    typedef A type;
};
template <class A, class B>
struct choose_type<false, A, B> {
    typedef B type;
};
template <bool C, class A, class B>
using choose = typename choose_type<C, A, B>::type;

#include "complex.cuh"

template <class T>
constexpr bool is_record = false;
template <class T>
constexpr bool is_integer = !is_float<T> && !is_bool<T> && !is_complex<T> && !is_record<T>;

// The unsigned integer of a given size.
template <int BYTES>
using unsigned_of = choose<BYTES == 1, u8, choose<BYTES == 2, u16, choose<BYTES == 4, u32, u64>>>;

// Records: values of several numbers, which kernels move as so many words.
//
// The type depends on the size alone; the prologue reads and writes the numbers of a record at their offsets.  The alignment is
// the largest power of two, up to 8, that divides the size: all elements of an array then have it, whatever the layout of
// the fields.

template <int BYTES>
struct Record {
    static constexpr int ALIGNMENT = (BYTES & -BYTES) < 8 ? (BYTES & -BYTES) : 8;
    typedef unsigned_of<ALIGNMENT> Word;
    static constexpr int WORDS = BYTES / ALIGNMENT;

    Word words[WORDS];

    Record() = default;
    // All bytes 0, as in a comparison with the zero of a value type.
    DEVICE constexpr explicit Record(int) : words{} {}
};
template <int BYTES>
DEVICE bool operator!=(Record<BYTES> a, Record<BYTES> b) {
    bool differ = false;
    for (int w = 0; w < Record<BYTES>::WORDS; w++) differ |= a.words[w] != b.words[w];
    return differ;
}
template <int BYTES>
DEVICE bool operator==(Record<BYTES> a, Record<BYTES> b) {
    return !(a != b);
}
template <int BYTES, class... Words>
DEVICE Record<BYTES> record_of(Words... words) {
    const typename Record<BYTES>::Word listed[] = {typename Record<BYTES>::Word(words)...};
    Record<BYTES> record;
    for (int w = 0; w < Record<BYTES>::WORDS; w++) record.words[w] = listed[w];
    return record;
}

template <int BYTES>
constexpr bool is_record<Record<BYTES>> = true;
template <int BYTES>
constexpr bool is_signed<Record<BYTES>> = false;

// The number at an offset in bytes.  A copy of bytes: the offset need not be a multiple of the alignment of T.
template <class T, int OFFSET, int BYTES>
DEVICE T leaf(const Record<BYTES>& record) {
    T value;
    memcpy(&value, reinterpret_cast<const char*>(record.words) + OFFSET, sizeof(T));
    return value;
}
template <int OFFSET, class T, int BYTES>
DEVICE void set_leaf(Record<BYTES>& record, T value) {
    memcpy(reinterpret_cast<char*>(record.words) + OFFSET, &value, sizeof(T));
}

// Reinterprets the bits of `from` as another type of the same size.
template <class To, class From>
DEVICE To from_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "from_bits needs two types of one size");
    To to;
    memcpy(&to, &from, sizeof(To));
    return to;
}

// The finalizer of splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
DEVICE u64 mixed(u64 x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// The smallest and the largest finite value of an integer type (bool: false and true).
template <class T>
DEVICE constexpr T lowest() {
    if constexpr (is_bool<T>) return false;
    else if constexpr (is_signed<T>) return T(T(1) << (8 * sizeof(T) - 1));
    else return T(0);
}
template <class T>
DEVICE constexpr T highest() {
    if constexpr (is_bool<T>) return true;
    else return T(~lowest<T>());
}

// Converts a GraphBLAS value.  Integers wrap.  Floats are truncated towards zero and saturate; NaN becomes 0.
// A nonzero value becomes true.  A complex number becomes its real part, unless the result is complex or bool.  All other
// conversions are those of C.  A record is never converted: where it would be, no operator reads the value.
template <class To, class From>
DEVICE To cast(From x) {
    if constexpr (is_same<To, From>) {
        return x;
    } else if constexpr (is_record<To> || is_record<From>) {
        return To();
    } else if constexpr (is_bool<To>) {
        return x != From(0);
    } else if constexpr (is_complex<To>) {
        typedef part<To> T;
        return To(T(real_part(x)), T(imaginary_part(x)));
    } else if constexpr (is_complex<From>) {
        return cast<To>(x.re);
    } else if constexpr (is_float<From> && is_integer<To>) {
        // The bounds are exact in From, or rounded outwards to a power of two outside the range of To.
        if (!(x == x)) return To(0);
        if (x <= From(lowest<To>())) return lowest<To>();
        if (x >= From(highest<To>())) return highest<To>();
        return To(x);
    } else {
        return To(x);
    }
}
