-- needs: 1
-- How far targets have been derived from the change log is the position of a follower.
INSERT INTO follower (name, log, seq, version, holder, until)
    SELECT 'targets of checks', log.id, seq, selection, '', 0 FROM verification_plan, log;
DROP TABLE verification_plan;
