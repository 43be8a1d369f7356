-- The names that these columns have in PostgreSQL.
ALTER TABLE entry RENAME COLUMN shown TO visible_id;
ALTER TABLE entry RENAME COLUMN chosen TO preferred_id;
ALTER TABLE upstream RENAME COLUMN question TO selection;
ALTER TABLE upstream RENAME COLUMN last_round TO last_run;
ALTER TABLE upstream RENAME COLUMN next_round TO next_run;
ALTER TABLE upstream RENAME COLUMN mark TO updated_since;
ALTER TABLE upstream RENAME COLUMN walked TO full_sync_names;
ALTER TABLE upstream RENAME COLUMN walked_at TO full_sync_at;
ALTER TABLE upstream RENAME COLUMN walk_full TO progress_full;
ALTER TABLE upstream RENAME COLUMN walk_began TO progress_began;
ALTER TABLE upstream RENAME COLUMN walk_cursor TO progress_cursor;
ALTER TABLE seen RENAME COLUMN taken TO accepted;
