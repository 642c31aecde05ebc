"""A plane sweep that sees occlusions: the most accurate method.

    range     a search of everything on a small copy tells the range of the disparities
    first     a search of that range, on a smaller copy if it is long: near views decide, edges come out sharp
    second    a search around a smooth surface through the result, at every size from there to the full one
    third     the same again, finer

`labels` finds the range, `noise` measures what counts as a difference, `passes` is one search, `uncertainty` judges the
outcome, and `settings` holds every parameter.  The arithmetic is in `gradcon.engines.sweep`.
"""
