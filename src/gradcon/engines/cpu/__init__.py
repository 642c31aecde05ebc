"""The default engine: float32 on all cores, compiled by Numba."""
