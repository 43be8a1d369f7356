-- The names of these tables in PostgreSQL.
ALTER TABLE count RENAME TO statistic_count;
ALTER TABLE query RENAME TO statistic_query;
