"""Memory of the host and the devices: arrays, copies between them, page-locked memory, budgets, failed allocations.

This package contains all calls to the driver outside the engines.
"""
