"""Command line that repeats a check."""

from __future__ import annotations

from checker.kafka.families import MESSAGE
from checker.problem.family import WHERE, words_of
from checker.problem.problem import Problem
from checker.problem.symmetry import Symmetry
from checker.problem.wording import as_option
from model.message.versions import switches_of


def check_again(problem: Problem, *, engine: str = "", own_model: str = "") -> str:
    """`waterline check --protocol hw --replicas 3`; of one's own `waterline check --model FILE`.

    `own_model` is what --model takes, where it is known better than by the model's name; `engine`
    is named where it matters.
    """
    model, family = problem.model, problem.family
    words = ["waterline check", *([f"--engine {engine}"] if engine else [])]
    if own_model or model.name.endswith(".py"):
        words.append(f"--model {own_model or f'{model.name}:{model.version}'}")
        said = [item for item in model.options.items() if item[0] not in words_of(problem).unsaid]
        words += [f"--set {name}={_plain(value)}" for name, value in said if name != WHERE]
        words += [as_option(name, value) for name, value in said if name == WHERE]
    elif family is not None:
        usual = family.usual.options()
        if family.name == MESSAGE.name:
            words += protocol_options(model.version)
        else:  # Other grains have no switches.
            words += [f"--grain {family.name}", f"--protocol {model.version}"]
        words += [
            as_option(n, value) for n, value in model.options.items() if value != usual.get(n)
        ]
    if problem.symmetry is not Symmetry.NONE:
        words.append(f"--symmetry {problem.symmetry.value}")
    return " ".join(words)


def protocol_options(version: str) -> list[str]:
    """`--protocol kip903`, `--without shrink-raises-epoch`: a version of the message grain."""
    base, added, removed = switches_of(version)
    switches = [f"--without {name}" for name in removed] + [f"--with {name}" for name in added]
    return [f"--protocol {base}", *switches]


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
