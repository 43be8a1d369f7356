-- Ended sessions, which a sign-in deletes.
CREATE INDEX session_seen ON session (seen_at);
CREATE INDEX session_created ON session (created_at);
