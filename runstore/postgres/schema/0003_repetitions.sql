-- Version 3: what a run's repetitions say, beside its summaries.
ALTER TABLE apkgate.runs ADD COLUMN repeated bytea NOT NULL DEFAULT '';
