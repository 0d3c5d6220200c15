// Push or pull: the cost model of engines/shared/direction.py, which documents it, for kernels that choose the direction.
//
// The prologue defines FRONTIER_ROW_COST, EDGE_COST, PROBE_COST, ROW_COST and WORD_COST (see tuning.py).

#pragma once

// What each direction does in a step whose rows end at their first hit.
struct Work {
    f32 entries;     // of the matrix
    f32 open_rows;   // the rows that are probed,
    f32 open_edges;  // and their entries
    f32 pull_rows;   // the rows that are passed over,
    f32 pull_words;  // and the words of presence bits
    f32 push_words;  // the words of presence bits that a push passes over
};

// Whether a pull costs no more than a push of `rows` rows with `edges` edges.
DEVICE bool prefers_pull(const Work& work, f32 rows, f32 edges) {
    const f32 probes = fminf(work.open_rows * (work.entries / fmaxf(edges, 1.0f)), work.open_edges);
    const f32 push = f32(FRONTIER_ROW_COST) * rows + f32(EDGE_COST) * edges + f32(WORD_COST) * work.push_words;
    return push >= f32(PROBE_COST) * probes + f32(ROW_COST) * work.pull_rows + f32(WORD_COST) * work.pull_words;
}
