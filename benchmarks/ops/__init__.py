"""Single operations: one module a word, each a table of cases that say which bytes they must move."""
