"""Every CUDA kernel on small inputs, for compute-sanitizer: `python -m benchmarks.sanitize`."""
