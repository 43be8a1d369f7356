-- The identity of the log of changes: readers come back with it, and it is another one after a restore.
CREATE TABLE log (id TEXT NOT NULL) STRICT;
INSERT INTO log (id) VALUES (lower(hex(randomblob(6))));
