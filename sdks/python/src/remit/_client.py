"""HTTP with the standard library."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from ._errors import RemitError
from ._json import canonical, is_object


@dataclass(frozen=True)
class Response:
    data: Any
    status: int
    headers: Mapping[str, str]


class Client:
    """Calls Remit. Safe to share between threads.

    `base_url` may have a path. Without `trust_env`, no proxy is taken from the environment.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        timeout: float = 30.0,
        trust_env: bool = False,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment or url.username:
            raise ValueError(
                "base_url must be an http or https URL without credentials, query and fragment, "
                f"not {base_url}"
            )
        self._url = url
        self._key = key
        self._timeout = timeout
        self._trust_env = trust_env
        self._ssl = ssl_context

    @property
    def key(self) -> str:
        return self._key

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Response:
        """One request without retries. Raises `RemitError` for everything but a success in JSON."""
        sent = {"authorization": f"Bearer {self._key}", "connection": "close", **(headers or {})}
        content = None
        if body is not None:
            sent["content-type"] = "application/json"
            content = canonical(body).encode()
        limit = self._timeout if timeout is None else timeout
        status, received, raw = self._exchange(method, path, sent, content, max(0.001, limit))
        return _read(status, received, raw)

    def approval(self, approval_id: str, wait: int, timeout: float) -> Response:
        query = f"?wait={wait}" if wait > 0 else ""
        path = f"/v1/approvals/{quote(approval_id, safe='')}{query}"
        return self.request("GET", path, timeout=timeout)

    def _exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, timeout: float
    ) -> tuple[int, dict[str, str], bytes]:
        connection, target = self._connect(self._url.path.rstrip("/") + path, timeout)
        late = threading.Event()

        def end() -> None:
            # A socket's own time limit begins anew with every byte.
            late.set()
            if connection.sock is not None:
                try:
                    connection.sock.shutdown(2)
                except OSError:
                    pass

        timer = threading.Timer(timeout, end)
        timer.daemon = True
        timer.start()
        try:
            connection.request(method, target, body=body, headers=dict(headers))
            response = connection.getresponse()
            raw = response.read()
            if late.is_set():
                raise TimeoutError
            received = {name.lower(): value for name, value in response.getheaders()}
            return response.status, received, raw
        except (OSError, http.client.HTTPException) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise RemitError("timed_out", f"no answer within {timeout} s") from error
            place = f"{self._url.scheme}://{self._url.netloc}{path.partition('?')[0]}"
            raise RemitError("unreachable", f"{method} {place} failed") from error
        finally:
            timer.cancel()
            connection.close()

    def _connect(self, path: str, timeout: float) -> tuple[http.client.HTTPConnection, str]:
        url = self._url
        host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        proxies = urllib.request.getproxies() if self._trust_env else {}
        proxy = proxies.get(url.scheme)
        if proxy is not None and not urllib.request.proxy_bypass(host):
            via = urlsplit(proxy if "//" in proxy else f"http://{proxy}")
            through = (via.hostname or "", via.port or 80)
            if url.scheme == "http":
                plain = http.client.HTTPConnection(*through, timeout=timeout)
                return plain, f"http://{url.netloc}{path}"
            tunnel = http.client.HTTPSConnection(*through, timeout=timeout, context=self._ssl)
            tunnel.set_tunnel(host, port)
            return tunnel, path
        if url.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._ssl), path
        return http.client.HTTPConnection(host, port, timeout=timeout), path


def _read(status: int, headers: Mapping[str, str], raw: bytes) -> Response:
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = media == "application/json" or (
        media.startswith("application/") and media.endswith("+json")
    )
    found = f"with {media or 'no media type'}"
    if is_json:
        try:
            data = json.loads(raw)
        except ValueError:
            found = f"with {media}" if status >= 300 else "with broken JSON"
        else:
            if 200 <= status < 300:
                return Response(data, status, headers)
            if is_object(data) and isinstance(data.get("code"), str):
                detail = str(data.get("detail"))
                raise RemitError(data["code"], detail, status=status, headers=headers, problem=data)
    message = f"{status} {found}, not an answer of Remit"
    raise RemitError("unexpected_answer", message, status=status, headers=headers)
