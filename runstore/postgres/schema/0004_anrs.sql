-- Version 4: what did not respond in a run, beside its record; NULL where everything did.
ALTER TABLE apkgate.runs ADD COLUMN anrs bytea;
ALTER TABLE apkgate.runs ALTER COLUMN anrs SET STORAGE EXTERNAL;
CREATE INDEX runs_anrs ON apkgate.runs (subject, started, id) WHERE anrs IS NOT NULL;
