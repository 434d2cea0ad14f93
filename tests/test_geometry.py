"""Geometry against counted unit squares, and polygons against areas that shapely builds another way."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from scorer.benchmarks.fields import LARGEST
from scorer.core import geometry
from scorer.core.geometry import (
    coverage_and_precision,
    distance_to_box,
    distance_to_polygon,
    in_box,
    in_polygon,
    points_in_polygon,
)
from tests.strategies import boxes


def _is_ordinary(number: float) -> bool:
    """Whether a number is one that screens have: below, 106 bits do not hold every product of differences."""
    return number == 0 or abs(number) >= 2**-20


small = st.integers(0, 12)
rings = st.lists(st.tuples(small, small), min_size=3, max_size=7).map(lambda ring: tuple(sum(ring, ())))
half_steps = st.integers(-1, 25).map(lambda n: n / 2)
many_half_steps = st.lists(st.tuples(half_steps, half_steps), max_size=40)
any_size = st.floats(allow_nan=False, allow_infinity=False)
on_screen = st.floats(0, 4000).filter(_is_ordinary) | st.integers(0, 4000)
in_bounds = st.floats(-LARGEST, LARGEST, exclude_min=True, exclude_max=True).filter(_is_ordinary)
BOW_TIE = (0, 0, 4, 4, 4, 0, 0, 4)
SQUARE = (0, 0, 4, 0, 4, 4, 0, 4)


def _edges(ring: tuple[Any, ...]) -> list[tuple[Any, Any, Any, Any]]:
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
    assert in_polygon(3.5, 2, BOW_TIE)
    assert in_polygon(0.5, 2, BOW_TIE)
    assert not in_polygon(2, 0.5, BOW_TIE)
    twice_around = (0, 0, 4, 0, 4, 4, 0, 4, 0, 0, 4, 0, 4, 4, 0, 4)
    assert not in_polygon(2, 2, twice_around)


def _is_inside(x: float, y: float, ring: tuple[float, ...]) -> bool:
    """Even-odd in fractions by where edges cross the horizontal line of the point: odd to its right, none at it."""
    px, py = Fraction(x), Fraction(y)
    crossings: list[Fraction] = []
    for x0, y0, x1, y1 in _edges(tuple(map(Fraction, ring))):
        if y0 == y1 == py and min(x0, x1) <= px <= max(x0, x1):
            return False
        if y0 != y1 and min(y0, y1) <= py <= max(y0, y1):
            crossing = x0 + (py - y0) / (y1 - y0) * (x1 - x0)
            if crossing == px:
                return False
            if py != max(y0, y1):  # the lower end belongs to an edge, the upper end to its neighbour
                crossings.append(crossing)
    return sum(crossing > px for crossing in crossings) % 2 == 1


def _squared_distance(x: float, y: float, ring: tuple[float, ...]) -> Fraction:
    """The square of the distance to the nearest edge, in fractions."""
    px, py = Fraction(x), Fraction(y)
    squares: list[Fraction] = []
    for x0, y0, x1, y1 in _edges(tuple(map(Fraction, ring))):
        dx, dy = x1 - x0, y1 - y0
        along = ((px - x0) * dx + (py - y0) * dy) / ((dx * dx + dy * dy) or 1)
        share = min(max(along, Fraction(0)), Fraction(1))
        squares.append((px - x0 - share * dx) ** 2 + (py - y0 - share * dy) ** 2)
    return min(squares)


def _answers(points: list[tuple[float, float]], ring: tuple[float, ...]) -> list[bool]:
    answers = points_in_polygon([x for x, _ in points], [y for _, y in points], ring)
    assert answers == [in_polygon(x, y, ring) for x, y in points]
    assert all(type(answer) is bool for answer in answers)
    return answers


@given(rings, many_half_steps)
def test_many_points_are_judged_exactly_where_ties_are_frequent(
    ring: tuple[int, ...], points: list[tuple[float, float]]
) -> None:
    assert _answers(points, ring) == [_is_inside(x, y, ring) for x, y in points]


@given(rings, many_half_steps, st.sampled_from([-400, -100, -30, -1, 10, 19]))
def test_the_size_of_a_polygon_does_not_matter(
    ring: tuple[int, ...], points: list[tuple[float, float]], exponent: int
) -> None:
    # Halves of whole numbers below 2**5 stay exact, and below the bound of ground truth.
    scaled = tuple(math.ldexp(number, exponent) for number in ring)
    scaled_points = [(math.ldexp(x, exponent), math.ldexp(y, exponent)) for x, y in points]
    assert _answers(scaled_points, scaled) == [_is_inside(x, y, ring) for x, y in points]


@pytest.mark.parametrize("numbers", [in_bounds, on_screen], ids=["in bounds", "on screen"])
@given(data=st.data())
def test_points_a_last_bit_beside_an_edge_are_judged_exactly(numbers: st.SearchStrategy[float], data: Any) -> None:
    flat = data.draw(st.lists(numbers, min_size=6, max_size=14).filter(lambda ring: len(ring) % 2 == 0))
    ring, points = tuple(flat), data.draw(st.lists(st.tuples(numbers, numbers), max_size=5))
    for x0, y0, x1, y1 in _edges(ring):
        share = data.draw(st.floats(0, 1))
        x, y = x0 * (1 - share) + x1 * share, y0 * (1 - share) + y1 * share
        near_y = (y, math.nextafter(y, -math.inf), math.nextafter(y, math.inf))
        points += [(x, y) for y in near_y if _is_ordinary(x) and _is_ordinary(y)]
    assert _answers(points, ring) == [_is_inside(x, y, ring) for x, y in points]


@given(data=st.data())
def test_the_smallest_numbers_matter_only_to_points_that_all_but_touch_an_edge(data: Any) -> None:
    numbers = st.sampled_from([0.0, 5e-324, 1e-300, 1e-200, 1e-30, 4.0]) | st.floats(0, 4000)
    flat = data.draw(st.lists(numbers, min_size=6, max_size=14).filter(lambda ring: len(ring) % 2 == 0))
    ring, points = tuple(flat), data.draw(st.lists(st.tuples(numbers, numbers), max_size=20))
    for (x, y), answer in zip(points, _answers(points, ring), strict=True):
        assert answer == _is_inside(x, y, ring) or 0 < _squared_distance(x, y, ring) < Fraction(1, 10**40)


def test_points_may_be_whole_numbers_of_any_length_and_there_may_be_none() -> None:
    for ring in (SQUARE, BOW_TIE):
        assert points_in_polygon([], [], ring) == []
        assert points_in_polygon([3, 2**63, -(2**70), 10**300], [1, 2, 2.5, -(10**300)], ring) == [
            ring == SQUARE,  # and on an edge of the bow tie
            False,
            False,
            False,
        ]


def test_a_point_as_far_away_as_doubles_go_is_out_without_a_warning() -> None:
    for ring in (SQUARE, BOW_TIE, (0, 0, 4, 1, 3, 4)):
        assert _answers([(-1.7e308, 2.5), (1e155, 2.5), (2.5, -1e155), (-1e200, 1e308)], ring) == [False] * 4


def test_a_point_that_is_not_finite_is_in_no_polygon() -> None:
    for ring in (SQUARE, BOW_TIE):
        assert _answers([(math.inf, 2), (2, -math.inf), (math.nan, 2)], ring) == [False] * 3


def test_exact_arithmetic_is_asked_where_a_ring_crosses_itself_of_points_in_its_bounding_box_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[float, float]] = []

    def exactly(x: float, y: float, ring: tuple[float, ...]) -> bool:
        asked.append((x, y))
        return _is_inside(x, y, ring)

    monkeypatch.setattr(geometry, "_is_inside_by_parity", exactly)
    assert _answers([(3.5, 2), (9, 1), (4, 2)], SQUARE) == [True, False, False]
    assert asked == []
    assert points_in_polygon([3.5, 2, 9, 4, 0.5], [2, 0.5, 1, 2, 2], BOW_TIE) == [True, False, False, False, True]
    assert asked == [(3.5, 2), (2, 0.5), (0.5, 2)]


def test_nothing_is_inside_a_ring_without_area() -> None:
    assert not in_polygon(2, 2, (0, 0, 4, 4, 2, 2))
    assert not in_polygon(1, 1, (1, 1, 1, 1, 1, 1))
    # Its corners lie on those of its bounding box, so that a prepared polygon of shapely takes it for that box.
    assert not in_polygon(2, 1, (0, 0, 0, 3, 0, 0, 4, 0, 0, 0))


def test_the_distance_to_a_crossing_ring_is_to_its_area_and_to_one_without_area_to_its_line() -> None:
    assert distance_to_polygon(2, 0, BOW_TIE) == pytest.approx(2**0.5)
    assert distance_to_polygon(3.5, 2, BOW_TIE) == 0
    assert distance_to_polygon(9, 2, BOW_TIE) == 5
    assert distance_to_polygon(5, 9, (0, 0, 4, 0, 8, 0)) == 9


@given(rings, in_bounds, in_bounds)
def test_the_distance_to_a_polygon_is_to_the_nearest_point_of_its_edges_from_outside(
    ring: tuple[int, ...], x: float, y: float
) -> None:
    expected = 0.0 if _is_inside(x, y, ring) else math.sqrt(_squared_distance(x, y, ring))
    assert distance_to_polygon(x, y, ring) == pytest.approx(expected, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("ring", [SQUARE, BOW_TIE, (0, 0, 4, 4, 2, 2), (0, 0, 1e-300, 0, 0, 5e-324)])
@given(any_size, any_size)
def test_a_polygon_is_never_nearer_than_its_bounding_box_nor_farther_by_more_than_its_size(
    ring: tuple[float, ...], x: float, y: float
) -> None:
    bounds = (min(ring[0::2]), min(ring[1::2]), max(ring[0::2]), max(ring[1::2]))
    size = math.hypot(bounds[2] - bounds[0], bounds[3] - bounds[1])
    distance, to_box = distance_to_polygon(x, y, ring), distance_to_box(x, y, bounds)
    assert to_box * (1 - 1e-12) - 1e-150 <= distance <= (to_box + size) * (1 + 1e-12)


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
