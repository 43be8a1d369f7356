-- The status `redirects` of a check is called `moved`.
UPDATE target SET state = CAST(replace(CAST(state AS TEXT), '"status":"redirects"', '"status":"moved"') AS BLOB)
WHERE instr(CAST(state AS TEXT), '"status":"redirects"');
