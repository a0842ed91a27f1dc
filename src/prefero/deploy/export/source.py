"""Functions and classes of Prefero, or of other packages, as Python code that needs only NumPy.

`Source` collects the text of a function together with all that its code names: other functions and
constants. A kernel or a fitted embedding is a class with the method that says what it is, and what that uses.
Annotations are left out. Functions that find the array library of an array have the meaning of NumPy there.
"""

import ast
import builtins
import dis
import inspect
import re
from collections.abc import Collection, Iterator
from dataclasses import fields
from textwrap import dedent, indent
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from prefero._support import arrays
from prefero._support.arrays import Array, Indices
from prefero.datasets.features.embeddings.fitted import FittedEmbedding
from prefero.kernels import Kernel

CONSTANTS = (bool, int, float, str, tuple, type(None))
FOR_TOOLS = re.compile(r"  # (noqa|type: ignore)[^\n]*")


def namespace_of(array: Any) -> Any:  # noqa: ARG001
    """The array library of an array, which is NumPy here."""
    return np


def like(values: Any, array: Any) -> Array:  # noqa: ARG001
    """The values as an array."""
    return np.asarray(values, dtype=float)


def like_indices(values: Any, array: Any) -> Indices:  # noqa: ARG001
    """The values as indices."""
    return np.asarray(values)


def asinh(x: Array) -> Array:
    """The inverse of sinh."""
    return np.arcsinh(x)


class Values:
    """What has values by name: a kernel, or features that were fitted."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)


WITH_NUMPY: dict[Any, Any] = {
    arrays.namespace_of: namespace_of,
    arrays.like: like,
    arrays.like_indices: like_indices,
    arrays.asinh: asinh,
}
METHODS = {Kernel: "rowwise", FittedEmbedding: "features"}  # which say what a class is


class Source:
    """Code that is being collected; the file defines the `given` names elsewhere."""

    def __init__(self, given: Collection[str]) -> None:
        self._given, self._values = set(given), dict[str, Any]()
        self._texts: list[str] = []
        self._fields: dict[type, set[str]] = {}

    def __str__(self) -> str:
        return "\n\n".join(self._texts)

    def add(self, value: Any, name: str | None = None) -> None:
        """A function, a class or a constant, and before it all that its code names."""
        name = value.__name__ if name is None else name
        if name in self._given or (name == "np" and value is np):
            return
        if name in self._values:
            if self._values[name] is not value:
                raise ValueError(f"its code has two meanings of {name!r}: rename one of them")
            return
        self._values[name] = value
        if isinstance(value, FunctionType) and value.__name__ == name:
            written = WITH_NUMPY.get(value, value)
            self._texts.append(self._function(written))
        elif isinstance(value, type) and issubclass(value, tuple(METHODS)):
            self.add(Values)
            self._texts.append(self._class(value))
        elif isinstance(value, type) and value.__module__.startswith(__package__):
            for method in filter(inspect.isfunction, vars(value).values()):
                self._function(method)
            self._texts.append(_without_types(inspect.getsource(value)))
        elif isinstance(value, CONSTANTS):
            self._texts.append(f"{name} = {value!r}\n")
        else:
            raise ValueError(
                f"its code uses {name!r}, but it may only use NumPy (as np), numbers, texts and functions"
            )

    def fields_of(self, kind: type) -> set[str]:
        """Those fields of a class that its code uses."""
        return self._fields[kind]

    def _function(self, function: FunctionType) -> str:
        """Its text, after all that it needs was added."""
        outer = ", ".join(function.__code__.co_freevars).replace("__class__", "super()")
        if outer:
            raise ValueError(f"{function.__name__} uses {outer}, which is not in its code")
        try:
            text = _without_types(dedent(inspect.getsource(function)))
        except OSError as error:
            raise ValueError(f"the code of {function.__name__} is in no file") from error
        for name in sorted(_global_names(function.__code__) | _names_in_head(text)):
            if name in function.__globals__:
                self.add(function.__globals__[name], name)
            elif not hasattr(builtins, name):
                raise ValueError(f"its code uses {name!r}, which is not defined")
        return text

    def _class(self, kind: type) -> str:
        """A class with the method that says what it is, and what this uses of its class."""
        values = {one.name for one in fields(kind)}
        waiting = [method for base, method in METHODS.items() if issubclass(kind, base)]
        texts, self._fields[kind] = dict[str, str](), set()
        while waiting:
            name = waiting.pop()
            member = inspect.getattr_static(kind, name, None)
            member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if name in values:
                self._fields[kind].add(name)
            elif name in texts or member is None:
                continue
            elif isinstance(member, CONSTANTS):
                texts[name] = f"{name} = {member!r}\n"
            elif isinstance(member, FunctionType):
                texts[name] = self._function(member)
                waiting += _attributes_of_self(texts[name])
            else:
                raise ValueError(f"its code uses its attribute {name!r}, which is {type(member).__name__}")
        return f"class {kind.__name__}(Values):\n" + indent("\n".join(texts.values()), "    ")


def _global_names(code: CodeType) -> set[str]:
    """The global names that code uses, also in functions and comprehensions inside it."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    own = {one.argval for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}
    return own.union(*map(_global_names, inner))


def _names_in_head(text: str) -> set[str]:
    """The names in a function's default values and decorators."""
    [head] = ast.parse(text).body
    assert isinstance(head, ast.FunctionDef)
    values = [*head.args.defaults, *filter(None, head.args.kw_defaults), *head.decorator_list]
    return {node.id for value in values for node in ast.walk(value) if isinstance(node, ast.Name)}


def _attributes_of_self(text: str) -> list[str]:
    return [
        node.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    ]


def _without_types(text: str) -> str:
    """Code without annotations, and without comments that are for tools."""
    code = text.encode()
    begins = [0, *(place.end() for place in re.finditer(rb"\n", code))]
    for first, last in sorted(_annotations(ast.parse(text), code, begins), reverse=True):
        code = code[:first] + code[last:]
    return FOR_TOOLS.sub("", code.decode())


def _annotations(tree: ast.AST, code: bytes, begins: list[int]) -> Iterator[tuple[int, int]]:
    """Where each annotation begins, with what leads to it, and where it ends."""

    def end(node: Any) -> int:
        return begins[int(node.end_lineno) - 1] + int(node.end_col_offset)

    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            yield begins[node.lineno - 1] + node.col_offset + len(node.arg.encode()), end(node.annotation)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield end(node.target), end(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            last = end(node.returns)
            first = begins[node.returns.lineno - 1] + node.returns.col_offset
            yield code.rindex(b" ->", 0, first), last
