"""Operations on hypersparse matrices: requests on the listed rows, renumbered, and results numbered back.

One set for all engines, as `engines.sliced`: every function sends requests on small uncompressed matrices to the
engine.  Renumbering by an ascending list preserves the order of rows and columns, so an engine needs no kernels for it;
memory and time depend on the entries, never on the dimensions.  The modules are loaded on first use (`operations`).
"""
