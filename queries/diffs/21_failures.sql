-- title: Failed attempts of both sides, told apart by all that is compared
SELECT
    seen.side,
    seen.layer,
    seen.cause,
    seen.model,
    seen.user_id,
    seen.route,
    sum(seen.attempts)::BIGINT AS failed
FROM seen
WHERE seen.cause IS NOT NULL
GROUP BY ALL
ORDER BY ALL
