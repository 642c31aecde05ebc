"""The engine for NVIDIA GPUs: CUDA kernels, compiled at first use."""
