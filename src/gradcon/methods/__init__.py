"""How a disparity map is estimated: options, the paper's schedules, the loop, and the checks after it."""
