"""Index structures: documents, segments of them, snapshots of segments, and views of snapshots."""
