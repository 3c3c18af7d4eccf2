"""Numbers, sizes and options as people read them."""

from __future__ import annotations

from model.layout import Layout


def told_sizes(layout: Layout) -> str:
    """`2 replicas, 1 record, epochs 0 to 2`"""
    sizes = dict(layout.sizes)
    epochs = sizes.pop("epochs", None)
    told = [counted(n, name.removesuffix("s")) for name, n in sizes.items()]
    return ", ".join([*told, *([] if epochs is None else [f"epochs 0 to {epochs}"])])


def counted(number: int, thing: str) -> str:
    """`1 state`, `1,234 states`"""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def told_option(value: object) -> str:
    """An option's value as the report shows it."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
