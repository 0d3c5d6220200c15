"""The public classes Matrix, Vector and Scalar: Python syntax over `semiring.ops`."""
