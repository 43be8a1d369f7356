-- needs: 0
-- The version of an entry that an alias means on a list. Readers of the list get that of the alias "production" as the
-- latest version.
CREATE TABLE list_channel (
    list text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    alias text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    PRIMARY KEY (list, name, alias)
) WITHOUT ROWID;
