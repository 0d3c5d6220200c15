// What every kernel text begins with: types and conversion, operator functions, warps and blocks, atomics.
// The generated prologue follows it, then the text of the kernel.

#pragma once

#include "types.cuh"
#include "expression.cuh"
#include "warp.cuh"
#include "atomics.cuh"
