// Four neighboring elements of an array: one access of up to 16 bytes a thread instead of four.

#pragma once

#include "semiring.cuh"

constexpr int QUAD = 4;

template <class T>
struct Quad {
    T at[QUAD];
};

// Words in which a quad of T is read and written; void if it has no whole number of them.
template <class T>
using QuadWord = choose<sizeof(Quad<T>) == 4, u32, choose<sizeof(Quad<T>) == 8, u64, uint4>>;
template <class T>
constexpr bool HAS_WORDS = sizeof(Quad<T>) % sizeof(QuadWord<T>) == 0;
template <class T>
constexpr int QUAD_WORDS = int(sizeof(Quad<T>) / sizeof(QuadWord<T>));

// Whether the quad at an address can be read and written in words.
template <class T>
DEVICE bool in_words(const T* address) {
    return HAS_WORDS<T> && (reinterpret_cast<u64>(address) & (sizeof(QuadWord<T>) - 1)) == 0;
}

// The first `count` of four elements, and T() for the others.  Read once, with the streaming hint.
template <class T>
DEVICE Quad<T> load_quad(const T* from, int count) {
    Quad<T> quad;
    if constexpr (HAS_WORDS<T>) {
        if (count == QUAD && in_words(from)) {
            QuadWord<T> words[QUAD_WORDS<T>];
#pragma unroll
            for (int w = 0; w < QUAD_WORDS<T>; ++w) words[w] = __ldcs(reinterpret_cast<const QuadWord<T>*>(from) + w);
            memcpy(&quad, words, sizeof(quad));
            return quad;
        }
    }
#pragma unroll
    for (int e = 0; e < QUAD; ++e) quad.at[e] = e < count ? from[e] : T();
    return quad;
}

// The same for elements that are STEP apart.
template <int STEP, class T>
DEVICE Quad<T> load_four(const T* from, int count) {
    if constexpr (STEP == 1) return load_quad(from, count);
    Quad<T> quad;
#pragma unroll
    for (int e = 0; e < QUAD; ++e) quad.at[e] = e < count ? from[STEP * e] : T();
    return quad;
}

// Stores the first `count` of four elements.
template <class T>
DEVICE void store_quad(T* to, const Quad<T>& quad, int count) {
    if constexpr (HAS_WORDS<T>) {
        if (count == QUAD && in_words(to)) {
            QuadWord<T> words[QUAD_WORDS<T>];
            memcpy(words, &quad, sizeof(quad));
#pragma unroll
            for (int w = 0; w < QUAD_WORDS<T>; ++w) reinterpret_cast<QuadWord<T>*>(to)[w] = words[w];
            return;
        }
    }
#pragma unroll
    for (int e = 0; e < QUAD; ++e) {
        if (e < count) to[e] = quad.at[e];
    }
}

// Stores the elements [low, high) of a quad.
template <class T>
DEVICE void store_part(T* to, const Quad<T>& quad, int low, int high) {
    if (low <= 0) {
        store_quad(to, quad, high < QUAD ? high : QUAD);
        return;
    }
#pragma unroll
    for (int e = 0; e < QUAD; ++e) {
        if (e >= low && e < high) to[e] = quad.at[e];
    }
}
