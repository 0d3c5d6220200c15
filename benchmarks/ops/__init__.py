"""Single operations: one module for each operation, with a table of cases that declare the bytes they must move."""
