// The order in which a relaxation expands rows: near ones first, the others once no near one is left.
//
// A row is near if its value is no worse than `reach`; the others wait in the pile.  When no near row is listed, a pass
// over the pile advances `reach` by `width` and lists the rows that it now includes.  So a row is mostly expanded with
// its last value (delta-stepping: Meyer, Sanders 2003; near and far piles: Davidson, Baxter, Garland, Owens, IPDPS
// 2014).  The order affects speed only: with a reach of infinity this is the Bellman-Ford algorithm.
//
// A row enters the pile once in a launch.  If its value becomes near, it is listed as near, and the next pass drops it.
//
// Included by closure_relax.cuh after `Relaxation`.  The prologue defines ORDER: 1 if less is better (min), -1 if more
// is (max), 0 for no order.

#pragma once

// Words of the state.  Of PILE and BEST one of three is current, by the number of passes; the next pass writes the next
// one and clears the one after that, which no thread reads any longer.
enum { PILE = 16, BEST = PILE + 3, PASSES = BEST + 3, REACH, WIDTH, LOWEST, HIGHEST };

// A double as bits in the same order, above 0; NaN is above infinity.
DEVICE u64 sortable(double d) {
    const u64 bits = from_bits<u64>(d);
    return bits >> 63 ? ~bits : bits | u64(1) << 63;
}
DEVICE double sorted_value(u64 bits) { return from_bits<double>(bits >> 63 ? bits & ~(u64(1) << 63) : ~bits); }

// The place of a value in the order: less is better.
DEVICE double place_of(Z value) { return ORDER < 0 ? -double(value) : double(value); }

struct Order {
    double reach;
    double width;  // 0: not yet chosen
    u64 passes;
    // At the last pass, for the average number of edges of a step.
    i64 step = 0;
    u64 edges = 0;

    DEVICE explicit Order(const u64* state)
        : reach(from_bits<double>(state[REACH])), width(from_bits<double>(state[WIDTH])), passes(state[PASSES]) {}
    DEVICE void save(u64* state) const {
        state[REACH] = from_bits<u64>(reach);
        state[WIDTH] = from_bits<u64>(width);
        state[PASSES] = passes;
    }
    DEVICE u64* piled(u64* state) const { return state + PILE + passes % 3; }
    DEVICE u64* best(u64* state) const { return state + BEST + passes % 3; }
};

// Adds row j to the current pile, in which it is not.  Any thread may call; those that do together share an atomic.
DEVICE void add_to_pile(const Relaxation& s, const Order& order, i64 j) {
    const u32 mates = __activemask();
    const int first = __ffs(int(mates)) - 1;
    u64 place = 0;
    if (lane_id() == first) place = atomicAdd(order.piled(s.state), u64(__popc(mates)));
    place = __shfl_sync(mates, place, first) + __popc(mates & lanes_below());
    s.pile[(order.passes & 1) * s.n + place] = J(j);
}

// Chooses the first width from the values in the pile.  All threads of the group call with the same order.
template <int BLOCK, class Group>
DEVICE void measure(const Relaxation& s, Group& group, Order& order, i64 count) {
    for (i64 first = Group::rank() * BLOCK; first < count; first += Group::size() * BLOCK) {
        const i64 at = first + threadIdx.x;
        u64 least = 0, most = 0;  // of no value: 0, of the complements too
        if (at < count) {
            const double place = place_of(s.values[i64(s.pile[(order.passes & 1) * s.n + at])]);
            if (place - place == 0) {
                least = ~sortable(place);
                most = sortable(place);
            }
        }
        for (int mask = 16; mask > 0; mask /= 2) {
            const u64 other = shuffle_xor(least, mask), another = shuffle_xor(most, mask);
            least = other > least ? other : least;
            most = another > most ? another : most;
        }
        if (lane_id() == 0 && most != 0) {
            atomicMax(s.state + LOWEST, least);
            atomicMax(s.state + HIGHEST, most);
        }
    }
    group.barrier();
    const u64 most = load_relaxed(s.state + HIGHEST);
    const double low = most == 0 ? 0 : sorted_value(~load_relaxed(s.state + LOWEST));
    double span = most == 0 ? 0 : sorted_value(most) - low;
    if (!(span > 0)) span = low < 0 ? -low : low;
    if (!(span > 0 && span - span == 0)) span = 1;
    order.width = span * s.share;
    if (Z(0.5) == Z(0) && order.width < 1) order.width = 1;
    order.reach = most == 0 ? from_bits<double>(u64(0x7ff) << 52) : low + order.width;
}

// One pass over the pile: advances the reach and lists the rows that it now includes.  All threads of the group call
// with the same arguments, and no near row is listed, unless the reach becomes infinite.
template <int BLOCK, class Group>
DEVICE void pass(const Relaxation& s, Group& group, Order& order, const Append& to, double before) {
    const i64 count = i64(load_relaxed(order.piled(s.state)));
    const J* const pile = s.pile + (order.passes & 1) * s.n;
    J* const rest = s.pile + (~order.passes & 1) * s.n;
    if (Group::rank() == 0 && threadIdx.x == 0) {
        s.state[PILE + (order.passes + 2) % 3] = 0;
        s.state[BEST + (order.passes + 2) % 3] = 0;
    }
    order.passes++;
    for (i64 first = Group::rank() * BLOCK; first < count; first += Group::size() * BLOCK) {
        const i64 at = first + threadIdx.x;
        bool waits = false, enters = false;
        i64 row = 0, start = 0, end = 0;
        double place = 0;
        if (at < count) {
            row = i64(pile[at]);
            place = place_of(s.values[row]);
            waits = place > order.reach;
            enters = !waits && place > before;
            if (enters) {
                start = i64(s.indptr[row]);
                end = i64(s.indptr[row + 1]);
            }
        }
        const u32 waiting = __ballot_sync(FULL_WARP, waits);
        if (waiting != 0) {
            u64 best = waits ? ~sortable(place) : 0;
            for (int mask = 16; mask > 0; mask /= 2) {
                const u64 other = shuffle_xor(best, mask);
                best = other > best ? other : best;
            }
            u64 slot = 0;
            if (lane_id() == 0) {
                slot = atomicAdd(order.piled(s.state), u64(__popc(waiting)));
                atomicMax(order.best(s.state), best);
            }
            slot = shuffle(slot, 0);
            if (waits) rest[slot + __popc(waiting & lanes_below())] = J(row);
        }
        if (__syncthreads_or(enters)) append(s.packing, to, enters, row, start, end - start);
    }
}
