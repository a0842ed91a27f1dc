"""Errors that have a code for programs beside their message for people."""

from typing import Self


class CodedError(Exception):
    """An error whose `code` names the reason for programs, also after it was sent to another process."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (self.code, str(self))
