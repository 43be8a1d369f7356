"""Configuration: defaults, TOML file, environment and options, in ascending precedence, as one frozen value.

A setting has one name everywhere: `streams.per_key` is `per_key` in the table `[streams]` of the file,
`DIRECTORY_SERVER_STREAMS__PER_KEY` in the environment and `--set streams.per_key=8` among the options.
"""

from ._load import ConfigError, load, read_secret, read_setting_file
from ._reference import (
    ShownSetting,
    describe,
    index_folder,
    record_folder,
    setting_names,
    settings_tables,
    shown_settings,
    typed_settings,
)
from ._settings import (
    Config,
    HttpConfig,
    MetricsConfig,
    WebConfig,
)
from ._types import Bytes, Days, Seconds, Sections
from ._upstreams import UpstreamConfig
from ._validators import (
    AtLeast,
    above_zero,
    each_matches,
    endpoint_url,
    issuer_url,
    line,
    name_patterns,
    networks,
    setting,
    url_or_path,
)
