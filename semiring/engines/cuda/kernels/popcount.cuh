// The number of set bits in presence words.

extern "C" __global__ void count_bits(const u32* words, i64 word_count, u64* count) {
    i64 mine = 0;
    for (i64 w = thread_id(); w < word_count; w += thread_count()) mine += __popc(words[w]);
    add_count(count, mine);
}
