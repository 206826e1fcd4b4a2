-- title: How well each log joins to the others by request id
-- topic: logs
-- answers: Which log is missing requests, has ids of its own, or ids that collide?
-- column path: path of the source
-- column layer: layer
-- column events: its records
-- column with_id: records that bear a request id
-- column requests: different request ids
-- column joined: of these, ids that another log has too
-- column alone: ids that no other log has
-- column repeated: ids of more than one access record of the source
-- column colliding: ids that several users share
-- column attempts: attempts whose id it has
-- column attempts_share: the same as a share of all attempts with an id
SELECT
    join_quality.path,
    join_quality.layer,
    join_quality.events,
    join_quality.with_id,
    join_quality.requests,
    join_quality.joined,
    join_quality.alone,
    join_quality.repeated,
    join_quality.colliding,
    join_quality.attempts,
    round(join_quality.attempts_share, 4) AS attempts_share
FROM join_quality
ORDER BY join_quality.path ASC, join_quality.source_id ASC
