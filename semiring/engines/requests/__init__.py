"""Requests to an engine: one record, a spec, for each operation, and what it consists of."""
