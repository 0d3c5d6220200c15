"""Answers slice by slice, for matrices that an engine does not read as they are: compressed, or in host memory.

One set for all engines: every function puts plain questions about slices of rows to the engine that was asked, and
joins the answers.  They are loaded when first needed (`answers`).
"""
