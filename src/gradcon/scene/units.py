"""What a disparity is measured in, in words."""

DISPARITY_UNIT = "pixels per unit baseline"
DISPARITY_SIGN = "positive is nearer"
