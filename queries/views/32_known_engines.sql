-- title: All engines that a log or the harness names
-- store: table
SELECT engine_names.engine
FROM engine_names
UNION
SELECT life.engine
FROM life
WHERE
    life.engine IS NOT NULL
    AND life.engine NOT IN (SELECT engine_names.label FROM engine_names)
UNION
SELECT marks.engine
FROM marks
WHERE
    marks.layer = 'harness'
    AND marks.engine IS NOT NULL
    AND marks.engine NOT IN (SELECT engine_names.label FROM engine_names)
