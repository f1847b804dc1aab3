-- Version 5: a summary also has the run's commit, and what its repetitions say.
ALTER TABLE summaries ADD COLUMN revision TEXT NOT NULL DEFAULT '';
ALTER TABLE summaries ADD COLUMN repeated BLOB NOT NULL DEFAULT x'';
