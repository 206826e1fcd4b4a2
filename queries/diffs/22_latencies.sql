-- title: Durations of each side by model at the ranks that `places` asks for
WITH ordered AS (
    SELECT
        durations.side,
        durations.model,
        durations.duration_ms,
        row_number() OVER (
            PARTITION BY durations.side, durations.model
            ORDER BY durations.duration_ms
        ) AS place
    FROM durations
)

SELECT
    places.model,
    places.quantile,
    places.side,
    places.attempts,
    max(CASE WHEN ordered.place = places.low THEN ordered.duration_ms END) AS low,
    max(CASE WHEN ordered.place = places.middle THEN ordered.duration_ms END) AS middle,
    max(CASE WHEN ordered.place = places.high THEN ordered.duration_ms END) AS high
FROM places
INNER JOIN ordered
    ON
        places.side = ordered.side
        AND places.model = ordered.model
        AND ordered.place IN (places.low, places.middle, places.high)
GROUP BY places.model, places.quantile, places.side, places.attempts
ORDER BY places.model, places.quantile, places.side
