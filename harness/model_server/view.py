"""What a request to a model API says, whichever API it is; and what is answered.

An API's module reads its requests into `Request` and writes a `Reply` as its own stream. All
decisions are taken between the two, in `script.py`.
"""

from collections.abc import Iterator
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct, field

from harness.scenarios import Usage


class Item(Struct, frozen=True):
    """One entry of the conversation so far, in order.

    `text` is what was said (`user`, `assistant`) or came of a call (`result`, where the API's
    module reads it); `id` is the tool call's (`call`, `result`).
    """

    role: Literal["user", "assistant", "call", "result"]
    text: str = ""
    id: str = ""


class Offered(Struct, frozen=True):
    """A tool that the agent offers.

    `form` is how it is called: with arguments that fit `schema` (`function`), with a text of
    its own grammar (`custom`), as the API's own `local_shell`; `search` finds other tools for the
    next request; `other` is not for scripts.
    """

    name: str
    form: Literal["function", "custom", "local_shell", "search", "other"] = "function"
    schema: dict[str, Any] = field(default_factory=dict)
    namespace: str = ""
    found: bool = False
    """Whether a search has found it: until then the agent has not offered it."""


class Request(Struct, frozen=True):
    """A request for a model's answer."""

    api: str
    model: str
    streamed: bool
    items: tuple[Item, ...]
    tools: tuple[Offered, ...]
    max_tokens: int | None = None
    encrypted_reasoning: bool = False
    include_usage: bool = False
    tagged_plan: bool = False
    """Whether the agent asks for a plan as Codex does, between tags of its own."""

    @property
    def last_user_text(self) -> str:
        """The newest text of the user, or an empty one."""
        return next((item.text for item in reversed(self.items) if item.role == "user"), "")


class Logged(Struct, frozen=True):
    """One request as it is logged: `view` is None where it asks for no model's answer."""

    method: str
    path: str
    kind: Literal["main", "side", "unexpected"]
    view: Request | None = None


class Thought(Struct, frozen=True):
    """A piece of reasoning, as its deltas."""

    chunks: tuple[str, ...]


class Text(Struct, frozen=True):
    """A message, as its deltas."""

    chunks: tuple[str, ...]


class Call(Struct, frozen=True):
    """A call of one of the agent's own tools: `input` is arguments, or a text (`custom`)."""

    id: str
    tool: Offered
    input: dict[str, Any] | str


class Silence(Struct, frozen=True):
    """So many milliseconds in which nothing is sent."""

    ms: int


class Held(Struct, frozen=True):
    """From here the stream stays open and silent."""


class Cut(Struct, frozen=True):
    """Here the connection is cut."""


Part: TypeAlias = Thought | Text | Call | Silence | Held | Cut


class Reply(Struct, frozen=True):
    """A model's answer. `key` is unique to it; all ids in the stream derive from it."""

    key: str
    model: str
    parts: tuple[Part, ...]
    usage: Usage


class Api(Protocol):
    """A model API: adding one is adding a module with such an object, and naming it in `APIS`."""

    name: str
    path: str
    """The path that asks for an answer; what stands for a `{name}` in it is put into the body."""

    def call_id(self, key: str) -> str:
        """Return the id, in the API's own form, of the tool call with that key."""

    def read(self, body: dict[str, Any]) -> Request:
        """Return what a request says. Raises ValueError for what is no request of the API."""

    def stream(self, request: Request, reply: Reply) -> Iterator[bytes | Silence | Held | Cut]:
        """Yield the answer's events, each as its bytes on the wire, and where nothing is sent."""

    def whole(self, request: Request, reply: Reply) -> dict[str, Any]:
        """Return the answer to a request that is not streamed."""

    def failure(self, status: int, message: str) -> dict[str, Any]:
        """Return the body of an HTTP failure."""
