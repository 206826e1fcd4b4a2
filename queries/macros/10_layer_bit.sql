-- title: A layer as a bit: sums of bits are what a list of distinct layers would cost ten times
CREATE MACRO layer_bit(layer) AS CASE layer
    WHEN 'harness' THEN 1 WHEN 'host' THEN 2 WHEN 'model' THEN 4 WHEN 'quota' THEN 8
    ELSE 0
END
