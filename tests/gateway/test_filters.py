"""Nothing that names or opens an account is in a file; and each filter is needed for that."""

import base64
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, quote_plus

import pytest
import yaml
from vcr.cassette import Cassette
from vcr.request import Request

from harness.cassette import Agent
from harness.cassette.encodings import secret_forms
from harness.gateway import filters
from harness.gateway.reduce import Reducer
from harness.gateway.tape import FORMAT, Exchange, Meta, cassette_config, load_tape, save_tape
from harness.recording.errors import RecordError

LETTERS: Final = "Q7mZ4xK9wB2vN6tR8yL3pD5sF1gH0jCaUeWoViGz"
"""What is chance in the planted keys."""

KEYS: Final[Mapping[str, str]] = {
    "OpenAI or Anthropic": f"sk-ant-api03-{LETTERS}",
    "Google": f"AIza{LETTERS[:35]}",
    "Google OAuth": f"ya29.{LETTERS}",
    "GitHub": f"ghp_{LETTERS[:36]}",
    "GitHub, fine-grained": f"github_pat_{LETTERS}",
    "GitLab": f"glpat-{LETTERS[:20]}",
    "AWS": "AKIAQ7MZ4XK9WB2VN6TR",
    "Slack": "xoxb-734829-Q7mZ4xK9wB2v",
    "Stripe": f"sk_live_{LETTERS[:24]}",
    "Hugging Face": f"hf_{LETTERS[:34]}",
    "Groq": f"gsk_{LETTERS}",
    "xAI": f"xai-{LETTERS}",
    "Perplexity": f"pplx-{LETTERS}",
    "npm": f"npm_{LETTERS[:36]}",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3NzMxIn0.Q7mZ4xK9wB2vN6tR8yL3p",
    "private key": f"-----BEGIN RSA PRIVATE KEY----- {LETTERS} -----END RSA PRIVATE KEY-----",
    "Bearer": f"Bearer {LETTERS[::-1]}",
}
ACCOUNTS: Final[Mapping[str, str]] = {
    "organization": f"org-{LETTERS[:24]}",
    "project": f"proj_{LETTERS[:24]}",
    "user": f"user-{LETTERS[:24]}",
    "account": f"acct_{LETTERS[:16]}",
    "request": f"req_{LETTERS[:24]}",
}
OPAQUE: Final = "opaque-"
"""Begins what has no form: only where it stands tells what it is."""

PROMPT: Final = f"Use {' and '.join([*KEYS.values(), *ACCOUNTS.values()])}."


class Plants:
    """Mints what is planted, each once."""

    def __init__(self) -> None:
        self.all: list[str] = [*KEYS.values(), *ACCOUNTS.values()]

    def new(self) -> str:
        self.all.append(f"{OPAQUE}{len(self.all):04d}-7731")
        return self.all[-1]


def request(plants: Plants, charset: str = "utf-8", *, form: bool = False) -> Request:
    """Return a request that has something in each place."""
    every = [*KEYS.values(), *ACCOUNTS.values()]
    body: dict[str, Any] = {
        "model": "m",
        "api_key": plants.new(),
        "user": plants.new(),
        "metadata": {"user_id": plants.new(), "deep": [{"account_id": plants.new()}]},
        "prompt_cache_key": plants.new(),
        "nested": {"deep": [{"access_token": plants.new(), "any": every}]},
        plants.new(): plants.new(),
        "messages": [
            {"role": "system", "content": f"The key is {plants.new()}."},
            {"role": "user", "content": PROMPT},
            {"role": "user", "content": f"{PROMPT} (of {plants.new()})"},
            {"role": plants.new() + " ", "name": KEYS["Groq"], "type": ACCOUNTS["user"]},
        ],
        "tools": [{"name": KEYS["xAI"], "description": plants.new()}],
    }
    kind = "application/json" if charset == "utf-8" else f"application/json; charset={charset}"
    data = json.dumps(body).encode(charset)
    if form:
        kind = "application/x-www-form-urlencoded"
        data = f"api_key={plants.new()}&x={quote_plus(KEYS['npm'])}&{plants.new()}=1".encode()
    headers = {
        "Content-Type": kind,
        "Accept": f"application/json; x={KEYS['Google']}; y={ACCOUNTS['organization']}",
        "Authorization": f"Bearer {plants.new()}",
        "Proxy-Authorization": plants.new(),
        "Cookie": f"session={plants.new()}",
    }
    for name in ("x-api-key", "x-goog-api-key", "openai-organization", "openai-project"):
        headers[name] = plants.new()
    for name in ("chatgpt-account-id", "x-request-id", "x-any", "user-agent", "session_id"):
        headers[name] = plants.new()
    key, token, more = plants.new(), plants.new(), quote(KEYS["GitHub"])
    uri = f"http://jane:{plants.new()}@agent/v1/chat/completions?key={key}&token={token}"
    return Request("POST", f"{uri}&alt={more}&beta={ACCOUNTS['account']}", data, headers)


