"""The message grain: fetch request and fetch answer are separate steps.

What a cluster state is, every way it can move, its versions and circumstances.
`model.message.model` puts them together; it is what `check` explores.
"""
