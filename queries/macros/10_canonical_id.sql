-- title: The canonical spelling of a 128-bit hexadecimal id; others as they are
CREATE MACRO canonical_id(id) AS CASE
    WHEN
        regexp_matches(id, '^[0-9a-fA-F]{32}$')
        THEN regexp_replace(
            lower(id), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '\1-\2-\3-\4-\5'
        )
    WHEN
        regexp_matches(
            id, '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
        )
        THEN lower(id)
    ELSE id
END
