from semiring.bridges.graphblas.io import *
