"""The environment in which a Minari dataset was recorded, made again.

A dataset names the function that makes its environment, and that function's arguments. A stranger's dataset
could name any function of any installed package, such as one that runs a command. So Prefero checks first
that what the dataset names is an environment, and that its wrappers are wrappers.
"""

from typing import Any

from prefero._support.optional import need


def recover_environment(dataset: Any, **options: Any) -> Any:
    """What `recover_environment` of the opened Minari dataset returns, once its specification is checked."""
    if dataset.env_spec is not None:
        check_specification(dataset.env_spec)
    return dataset.recover_environment(**options)


def recover_at(root: str, **options: Any) -> Any:
    """The same for the dataset in this folder, in whatever process."""
    return recover_environment(need("minari", extra="datasets").MinariDataset(root), **options)


def check_specification(spec: Any) -> None:
    """An error unless all that the specification names are environments and wrappers of Gymnasium."""
    gymnasium = need("gymnasium", extra="datasets")
    known = gymnasium.registry.get(spec.id)
    if known is None or known.entry_point != spec.entry_point:
        _check_subclass(spec.entry_point, gymnasium.Env)
    for wrapper in spec.additional_wrappers:
        _check_subclass(wrapper.entry_point, gymnasium.Wrapper)


def _check_subclass(entry_point: Any, kind: type) -> None:
    load = need("gymnasium.envs.registration", extra="datasets").load_env_creator
    found = load(entry_point) if isinstance(entry_point, str) else entry_point
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise ValueError(
            f"the dataset names {entry_point!r}, which is no subclass of gymnasium.{kind.__name__}, so it is "
            "not called: register the environment with Gymnasium first if you trust the dataset"
        )
