"""NetworkX's own test suite, run with every call dispatched to the backend."""
