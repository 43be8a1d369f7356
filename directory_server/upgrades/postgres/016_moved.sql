-- needs: 1
-- The status `redirects` of a check is called `moved`.
UPDATE target
SET state = convert_to(replace(convert_from(state, 'UTF8'), '"status":"redirects"', '"status":"moved"'), 'UTF8')
WHERE strpos(convert_from(state, 'UTF8'), '"status":"redirects"') > 0;
