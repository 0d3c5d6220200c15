// The first entries of a closure, as its kernels take them: `sources` ascending, their values or one for all.
//
// The prologue defines the types J (columns) and U (values).

#pragma once

#include "types.cuh"

struct SourceArguments {
    const J* sources;
    const U* u_values;
    U u_iso;
    i64 source_count;
};
