-- title: Whether two intervals overlap wherever the truth lies in their uncertainty
CREATE MACRO must_overlap(start_1, end_1, error_1, start_2, end_2, error_2) AS
    end_1 >= start_2 + micros(coalesce(error_1, 0) + coalesce(error_2, 0))
    AND (
        end_2 IS NULL
        OR start_1 + micros(coalesce(error_1, 0) + coalesce(error_2, 0)) <= end_2
    )
