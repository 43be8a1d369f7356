-- Webhooks and their state. Changes to `seq` of the log were delivered; `pending` is the last change of the message that
-- is repeated, 0 if none is. `was_reset` is 1 if changes were lost. Secrets are encrypted. `shown_until` is until when
-- the secret may be shown once. Times are seconds since the epoch. Lists are separated by spaces.
CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    url TEXT NOT NULL,
    kinds TEXT NOT NULL,
    namespaces TEXT NOT NULL,
    keywords TEXT NOT NULL,
    created_at REAL NOT NULL,
    seq INTEGER NOT NULL,
    pending INTEGER NOT NULL DEFAULT 0,
    was_reset INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    failing_since REAL,
    next_at REAL NOT NULL DEFAULT 0,
    delivered_at REAL,
    error TEXT NOT NULL DEFAULT '',
    salt BLOB NOT NULL,
    sealed BLOB NOT NULL,
    shown_until REAL,
    previous_salt BLOB,
    previous_sealed BLOB,
    previous_until REAL
) STRICT;

-- Attempts to send a message, the last ones of each webhook. `status` is 0 without a response.
CREATE TABLE webhook_delivery (
    number INTEGER PRIMARY KEY,
    webhook TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
    at REAL NOT NULL,
    message TEXT NOT NULL,
    seq INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    status INTEGER NOT NULL,
    error TEXT NOT NULL,
    seconds REAL NOT NULL
) STRICT;
CREATE INDEX webhook_delivery_webhook ON webhook_delivery (webhook, number);

-- How far the log was read for webhooks, in one row. `is_complete` is 1 once all entries are in `webhook_entry`. Until
-- `until`, only `holder` reads and sends.
CREATE TABLE webhook_reader (
    id INTEGER PRIMARY KEY,
    log TEXT NOT NULL DEFAULT '',
    seq INTEGER NOT NULL DEFAULT 0,
    is_complete INTEGER NOT NULL DEFAULT 0,
    holder TEXT NOT NULL DEFAULT '',
    until REAL NOT NULL DEFAULT 0
) STRICT;

-- The visible entries as of the last change that was read: digests of the document and of the tools, and the status.
CREATE TABLE webhook_entry (
    mcp_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    document BLOB NOT NULL,
    tools BLOB NOT NULL,
    status TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The changes that webhooks are for, with their kinds. Other rows of the log change nothing that these tell.
CREATE TABLE webhook_change (
    seq INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    kinds TEXT NOT NULL
) STRICT;
