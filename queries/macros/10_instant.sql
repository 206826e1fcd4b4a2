-- title: A moment from its spelling: ISO with or without a zone, epoch seconds or milliseconds
CREATE MACRO instant(said) AS CASE
    WHEN try_cast(said AS DOUBLE) > 1e11
        THEN make_timestamp(CAST(try_cast(said AS DOUBLE) * 1000 AS BIGINT))
    WHEN try_cast(said AS DOUBLE) > 1e8
        THEN make_timestamp(CAST(try_cast(said AS DOUBLE) * 1000000 AS BIGINT))
    ELSE try_cast(try_cast(said AS TIMESTAMPTZ) AS TIMESTAMP)
END
