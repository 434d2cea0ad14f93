"""Generators of JSON values, rows and examples for the property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from scorer.core.records import Example, Prediction

json_numbers = (
    st.integers(-(10**6), 10**6)
    | st.integers(-(10**400), 10**400)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.booleans()
)
json_text = st.text(max_size=12) | st.sampled_from(
    ["140", "1_40", "-1", "1e3", "nan", "(1, 2)", '{"bbox_2d": [1, 2, 3, 4]}', "\ud800", "x\u202e", "1" * 500]
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | json_numbers | json_text,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(json_text, inner, max_size=4),
    max_leaves=12,
)
coordinates = st.integers(-20, 1100) | st.floats(-20, 1100, allow_nan=False)
points = st.lists(coordinates, min_size=2, max_size=2)

_geometry = points | st.lists(coordinates | json_numbers, max_size=6) | json_values
_keys = ("point", "points", "pred", "coordinate", "prediction", "bbox", "box", "x", "y", "x0", "y0", "x1", "y1")
_fields = dict.fromkeys(_keys, _geometry) | {
    "space": st.sampled_from(["pixel", "grid1000", "fraction-or-pixel", "frame:9x9", "nonsense"]) | json_values,
    "attempt": st.integers(-1, 3) | json_values,
    "error": json_values,
    "refusal": st.just("FAIL()") | json_values,
    "raw": json_text | json_values,
    "answer": json_text,
    "note": json_values,
}


def rows(ids: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Rows with any mixture of the fields the reader knows, most of them malformed."""
    row_id = st.sampled_from(ids) | json_values
    return st.fixed_dictionaries({}, optional={"id": row_id, **_fields})


def boxes(limit: int = 100) -> st.SearchStrategy[tuple[int, int, int, int]]:
    """xyxy boxes with area."""
    side = st.integers(0, limit)
    return st.tuples(side, side, side, side).filter(lambda b: b[0] < b[2] and b[1] < b[3])


def examples() -> st.SearchStrategy[Example]:
    """Examples of every rule."""
    ring = st.lists(st.integers(0, 50), min_size=6, max_size=12).filter(lambda r: len(r) % 2 == 0)
    return st.one_of(
        boxes().map(lambda box: Example("box", "point_in_bbox", box, (100, 100))),
        boxes().map(lambda box: Example("cover", "coverage_precision", box, (100, 100))),
        ring.map(lambda r: Example("ring", "point_in_polygon", tuple(r), (100, 100))),
        st.just(Example("no", "refusal", (), (100, 100))),
    )


def predictions() -> st.SearchStrategy[Prediction]:
    """Predictions in pixels with any geometry."""
    number = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-10, 110)
    point = st.tuples(number, number)
    box = st.tuples(number, number, number, number).map(
        lambda b: (min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3]))
    )
    return st.builds(
        Prediction,
        id=st.just("any"),
        points=st.lists(point, max_size=3).map(tuple),
        bbox=st.none() | box,
        error=st.none() | st.just("failed"),
    )
