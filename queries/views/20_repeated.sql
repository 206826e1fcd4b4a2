-- title: Hashes of request ids that more than one access record has
-- store: twice
SELECT hash(access.request_id) AS id_hash
FROM access
WHERE access.request_id IS NOT NULL
