-- title: Whether a program is one that stands before others and logs their exchanges
CREATE MACRO is_proxy(component) AS component IN (
    'nginx', 'envoy', 'haproxy', 'traefik', 'caddy', 'aws_alb', 'apisix', 'kong'
)
