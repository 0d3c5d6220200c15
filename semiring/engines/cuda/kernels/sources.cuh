// The first entries of a closure as a kernel argument: ascending `sources` and their values, or one iso value.
//
// The prologue defines the types U (values), and Z.

#pragma once

#include "expand.cuh"

struct SourceArguments {
    const J* sources;  // null: the one row `single`
    i64 single;
    const U* u_values;
    U u_iso;
    i64 source_count;
};

// The row of first entry `at`.
DEVICE i64 source_row(const SourceArguments& entered, i64 at) {
    return entered.sources == nullptr ? entered.single : i64(entered.sources[at]);
}
DEVICE Z source_value(const SourceArguments& entered, i64 at) {
    return cast<Z>(value_at(entered.u_values, entered.u_iso, at));
}

// Lists the rows of the first entries and marks them as present.  values: null, or set to theirs.  Every thread of the
// group calls.
template <int BLOCK, class Group>
DEVICE void enter_sources(const SourceArguments& entered, const Graph& graph, const Append& to, u32* present, Z* values) {
    each_by_block<BLOCK, Group>(entered.source_count, [&](i64 at, bool inside) {
        const i64 row = inside ? source_row(entered, at) : 0;
        append(graph, to, inside, row);
        if (!inside) return;
        bit_set(present, row);
        if (values != nullptr) values[row] = source_value(entered, at);
    });
}
