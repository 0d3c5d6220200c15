"""Measurements: `benchmarks.speed` for the targets of the project, `benchmarks.ops` for single operations."""
