#!/bin/sh
# Everything that only a GPU can show, in a bounded time: tests, large graphs, sanitizers, speed.
#
#   benchmarks/gpu_check.sh                       tests large memcheck racecheck speed: within thirteen minutes
#   benchmarks/gpu_check.sh tests=300 more        some stages, with another limit in seconds
#
# Stages: tests large products memcheck racecheck synccheck initcheck speed more many; for compressed graphs and graphs
# larger than memory: compression larger loading ordering forms; record: which kernels calls need, for the package
# (semiring.warming.record); first: first calls with an empty cache and with a pack. Logs and results go to $OUT (default:
# out/gpu-check): a log a stage, summary.txt, and the result files. Ends with 1 if a stage failed. Graphs that are read come
# from $DATA; without it ordering and compression make their own.
set -u
cd "$(dirname "$0")/.."
OUT="${OUT:-out/gpu-check}"
PYTHON="${PYTHON:-python3}"
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
mkdir -p "$OUT"
: >"$OUT/summary.txt"
failed=0

# stage LIMIT LINES COMMAND...: run within so many seconds, log, say how it ended, show the last lines of the log.
stage() {
    limit=${asked_limit:-$1} lines=$2
    shift 2
    began=$(date +%s)
    timeout --kill-after=10 "$limit" "$@" >"$OUT/$name.log" 2>&1
    code=$?
    case $code in
        0) verdict=ok ;;
        124 | 137) verdict="stopped at its limit of $limit s" ;;
        *) verdict="FAILED ($code)" ;;
    esac
    [ "$code" -eq 0 ] || failed=1
    echo "$name: $verdict, $(($(date +%s) - began)) s" | tee -a "$OUT/summary.txt"
    tail -n "$lines" "$OUT/$name.log" | sed 's/^/    /'
}

sanitizer() {
    command -v compute-sanitizer && return
    for tool in "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" /usr/local/cuda-*/bin/compute-sanitizer \
        /usr/local/cuda*/compute-sanitizer/compute-sanitizer; do
        [ -x "$tool" ] && echo "$tool" && return
    done
    echo compute-sanitizer
}

known=" tests large products memcheck racecheck synccheck initcheck speed more many compression larger loading ordering forms record first "
for wanted in ${*:-tests large memcheck racecheck speed}; do
    case $known in
        *" ${wanted%%=*} "*) ;;
        *)
            echo "no stage is called ${wanted%%=*}; there are$known" >&2
            exit 2
            ;;
    esac
done

for wanted in ${*:-tests large memcheck racecheck speed}; do
    name=${wanted%%=*}
    asked_limit=
    [ "$name" = "$wanted" ] || asked_limit=${wanted#*=}
    case $name in
        tests)
            stage 300 40 "$PYTHON" -m pytest --engine=cuda -q -rfE --tb=short --timeout=120 \
                -p no:cacheprovider -p no:benchmark --numprocesses 8 --dist worksteal
            ;;
        large) stage 90 15 "$PYTHON" -m benchmarks verify-large --device cuda ;;
        products) stage 120 30 "$PYTHON" -m benchmarks verify-products --device cuda ;;
        memcheck | racecheck | synccheck | initcheck)
            # CuPy's own kernels are left out: its scan for nonzero elements draws warnings that are not ours to mend.
            stage 110 15 "$(sanitizer)" --tool "$name" --error-exitcode 9 --print-limit 20 \
                --kernel-name-exclude kernel_substring=cupy_ "$PYTHON" -m benchmarks.sanitize
            ;;
        speed) stage 130 40 "$PYTHON" -m benchmarks speed --device cuda --out "$OUT" ;;
        more) stage 280 60 "$PYTHON" -m benchmarks more --device cuda --out "$OUT" ;;
        compression)
            stage 150 60 "$PYTHON" -m benchmarks compression --device cuda --out "$OUT" \
                ${DATA:+--web "$DATA/law"}
            ;;
        larger) stage 420 90 "$PYTHON" -m benchmarks larger --out "$OUT" ;;
        loading) stage 120 60 "$PYTHON" -m benchmarks loading --device cuda --out "$OUT" ;;
        ordering)
            stage 240 120 "$PYTHON" -m benchmarks ordering --device cuda --out "$OUT" ${DATA:+--data "$DATA"}
            ;;
        forms)
            stage 180 30 "$PYTHON" -m benchmarks verify-large --device cuda --graphs star200000000 --sources 2 \
                --forms plain varint packed --placements device pinned host --budget "5.8 GB"
            ;;
        record) stage 330 20 "$PYTHON" -m semiring.warming.record "" 300 "$OUT/kernel_lists.xz" ;;
        first) stage 240 60 "$PYTHON" -m benchmarks first-calls --device cuda --packed too --out "$OUT" ;;
        many) stage 150 60 "$PYTHON" -m benchmarks many-sources --device cuda --out "$OUT" ;;
    esac
done
echo
cat "$OUT/summary.txt"
exit "$failed"
