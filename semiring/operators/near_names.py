"""Names that other libraries and textbooks have for an operator: what an error suggests in their place."""

from __future__ import annotations

from typing import Final

__all__ = ["MEANT"]

_AGG: Final = {
    "avg average arithmetic_mean": "'mean'",
    "var variance": "'vars' (of a sample) or 'varp' (of a population)",
    "std stddev stdev": "'stds' (of a sample) or 'stdp' (of a population)",
    "len size nnz nvals number": "'count'",
    "product": "'prod'",
    "range ptp": "'peak_to_peak'",
    "rms": "'root_mean_square'",
    "norm norm2": "'L2norm'",
    "norm1": "'L1norm'",
    "median": "'mean' or 'mode'; there is no median",
}
# Kind -> names, separated by spaces -> the suggestion.
_ROWS: Final[dict[str, dict[str, str]]] = {
    "agg": _AGG,
    "monoid": {
        **_AGG,
        "sum add addition total": "'plus'",
        "prod product multiply multiplication": "'times'",
        "minimum smallest": "'min'",
        "maximum largest": "'max'",
        "or logical_or": "'lor'",
        "and logical_and": "'land'",
        "xor": "'lxor'",
    },
    "binary": {
        "add sum addition": "'plus'",
        "sub subtract difference": "'minus'",
        "mul multiply product": "'times'",
        "divide": "'truediv' or 'floordiv'",
        "minimum": "'min'",
        "maximum": "'max'",
        "power": "'pow'",
        "or logical_or": "'lor' for truths, 'bor' for bits",
        "and logical_and": "'land' for truths, 'band' for bits",
        "xor": "'lxor' for truths, 'bxor' for bits",
        "equal equals": "'eq'",
        "less": "'lt'",
        "greater": "'gt'",
        "one ones": "'pair', which is 1 for each pair of entries",
        "left": "'first'",
        "right": "'second'",
    },
    "unary": {
        "neg negative negate": "'ainv'",
        "inverse inv reciprocal": "'minv'",
        "absolute": "'abs'",
        "not logical_not": "'lnot'",
        "sqr": "'square' or 'sqrt'",
        "ones": "'one'",
        "copy same id": "'identity'",
    },
    "semiring": {
        "tropical shortest shortest_path shortest_paths": "'min_plus'",
        "arithmetic real standard conventional matmul default": "'plus_times'",
        "boolean bool logical reachability or_and": "'lor_land', or 'any_pair', which reads no values",
        "widest bottleneck": "'max_min'",
        "critical longest": "'max_plus'",
    },
    "select": {
        "value values": "a comparison with a thunk: select('>', 3), or 'valuegt', 'valuege', 'valuelt', 'valuele', "
        "'valueeq', 'valuene'",
        "row": "'rowle' or 'rowgt', with a thunk",
        "col column": "'colle' or 'colgt', with a thunk",
        "index": "'indexle' or 'indexgt', with a thunk",
        "lower lower_triangle": "'tril'",
        "upper upper_triangle": "'triu'",
        "diagonal": "'diag'",
        "off_diagonal no_loops": "'offdiag'",
        "nonzero": "'valuene', with the thunk 0 by default",
        "positive": "'valuegt', with the thunk 0 by default",
        "negative": "'valuelt', with the thunk 0 by default",
    },
    "indexunary": {
        "i row rows": "'rowindex'",
        "j col column columns": "'colindex'",
        "value": "a comparison: 'valuegt', 'valuege', 'valuelt', 'valuele', 'valueeq', 'valuene'",
    },
}
# Kind -> name -> the suggestion.
MEANT: Final = {
    kind: {name: meant for names, meant in rows.items() for name in names.split()} for kind, rows in _ROWS.items()
}
