-- needs: 1
-- Accepted marks are notes.
INSERT INTO note (mcp_id, kind, other, reason, since) SELECT mcp_id, 'accepted', '', accepted, 0 FROM accepted_marks;
DROP TABLE accepted_marks;
