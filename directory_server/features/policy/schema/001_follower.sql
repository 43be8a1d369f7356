-- needs: 1
-- The rules that all entries were compared with are those of a follower.
INSERT INTO follower (name, log, seq, version, holder, until)
    SELECT 'rules of the policy', log.id, (SELECT coalesce(max(seq), 0) FROM change), rules, '', 0
    FROM applied_policy, log;
DROP TABLE applied_policy;
