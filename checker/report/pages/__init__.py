"""Pages and pictures of a counterexample, and conversions for other tools.

A story (`checker.kafka.narrative`) becomes a `sequence`, which is drawn as Mermaid or SVG, or
`scenes`, which a page shows one at a time. Templates are filled by `templating`, which escapes all
that comes from elsewhere.
"""
