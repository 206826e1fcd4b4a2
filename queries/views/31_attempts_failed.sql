-- title: The failed attempts; kept with all their columns while attempts are written
-- store: kept
SELECT attempts.* FROM attempts WHERE attempts.failed
