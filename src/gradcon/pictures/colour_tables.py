"""The colours of the maps in `colour_maps`, from the lowest value to the highest.

They are matplotlib's, whose import would take longer than drawing a picture does; a test compares them.
"""

from __future__ import annotations

import base64
from functools import cache

import numpy as np
from numpy.typing import NDArray

_RGB = {  # 256 times red, green and blue, in base 64
    "viridis": (
        "RAFURAJVRANXRQVYRQZaRQhbRglcRgteRgxfRg5hRw9iRxFjRxJlRxRmRxVnRxZpRxhqSBlrSBpsSBxuSB1vSB5wSCBxSCFySCJzSCN0RyV1"
        "RyZ2Ryd3Ryh4Ryp5Ryt6Ryx7Ri18Ri98RjB9RjF+RTJ/RTR/RTWARTaBRDeBRDmCQzqDQzuDQzyEQj2EQj6FQkCFQUGGQUKGQEOHQESHP0WH"
        "P0eIPkiIPkmJPUqJPUuJPUyJPE2KPE6KO1CKO1GKOlKLOlOLOVSLOVWLOFaLOFeMN1iMN1mMNlqMNluMNVyMNV2MNF6NNF+NM2CNM2GNMmKN"
        "MmONMWSNMWWNMWaNMGeNMGiNL2mNL2qNLmuOLmyOLm2OLW6OLW+OLHCOLHGOLHKOK3OOK3SOKnWOKnaOKneOKXiOKXmOKHqOKHqOKHuOJ3yO"
        "J32OJ36OJn+OJoCOJoGOJYKOJYONJISNJIWNJIaNI4eNI4iNI4mNIomNIoqNIouNIYyNIY2MIY6MII+MIJCMIJGMH5KMH5OLH5SLH5WLH5aL"
        "HpeKHpiKHpmKHpmKHpqJHpuJHpyJHp2IHp6IHp+IHqCHH6GHH6KGH6OGIKSFIKWFIaaFIaeEIqeEI6iDI6mCJKqCJauBJqyBJ62AKK5/Ka9/"
        "KrB+K7F9LLF9LrJ8L7N7MLR6MrV6M7Z5Nbd4Nrh3OLl2Obl2O7p1Pbt0PrxzQL1yQr5xRL5wRb9vR8BuScFtS8JsTcJrT8NpUcRoU8VnVcZm"
        "V8ZlWcdkW8hiXslhYMlgYspfZMtdZ8xcacxba81Zbc5YcM5Wcs9VdNBUd9BSedFRfNJPftJOgdNMg9NLhtRJiNVHi9VGjdZEkNZDktdBldc/"
        "l9g+mtg8ndk6n9k4oto3pdo1p9szqtsyrdwwr9wust0std0rt90put4nvd4mv98kwt8ixd8hx+AfyuAezeAdz+Ec0uEb1OEa1+IZ2uIY3OIY"
        "3+MY4eMY5OMY5+QZ6eQZ7OQa7uUb8eUc8+Ue9uYf+OYh+uYi/eck"
    ),
    "cividis": (
        "ACJNACNPACNQACRSACVUACZVACZXACdZAChbAChcACleACpgACpiACtkACxmACxnAC1pAC5rAC9tAC9vADBwADBwADFwADFwBDJwCDNwCzNw"
        "DjRwETVvFDZvFjZvGDdvGjhvHDhuHTluHzpuITtuIjtuJDxuJT1tJz1tKD5tKj9tKz9tLEBtLkFsL0JsMEJsMUNsMkRsNERsNUVsNkZsN0Zs"
        "OEdsOUhsOkhrO0lrPUprPktrP0trQExrQU1rQk1rQ05rRE9rRU9rRlBrR1FrSFFrSVJrSlNrS1RsTFRsTVVsTlZsTlZsT1dsUFhsUVhsUlls"
        "U1psVFpsVVttVlxtV11tWF1tWV5tWV9tWl9tW2BuXGFuXWFuXmJuX2NuYGRuYWRvYWVvYmZvY2ZvZGdvZWhwZmlwZ2lwaGpwaGtxaWtxamxx"
        "a21xbG1ybW5ybm9ybnBzb3BzcHFzcXJzcnN0c3N0dHR1dHV1dXV1dnZ2d3d2eHh2eXh3eXl3enp3e3t3fHt4fXx4fn14f314gH54gX94goB4"
        "g4B4hIF4hYJ4hYN4hoN4h4R4iIV4iYZ4ioZ4i4d4jIh4jYl4jol4j4p3kIt3kYx3kox3k413lI53lY93lo93l5B2mJF2mZJ2mpN2m5N2nJR2"
        "nZV1npZ1n5Z1oJd1oZh0opl0o5p0pJp0pZtzppxzp51zqJ5zqZ5yqp9yq6ByrKFxraJxrqJxr6NwsKRwsaVwsqZvs6ZvtKdvtahutqlut6pt"
        "uKttuattuqxsu61svK5rva9rvrBqv7BqwbFpwrJpw7NoxLRoxbVnxrVnx7ZmyLdlybhlyrlky7pkzLtjzbxizrxiz71h0L5g0r9g08Bf1MFe"
        "1cJe1sNd18Nc2MRb2cVa2sZa28dZ3MhY3slX38pW4MtV4cxU4sxT481S5M5R5c9Q5tBP6NFO6dJN6tNM69RL7NVK7dZI7tdH79hG8dlE8tpD"
        "89pC9NtA9dw/9t09+N47+d86+uA4++E2/eI0/eMz/eU0/eY2/ec3"
    ),
    "magma": (
        "AAADAAAEAAAGAQAHAQEJAQELAgINAgIPAwMRBAMTBAQVBQQXBgUZBwUbCAYdCQcfCgciCwgkDAkmDQooDgoqDwssEAwvEQwxEg0zFA01FQ44"
        "Fg46Fw88GA8/GhBBGxBEHBBGHhBJHxFLIBFNIhFQIxFSJRFVJhFXKBFZKhFcKxFeLRBgLxBiMBBlMhBnNBBoNQ9qNw9sOQ9uOw9vPA9xPg9y"
        "QA9zQg90Qw91RQ92Rw93SBB4ShB5SxB5TRF6TxF7UBJ7UhJ8UxN8VRN9VxR9WBV+WhV+WxZ+XRd+Xhd/YBh/YRh/Yxl/ZRqAZhqAaBuAaRyA"
        "axyAbB2Abh6Bbx6BcR+Bcx+BdCCBdiGBdyGBeSKBeiKBfCOBfiSBfySBgSWBgiWBhCaBhSaBhyeBiSiBiiiBjCmAjSmAjyqAkSqAkiuAlCuA"
        "lSyAlyx/mS1/mi1/nC5/ni5+ny9+oS9+ozB+pDB9pjF9pzF9qTJ8qzN8rDN7rjR7sDR7sTV6szV6tTZ5tjZ5uDd4uTd4uzh3vTl3vjl2wDp1"
        "wjp1wzt0xTx0xjxzyD1yyj5yyz5xzT9wzkBw0EFv0UJu00Jt1ENt1kRs10Vr2UZq2kdp3Ehp3Ulo3kpn4Etm4Uxm4k1l5E5k5VBj5lFi51Ji"
        "6FRh6lVg61Zg7Fhf7Vlf7lte7l1d715d8GBd8WFc8mNc82Vc82db9Ghb9Wpb9Wxb9m5b9nBb93Fb93Nc+HVc+Hdc+Xlc+Xtd+X1d+n9e+oBe"
        "+oJf+4Rg+4Zg+4hh+4pi/Ixj/I5j/JBk/JJl/JNm/ZVn/Zdo/Zlp/Ztq/Z1r/Z9s/aFu/aJv/aRw/qZx/qhz/qp0/qx1/q52/q94/rF5/rN7"
        "/rV8/rd9/rl//ruA/ryC/r6D/sCF/sKG/sSI/saJ/seL/smN/suO/c2Q/c+S/dGT/dKV/dSX/daY/dia/dqc/dyd/d2f/d+h/eGj/OOl/OWm"
        "/Oao/Oiq/Oqs/Oyu/O6w/PCx/PGz/PO1/PW3+/e5+/m7+/q9+/y/"
    ),
    "turbo": (
        "MBI7MRVCMhhKNBtRNR5YNiFfNyNlOCZsOSlyOix5Oy9/PDKFPDWLPTeRPjqWPz2cQEChQEOmQUWrQUiwQku1Q066Q1C+Q1PCRFbHRFjLRVvO"
        "RV7SRWDWRWPZRmbdRmjgRmvjRm3mRnDoRnPrRnXtRnjwRnryRn30Rn/2RoL4RYT5RYf7RYn8RIz9Q479QpH+QZP+QJb+P5j+Ppv+PJ39O6D8"
        "OaL8OKX7Nqj5NKr4M6z2Ma/1L7HzLbTxK7bvKrntKLvrJr3pJcDmI8LkIcThIMbfHsncHcvaHM3XG8/UGtHSGdPPGNXMGNfKF9nHF9rEF9zC"
        "F96/GOC9GOG6GeO4GuS2G+W0HeexHuivIOmsIuupJOymJ+2jKe6gLO+dL/CaMvGXNfOUOPSRO/SNP/WKQvaHRveDSviATfl8Ufl5Vfp2Wfty"
        "XftvYfxsZfxoaf1lbf1icf1fdP5ceP5ZfP5WgP5ThP5Qh/5Ni/5Ljv5Ikv5Glf5EmP5Cm/1Anv0+ofw9pPw7pvs6qfs5rPo3rvk3sfg2s/g1"
        "tvc1ufU0u/Q0vvM0wPIzw/Ezxe8zyO4zyu0zzes0z+o00eg01Oc11uU12OM12uI23eA239424dw349o35dg459c46NU46tM57NE57c857805"
        "8Ms68sg688Y69MQ69sI698A5+L45+bw5+bo4+rc3+7U3+7M2/LA1/K40/asz/aky/aYx/aMw/qEv/p4u/pst/pgs/ZUr/ZIp/Y8o/Ywn/Ikm"
        "/IYk+4Mj+4Ai+n0g+nof+Xce+HQc93Eb924a9msY9WgX9GUW82MV8mAU8V0T71oR7lgQ7VUP7FIO6lAN6U0N6EsM5kkL5UYK40QK4kIJ4EAI"
        "3j4I3TwH2zoH2TgG1zYG1jQF1DIF0jAF0C8Ezi0EyysDySkDxygDxSYCwyQCwCMCviECux8BuR4BthwBtBsBsRkBrhgBrBYBqRUBphQBoxIB"
        "oBEBnRABmg4Blw0BlAwBkQsBjgoBiwkBhwgBhAcBgQYCfQUCegQC"
    ),
    "coolwarm": (
        "OkzAO03BPE/DPlHEP1PGQFTHQVbJQljKQ1rMRVvNRl3PR1/QSGDRSWLTS2TUTGbWTWfXTmnYUGvaUWzbUm7cU3DdVXHeVnPgV3XhWHbiWnjj"
        "W3nkXHvlXX3mX37nYIDoYYLqY4PqZIXrZYbsZ4jtaInuaYvva43wbI7xbZDxb5HycJPzcZT0c5X0dJf1dZj2d5r2eJv3ep34e574fKD5fqH5"
        "f6L6gKT6gqX7g6b7haj7hqn8h6r8iaz8iq39i679ja/9jrH9kLL+kbP+krT+lLX+lbf+l7j+mLn+mbr+m7v+nLz+nb3+n77+oL/+osD+o8H+"
        "pML+psP9p8T9qMX9qsb9q8f8rMj8rsn8r8r7sMv7ssv7s8z6tM36ts75t8/5uM/4udD4u9H3vNH2vdL2vtP1wNP1wdT0wtTzw9XyxdXyxtbx"
        "x9bwyNfvydfuytjuzNjtzdnsztnrz9nq0Nrp0dro0trn09vm1dvl1tvk19vi2Nvh2dzg2tzf29ze3Nzd3dzb3tva39vZ4NrX4drW4tnU49nT"
        "5NjR5djQ5tfP59bN59bM6NXK6dTJ6tPH69PG7NLE7NHD7dDB7c/A7s++786878278My58cu48cq28sm18siz8sey88aw88Wv9MSt9MOr9MKq"
        "9cGo9cCn9b+l9r2k9ryi9rug9rqf9rmd9rec9raa97WY97OX97KV97GU97CS966R962P9quN9qqM9qmK9qeJ9qaH9qSG9qOE9aGC9aCB9Z5/"
        "9J1+9Jt89Jp785h585Z485V28pN18pFz8ZBy8Y5w8I1v8Itt74ls7odq7oZp7YRn7IJm7IBk639j6n1h6ntg6Xle6Hdd53Vc5nRa5nJZ5XBX"
        "5G5W42xU4mpT4WhS4GZQ32RP3mJO3WBM3F5L21xK2lpI2VhH2FZG11RE1lJD1E9C001A0ks/0Uk+z0Y9zkQ8zUI6zD85yj04yTs3yDg1xjU0"
        "xTIzxDAywi0xwSowvyguviMtvB8suxoruRYquBEptg0otQgnswMm"
    ),
}


@cache
def colour_table(name: str) -> NDArray[np.uint8]:
    """Return the colours of a map, (256, 3)."""
    if name == "grey":
        table = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    else:
        table = np.frombuffer(base64.b64decode(_RGB[name]), np.uint8).reshape(256, 3).copy()
    table.flags.writeable = False
    return table
