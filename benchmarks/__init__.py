"""Measurements: `benchmarks.speed` for what the project promises, `benchmarks.ops` for single operations."""
