"""Answers -> pixels of the original screenshot. The arithmetic of each space is in ``scorer.core.spaces``."""

from __future__ import annotations

from scorer.core import messages
from scorer.core.findings import Code, Reporter
from scorer.core.records import PIXEL, Prediction, Size
from scorer.core.spaces import to_pixels


def convert(prediction: Prediction, image_size: Size, report: Reporter) -> Prediction:
    """The prediction in pixels. What its space cannot express on a screenshot of that size becomes a finding."""
    if prediction.space is PIXEL:
        return prediction
    pixels = to_pixels(prediction, image_size)
    if pixels.fault and not prediction.fault:
        is_space = pixels.fault == Code.BAD_SPACE
        message = messages.SPACE_WITHOUT_MEANING if is_space else messages.BEYOND_THE_SPACE
        report(message, space=prediction.space, width=image_size[0], height=image_size[1])
    return pixels
