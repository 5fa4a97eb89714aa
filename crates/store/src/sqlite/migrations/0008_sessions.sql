-- Sessions of the console, and links that begin one. Of their secrets only the hash is here.
CREATE TABLE sessions (
    id         BLOB    NOT NULL PRIMARY KEY,
    kind       INTEGER NOT NULL,
    key_hash   BLOB    NOT NULL,
    actor      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
