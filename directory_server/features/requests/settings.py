"""Settings of requests."""

from __future__ import annotations

from attrs import frozen

from ...config import AtLeast, Config, ConfigError, Seconds, above_zero, line, read_secret, setting
from ...domain.accounts import is_email


@frozen
class RequestsConfig:
    """Requests of all kinds, such as for entries on lists and for a larger quota, and e-mails about them."""

    age: Seconds = setting(
        7_776_000.0, "Time after which open requests expire, and decided ones are deleted.", above_zero
    )
    mail_host: str = setting("", "Mail server; if empty: no e-mails.", line(253))
    mail_port: int = setting(587, "Port of the mail server.", AtLeast(1))
    mail_tls: bool = setting(True, "Whether STARTTLS with a valid certificate is required.")
    mail_sender: str = setting("", "Address that e-mails are from, such as directory@example.org.", line(254))
    mail_user: str = setting("", "User at the mail server.", line(200))
    mail_password_file: str = setting("", "File with the password of the mail user.")

    def check(self, config: Config) -> None:
        """Raise ConfigError for mail without a sender or links, and for a user without TLS or without a password."""
        if self.mail_host and not config.web.url:
            raise ConfigError("requests.mail_host: needs web.url, to which e-mails link.")
        if self.mail_host and not is_email(self.mail_sender):
            raise ConfigError("requests.mail_sender: must be an e-mail address.")
        if self.mail_user and not (self.mail_tls and self.mail_password_file):
            raise ConfigError("requests.mail_user: needs requests.mail_tls and requests.mail_password_file.")

    def password(self) -> str:
        """Return the password of the mail server, empty without a user. Raises ConfigError."""
        return read_secret("requests.mail_password_file", self.mail_password_file) if self.mail_user else ""
