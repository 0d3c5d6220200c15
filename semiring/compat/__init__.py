"""Other libraries' names for this one: programs written for them run after one changed import."""
