"""The client's folders and the recorded ones that stand for them."""

import os
import re
from collections.abc import Mapping
from typing import Any

from harness.cassette.encodings import path_forms


class Paths:
    """Exchanges paths: the client's for the recorded ones, and back.

    `known` gives for each real folder its recorded one, such as `/workspace`.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known: dict[str, str] = {}
        self._here: dict[str, str] = {}
        for real, recorded in known.items():
            self.learn(real, recorded)

    def learn(self, real: str, recorded: str) -> None:
        """Take note that a real folder has the recorded one's place from now on."""
        real = real.rstrip("/")
        if not real:
            return  # everything is below it
        for variant in (real, os.path.realpath(real)):
            for form, instead in zip(path_forms(variant), path_forms(recorded), strict=True):
                self._known[form] = instead
        self._here[recorded] = real
        self._to_recorded = _pattern(self._known)
        self._to_real = _pattern(self._here)

    def recorded(self, text: str) -> str:
        """Return a text of the client's with the recorded folders in place of its own."""
        if not self._known or not any(form in text for form in self._known):
            return text
        return self._to_recorded.sub(lambda match: self._known[match[0]], text)

    def real(self, value: Any) -> Any:
        """Return a JSON value of the agent's with the client's folders in place of the recorded."""
        if isinstance(value, str):
            return self._to_real.sub(lambda m: self._here[m[0]], value) if self._here else value
        if isinstance(value, list):
            return [self.real(inner) for inner in value]
        if isinstance(value, dict):
            return {key: self.real(inner) for key, inner in value.items()}
        return value


def _pattern(table: Mapping[str, str]) -> re.Pattern[str]:
    longest_first = sorted(table, key=len, reverse=True)
    forms = "|".join(map(re.escape, longest_first))
    return re.compile(f"(?<![A-Za-z0-9_.])(?:{forms})(?![A-Za-z0-9_])")
