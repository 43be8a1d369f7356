-- needs: 1
-- The time of a checkpoint in milliseconds since the epoch; 0 for those of earlier releases, whose signature has none.
ALTER TABLE audit_checkpoint ADD COLUMN at bigint NOT NULL DEFAULT 0;
