-- needs: 1
-- A follower makes the vectors, and reads all texts once more. "replaced_at": since when another model is used.
ALTER TABLE embedding_model ADD COLUMN replaced_at double precision;
ALTER TABLE embedding_model DROP COLUMN log;
ALTER TABLE embedding_model DROP COLUMN seq;
ALTER TABLE embedding_model DROP COLUMN holder;
ALTER TABLE embedding_model DROP COLUMN until;
