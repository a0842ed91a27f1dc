"""How the tests search: the same examples in every run, and no clock, since the machine may be busy."""

from hypothesis import settings

settings.register_profile("prefero", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("prefero")
