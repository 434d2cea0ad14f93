"""Geometry against counted unit squares, and polygons against areas that shapely builds another way."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from scorer.geometry import coverage_and_precision, distance_to_box, distance_to_polygon, in_box, in_polygon
from tests.strategies import boxes

small = st.integers(0, 12)
rings = st.lists(st.tuples(small, small), min_size=3, max_size=7).map(lambda ring: tuple(sum(ring, ())))
half_steps = st.integers(-1, 25).map(lambda n: n / 2)


def _edges(ring: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    corners = list(zip(ring[0::2], ring[1::2], strict=True))
    return [(*a, *b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]


def _region_by_parity(ring: tuple[int, ...]) -> Any:
    """The even-odd area as shapely gives it: every edge and the first corner span a triangle, and parity is xor."""
    triangles = [shapely.Polygon([ring[:2], (x0, y0), (x1, y1)]) for x0, y0, x1, y1 in _edges(ring)]
    return functools.reduce(shapely.symmetric_difference, [t for t in triangles if t.area > 0], shapely.Polygon())


@given(rings, half_steps, half_steps)
def test_a_point_off_the_boundary_is_inside_by_the_even_odd_rule_even_where_a_ring_crosses_itself(
    ring: tuple[int, ...], x: float, y: float
) -> None:
    point = shapely.Point(x, y)
    # Shapely moves crossings to the nearest doubles, so it is no judge of points this close to an edge.
    if shapely.LinearRing(list(zip(ring[0::2], ring[1::2], strict=True))).distance(point) > 1e-6:
        assert in_polygon(x, y, ring) == shapely.contains_xy(_region_by_parity(ring), x, y)


@given(rings, st.integers(0, 6), st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1, 4)]))
def test_the_boundary_of_a_polygon_is_out(ring: tuple[int, ...], edge: int, share: Fraction) -> None:
    x0, y0, x1, y1 = _edges(ring)[edge % (len(ring) // 2)]
    # Quarters of small whole numbers are exact in floats.
    x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
    assert not in_polygon(float(x), float(y), ring)


def test_a_bow_tie_is_two_triangles_and_a_doubled_ring_is_empty_by_even_odd() -> None:
    bow_tie = (0, 0, 4, 4, 4, 0, 0, 4)
    assert in_polygon(3.5, 2, bow_tie)
    assert in_polygon(0.5, 2, bow_tie)
    assert not in_polygon(2, 0.5, bow_tie)
    twice_around = (0, 0, 4, 0, 4, 4, 0, 4, 0, 0, 4, 0, 4, 4, 0, 4)
    assert not in_polygon(2, 2, twice_around)


def test_nothing_is_inside_a_ring_without_area() -> None:
    assert not in_polygon(2, 2, (0, 0, 4, 4, 2, 2))
    assert not in_polygon(1, 1, (1, 1, 1, 1, 1, 1))


def test_the_distance_to_a_crossing_ring_is_to_its_area_and_to_one_without_area_to_its_line() -> None:
    assert distance_to_polygon(2, 0, (0, 0, 4, 4, 4, 0, 0, 4)) == pytest.approx(2**0.5)
    assert distance_to_polygon(9, 2, (0, 0, 4, 4, 4, 0, 0, 4)) == 5
    assert distance_to_polygon(5, 9, (0, 0, 4, 0, 8, 0)) == 9


@given(boxes(30), boxes(30))
def test_coverage_and_precision_are_shares_of_counted_unit_squares(
    prediction: tuple[int, int, int, int], target: tuple[int, int, int, int]
) -> None:
    def squares(box: tuple[int, int, int, int]) -> set[tuple[int, int]]:
        return {(x, y) for x in range(box[0], box[2]) for y in range(box[1], box[3])}

    overlap = len(squares(prediction) & squares(target))
    coverage, precision = coverage_and_precision(prediction, target)
    assert coverage == overlap / len(squares(target))
    assert precision == overlap / len(squares(prediction))


def test_boxes_without_area_have_no_coverage_and_no_precision() -> None:
    assert coverage_and_precision((5, 5, 5, 5), (0, 0, 10, 10)) == (0, 0)
    assert coverage_and_precision((0, 0, 10, 10), (5, 5, 5, 9)) == (0, 0)
    assert coverage_and_precision((-1e308, 3, 1e308, 3), (0, 0, 10, 10)) == (0, 0)


@given(boxes(), st.integers(0, 100), st.integers(0, 100))
def test_all_four_edges_of_a_box_are_in(box: tuple[int, int, int, int], x: int, y: int) -> None:
    x0, y0, x1, y1 = box
    assert in_box(x, y, box) == (x in range(x0, x1 + 1) and y in range(y0, y1 + 1))
    assert in_box(x1, y1, box)
    assert not in_box(x1 + 1e-9, y1, box)


@given(boxes(), half_steps, half_steps)
def test_a_box_is_as_far_away_as_the_polygon_of_its_corners(box: tuple[int, int, int, int], x: float, y: float) -> None:
    x0, y0, x1, y1 = box
    distance = distance_to_box(x, y, box)
    assert abs(distance - distance_to_polygon(x, y, (x0, y0, x1, y0, x1, y1, x0, y1))) < 1e-9
    assert (distance == 0) == in_box(x, y, box)
