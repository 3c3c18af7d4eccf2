"""Little models of two rows, each with a switch `on` and a `count`; actions are text."""

from __future__ import annotations

import ast

from waterline.model.core.layout import Field, Layout
from waterline.model.core.made import function_of
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Budget, Model, Narration, Parameter

_SETTINGS = type("Settings", (tuple,), {"_fields": ("most",), "most": property(lambda c: c[0])})
_NARRATION = Narration(sentence=str, rows=lambda state: [], summary=lambda state: [])
SWITCHED_ON = ("s.on[i] == 0", "s.on[i] = 1")
COUNTED = ("s.on[i] == 1 and s.count[i] < 2", "s.count[i] = s.count[i] + 1")
SWITCHED_OFF = ("s.on[i] == 1", "s.count[i] = 0; s.on[i] = 0")


def model_of(*actions: tuple[str, str], budgeted: tuple[str, str] | None = None) -> Model:
    """A model with these actions, each a guard and an effect of a row `i`.

    The one that is `budgeted` may be taken once; `used` counts it.
    """
    layout = Layout(
        [
            Field(name="on", hi=1, shape=(2,), doc=""),
            Field(name="count", hi=2, shape=(2,), doc=""),
            Field(name="other", hi=2, shape=(2,), doc=""),
            Field(name="used", hi=1, doc=""),
        ],
        sizes={"rows": 2},
    )
    made_of = [_action(f"step{number}", *parts) for number, parts in enumerate(actions)]
    if budgeted is not None:
        made_of.append(_action("once", *budgeted, Budget("used", "most", "used")))
    return Model(
        name="rows",
        version="",
        layout=layout,
        settings=_SETTINGS((1,)),
        actions=tuple(made_of),
        contents=tuple(action.name for action in made_of),
        limits=("within", "used"),
        initial=(State(layout),),
        narration=_NARRATION,
        options={},
    )


def _action(name: str, guard: str, effect: str, budget: Budget | None = None) -> Action:
    text = f"def guard(s, c, i):\n    return {guard}\n\ndef effect(s, c, i):\n    {effect}\n"
    functions = {
        tree.name: function_of(tree, "<generated>", {"__name__": __name__})
        for tree in ast.parse(text).body
        if isinstance(tree, ast.FunctionDef)
    }
    return Action(
        name=name,
        parameters=(Parameter("i", "rows"),),
        guard=functions["guard"],
        effect=functions["effect"],
        budget=budget,
    )
