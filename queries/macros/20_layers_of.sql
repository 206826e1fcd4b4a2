-- title: The layers of a sum of their bits
CREATE MACRO layers_of(bits) AS list_filter(
    ['harness', 'host', 'model', 'quota'],
    lambda layer: layer_bit(layer) & bits > 0
)
