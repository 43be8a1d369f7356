"""A browser of server processes."""

from __future__ import annotations

import re
from contextlib import closing
from http.client import HTTPConnection, HTTPMessage
from urllib.parse import urlencode

from attrs import define, field, frozen

from .conftest import TIMEOUT, Server


@frozen
class Page:
    """A page and its response headers."""

    status: int
    headers: HTTPMessage
    text: str


@define
class Browser:
    """A browser, whose cookies all servers accept; it sends the CSRF token of the last page.

    A proxy sends the address, if there is one.
    """

    cookies: dict[str, str] = field(factory=dict)
    csrf: str = ""
    address: str = ""

    def request(self, server: Server, path: str, **fields: str) -> Page:
        """GET the page at `path`, or POST a form if there are `fields`."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Host": "directory.example.org", "Accept": "text/html", "Cookie": cookie}
        if self.address:
            headers["X-Forwarded-For"] = self.address
        body = None
        if fields:
            body = urlencode({"csrf": self.csrf, **fields})
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        with closing(HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)) as connection:
            connection.request("POST" if fields else "GET", path, body, headers)
            with connection.getresponse() as response:
                page = Page(response.status, response.headers, response.read().decode())
        for each in page.headers.get_all("Set-Cookie") or ():
            name, _, value = each.partition(";")[0].partition("=")
            self.cookies[name] = value
        if found := re.search(r'name="csrf" value="([^"]*)"', page.text):
            self.csrf = found[1]
        return page

    def create_key(self, creator: Server, viewer: Server) -> str:
        """Create a key on one server and return its secret from the page of another, which shows it once."""
        self.request(creator, "/account/keys")
        path = self.request(creator, "/account/keys", label="laptop").headers["Location"]
        page = self.request(viewer, path)
        assert page.status == 200, page.text
        (secret,) = set(re.findall(r"mcpd_\w{38}", page.text))
        for server in (creator, viewer):
            assert self.request(server, path).status == 410
        return str(secret)
