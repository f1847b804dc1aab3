-- Version 3: runs with different ids may be alike in all else. Only a history
-- whose runs have unique digests needs this step (schema.go).
CREATE TABLE runs_anew (
  number     INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  digest     BLOB NOT NULL, -- equal where runs differ in their id only
  subject    INTEGER NOT NULL REFERENCES subjects,
  context    INTEGER NOT NULL REFERENCES contexts,
  started    TEXT NOT NULL,
  session    TEXT NOT NULL,
  status     TEXT NOT NULL,
  version    TEXT NOT NULL,
  build      TEXT NOT NULL,
  repository TEXT NOT NULL,
  revision   TEXT NOT NULL,
  ref        TEXT NOT NULL,
  iterations INTEGER NOT NULL,
  added      TEXT NOT NULL,
  state      TEXT NOT NULL DEFAULT '',
  since      TEXT NOT NULL DEFAULT ''
) STRICT;

INSERT INTO runs_anew (number, id, digest, subject, context, started, session, status, version, build, repository, revision, ref, iterations, added, state, since)
SELECT number, id, digest, subject, context, started, session, status, version, build, repository, revision, ref, iterations, added, state, since FROM runs;

DROP TABLE runs;
ALTER TABLE runs_anew RENAME TO runs;
