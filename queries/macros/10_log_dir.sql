-- title: The folder of a source, on disk or in an archive
CREATE MACRO log_dir(path) AS regexp_replace(path, '[/!]?[^/!]*$', '')
