-- title: Whether a record is an engine's own word, not its host's
CREATE MACRO of_engine(layer, component) AS layer = 'model'
AND component NOT IN ('kernel', 'systemd', 'gpu', 'container', 'metrics')
