"""A registry on loopback that npm itself installs from: one small agent, and nothing else."""

import base64
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PACKAGE: dict[str, Any] = {
    "name": "@some/cli",
    "version": "1.2.3",
    "bin": {"some": "some.js"},
    "engines": {"node": ">=18"},
    "scripts": {"postinstall": "node ./after.js"},
}
PROGRAM = "#!/usr/bin/env node\nconsole.log('some 1.2.3')\n"
AFTER = """\
const fs = require('fs'), home = process.env.HOME
fs.writeFileSync(home + '/left-by-a-script', 'x')
fs.writeFileSync('home.txt', home)
"""


def tarball(package: dict[str, Any], after: str = AFTER) -> bytes:
    """Return a package as npm packs it."""
    files = {"package.json": json.dumps(package), "some.js": PROGRAM, "after.js": after}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(text.encode())
            info.mode = 0o755
            archive.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


@contextmanager
def registry(package: dict[str, Any] | None = None, after: str = AFTER) -> Iterator[str]:
    """Serve a package; give the registry's address."""
    said = package or PACKAGE
    packed = tarball(said, after)
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()

    class Handler(BaseHTTPRequestHandler):
        server: ThreadingHTTPServer

        def do_GET(self) -> None:
            at = f"http://127.0.0.1:{self.server.server_port}"
            if self.path.endswith("/some.tgz"):
                self.answer(200, packed)
            elif self.path.replace("%2f", "/").replace("%2F", "/") == f"/{said['name']}":
                dist = {"tarball": f"{at}/some.tgz", "integrity": integrity}
                version = {**said, "dist": dist, "hasInstallScript": True}
                document = {
                    "name": said["name"],
                    "dist-tags": {"latest": said["version"]},
                    "versions": {said["version"]: version},
                }
                self.answer(200, json.dumps(document).encode())
            else:
                self.answer(404, b"{}")

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
