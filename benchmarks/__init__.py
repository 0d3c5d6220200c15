"""Measurements: ``python -m benchmarks CASE``; `benchmarks.case` describes what a case declares."""
