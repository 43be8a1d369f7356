"""Reasons why an installation is unavailable, and warnings to read before using one."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from ..sanitize import clean_line

MAX_SUBJECT = 100
"""Characters of the part of an entry that a notice quotes."""

REASONS: Mapping[str, str] = {
    "kind": "No editor configuration is available for packages of type {subject}.",
    "bundle": "Download the MCP bundle and open it in a program that installs bundles. Compare its SHA-256 first: "
    "{subject}.",
    "bundle_unverified": "The entry has no valid SHA-256 of the MCP bundle, so a download cannot be verified.",
    "local_server": "The server must be started manually first. Its address, {subject}, is on the local machine.",
    "name": "{subject} is not a valid package name in its registry.",
    "runner": "{subject} runs programs or code that its arguments name, like a shell, an interpreter or a package "
    "runner.",
    "version": "{subject} is not an exact version.",
    "registry": "The package comes from {subject}, which is not an allowed registry for its type.",
    "option": "The entry passes the option {subject} to the program that runs the package. It is not on the list of "
    "allowed options.",
    "option_value": "The value of the option {subject} is not allowed.",
    "host_path": "The entry sets a host path or a volume for the container: {subject}.",
    "network": "The entry sets the network of the container: {subject}.",
    "other_package": "The entry specifies another package or command to run: {subject}.",
    "variable_name": "{subject} is not a valid name of an environment variable.",
    "variable": "The entry sets the environment variable {subject}. Variables of this kind can change which code "
    "runs, which servers are trusted or where files are stored.",
    "variable_unlisted": "The entry sets the environment variable {subject}. A one-word name is allowed only if it is "
    "on the list of harmless names.",
    "undeclared": "The entry passes your environment variable {subject} to the container without declaring it.",
    "header_name": "{subject} is not an HTTP header that an entry may set.",
    "url": "{subject} is not a valid http or https URL.",
    "address": "The address belongs to the local machine or the link-local network: {subject}.",
    "reference": "The entry refers to settings or environment variables of the editor: {subject}.",
    "hidden": "A value in the entry contains characters that are not visible: controls, special spaces, format "
    "characters, or pictographs, which may need invisible selectors.",
    "shell": "An argument contains characters that the Windows command interpreter interprets: {subject}.",
    "hosts": "The entry sets addresses of more than {subject} hosts.",
    "size": "The arguments, variables and headers have more than {subject} characters.",
    "count": "The entry has more than {subject} arguments, variables, headers or inputs.",
}
"""Messages by code. `{subject}` is the part of the entry that the message is about."""

WARNINGS: Mapping[str, str] = {
    "version_open": "The entry specifies no version. The newest version in the registry runs.",
    "tag": "The image tag can be moved to another image at any time. Only a digest identifies a fixed image.",
    "image_registry": "The image comes from {subject}, which is not one of the well-known registries.",
    "host_path": "The container gets access to the folder that you enter. Choose a folder that it may read and change.",
    "network": 'The container joins the network that you enter. The network "host" gives it access to your '
    "computer's network.",
    "port": "The container's port is published on your computer and may be reachable from your network: {subject}.",
    "host_gateway": "The container can reach services that run on your computer.",
    "user": "The container runs as the user that you enter. User 0 is root.",
    "variable": "The variable {subject} can change which code runs, which servers are trusted or where files are "
    "stored. Enter only a value that you understand.",
    "arguments": "The entry sets arguments that may name a program, a URL, code or another package: {subject}. The "
    "package may run them.",
    "fixed_host": "The entry sets an address. The package may send what you enter, secrets included, to {subject}, "
    "or load code from there.",
    "international": "The host name has non-ASCII characters, which can look like those of another name. Its ASCII "
    "form is {subject}.",
    "private_address": "The address is not public: {subject}. It leads to a server in your own network.",
    "unencrypted": "The connection is not encrypted. Others on the network can read and change the data, including "
    "keys.",
}
"""Messages by code, as in REASONS."""

REVIEWED = frozenset(("arguments", "fixed_host"))
"""Codes of warnings that a person must read first: there is no link that installs the server at once."""


@frozen
class Notice:
    """A reason or a warning: its `code`, the part of the entry it is about, and a readable message."""

    code: str = field(metadata={"description": "Machine-readable code; it does not change."})
    subject: str = field(
        metadata={
            "description": "Part of the entry that the notice is about: publisher's text.",
            "maxLength": MAX_SUBJECT,
        }
    )
    message: str = field(metadata={"description": "Human-readable text; it may change."})


class Unusable(Exception):
    """No safe and complete configuration is possible for a package or remote. The code is one of REASONS."""

    def __init__(self, code: str, subject: str = "") -> None:
        super().__init__(code, subject)
        self.notice = _notice(REASONS, code, subject)


def warning(code: str, subject: str = "") -> Notice:
    """Return the warning `code` about `subject`."""
    return _notice(WARNINGS, code, subject)


def _notice(messages: Mapping[str, str], code: str, subject: str) -> Notice:
    quoted = clean_line(subject, MAX_SUBJECT)
    return Notice(code, quoted, messages[code].replace("{subject}", quoted))
