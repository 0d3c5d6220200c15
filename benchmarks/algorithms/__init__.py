"""Algorithms against other programs: one program for each family."""
