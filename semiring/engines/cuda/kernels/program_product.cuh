// A product of a program: push or pull, by the blocks that run the program.  Each product is a namespace of its own.
//
// See product.cuh for the prologue; here also NATIVE (atomics.cuh), PROBES, TILE, EARLY (rows end at a terminal value),
// PUSHES, PULLS and CHANGES (see Admitted).

// What the included functions divide by threads and warps, they divide by those of the group.
DEVICE i64 thread_id() { return group_thread(); }
DEVICE i64 thread_count() { return group_threads(); }
DEVICE i64 warp_id() { return group_warp(); }
DEVICE i64 warp_count() { return group_warps(); }

#include "edge_columns.cuh"
#include "mxv_gather.cuh"
#include "mxv_tile.cuh"

// Both branches of `if constexpr` must compile outside a template.
typedef choose<READS_U, U, char> Carried;

// The mask; CHANGES 1: of a vector to which other threads add, in the same phase, the entries of a second one; 2: from
// which they remove these.
struct Admitted : Mask {
    const u32* changed;
    DEVICE bool admits(i64 o) const {
        if constexpr (CHANGES == 1) return (bit_relaxed(words, o) || bit_test(changed, o)) != COMPLEMENT;
        else if constexpr (CHANGES == 2) return (bit_relaxed(words, o) && !bit_test(changed, o)) != COMPLEMENT;
        else return Mask::admits(o);
    }
};

// A list of rows: the number of edges of all rows before each.
struct Rows {
    J* row;
    P* before;
    i64 count;
    i64 edges;
};

constexpr int EDGES_AT_ONCE = 4;

struct PushStage {
    P before[BLOCK];
    P start[BLOCK];
    J row[BLOCK];
    Carried payload[BLOCK];
    J column[COMPRESSED ? EDGES_AT_ONCE * int(BLOCK) : 1];  // decoded columns of consecutive edges

    // The last of some staged rows that begins at or before an edge.
    DEVICE int row_of(i64 edge, int staged = int(BLOCK)) const {
        int low = 0, high = staged;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (i64(before[middle]) <= edge) low = middle;
            else high = middle;
        }
        return low;
    }
};
union Room {
    char push[PUSHES ? sizeof(PushStage) : 1];
    char pull[PULLS && !EARLY ? sizeof(TileStage) : 1];
};

// Lists the entries of u with the edges before each; k counts both, packed.
template <class S>
DEVICE void measure(Group& g, int k, u64 base, const Packing& packing, const P* indptr, const S& u, i64 size,
                    const Rows& rows) {
    const bool listed = u.sparse(size);
    const i64 items = listed ? u.count : size;
    // A thread processes one index, or the four positions of a nibble of a word.
    const i64 each = listed ? 1 : 4;
    for (i64 first = Group::rank() * BLOCK * each; first < items; first += Group::size() * BLOCK * each) {
        const i64 at = first + i64(threadIdx.x) * each;
        u32 bits = 0;
        i64 row = 0, degrees = 0;
        if (at < items) {
            if (listed) {
                bits = 1;
                row = i64(u.list[at]);
            } else {
                bits = (word_at(u.words, size, at >> 5) >> (at & 31)) & 15u;
                row = at;
            }
        }
        for (u32 left = bits; left; left &= left - 1) {
            const i64 i = row + __ffs(int(left)) - 1;
            degrees += i64(indptr[i + 1]) - i64(indptr[i]);
        }
        u64 packed = g.reserve(k, packing.pack(__popc(bits), degrees)) - base;
        for (; bits; bits &= bits - 1) {
            const i64 i = row + __ffs(int(bits)) - 1;
            rows.row[packing.rows(packed)] = J(i);
            rows.before[packing.rows(packed)] = P(packing.edges(packed));
            packed += packing.pack(1, i64(indptr[i + 1]) - i64(indptr[i]));
        }
    }
}

// Whether the product is pulled.  open: the rows that the mask admits.
DEVICE bool prefers_pull(i64 nvals, i64 nout, i64 open_rows, i64 rows, i64 edges) {
    if (edges <= i64(FEW_EDGES)) return false;
    const f32 open = f32(open_rows), entries = f32(nvals);
    // Without a terminal value all tiles are passed over, whatever the mask admits.
    const Work work = {entries, EARLY ? open : entries, EARLY ? entries * open / fmaxf(f32(nout), 1.0f) : entries, 0.0f,
                       f32((nout + 31) / 32), 0.0f};
    return ::prefers_pull(work, f32(rows), f32(edges));
}

