"""The methods that the paper compares, with the RMSE it reports for each."""

from __future__ import annotations

from gradcon.experiments.comparison import Contender
from gradcon.methods.options import Options

NAIVE = Contender("naive", "Naive", Options("naive", scales=1).as_in_the_paper(), paper=0.32609)
GCM_ONE_SCALE = Contender("gcm", "GCM", Options("gcm", scales=1).as_in_the_paper(), paper=0.22723)
PROGRESSIVE = Contender(
    "progressive", "Progressive inclusion", Options("progressive", scales=1).as_in_the_paper(), paper=0.25198
)

COARSE_TO_FINE = Contender(
    "coarse-to-fine", "Coarse to fine", Options("coarse-to-fine", scales=3).as_in_the_paper(), paper=0.26926
)
GCM = Contender("gcm", "GCM", Options("gcm", scales=3).as_in_the_paper(), paper=0.22452)
NO_SCALE = Contender(
    "gcm-without-scale", "GCM, O = 0", Options("gcm", scales=3, without="scale").as_in_the_paper(), paper=0.31943
)
NO_GRADIENT = Contender(
    "gcm-without-gradient", "GCM, G = 0", Options("gcm", scales=3, without="gradient").as_in_the_paper(), paper=0.28827
)

ONE_SCALE = (NAIVE, GCM_ONE_SCALE, PROGRESSIVE)
THREE_SCALES = (COARSE_TO_FINE, GCM, NO_SCALE, NO_GRADIENT)
