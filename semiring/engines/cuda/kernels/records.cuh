// Records: values of several numbers, which kernels move as so many words.
//
// The type depends on the size alone; the prologue reads and writes the numbers of a record at their offsets.  The alignment is
// the largest power of two, up to 8, that divides the size: all elements of an array then have it, whatever the layout of
// the fields.

#pragma once

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
