"""What implementations of several engines use."""