// Pulls, and writes all words of the result; k counts its entries.
template <class S>
DEVICE void pull(Group& g, int k, int shift, const P* indptr, const Columns& columns, const Matrix& a, const Vector& u,
                 const Admitted& mask, const S& out, Z* values, i64 nout) {
    const i64 found = pull_early(indptr, columns, a, u, mask, out.words, values, nout);
    g.count(k, u64(found) << shift);
}

// The same of a full vector, without a mask, for the least or the greatest of the values in each row: `bound` is that of
// all, and ends a row; `ordered`: the first entry of a row has the result.
template <class Bound>
DEVICE void pull_bounded(const P* indptr, const Columns& columns, const Matrix& a, const Vector& u, const Admitted& mask,
                         u32* out_words, Z* out_values, i64 nout, Bound bound, bool ordered) {
    pull_until(indptr, columns, a, u, mask, out_words, out_values, nout,
               [&](const Maybe<Z>& sum) { return sum.hit && (ordered || sum.value == bound); });
}

// The same for sums of all entries of a row, in tiles of a merge path; `complete` follows behind a barrier.  The words
// of the result are clear before.
DEVICE void pull_tiles(char* room, const P* indptr, const Columns& columns, const Matrix& a, const Vector& u,
                       const Admitted& mask, u32* out_words, Z* out_values, i64 nout, i64 nvals, const i64* first_row,
                       i64 tiles, bool* carry_hit, Z* carry_value) {
    for (i64 tile = Group::rank(); tile < tiles; tile += Group::size()) {
        balanced_tile(*reinterpret_cast<TileStage*>(room), tile, indptr, columns, a, u, mask, out_words, out_values,
                      nout, nvals, first_row, carry_hit, carry_value);
        __syncthreads();  // the next tile overwrites the stage
    }
}
DEVICE void complete(const P* indptr, const i64* first_row, const bool* hit, const Z* value, i64 tiles, u32* out_words,
                     Z* out_values, i64 nout) {
    const i64 rounded = (tiles + 31) / 32 * 32;
    for (i64 t = thread_id(); t < rounded; t += thread_count()) {
        add_carry(t, indptr, first_row, hit, value, tiles, out_words, out_values, nout);
    }
}
// k counts the bits of a result whose words were combined.
DEVICE void count_bits(Group& g, int k, int shift, const u32* words, i64 size) {
    u64 mine = 0;
    for (i64 w = group_thread(); 32 * w < size; w += group_threads()) mine += u64(__popc(words[w])) << shift;
    g.count(k, mine);
}

template <int N>
struct Rounds {
    static constexpr int VALUE = N;
};

