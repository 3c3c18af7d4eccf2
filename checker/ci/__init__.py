"""The gate: named expectations, answered by a search or by a kept answer, and reported.

`reading` makes `Expectation`s of a file, `searching` gets an `Answer` to each, `judging` compares
the two, and every module of `reports/` writes the outcomes in one format. Nothing here prints.
"""
