"""Whether text in a page can be read: its colours, and their contrast."""

from collections.abc import Sequence

import numpy as np

# ink and paper of what is written, in red, green and blue, with what shines through
COLOURS = """() => {
  const pixel = new OffscreenCanvas(1, 1).getContext("2d");
  const painted = (colours) => {
    for (const colour of colours) {
      pixel.fillStyle = colour;
      pixel.fillRect(0, 0, 1, 1);
    }
    return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const ancestors = (element) => element ? [...ancestors(element.parentElement), element] : [];
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  const written = [...document.querySelectorAll(".gradcli :not(style)")].filter(
    (element) => element.checkVisibility() && [...element.childNodes].some(isText));
  return written.map((element) => {
    const under = ancestors(element).map((each) => getComputedStyle(each).backgroundColor);
    const ink = painted([...under, getComputedStyle(element).color]);
    return [element.textContent, ink, painted(under)];
  });
}"""


def contrast(ink: Sequence[int], paper: Sequence[int]) -> float:
    """Of two colours in red, green and blue from 0 to 255, as WCAG defines it."""
    high, low = sorted(map(_luminance, (ink, paper)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Sequence[int]) -> float:
    parts = [n / 255 for n in colour]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))
