"""Storage policy: coercion of input, the placement and format of a new matrix, and what fits in memory."""
