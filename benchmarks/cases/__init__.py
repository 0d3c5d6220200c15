"""The cases of `python -m benchmarks`: one module each; `benchmarks.case` describes what it declares."""
