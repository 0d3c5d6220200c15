"""Memory of the host and the devices: arrays, copies between them, page-locked memory, budgets, failed allocations.

All calls to the driver outside the engines are here.
"""
