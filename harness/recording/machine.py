"""What of this machine must not be in a recording: its names, folders and secrets."""

import getpass
import os
import platform
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.cassette.leaks import Secret, machine_secrets
from harness.cassette.scrub import Rules, Scrubber
from harness.recording.agents import Found
from harness.recording.home import KEY, Home


def secrets_of(home: Home, keys: Sequence[str]) -> list[Secret]:
    """Return what no file of a recording may hold: of this machine, and `keys` besides."""
    return machine_secrets(
        host=socket.gethostname(),
        user=_user(),
        home=os.path.expanduser("~"),  # noqa: PTH111 - Path.home() may raise
        temp=str(home.root),
        environ=os.environ,
        keys=[KEY, *keys],
    )


def scrubber_of(  # noqa: PLR0913, PLR0917 - what there is to know of one recording
    rules: Rules, found: Found, home: Home, port: int, story: str, moments: Any
) -> Scrubber:
    """Return what makes this machine's names and folders the fixed ones.

    `story` is the scenario's file, whose words stay; `moments` are times that count as now too.
    """
    paths = {str(home.workspace): "/workspace", str(home.home): "/home/agent"}
    paths[str(home.root)] = "/recording"
    paths[found.folder or str(Path(found.path).parent)] = "/opt/agent"
    paths[sys.prefix] = "/opt/python"
    paths |= dict.fromkeys(found.search, "/opt/node/bin")
    for usual in ("/usr/bin", "/usr/local/bin", "/bin", "/usr", "/usr/local"):
        paths.pop(usual, None)
    told = Path(story)
    return Scrubber(
        rules,
        paths=paths,
        words=_words(),
        port=port,
        now=time.time(),
        keep=told.read_text("utf-8") if told.is_file() else "",
        also=moments,
    )


def _words() -> dict[str, str]:
    """Map the machine's names to fixed ones; those that could be any text's words are left."""
    words = {platform.release(): "6.0.0", socket.gethostname(): "localhost", _user(): "agent"}
    secrets = machine_secrets(
        host=socket.gethostname(), user=_user(), home="", temp="", environ={}, keys=[]
    )
    names = {secret.value for secret in secrets} | {platform.release()}
    return {word: fixed for word, fixed in words.items() if word in names and word}


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return ""
