"""The versions that entries of the catalogue speak of together, and the few shapes of their bounds.

Few, so that few kernels are compiled: 2 replicas with 2 records, 3 where three records matter, 3
replicas where two are not enough, one where one is.
"""

from __future__ import annotations

SINCE_0_11 = (
    "epoch",
    "kip279",
    "kip279-code",
    "kip320-code",
    "kip320",
    "truncate-on-fetch",
    "kraft",
    "kip903",
    "elr",
)
SINCE_2_1 = ("kip320-code", "kip320", "truncate-on-fetch", "kraft", "kip903", "elr")
BEFORE_2_1 = ("epoch", "kip279", "kip279-code")
ALL = ("hw", *SINCE_0_11)

ONE = {"replicas": 1, "records": 1, "epochs": 2}
TWO = {"epochs": 3}
TWO_ONE_RECORD = {"epochs": 3, "records": 1}
TWO_THREE_RECORDS = {"epochs": 3, "records": 3}
THREE = {"replicas": 3, "epochs": 2}
THREE_ONE_RECORD = {"replicas": 3, "records": 1, "epochs": 3}
