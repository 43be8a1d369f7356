-- needs: 2
-- What the index holds of checks are notes, and the texts of packages their bodies.
INSERT INTO note_body (id, body) SELECT id, body FROM package_texts;
INSERT INTO note (mcp_id, kind, other, reason, since, body)
    SELECT mcp_id, 'checks', '', '', 0, indexed FROM verification WHERE indexed IS NOT NULL;
INSERT INTO note (mcp_id, kind, other, reason, since, body_id)
    SELECT mcp_id, 'texts', '', '', 0, texts FROM verification WHERE texts IS NOT NULL;
ALTER TABLE verification DROP COLUMN indexed;
ALTER TABLE verification DROP COLUMN texts;
DROP TABLE package_texts;
