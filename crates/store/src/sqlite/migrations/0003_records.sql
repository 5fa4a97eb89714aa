-- What is known about attempts that run.

-- When the attempt began; null where that is not known. Whether it has begun is said by `begun`.
ALTER TABLE work ADD COLUMN begun_at INTEGER;
