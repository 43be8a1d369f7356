-- What an Index takes of the entry, and by which version of the analysis: a cache, made again where that is another.
ALTER TABLE record ADD COLUMN analysis TEXT;
ALTER TABLE record ADD COLUMN analysed BLOB;
