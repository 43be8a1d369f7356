"""Serialization: strict JSON in, bytes out. The only package that knows the external form of values."""

from ._arguments import (
    DetailArguments,
    DetailQuery,
    EntryPath,
    SearchArguments,
    ToolSearchArguments,
    add_message,
    detail_arguments,
    search_arguments,
)
from ._cards import (
    CLAIMED,
    DATE,
    UNKNOWN_VERSION,
    URN,
    card_body,
    card_document,
    card_name,
    card_server,
    catalog_name,
    first_text,
    is_catalog_entry,
    reversed_domain,
)
from ._cursors import decode_cursor, encode_cursor
from ._entries import (
    ENDING_META,
    FIELDS,
    FLAG_META,
    HIT_FIELDS,
    MATCHING_TOOLS,
    MAX_DETAIL,
    MAX_ENTRY,
    OWN,
    REMOVAL,
    VERIFICATION,
    decode_entry,
    detail_records,
    document_digest,
    edited,
    encode_detail,
    encode_entry,
    fingerprint,
    hit_records,
    matching_tools,
    restore_entry,
    with_official_flag,
)
from ._hits import decode_hit, encode_hit, found_page, hits_of, listed_page, registered_name, without_names
from ._json import (
    InvalidPart,
    canonical,
    decode,
    decode_apart,
    decode_stored,
    encode,
    pretty,
    raw,
    rfc3339,
    text,
    tool_result,
)
from ._json_schema import (
    Schema,
    argument_schemas,
    arguments_schema,
    field_schemas,
    object_schema,
    required_fields,
)
from ._keywords import ASK_BETTER, LONG_TEXT, MAX_KEYWORDS, MAX_WORDS, is_read_in_part
from ._model_details import model_detail
from ._parameters import (
    DEFAULT_CHANGES,
    MAX_LIMIT,
    ChangesParameters,
    ChangesQuery,
    SearchParameters,
    changes_parameters,
    entry_id,
    no_parameters,
    search_parameters,
    search_query,
    url_parameters,
)
from ._registry_parameters import (
    RegistryQuery,
    encode_registry_cursor,
    registry_look_up_parameters,
    registry_parameters,
    registry_version_parameters,
)
from ._registry_responses import registry_entry, registry_page, unread_parts
from ._responses import (
    IDENTIFIED,
    LISTED,
    MATCH,
    SEARCHED_FOR,
    ChangeItem,
    ChangesPage,
    ErrorBody,
    SearchPage,
    change_event,
    change_item,
    changes_page,
    encode_indexed,
    encode_texts,
    event,
    event_id,
    hit_schema,
    id_field,
    identified,
    matching_tools_schema,
    recorded_values,
    restore_indexed,
    restore_record,
    restore_texts,
    search_page,
)
from ._rpc import Id, Message, message, message_id
from ._toml import toml, yaml
