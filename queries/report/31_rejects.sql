-- title: Records that no format took, by file and reason
-- title zh: 按文件与原因统计的未识别记录
SELECT
    sources.path,
    rejects.reason,
    count(*) AS records,
    min(rejects.line) AS first_line
FROM rejects
INNER JOIN sources ON rejects.source_id = sources.source_id
GROUP BY sources.path, rejects.reason
ORDER BY records DESC, sources.path ASC, rejects.reason ASC
LIMIT 30
