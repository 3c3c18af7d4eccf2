"""The methods of a class as javap prints them, made comparable from one build to another.

Places of instructions and of constants are numbers that any change elsewhere in the class shifts;
so are the names of closures. Places become distances, and these numbers are left out. A class goes
by its last name: one that moved to another package is no change.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

JAVAP_SECONDS_MAX = 120
_METHOD = re.compile(r"^  (?!//)\S.*?([\w$]+)\(.*\).*;$")
_INSTRUCTION = re.compile(r"^ +(\d+): (\w+)(.*)$")
_CLOSURE = re.compile(r"(?:\$anonfun|lambda)\$([A-Za-z_]\w*)\$(?:\w+\$)?\d+")
_ADAPTED = re.compile(r"\$adapted$")
_PACKAGE = re.compile(r"(?:\w+/)+")
_JUMPS = re.compile(r"(?:if\w*|goto|goto_w|jsr)")

_Instruction = tuple[int, str, str]
"""Its place, its name, and the rest of the line."""


class NoByteCode(RuntimeError):
    """javap is missing or fails; the message says what to do."""


def methods_of(printed: str) -> dict[str, str]:
    """By name, the instructions of each method in what `javap -p -c` printed of some classes.

    A closure belongs to the method that it stands in.
    """
    found: dict[str, list[list[_Instruction]]] = {}
    instructions: list[tuple[int, str, str]] | None = None
    for line in printed.splitlines():
        declared = _METHOD.match(line)
        instruction = _INSTRUCTION.match(line)
        if declared:
            instructions = []
            found.setdefault(_owner(declared[1]), []).append(instructions)
        elif instruction and instructions is not None:
            instructions.append((int(instruction[1]), instruction[2], instruction[3]))
    return {
        name: "\n".join(line for method in lists for line in _comparable(method))
        for name, lists in found.items()
    }


def _owner(name: str) -> str:
    closure = _CLOSURE.match(_ADAPTED.sub("", name))
    return closure[1] if closure else name


def _comparable(method: list[_Instruction]) -> list[str]:
    """The instructions with jumps as distances, and without places in the table of constants."""
    places = {place: at for at, (place, _, _) in enumerate(method)}
    lines = []
    for at, (_, name, rest) in enumerate(method):
        operand, _, meaning = rest.partition("//")
        operand = re.sub(r"#\d+(?:, +\d+)?", "", operand).strip()
        if _JUMPS.fullmatch(name) and operand.isdigit():
            operand = f"{places.get(int(operand), at) - at:+d}"
        meaning = re.sub(r"#\d+:", "", _CLOSURE.sub(r"closure of \1", meaning))
        meaning = _PACKAGE.sub("", meaning).strip()
        lines.append(" ".join(filter(None, (name.replace("ldc_w", "ldc"), operand, meaning))))
    return lines


def printed_by_javap(jars: list[Path], classes: list[str]) -> str:
    """What javap prints of these classes, named as in the jar: `kafka.cluster.Partition$`."""
    javap = shutil.which("javap")
    if javap is None:
        raise NoByteCode("there is no javap on the PATH: install a JDK, which has it")
    command = [javap, "-p", "-c", "-cp", ":".join(map(str, jars)), *classes]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=JAVAP_SECONDS_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoByteCode(f"javap does not run: {problem}") from None
    if done.returncode != 0:
        raise NoByteCode(f"javap fails on {classes[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout
