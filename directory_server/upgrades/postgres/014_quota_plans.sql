-- needs: 1
-- Plans of the functions of the quota are made once for a connection, maybe while the table is empty, and then kept. So
-- each statement uses the index, whatever the statistics say.
ALTER FUNCTION charge_1 SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION peek_1 SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION prune_1 SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan;
