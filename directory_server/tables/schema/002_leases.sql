-- needs: 2
-- Leases of upstreams are rows of "follower".
DROP TABLE lease;
