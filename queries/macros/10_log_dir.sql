-- title: The folder of a source
CREATE MACRO log_dir(path) AS regexp_replace(path, '/?[^/]*$', '')
