"""The unit and the sign of disparity, in words."""

DISPARITY_UNIT = "pixels per unit baseline"
DISPARITY_SIGN = "positive is nearer"
