"""YAML nodes that know their lines: every error names the line of what is wrong."""

import difflib
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from harness.regular import read_text
from harness.scenarios.errors import ScenarioError

_TAGS = {
    "tag:yaml.org,2002:str": "text",
    "tag:yaml.org,2002:int": "a whole number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:null": "nothing",
    "tag:yaml.org,2002:timestamp": "a date",
    "tag:yaml.org,2002:map": "a mapping",
    "tag:yaml.org,2002:seq": "a list",
}

T = TypeVar("T")


def near(name: str, known: Iterable[str]) -> str:
    """Return a hint: the nearest known name, or all of them."""
    names = list(known)
    found = difflib.get_close_matches(name, names, 1)
    return f"did you mean {found[0]!r}?" if found else f"known: {', '.join(names)}"


class Value:
    """One node of a file, and what its place is called (`turns[0].model[2].say`)."""

    def __init__(self, path: Path, node: Node, name: str) -> None:
        self.path = path
        self.node = node
        self.name = name
        self.line: int = node.start_mark.line + 1

    def error(self, problem: str, hint: str) -> ScenarioError:
        """Return an error at this node's line."""
        return ScenarioError(self.path, self.line, problem, hint)

    def _wrong(self, wanted: str, hint: str) -> ScenarioError:
        got = _TAGS.get(self.node.tag, self.node.tag)
        if isinstance(self.node, ScalarNode) and self.node.value:
            got += f" ({self.node.value[:40]})"
        return self.error(f"`{self.name}` is {got}, and {wanted} is needed", hint)

    def mapping(self, allowed: Iterable[str], required: Iterable[str] = ()) -> "dict[str, Value]":
        """Return the values by key; unknown, missing and repeated keys are errors."""
        known = list(allowed)
        values: dict[str, Value] = {}
        for key, value in self.items():
            if key.text() not in known:
                raise key.error(f"`{self.name}` has no key {key.text()!r}", near(key.text(), known))
            values[key.text()] = value
        for name in required:
            if name not in values:
                raise self.error(f"`{self.name}` lacks `{name}`", f"add `{name}:`")
        return values

    def items(self) -> "list[tuple[Value, Value]]":
        """Return the pairs of a mapping with any text keys; a repeated key is an error."""
        if not isinstance(self.node, MappingNode):
            raise self._wrong("a mapping", "write `key: value` lines")
        pairs: list[tuple[Value, Value]] = []
        lines: dict[str, int] = {}
        for key_node, value_node in self.node.value:
            key = Value(self.path, key_node, f"a key of {self.name}")
            name = key.text()
            if name in lines:
                raise key.error(
                    f"`{name}` stands twice in `{self.name}`, first on line {lines[name]}",
                    "remove one of them",
                )
            lines[name] = key.line
            prefix = "" if self.name == "scenario" else f"{self.name}."
            pairs.append((key, Value(self.path, value_node, f"{prefix}{name}")))
        return pairs

    def list(self) -> "list[Value]":
        """Return the values of a list that is not empty."""
        if not isinstance(self.node, SequenceNode):
            raise self._wrong("a list", "write one `- ` line for each")
        if not self.node.value:
            raise self.error(f"`{self.name}` is an empty list", "give at least one")
        return [
            Value(self.path, node, f"{self.name}[{i}]") for i, node in enumerate(self.node.value)
        ]

    def text(self) -> str:
        """Return a text that is not empty."""
        if not self.is_text:
            raise self._wrong("text", "put it in quotes")
        if not self.node.value:
            raise self.error(f"`{self.name}` is empty", "write some text")
        return str(self.node.value)

    @property
    def is_text(self) -> bool:
        """Whether the node is a text."""
        return isinstance(self.node, ScalarNode) and self.node.tag == "tag:yaml.org,2002:str"

    @property
    def is_mapping(self) -> bool:
        """Whether the node is a mapping."""
        return isinstance(self.node, MappingNode)

    @property
    def is_list(self) -> bool:
        """Whether the node is a list."""
        return isinstance(self.node, SequenceNode)

    @property
    def is_number(self) -> bool:
        """Whether the node is a whole number."""
        return isinstance(self.node, ScalarNode) and self.node.tag == "tag:yaml.org,2002:int"

    def whole(self, least: int, most: int) -> int:
        """Return a whole number from `least` to `most`."""
        if not self.is_number:
            raise self._wrong("a whole number", f"give one from {least} to {most}")
        try:
            number = int(self.node.value, 10)
        except ValueError:
            raise self._wrong("a decimal number", f"give one from {least} to {most}") from None
        if not least <= number <= most:
            raise self.error(f"`{self.name}` is {number}", f"give {least} to {most}")
        return number

    def true(self) -> None:
        """Check that the value is `true`: the key alone says everything."""
        if self.node.tag != "tag:yaml.org,2002:bool" or self.node.value.lower() != "true":
            raise self._wrong("true", "write `true`, or remove the step")

    def choice(self, known: Iterable[T]) -> T:
        """Return the one of `known` that the text is."""
        names = {str(name): name for name in known}
        text = self.text()
        if text not in names:
            raise self.error(f"`{self.name}` is {text!r}", near(text, names))
        return names[text]


def read_yaml(path: Path) -> Value:
    """Return the root of a YAML file. Raises ScenarioError with the line of what is broken."""
    try:
        text = read_text(path)
    except OSError as error:
        raise ScenarioError(
            path, 0, f"could not be read: {error.strerror}", "see `harness list scenarios`"
        ) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ScenarioError(path, line, "is not UTF-8", "save the file as UTF-8") from error
    return parse_yaml(path, text)


def parse_yaml(path: Path, text: str) -> Value:
    """Return the root of a YAML text; `path` is for the errors. Raises ScenarioError."""
    try:
        node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        raise ScenarioError(
            path, line, f"broken YAML: {error.problem or error.context}", "correct the line"
        ) from error
    except yaml.YAMLError as error:  # a character that YAML forbids: it has a position, no mark
        raise ScenarioError(
            path, _forbidden(text), f"broken YAML: {str(error).splitlines()[0]}", "remove it"
        ) from error
    except RecursionError:
        raise ScenarioError(path, 0, "is nested too deeply", "scenarios are flat") from None
    if node is None:
        raise ScenarioError(path, 0, "is empty", "start with `title:`")
    return Value(path, node, "scenario")


def _forbidden(text: str) -> int:
    """Return the line (1-based) of the first character that YAML does not allow, else 0."""
    for number, line in enumerate(text.split("\n"), 1):
        if any(unicodedata.category(c) == "Cc" and c not in "\t\r\x85" for c in line):
            return number
    return 0
