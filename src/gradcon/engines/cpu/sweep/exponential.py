"""The exponential of numbers that are not positive, in float32, without a call that would keep loops from vectors."""

import math

import numpy as np

from gradcon.engines.cpu.rows import inlined

LOG2_E = np.float32(math.log2(math.e))
# 2^f for f from -1/2 to 1/2, by powers of f; the relative error is below 3e-6.
C1, C2, C3, C4, C5 = (np.float32(math.log(2) ** i / math.factorial(i)) for i in range(1, 6))


@inlined
def exp(x):
    """Return e^x for x <= 0."""
    power = max(x * LOG2_E, np.float32(-126))
    whole = np.floor(power + np.float32(0.5))
    f = power - whole
    fraction = ((((C5 * f + C4) * f + C3) * f + C2) * f + C1) * f + np.float32(1)
    return fraction * np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)
