-- title: The shape of each incident: all alike, one pool, or some of them
-- topic: failures
-- answers: Did all fail alike (as of an engine), one pool alone (as of a quota), or some (as of the harness), and does that support the verdicts?
-- param top: integer = 20; how many incidents, the greatest first
-- column incident_id: incident
-- column layer: layer of its verdicts
-- column cause: cause
-- column failed: its failed attempts from its onset to the last of them
-- column engine_share: what they are of all attempts at their engines meanwhile; NULL: no log names the engines
-- column model_share: the same of all attempts for their models
-- column user_share: the same of all attempts of their users
-- column users_hit: users whom it hit
-- column users_served: other users who were served meanwhile
-- column pool: the one user, project or tenant that all of them belong to; NULL: several
-- column shape: all alike, one pool or some
-- column speaks_for: layer that such a shape speaks for
-- column support: supports, contradicts or suggests (nothing is decided); NULL: it says nothing
WITH spans AS (
    SELECT
        incidents.incident_id,
        incidents.layer,
        incidents.cause,
        incidents.ts_onset,
        greatest(incidents.ts_over, incidents.ts_onset) AS ts_over
    FROM incidents
    WHERE
        incidents.incident_id <= $top
        -- What is wrong with a request itself has no shape.
        AND incidents.layer <> 'client'
        AND incidents.cause <> 'harness.context_overflow'
),

meanwhile AS (
    SELECT
        spans.incident_id,
        attempts.engine,
        attempts.model,
        attempts.user_id,
        attempts.failed,
        coalesce(verdicts.incident_id = spans.incident_id, FALSE) AS is_hit
    FROM spans
    INNER JOIN attempts
        ON
            attempts.ts_end >= spans.ts_onset
            AND attempts.ts_start <= spans.ts_over
            AND attempts.ts_end <= spans.ts_over + INTERVAL 1 SECOND
    LEFT JOIN verdicts ON attempts.attempt_id = verdicts.attempt_id
),

hit AS (
    SELECT
        meanwhile.incident_id,
        count(*) AS failed,
        count(DISTINCT meanwhile.user_id) AS users,
        bool_and(meanwhile.user_id IS NOT NULL) AS users_known,
        list(DISTINCT meanwhile.engine) AS engines,
        list(DISTINCT meanwhile.model) AS models,
        list(DISTINCT meanwhile.user_id) AS user_ids
    FROM meanwhile
    WHERE meanwhile.is_hit
    GROUP BY meanwhile.incident_id
),

-- Of attempts that others failed it is not known how they would have ended.
around_hit AS (
    SELECT
        hit.incident_id,
        hit.failed,
        hit.users,
        hit.users_known,
        hit.user_ids,
        hit.failed / nullif(count(*) FILTER (
            WHERE list_contains(hit.engines, meanwhile.engine)
        ), 0) AS engine_share,
        hit.failed / nullif(count(*) FILTER (
            WHERE list_contains(hit.models, meanwhile.model)
        ), 0) AS model_share,
        hit.failed / nullif(count(*) FILTER (
            WHERE list_contains(hit.user_ids, meanwhile.user_id)
        ), 0) AS user_share,
        count(meanwhile.engine) > 0 AS engines_known,
        count(DISTINCT meanwhile.user_id) FILTER (
            WHERE
            NOT meanwhile.failed
            AND NOT list_contains(hit.user_ids, meanwhile.user_id)
        ) AS users_served
    FROM hit
    INNER JOIN meanwhile ON hit.incident_id = meanwhile.incident_id
    WHERE meanwhile.is_hit OR NOT meanwhile.failed
    GROUP BY
        hit.incident_id, hit.failed, hit.users, hit.users_known, hit.user_ids,
        hit.engines, hit.models
),

members AS (
    SELECT DISTINCT
        events.user_id,
        events.project_id,
        events.tenant_id
    FROM events
    WHERE events.user_id IS NOT NULL AND events.project_id IS NOT NULL
),

pools AS (
    SELECT
        around_hit.incident_id,
        CASE
            WHEN around_hit.users = 1 THEN 'user ' || around_hit.user_ids[1]
            WHEN
                count(DISTINCT members.project_id) = 1
                AND count(DISTINCT members.user_id) = around_hit.users
                THEN 'project ' || min(members.project_id)
            WHEN
                count(DISTINCT members.tenant_id) = 1
                AND count(DISTINCT members.user_id) = around_hit.users
                THEN 'tenant ' || min(members.tenant_id)
        END AS pool
    FROM around_hit
    LEFT JOIN members ON list_contains(around_hit.user_ids, members.user_id)
    GROUP BY around_hit.incident_id, around_hit.users, around_hit.user_ids
),

shapes AS (
    SELECT
        around_hit.*,
        pools.pool,
        CASE
            -- One or two are no shape.
            WHEN around_hit.failed < 3 THEN NULL
            WHEN
                pools.pool IS NOT NULL
                AND around_hit.users_known
                AND around_hit.users_served > 0
                AND around_hit.user_share >= 0.5
                THEN 'one pool'
            -- What was sent to no engine says nothing of any.
            WHEN
                coalesce(
                    around_hit.engine_share,
                    CASE
                        WHEN NOT around_hit.engines_known THEN around_hit.model_share
                    END
                ) >= 0.9
                AND around_hit.users <> 1
                THEN 'all alike'
            WHEN around_hit.users <> 1 OR around_hit.users_served > 0 THEN 'some'
        END AS shape
    FROM around_hit
    INNER JOIN pools ON around_hit.incident_id = pools.incident_id
),

spoken AS (
    SELECT
        shapes.*,
        CASE shapes.shape
            WHEN 'all alike' THEN 'model'
            WHEN 'one pool' THEN 'quota'
            WHEN 'some' THEN 'harness'
        END AS speaks_for
    FROM shapes
)

SELECT
    spans.incident_id,
    spans.layer,
    spans.cause,
    spoken.failed,
    round(spoken.engine_share, 4) AS engine_share,
    round(spoken.model_share, 4) AS model_share,
    round(spoken.user_share, 4) AS user_share,
    spoken.users AS users_hit,
    spoken.users_served,
    spoken.pool,
    spoken.shape,
    spoken.speaks_for,
    CASE
        WHEN spoken.speaks_for IS NULL THEN NULL
        WHEN spans.layer = 'undetermined' THEN 'suggests'
        WHEN spans.layer = spoken.speaks_for THEN 'supports'
        ELSE 'contradicts'
    END AS support
FROM spans
INNER JOIN spoken ON spans.incident_id = spoken.incident_id
ORDER BY spans.incident_id
