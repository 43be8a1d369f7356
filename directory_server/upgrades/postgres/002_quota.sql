-- needs: 1
-- Functions of the quota. A number is part of each name: during an upgrade, old and new software use their own ones.
-- `win` is the window in seconds. `given` is the time for tests, NULL for the clock of the server.

-- Charge one request to each of `keys`, which are sorted, so that all processes lock them in the same order. One row for
-- each key: whether the request was admitted, the requests in the window, and the seconds until one is available again.
CREATE FUNCTION charge_1(keys text[], limits bigint[], win float8, given float8)
RETURNS TABLE (admitted boolean, units bigint, back float8) LANGUAGE plpgsql AS $$
DECLARE
    k text; lim bigint; told float8; present float8;
    moment float8; newest bigint; oldest float8; first bigint;
BEGIN
    FOR i IN 1 .. cardinality(keys) LOOP
        k := keys[i];
        lim := limits[i];
        IF i = 1 OR k <> keys[i - 1] THEN
            PERFORM pg_advisory_xact_lock(hashtextextended(k, 1));
        END IF;
        -- After the lock: a time from before could lie before the newest request.
        told := coalesce(given, extract(epoch FROM clock_timestamp()));
        present := told; moment := NULL; newest := NULL; oldest := NULL; first := NULL;
        SELECT s.at, s.n INTO moment, newest FROM spent s WHERE s.key = k ORDER BY s.at DESC, s.n DESC LIMIT 1;
        newest := coalesce(newest, 0);
        IF given IS NULL AND moment > present + 5 THEN
            -- The clock was set back, or a standby with another clock has taken over.
            UPDATE spent s SET at = present WHERE s.key = k AND s.at > present;
        ELSE
            present := greatest(moment, present);
        END IF;
        SELECT s.at, s.n INTO oldest, first FROM spent s
            WHERE s.key = k AND s.at > present - win ORDER BY s.at, s.n LIMIT 1;
        units := newest - coalesce(first, newest + 1) + 1;
        admitted := units < lim;
        IF admitted THEN
            INSERT INTO spent VALUES (k, present, newest + 1);
            IF newest % 16 = 15 THEN
                DELETE FROM spent s WHERE s.key = k AND s.at <= present - win;
            END IF;
            units := units + 1;
            back := coalesce(oldest, present) + win - told;
        ELSE
            IF units > lim THEN
                -- The limit was lowered: the next request is possible when one less than `lim` are in the window.
                SELECT s.at INTO oldest FROM spent s
                    WHERE s.key = k AND s.at > present - win ORDER BY s.at, s.n LIMIT 1 OFFSET units - lim;
            END IF;
            back := oldest + win - told;
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

-- The requests of a key in the window, and the seconds until one is available again, NULL if none is spent.
CREATE FUNCTION peek_1(k text, lim bigint, win float8, given float8)
RETURNS TABLE (units bigint, back float8) LANGUAGE plpgsql STABLE AS $$
DECLARE
    told float8; present float8; moment float8; newest bigint; oldest float8; first bigint;
BEGIN
    told := coalesce(given, extract(epoch FROM clock_timestamp()));
    SELECT s.at, s.n INTO moment, newest FROM spent s WHERE s.key = k ORDER BY s.at DESC, s.n DESC LIMIT 1;
    present := told;
    IF given IS NOT NULL OR moment <= present + 5 THEN
        present := greatest(moment, present);
    END IF;
    SELECT s.at, s.n INTO oldest, first FROM spent s
        WHERE s.key = k AND s.at > present - win ORDER BY s.at, s.n LIMIT 1;
    units := coalesce(newest - first + 1, 0);
    IF units > lim THEN
        SELECT s.at INTO oldest FROM spent s
            WHERE s.key = k AND s.at > present - win ORDER BY s.at, s.n LIMIT 1 OFFSET units - lim;
    END IF;
    IF given IS NULL THEN
        -- The next charge moves requests of a clock that was ahead to the present.
        oldest := least(oldest, present);
    END IF;
    back := CASE WHEN units > 0 THEN oldest + win - told END;
    RETURN NEXT;
END $$;

-- Delete the rows from before the window of the next `most` keys after the key `k`, except each key's newest row. Return
-- the last of these keys; '' at the end of the table or if another process prunes.
CREATE FUNCTION prune_1(k text, most integer, win float8, given float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    present float8 := coalesce(given, extract(epoch FROM clock_timestamp()));
    newest bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(0, 4) THEN
        RETURN '';
    END IF;
    FOR i IN 1 .. most LOOP
        SELECT s.key INTO k FROM spent s WHERE s.key > k COLLATE "C" ORDER BY s.key LIMIT 1;
        IF NOT FOUND THEN
            RETURN '';
        END IF;
        SELECT s.n INTO newest FROM spent s WHERE s.key = k ORDER BY s.at DESC, s.n DESC LIMIT 1;
        DELETE FROM spent s WHERE s.key = k AND s.at <= present - win AND s.n < newest;
    END LOOP;
    RETURN k;
END $$;
