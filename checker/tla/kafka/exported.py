"""The module of any problem: a user's model, or a version of Kafka's protocol."""

from __future__ import annotations

from waterline.checker.kafka.families import GRAINS
from waterline.checker.problem.problem import Problem
from waterline.checker.tla.kafka.module import kafka_module
from waterline.checker.tla.module import Module, module_of
from waterline.checker.tla.subject import subject_of
from waterline.checker.user_models.family import built_of


def export(problem: Problem) -> Module:
    """The module of a problem. Raises `BadEnvironment` for what it cannot say."""
    if problem.family in GRAINS.values():
        return kafka_module(problem)
    return module_of(subject_of(*built_of(problem)))
