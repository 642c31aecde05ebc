"""The ways to a disparity map: options, the paper's schedules, the loop, and what is checked after it."""
