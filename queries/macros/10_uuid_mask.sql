-- title: A uuid without its version digit, which tracing proxies overwrite
CREATE MACRO uuid_mask(id) AS id[1:14] || '?' || id[16:36]
