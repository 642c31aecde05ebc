"""The paper's formulas, independent of gradcon, to which the tests hold its engines."""
