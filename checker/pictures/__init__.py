"""A counterexample as pictures, as a page, and as files of other tools.

A story (`checker.story`) becomes a `sequence`, which is drawn as Mermaid or SVG, or `scenes`, which
a page shows one at a time. Templates are filled by `templating`, which escapes all that comes from
elsewhere.
"""
