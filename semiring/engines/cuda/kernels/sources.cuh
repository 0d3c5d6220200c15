// The first entries of a closure as a kernel argument: ascending `sources` and their values, or one iso value.
//
// The prologue defines the types J (columns) and U (values).

#pragma once

#include "types.cuh"

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
