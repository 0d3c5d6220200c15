"""Answers slice by slice, for matrices that an engine does not read as they are: compressed, or in host memory."""
