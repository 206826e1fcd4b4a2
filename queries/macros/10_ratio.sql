-- title: A used ratio as a fraction: 0.99, 99 and '99%' are one
CREATE MACRO ratio(said) AS CASE
    WHEN said LIKE '%\%' ESCAPE '\' THEN try_cast(rtrim(said, '% ') AS DOUBLE) / 100
    -- The most that an overdraft reaches is 200 %.
    WHEN try_cast(said AS DOUBLE) > 2 THEN try_cast(said AS DOUBLE) / 100
    ELSE try_cast(said AS DOUBLE)
END
