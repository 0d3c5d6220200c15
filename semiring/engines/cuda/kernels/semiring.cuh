// The beginning of every kernel text: types, operator functions, warp and block primitives, atomics.
// The generated prologue follows, then the text of the kernel.

#pragma once

#include "types.cuh"
#include "expression.cuh"
#include "warp.cuh"
#include "atomics.cuh"
