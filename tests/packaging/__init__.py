"""The distributions: built, their contents compared with the tree, and the wheel tried on every Python."""
