-- Sessions of the console, and links that begin one. Of their secrets only the hash is here.
CREATE TABLE sessions (
    id         bytea    NOT NULL PRIMARY KEY,
    kind       smallint NOT NULL,
    key_hash   bytea    NOT NULL,
    actor      bytea    NOT NULL,
    created_at bigint   NOT NULL,
    ends_at    bigint   NOT NULL
);
