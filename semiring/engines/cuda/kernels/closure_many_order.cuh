// The order of the sources of a group: those that reach many rows early come first.
//
// Sources whose searches grow at the same pace share a part of a row of bits, so that a pull ends early for most parts:
// one slow source keeps only its own part reading.  The number of edges of the first frontier of a source predicts its
// pace.
//
// The prologue defines the type P (offsets) and the parameters of columns.cuh.

#include "columns.cuh"
#include "warp.cuh"

// Entries of a source that are counted: its other neighbors no longer change its place much.
constexpr i64 SAMPLED = 128;

// keys[s] = the edges of the neighbors of sources[s].  A warp processes a source.
extern "C" __global__ void many_keys(const P* indptr, ColumnsArgument indices, const i64* sources, i64 count,
                                     i64* keys) {
    const Columns columns = open_columns(indices);
    for (i64 s = warp_id(); s < count; s += warp_count()) {
        const i64 begin = i64(indptr[sources[s]]), end = i64(indptr[sources[s] + 1]);
        i64 edges = 0;
        WarpColumns walk(columns, begin, begin, end - begin < SAMPLED ? end : begin + SAMPLED);
        while (walk.next()) {
            if (walk.inside) edges += i64(indptr[walk.column + 1]) - i64(indptr[walk.column]);
        }
        edges = warp_sum(edges);
        if (lane_id() == 0) keys[s] = edges;
    }
}

// order: the numbers of the sources by descending key; among equal keys the lower number is first.  A warp places a
// source.
extern "C" __global__ void many_order(const i64* keys, i64 count, i64* order) {
    for (i64 s = warp_id(); s < count; s += warp_count()) {
        const i64 key = keys[s];
        i64 before = 0;
#pragma unroll 4
        for (i64 other = lane_id(); other < count; other += 32) {
            const i64 theirs = keys[other];
            before += i64(theirs > key || (theirs == key && other < s));
        }
        before = warp_sum(before);
        if (lane_id() == 0) order[before] = s;
    }
}
