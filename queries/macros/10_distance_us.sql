-- title: Microseconds from a moment to an interval; 0 inside of it
CREATE MACRO distance_us(moment, first, last) AS greatest(
    0,
    date_diff('microsecond', moment, first),
    date_diff('microsecond', last, moment)
)
