-- needs: 1
-- The newest entries first: by the date of publication, which is not after the record was first stored.
CREATE INDEX record_published ON record (least(coalesce(published_at, 0), created_at), written);
DROP INDEX change_added;
