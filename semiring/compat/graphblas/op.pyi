from semiring.bridges.graphblas.op import *
