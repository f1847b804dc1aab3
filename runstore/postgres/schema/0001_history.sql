-- Version 1 of a history in PostgreSQL (docs/postgres.md).
-- Times are UTC text of fixed width, so that they sort as they are; cast them
-- with ::timestamptz. PostgreSQL's own type is not as fine as a run's start.

-- What is compared with what: one scenario of one app.
-- Keys are SHA-256 of what a row says, since that may be too long for an index.
CREATE TABLE apkgate.subjects (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key      bytea NOT NULL UNIQUE,
  package  text COLLATE "C" NOT NULL,
  scenario text COLLATE "C" NOT NULL
);

CREATE TABLE apkgate.contexts (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key    bytea NOT NULL UNIQUE,
  names  text[] COLLATE "C" NOT NULL,
  values text[] COLLATE "C" NOT NULL
);

-- The cells of summaries: a metric of an event, or of the whole run ('').
CREATE TABLE apkgate.cells (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key    bytea NOT NULL UNIQUE,
  event  text COLLATE "C" NOT NULL,
  metric text COLLATE "C" NOT NULL
);

-- What is listed, and what a gate compares. state, since and reference repeat
-- the mark that counts.
CREATE TABLE apkgate.runs (
  number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id         text COLLATE "C" NOT NULL UNIQUE,
  digest     bytea NOT NULL, -- equal where runs differ in their id only
  subject    bigint NOT NULL REFERENCES apkgate.subjects,
  context    bigint NOT NULL REFERENCES apkgate.contexts,
  started    text COLLATE "C" NOT NULL,
  session    text COLLATE "C" NOT NULL,
  status     text COLLATE "C" NOT NULL,
  version    text COLLATE "C" NOT NULL,
  build      text COLLATE "C" NOT NULL,
  repository text COLLATE "C" NOT NULL,
  revision   text COLLATE "C" NOT NULL,
  ref        text COLLATE "C" NOT NULL,
  iterations integer NOT NULL,
  added      text COLLATE "C" NOT NULL,
  state      text COLLATE "C" NOT NULL DEFAULT '',
  since      text COLLATE "C" NOT NULL DEFAULT '',
  reference  boolean NOT NULL DEFAULT false,
  median     bytea NOT NULL,
  mean       bytea NOT NULL
) WITH (fillfactor = 90);

CREATE INDEX runs_digest ON apkgate.runs (digest);
CREATE INDEX runs_state ON apkgate.runs (state, started, id);
CREATE INDEX runs_started ON apkgate.runs (started, id);
CREATE INDEX runs_references ON apkgate.runs (subject, context, started, id) WHERE reference;
CREATE INDEX runs_revisions ON apkgate.runs (subject, "left"(revision, 64)) WHERE reference AND revision <> '';
CREATE INDEX runs_level ON apkgate.runs (subject, since) WHERE state = 'rebaselined';

-- The records: the bytes that the digest is of, as zstd.
CREATE TABLE apkgate.records (
  run  bigint PRIMARY KEY REFERENCES apkgate.runs ON DELETE CASCADE,
  data bytea NOT NULL
);
ALTER TABLE apkgate.records ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE apkgate.marks (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run    bigint NOT NULL REFERENCES apkgate.runs ON DELETE CASCADE,
  state  text COLLATE "C" NOT NULL,
  at     text COLLATE "C" NOT NULL,
  since  text COLLATE "C" NOT NULL,
  note   text COLLATE "C" NOT NULL
);

CREATE INDEX marks_run ON apkgate.marks (run, at, number);
