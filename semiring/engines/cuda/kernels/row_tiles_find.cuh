// The rows at which the tiles of row_tiles.cuh begin.

#include "semiring.cuh"

// first_row[t] = the number of rows that end before step t * TILE of the merge path.
extern "C" __global__ void row_tiles_find(const P* indptr, i64 nrows, i64 nvals, i64* first_row, i64 tiles) {
    for (i64 t = thread_id(); t <= tiles; t += thread_count()) {
        const i64 at = t * TILE < nrows + nvals ? t * TILE : nrows + nvals;
        i64 low = at > nvals ? at - nvals : 0, high = at < nrows ? at : nrows;
        while (low < high) {
            const i64 middle = (low + high) / 2;
            if (i64(indptr[middle + 1]) <= at - middle - 1) low = middle + 1;
            else high = middle;
        }
        first_row[t] = low;
    }
}