def response(plants: Plants, body: bytes, kind: str, **more: str) -> dict[str, Any]:
    headers = {
        "Content-Type": [kind],
        "Set-Cookie": [f"__cf_bm={plants.new()}; path=/", f"other={plants.new()}"],
        "Retry-After": [f"1; {KEYS['Slack']}; {ACCOUNTS['project']}"],
    }
    for name in ("openai-organization", "openai-project", "x-request-id", "request-id", "cf-ray"):
        headers[name] = [plants.new()]
    for name in ("x-ratelimit-limit-tokens", "anthropic-ratelimit-tokens-reset", "via"):
        headers[name] = [plants.new()]
    for name in ("anthropic-organization-id", "x-any", "location", "www-authenticate"):
        headers[name] = [plants.new()]
    return {
        "status": {"code": 200, "message": f"OK {plants.new()}"},
        "headers": headers | {name.replace("_", "-"): [v] for name, v in more.items()},
        "body": {"string": body},
    }


MEMBERS: Final = (
    *("account_id", "organization", "organization_id", "org_id", "project_id", "user_id"),
    *("request_id", "api_key", "access_token", "refresh_token", "session_token", "email"),
    *("accountId", "userId", "requestId", "apiKey", "set-cookie", "client_secret", "password"),
)


def said(plants: Plants) -> dict[str, Any]:
    """Return an answer's value: members at any depth, and JSON within a text."""
    members = {name: plants.new() for name in MEMBERS}
    inner = json.dumps({"deep": json.dumps({name: plants.new() for name in MEMBERS})})
    return {
        "a": [{"b": members}],
        "arguments": inner,
        "text": PROMPT,
        "link": f"https://x.invalid/?api_key={plants.new()}&user_id={plants.new()}",
    }


def bodies(plants: Plants) -> Iterator[dict[str, Any]]:
    """Yield answers of each kind of body."""
    whole = json.dumps(said(plants))
    yield response(plants, whole.encode(), "application/json")
    yield response(plants, json.dumps(said(plants)).encode("utf-16"), "text/json; charset=utf-16")
    events = f"event: x\ndata: {json.dumps(said(plants))}\n\ndata: {whole}\n\n".encode()
    yield response(plants, events, "text/event-stream; charset=utf-8")
    packed = gzip.compress(json.dumps(said(plants)).encode())
    yield response(plants, packed, "application/json", content_encoding="gzip")
    yield response(plants, b"\xff\xfe\x00" + whole.encode(), "application/octet-stream")


def planted(
    folder: Path, without: str = "", keys: str = "", accounts: str = ""
) -> tuple[Path, list[str]]:
    """Write a cassette with all that is planted, by all filters but one; return its file."""
    plants = Plants()
    with pytest.MonkeyPatch.context() as patch:
        for name, forms, one in (
            ("KEY_FORMS", filters.KEY_FORMS, keys),
            ("ACCOUNT_FORMS", filters.ACCOUNT_FORMS, accounts),
        ):
            patch.setattr(filters, name, {k: v for k, v in forms.items() if k != one})
        reducer = Reducer(lambda: [PROMPT], lambda: lambda text: text)
        of_request = {k: v for k, v in filters.request_filters(reducer).items() if k != without}
        of_response = {k: v for k, v in filters.response_filters().items() if k != without}
    cassette = Cassette(
        path="", **cassette_config(list(of_request.values()), list(of_response.values()))
    )
    cassette.append(request(plants, "utf-16"), next(bodies(plants)))
    cassette.append(request(plants, form=True), next(bodies(plants)))
    for answer in bodies(plants):
        cassette.append(request(plants), answer)
    exchanges = [
        Exchange("openai-chat", f"1:{len(answer['body']['string'])}", "whole")
        for answer in cassette.responses
    ]
    meta = Meta(FORMAT, Agent("a", "1"), "fake", "text", "2026-01-01", "/tmp/x", exchanges)
    path = folder / "text.model.yaml"
    save_tape(path, cassette, meta)
    return path, plants.all


