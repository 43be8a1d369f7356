"""The look of the pages that the settings describe."""

from __future__ import annotations

from functools import cache

from ..config import Config, ConfigError, WebConfig
from ..web.pages import Brand


def brand_of(config: Config) -> Brand:
    """Return the brand of the pages. Raises ConfigError for a logo that cannot be used."""
    return _brand(config.web)


# Before a fork and after it, the same logo is read.
@cache
def _brand(web: WebConfig) -> Brand:
    try:
        return Brand.of(web.name, web.about, web.logo, web.accent)
    except OSError as error:
        raise ConfigError(f"web.logo: cannot be read: {error.strerror}: {web.logo}") from None
    except ValueError as error:
        raise ConfigError(f"web.logo: {error}") from None
