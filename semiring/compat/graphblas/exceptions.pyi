from semiring.bridges.graphblas.exceptions import *
