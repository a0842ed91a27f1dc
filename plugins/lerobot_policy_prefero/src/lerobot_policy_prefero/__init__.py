"""Rewards learned with Prefero as reward models of LeRobot: importing this package registers them."""

from lerobot_policy_prefero.configuration_prefero import PreferoConfig

__all__ = ["PreferoConfig"]
