"""The gate: named expectations of models, run or looked up, judged, and reported where people look.

`reading` makes `Expectation`s of a file, `searching` gets an `Answer` to each, `judging` compares
the two, and every module of `reports/` writes the outcomes in one format. Nothing here prints.
"""