def found(path: Path, secrets: list[str]) -> list[str]:
    """Return the secrets that a file holds, in any form and encoding."""
    texts = [path.read_text("utf-8")]
    for pair in yaml.safe_load(texts[0])["interactions"]:
        for body in (pair["request"]["body"], pair["response"]["body"]["string"]):
            data = body if isinstance(body, bytes) else body.encode()
            texts += [data.decode("latin-1"), data.decode("latin-1").replace("\0", "")]
            try:
                texts.append(zlib.decompress(data, zlib.MAX_WBITS | 16).decode())
            except zlib.error:
                continue
    text = "\n".join(texts)
    forms = {secret: {form for _, form in secret_forms(secret)} for secret in secrets}
    return [secret for secret in secrets if any(form in text for form in forms[secret])]


def test_nothing_that_is_planted_is_in_the_file(tmp_path: Path) -> None:
    path, secrets = planted(tmp_path)
    assert len(secrets) > 300
    assert found(path, secrets) == []
    cassette, _ = load_tape(path, cassette_config((), ()))
    assert len(cassette) == 7


NAMES: Final = [
    *filters.request_filters(Reducer(list, lambda: lambda text: text)),
    *filters.response_filters(),
]


@pytest.mark.parametrize("name", NAMES)
def test_without_one_filter_something_is(tmp_path: Path, name: str) -> None:
    path, secrets = planted(tmp_path, without=name)
    if name == "request address":
        with pytest.raises(RecordError, match="were not filtered"):
            load_tape(path, cassette_config((), ()))
    assert found(path, secrets) != []


@pytest.mark.parametrize("form", filters.KEY_FORMS)
def test_without_one_form_of_keys_it_is_there(tmp_path: Path, form: str) -> None:
    path, secrets = planted(tmp_path, keys=form)
    assert KEYS[form] in found(path, secrets)


@pytest.mark.parametrize("form", filters.ACCOUNT_FORMS)
def test_without_one_form_of_accounts_it_is_there(tmp_path: Path, form: str) -> None:
    path, secrets = planted(tmp_path, accounts=form)
    assert ACCOUNTS[form] in found(path, secrets)


def test_what_an_account_may_still_ask_is_kept() -> None:
    limits = {
        "x-ratelimit-remaining-tokens": ["149984"],
        "x-ratelimit-reset-tokens": ["6m0.5s"],
        "anthropic-ratelimit-tokens-reset": ["2026-12-02T20:00:00Z"],
    }
    answer = response(Plants(), b"", "text/plain") | {"headers": limits}
    assert filters.response_filters()["response headers"](answer)["headers"] == limits


def test_a_body_keeps_its_length() -> None:
    plants = Plants()
    for answer in bodies(plants):
        if "content-encoding" in answer["headers"]:
            continue
        body = answer["body"]["string"]
        for name, one in filters.response_filters().items():
            assert len(one(answer)["body"]["string"]) == len(body), name


def test_two_names_stay_two_of_their_form_however_often_they_are_masked() -> None:
    for _ in range(2):
        names = filters.Names()
        one, two = names.mask(ACCOUNTS["request"]), names.mask("req_" + "b1" * 12)
        assert one == "req_" + "0" * 23 + "1"
        assert two == "req_" + "0" * 23 + "2"
        assert names.mask(ACCOUNTS["request"]) == one
        again = filters.Names()
        assert (again.mask(one), again.mask(two), again.mask(one)) == (one, two, one)
        assert filters.is_masked(one)
        assert filters.is_masked(two)
        assert not filters.is_masked(ACCOUNTS["request"])


def test_what_is_filtered_stays_as_it_is() -> None:
    """vcrpy runs the filters again where it reads a file."""
    reducer = Reducer(lambda: [PROMPT], lambda: lambda text: text)
    plants = Plants()
    once = request(plants)
    for one in filters.request_filters(reducer).values():
        once = one(once)
    before = (once.uri, once.body, dict(once.headers))
    for one in filters.request_filters(reducer).values():
        once = one(once)
    assert (once.uri, once.body, dict(once.headers)) == before


def test_base64_of_what_is_planted_would_be_seen() -> None:
    """`found` finds what it looks for."""
    secret = KEYS["npm"]
    assert any(
        base64.b64encode(b"xy" + secret.encode()).decode().find(f) >= 0
        for _, f in secret_forms(secret)
    )
