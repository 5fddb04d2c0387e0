"""The provider that a gateway asks: its address, and the developer's key for it."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from harness.gateway.apis import PROVIDERS
from harness.recording.errors import RecordError
from harness.recording.models import Live

VARIABLE = "HARNESS_UPSTREAM"
"""The environment's variable for `--upstream`."""


class Upstream:
    """The providers and keys of one recording. Raises RecordError (2) for what cannot be one."""

    def __init__(self, live: Live, environ: Mapping[str, str]) -> None:
        self.model = live.model
        self._url = _checked(live.url or environ.get(VARIABLE, ""))
        self._named = live.key_variable
        names = [live.key_variable] if live.key_variable else _usual()
        self._keys = {name: environ[name].strip() for name in names if environ.get(name)}
        if not any(self._keys.values()):
            where = f"{live.key_variable} is" if live.key_variable else f"{', '.join(names)} are"
            raise RecordError(
                2,
                f"recording live: no key for the model's provider: {where} not set; set the "
                "variable (the key itself is never an argument), or name another with --key-env",
            )
        for name, key in self._keys.items():
            if not key.isascii() or not key.isprintable() or len(key) < _SHORTEST:
                raise RecordError(
                    2, f"recording live: what {name} holds is no key: correct the variable"
                )

    @property
    def keys(self) -> list[str]:
        """All keys that may be sent: none of them is in any file."""
        return list(self._keys.values())

    @property
    def loopback(self) -> bool:
        """Whether the provider is on this machine."""
        return bool(self._url) and _on_loopback(urlsplit(self._url).hostname or "")

    def notice(self) -> str:
        """Return a warning where the key would cross a network in the clear."""
        if self._url.startswith("http:") and not self.loopback:
            return f"{self._url} is not https: the key and the conversation can be read on the way"
        return ""

    def key(self, api: str) -> str:
        """Return the key for an API. Raises RecordError (2) where there is none."""
        names = (self._named,) if self._named else PROVIDERS[api].keys
        for name in names:
            if key := self._keys.get(name):
                return key
        raise RecordError(
            2,
            f"recording live: the agent asks {api}, and {' or '.join(names)} is not set; set it, "
            "or name another variable with --key-env",
        )

    def url(self, api: str, path: str, query: str) -> str:
        """Return the whole address of a request. A version at the base's end is not repeated."""
        base = urlsplit(self._url or PROVIDERS[api].url)
        before = base.path.rstrip("/")
        version = "/" + path.split("/")[1]
        before = before.removesuffix(version)
        return urlunsplit((base.scheme, base.netloc, before + path, query, ""))


_SHORTEST = 8
"""Characters below which a key cannot be told from a word."""


def _usual() -> list[str]:
    return list(dict.fromkeys(name for p in PROVIDERS.values() for name in p.keys))


def _checked(url: str) -> str:
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise RecordError(2, f"--upstream {url}: {error}") from error
    if parts.username or parts.password or parts.query or parts.fragment:
        raise RecordError(
            2,
            "--upstream: an address without user, query and fragment is needed: the key is taken "
            "from the environment",
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise RecordError(2, f"--upstream {url}: an address such as https://api.openai.com")
    return url


def _on_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