// Follows the edges of the rows.  The result is empty before; k counts its entries, and with `degrees`, the offsets of
// the rows that its entries stand for, their edges.  `sums` hold the start value of the monoid.
template <class S, class D>
DEVICE void push(Group& g, char* room, int k, u64 base, const Packing& packing, const P* indptr, const Columns& columns,
                 const Matrix& a, const Admitted& mask, const Rows& rows, const Vector& u, const S& out, Z* sums,
                 const D* degrees) {
    PushStage& stage = *reinterpret_cast<PushStage*>(room);
    const int t = int(threadIdx.x);
    // Edges are counted in the type of offsets, which has half the registers.
    const P edges = P(rows.edges);
    // Those of this block.
    const P share = alone ? edges : P((rows.edges + Group::size() - 1) / Group::size());
    const bool eager = rows.edges <= i64(EAGER_EDGES);
    const i64 begin = Group::rank() * share;
    P e = begin < rows.edges ? P(begin) : edges;
    const P e_end = rows.edges - e > share ? P(e + share) : edges;
    i64 q = e == 0 ? 0 : e < e_end ? warp_upper_bound(rows.before, 0, rows.count, i64(e)) - 1 : rows.count;
    while (q < rows.count && e < e_end) {
        __syncthreads();
        const i64 place = q + t;
        const i64 next = q + BLOCK < rows.count ? q + BLOCK : rows.count;
        const P known = next < rows.count ? rows.before[next] : edges;
        if (place < next) {
            const i64 row = i64(rows.row[place]);
            stage.row[t] = J(row);
            stage.before[t] = rows.before[place];
            stage.start[t] = indptr[row];
            if constexpr (READS_U) stage.payload[t] = cast<Carried>(u.value(row));
        } else if constexpr (COMPRESSED) {
            stage.before[t] = known;
        }
        __syncthreads();
        const int staged = int(next - q);
        const P limit = known < e_end ? known : e_end;
        // Several edges a thread overlap their loads; with few of them, latency is that of the instructions.
        auto follow = [&](auto at_once) {
            constexpr int AT_ONCE = decltype(at_once)::VALUE;
            if constexpr (COMPRESSED) {
                __syncthreads();  // threads may still read the columns of the previous edges
                decode_edges<int(BLOCK), AT_ONCE>(columns, stage, 0, i64(e), i64(limit), i64(known));
                __syncthreads();
            }
            J column[AT_ONCE];
            P position[AT_ONCE];
            int owner[AT_ONCE];
#pragma unroll
            for (int r = 0; r < AT_ONCE; r++) {
                const P ahead = P(r * BLOCK + t);
                column[r] = J(-1);
                position[r] = 0;
                owner[r] = 0;
                if (ahead < limit - e) {
                    const P edge = e + ahead;
                    int low = 0, high = staged;
                    while (high - low > 1) {
                        const int middle = (low + high) / 2;
                        if (stage.before[middle] <= edge) low = middle;
                        else high = middle;
                    }
                    owner[r] = low;
                    position[r] = stage.start[low] + (edge - stage.before[low]);
                    if constexpr (COMPRESSED) column[r] = stage.column[r * int(BLOCK) + t];
                    else column[r] = J(columns.at(i64(stage.start[low]), i64(position[r])));
                }
            }
            // With few edges latency dominates, so that loads begin before they are needed.
            D degree[AT_ONCE];
            bool admitted[AT_ONCE];
#pragma unroll
            for (int r = 0; r < AT_ONCE; r++) {
                const i64 o = i64(column[r]);
                degree[r] = 0;
                admitted[r] = o >= 0 && mask.admits(o);
                if (eager && degrees != nullptr && o >= 0) degree[r] = degrees[o + 1] - degrees[o];
            }
            u32 found = 0;
            i64 reached = 0;
#pragma unroll
            for (int r = 0; r < AT_ONCE; r++) {
                const i64 o = i64(column[r]);
                if (!admitted[r]) continue;
                const i64 row = i64(stage.row[owner[r]]);
                U value = U();
                if constexpr (READS_U) value = cast<U>(stage.payload[owner[r]]);
                if constexpr (VALUED && !add_is_any) {
                    atomic_combine<NATIVE>(sums + o, product(a.value(i64(position[r])), value, o, row),
                                           [](Z old, Z mine) { return Z(add(old, mine)); });
                }
                // With few edges a test before the atomic is only another load to wait for.
                const bool first = eager ? bit_set(out.words, o) : bit_claim(out.words, o);
                if (!first) continue;
                if constexpr (VALUED && add_is_any) sums[o] = product(a.value(i64(position[r])), value, o, row);
                found |= 1u << r;
                if (!eager && degrees != nullptr) degree[r] = degrees[o + 1] - degrees[o];
                reached += i64(degree[r]);
            }
            if (alone ? !__any_sync(FULL_WARP, found != 0) : !__syncthreads_or(int(found))) return;
            u64 packed = g.reserve(k, packing.pack(__popc(found), reached)) - base;
#pragma unroll
            for (int r = 0; r < AT_ONCE; r++) {
                if (!((found >> r) & 1u)) continue;
                out.list[packing.rows(packed)] = column[r];
                if (degrees != nullptr) out.before[packing.rows(packed)] = packing.edges(packed);
                packed += packing.pack(1, i64(degree[r]));
            }
        };
        for (; e < limit; e = limit - e > P(EDGES_AT_ONCE * BLOCK) ? P(e + P(EDGES_AT_ONCE * BLOCK)) : limit) {
            if (limit - e > P(BLOCK)) follow(Rounds<EDGES_AT_ONCE>());
            else follow(Rounds<1>());
        }
        q = next;
    }
    __syncthreads();  // another request may use the room
}
