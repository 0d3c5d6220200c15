"""Programs of traced loops: how they are recorded, and what the engines' texts of them share."""
