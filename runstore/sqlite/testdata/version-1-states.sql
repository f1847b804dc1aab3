-- Version 1 of a history (docs/format/history.md).
-- Times are UTC text of fixed width, so that they sort as they are.

-- What is compared with what: one scenario of one app.
CREATE TABLE subjects (
  id       INTEGER PRIMARY KEY,
  package  TEXT NOT NULL,
  scenario TEXT NOT NULL,
  UNIQUE (package, scenario)
) STRICT;

-- Context properties, contexts as sorted lists of their ids, and the way back.
CREATE TABLE properties (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  value TEXT NOT NULL,
  UNIQUE (name, value)
) STRICT;

CREATE TABLE contexts (
  id         INTEGER PRIMARY KEY,
  properties BLOB NOT NULL UNIQUE
) STRICT;

CREATE TABLE context_properties (
  property INTEGER NOT NULL REFERENCES properties,
  context  INTEGER NOT NULL REFERENCES contexts,
  PRIMARY KEY (property, context)
) STRICT, WITHOUT ROWID;

-- The cells of summaries: a metric of an event, or of the whole run ('').
CREATE TABLE cells (
  id     INTEGER PRIMARY KEY,
  event  TEXT NOT NULL,
  metric TEXT NOT NULL,
  UNIQUE (event, metric)
) STRICT;

-- What List shows and filters by. state and since repeat the mark that counts.
CREATE TABLE runs (
  number     INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  digest     BLOB NOT NULL UNIQUE,
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

CREATE INDEX runs_started ON runs (started, id);
CREATE INDEX runs_state ON runs (state, started, id);
CREATE INDEX runs_level ON runs (subject, since) WHERE state = 'rebaselined';

-- The records: the bytes that the digest is of, as zstd.
CREATE TABLE records (
  run  INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  data BLOB NOT NULL
) STRICT;

CREATE TABLE marks (
  number INTEGER PRIMARY KEY,
  run    INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  state  TEXT NOT NULL,
  at     TEXT NOT NULL,
  since  TEXT NOT NULL,
  note   TEXT NOT NULL
) STRICT;

CREATE INDEX marks_run ON marks (run, at, number);

-- Summaries lie on the disk in the order in which references are read. They
-- have no foreign key to runs: that would need another index as large again.
CREATE TABLE summaries (
  subject   INTEGER NOT NULL,
  reference INTEGER NOT NULL,
  context   INTEGER NOT NULL,
  started   TEXT NOT NULL,
  id        TEXT NOT NULL,
  session   TEXT NOT NULL,
  median    BLOB NOT NULL,
  mean      BLOB NOT NULL,
  PRIMARY KEY (subject, reference, context, started, id)
) STRICT, WITHOUT ROWID;

-- By which rules the summaries were derived from the records.
CREATE TABLE derivation (
  version INTEGER NOT NULL
) STRICT;
