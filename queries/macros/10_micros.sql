-- title: Microseconds as an interval
CREATE MACRO micros(us) AS to_microseconds(cast(coalesce(us, 0) AS BIGINT))
