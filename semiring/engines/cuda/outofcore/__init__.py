"""Operations of the CUDA engine on matrices whose entries are read over the interconnect, in chunks or in place."""
