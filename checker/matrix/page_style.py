"""How the page of a matrix looks. Colours are told in words and signs as well."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light; --line: #b8bec6; --quiet: #4f5964; }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.45 system-ui, sans-serif; color: #16191d; background: #fff; }
main { max-width: 76rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; overflow-wrap: anywhere; }
a { color: inherit; }
small { display: block; color: var(--quiet); font-size: .78rem; font-weight: normal; }
.wide { overflow-x: auto; }
.blocks { display: flex; flex-wrap: wrap; gap: 0 2.5rem; }
.block { width: min-content; min-width: min(100%, 23rem); max-width: 100%; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left;
  vertical-align: top; }
thead th { background: #eef1f4; }
.grid th[scope=row] { position: sticky; left: 0; background: #fff; font-weight: normal; }
.grid td, .grid th[scope=row] { white-space: nowrap; }
.grid a { display: block; font-weight: bold; }
.holds { background: #dcefe6; color: #0b4a33; }
.contract { background: #fff1c2; color: #5a4300; }
.violated { background: #f9d3cf; color: #7a0c0c; box-shadow: inset 4px 0 #a31515; }
.incomplete { background: #e6e0f2; color: #3d2a6b; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem .8rem; }
dt { padding: 0 .5rem; align-self: start; } dd { margin: 0; }
.trace { display: none; border-top: 3px solid #16191d; margin-top: 2rem; }
.trace:target { display: block; }
.trace ol { padding-left: 2.2rem; } .trace li { margin: .25rem 0; }
summary { cursor: pointer; }
.state { font: .85rem/1.4 ui-monospace, monospace; margin: .4rem 0; }
.state td { white-space: nowrap; }
mark { background: #ffe58a; font-weight: bold; }
.end { color: #7a0c0c; font-weight: bold; }
@media print { .trace { display: block; } }
@media (max-width: 40rem) { main { padding: .6rem; } th, td { padding: .25rem .4rem; }
  dl { grid-template-columns: 1fr; } dt { justify-self: start; }
  .trace ol { padding-left: 1.4rem; } .grid th[scope=row] { white-space: normal; } }
"""
