-- needs: 1
-- A webhook reads the log itself, from `seq` of the log with the id `log`. What was read for webhooks and is of none of
-- them is not read again.
ALTER TABLE webhook ADD COLUMN log text NOT NULL DEFAULT '';
UPDATE webhook SET
    log = coalesce((SELECT max(webhook_reader.log) FROM webhook_reader WHERE webhook_reader.log <> ''),
        (SELECT id FROM log)),
    seq = coalesce(
        (SELECT min(webhook_change.seq) - 1 FROM webhook_change WHERE webhook_change.seq > webhook.seq),
        (SELECT max(webhook_reader.seq) FROM webhook_reader WHERE webhook_reader.seq > webhook.seq),
        seq
    );
DROP TABLE webhook_reader;
DROP TABLE webhook_entry;
DROP TABLE webhook_change;
