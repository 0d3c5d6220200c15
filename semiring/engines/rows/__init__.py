"""Rows of any storage kind: their slices, those of bitmaps, and uncompressed rows in device memory."""
