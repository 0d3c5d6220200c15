"""Operations in slices, for matrices whose storage kind an engine does not accept: compressed, or in host memory.

One set for all engines: every function sends requests on uncompressed slices of rows to the engine, and joins the
results.  The modules are loaded on first use (`operations`).
"""
