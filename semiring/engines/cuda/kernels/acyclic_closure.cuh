// The closure of a vector under an acyclic matrix: c(v) = f( x(v) (+) (+)_u c(u) (x) A(u, v) ).
//
// A row is listed when the last row that has an entry in its column was expanded; the rows that are listed in one step are
// a generation.  Every row and every edge is visited once, so that (+) need not be idempotent.  A thread combines its
// product into the sum of the row, and then counts down what the row waits for: whoever counts the last one lists it.
//
// `acyclic_enter` sets sums and counts (words, values: those of x; counts: the entries of each column that has any) and
// lists the rows that wait for none, `acyclic_grid` runs generation after generation,
// `acyclic_finish` applies f to the sums and counts the entries.
//
// The prologue defines the semiring; then(x, i, j, k), and THEN if it changes values; the types P (offsets), A (matrix
// values), Z, W (unsigned counts); the parameters of columns.cuh; NATIVE (atomics.cuh) and GRID_BLOCK, EAGER_EDGES (tuning.py).

#include "level_loop.cuh"

// Words of the state: GRID_COUNT are three counters.
enum { LISTED, BARRIER, FOUND, GRID_COUNT };

struct AcyclicArguments : LoopArguments {
    const A* a_values;
    A a_iso;
    u32* present;
    Z* values;  // sums
    Z absent;   // the identity of (+)
    W* waiting;
};

DEVICE Z finished(Z sum) {
    return cast<Z>(then(sum, 0, 0, false));
}

struct Follow {
    static constexpr bool APPENDS = true;
    static constexpr bool NEEDS_ROW = true;
    struct Payload {
        Z value;
        bool held;
    };
    const AcyclicArguments& s;

    // The sum of a listed row is final: it was listed before the last barrier, after the last addition.
    DEVICE Payload payload(i64 row, i64) const {
        return {finished(load_relaxed(s.values + row)), bit_relaxed(s.present, row)};
    }
    DEVICE bool open(const Payload&, i64, i64, i64) const { return true; }
    DEVICE bool visit(const Payload& x, i64 k, i64 j, i64 p) const {
        if (x.held) {
            A y = A();
            if constexpr (multiply_reads_y) y = value_at(s.a_values, s.a_iso, p);
            const Z z = multiply(x.value, y, 0, k, k, j);
            const bool first = bit_claim(s.present, j);
            if constexpr (add_is_any) {
                if (first) s.values[j] = z;
            } else {
                atomic_combine<NATIVE>(s.values + j, z, [](Z a, Z b) { return Z(add(a, b)); });
            }
        }
        // Orders the sum before the count: whoever sees the count at 0 lists the row, which later threads read.
        __threadfence();
        return atomicAdd(s.waiting + j, W(0) - W(1)) == W(1);
    }
};

extern "C" __global__ void __launch_bounds__(GRID_BLOCK)
    acyclic_enter(const u32* words, const Z* x_values, Z x_iso, const u32* count_words, const i64* counts,
                  i64 count_iso, const AcyclicArguments s) {
    const Graph graph = graph_of(s);
    const Append to = {s, s.state + LISTED, 0};
    each_by_block<GRID_BLOCK, GridRank>(s.n, [&](i64 v, bool inside) {
        const bool hit = inside && (words == nullptr || bit_test(words, v));
        const u32 word = __ballot_sync(FULL_WARP, hit);
        if (inside && lane_id() == 0) s.present[v >> 5] = word;
        const bool waits = inside && (count_words == nullptr || bit_test(count_words, v));
        if (inside) {
            s.values[v] = hit ? value_at(x_values, x_iso, v) : s.absent;
            s.waiting[v] = waits ? W(value_at(counts, count_iso, v)) : W(0);
        }
        append(graph, to, inside && !waits, v);
    });
}

// Launched cooperatively.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK) acyclic_grid(const AcyclicArguments s) {
    CooperativeGrid group(s.state + BARRIER);
    LevelLoop<GRID_BLOCK, CooperativeGrid> loop = {graph_of(s), group, s.state + GRID_COUNT, s, 0, s.state[LISTED]};
    loop.run([&] { loop.push(Follow{s}); });
    if (loop.first_thread()) s.state[LISTED] = loop.tail;
}

extern "C" __global__ void acyclic_finish(const AcyclicArguments s) {
    i64 counted = 0;
    for (i64 v = thread_id(); v < s.n; v += thread_count()) {
        if (!bit_test(s.present, v)) continue;
        counted++;
        if constexpr (THEN) s.values[v] = finished(s.values[v]);
    }
    add_count(s.state + FOUND, counted);
}
