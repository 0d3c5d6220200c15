"""The classes that users call: Matrix, Vector and Scalar, Python syntax over `semiring.ops`."""
