from semiring.bridges.graphblas.dtypes import *
