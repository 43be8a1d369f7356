"""Test of the mail server, for `directory-server doctor`."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Iterator, Mapping

from ...cli.findings import TIMEOUT, Check, Finding
from ...config import Config
from .settings import RequestsConfig


def checks(config: Config) -> Mapping[str, Check]:
    """Return the check of the mail server; none without one."""
    settings = config.of(RequestsConfig)
    return {"mail": lambda: _check(settings)} if settings.mail_host else {}


def _check(settings: RequestsConfig) -> Iterator[Finding]:
    name = f"{settings.mail_host}:{settings.mail_port}"
    try:
        with smtplib.SMTP(settings.mail_host, settings.mail_port, timeout=TIMEOUT) as server:
            if settings.mail_tls:
                server.starttls(context=ssl.create_default_context())
            if settings.mail_user:
                server.login(settings.mail_user, settings.password())
            code, answer = server.mail(settings.mail_sender)
    except (OSError, smtplib.SMTPException) as error:
        cure = "Check requests.mail_host, mail_port, mail_tls, mail_user and the firewall."
        yield Finding("mail", f"{name}: {error}.", cure)
        return
    if code == 250:
        yield Finding("mail", f"{name} accepts messages from {settings.mail_sender}.")
    else:
        text = f"{name} rejects the sender {settings.mail_sender}: {answer.decode(errors='replace')}."
        yield Finding("mail", text, "Set requests.mail_sender to an address that the mail server accepts.")
