"""The paper's formulas, independent of gradcon, to which the tests hold its engines.

transcription       has the formulas, in the order and with the letters of the paper
cases               makes small scenes, as gradcon gets them and as the formulas get them
"""
