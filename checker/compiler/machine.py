"""LLVM text to object code for this processor, and object code to functions.

One module, one pipeline, one object file. Functions are called through ctypes, which lets go of
the interpreter's lock while they run.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import llvmlite
import llvmlite.binding as llvm

LEVEL = 3
"""Level of LLVM's pipeline, and of its choice of instructions and registers."""
RULES_LEVEL = 1
"""Level of the pipeline for rules: without unrolled loops it takes two thirds of the time, and its
code for Kafka's rules is as fast. The store's loops are a tenth slower without the rest.
"""
QUICK_LEVEL = 0
"""Level of both for quick code: made in a twentieth of the time, two to three times slower."""
_LIBRARIES = itertools.count()
_ONE_AT_A_TIME = threading.Lock()
"""LLVM's global context is shared by all modules of a process."""


def description() -> str:
    """Return all else that machine code depends on: compiler, pipeline, processor."""
    machine = _machine(LEVEL)
    version = ".".join(map(str, llvm.llvm_version_info))
    features = llvm.get_host_cpu_features().flatten()
    names = f"{machine.triple} {llvm.get_host_cpu_name()} {features}"
    levels = f"O{LEVEL} O{RULES_LEVEL} O{QUICK_LEVEL}"
    return f"llvmlite {llvmlite.__version__} LLVM {version} {levels} {names}"


def object_code(text: str, *, rules: bool) -> bytes:
    """The object file of a module: of a model's rules, or of loops of the checker's own."""
    with _ONE_AT_A_TIME:
        code: bytes = _machine(LEVEL).emit_object(_optimise(text, rules=rules))
    return code


def quick_code(text: str) -> bytes:
    """The object file of the same module without any pass of the pipeline."""
    machine = _machine(QUICK_LEVEL)
    with _ONE_AT_A_TIME:
        code: bytes = machine.emit_object(_parse(text, machine))
    return code


def optimise(text: str) -> str:
    """A module of rules as LLVM leaves it, as text."""
    with _ONE_AT_A_TIME:
        return str(_optimise(text, rules=True))


def assembly(text: str) -> str:
    """A module of rules in the processor's own instructions."""
    with _ONE_AT_A_TIME:
        machine = _machine(LEVEL)
        machine.set_asm_verbosity(True)
        instructions: str = machine.emit_assembly(_optimise(text, rules=True))
    return instructions


def _optimise(text: str, *, rules: bool) -> Any:
    machine = _machine(LEVEL)
    module = _parse(text, machine)
    tuning = llvm.create_pipeline_tuning_options(RULES_LEVEL if rules else LEVEL)
    # Without it what a block of states is asked together takes a fifth longer.
    tuning.loop_vectorization = True
    tuning.loop_unrolling = not rules
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return module


def _parse(text: str, machine: Any) -> Any:
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


Functions = dict[str, Callable[..., int]]


def load(code: bytes, arguments: Mapping[str, Sequence[bool]]) -> Functions:
    """The functions of an object file; `arguments` says of each which of them are pointers.

    All of them return a number. Raises `RuntimeError` where the file is none that fits.
    """
    with _ONE_AT_A_TIME:
        builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in arguments:
            builder.export_symbol(name)
        library = builder.link(_linker(), f"kernel-{next(_LIBRARIES)}")
    return {name: _function(library, name, points) for name, points in arguments.items()}


def code_address(function: Callable[..., int] | None) -> int:
    """Where the code of a loaded function is, for compiled code that calls it; 0 for none."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0 if function else 0  # type: ignore[arg-type]


def _function(library: Any, name: str, points: Sequence[bool]) -> Callable[..., int]:
    types = [ctypes.c_void_p if each else ctypes.c_int64 for each in points]
    function: Any = ctypes.CFUNCTYPE(ctypes.c_int64, *types)(library[name])
    function.library = library  # its code is gone when nothing holds this any more
    return function  # type: ignore[no-any-return]


@functools.cache
def _machine(level: int) -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        reloc="pic",
        codemodel="jitdefault",
        jit=True,
    )


@functools.cache
def _linker() -> Any:
    _machine(LEVEL)
    return llvm.create_lljit_compiler()
