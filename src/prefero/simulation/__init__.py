"""Simulated users, test sets, and tasks in which a simulated user teaches a learner."""

from prefero.simulation.tasks import Evaluation, Task, accuracy_of, make_task, teach, world_task
from prefero.simulation.test_sets import TestSet
from prefero.simulation.users import SimulatedUser

__all__ = [
    "Evaluation",
    "SimulatedUser",
    "Task",
    "TestSet",
    "accuracy_of",
    "make_task",
    "teach",
    "world_task",
]
