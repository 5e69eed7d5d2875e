"""The pictures of the demo repository: a harbour and a tide curve as SVG, a landscape as PNG."""

import math

from holdfast_demo.sample.pictures import landscape, png
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["harbour_svg", "tides_svg", "view_png", "water_level"]


def water_level(hours: float) -> float:
    """Return the water level in metres after some hours: two tides a day, and spring tides every fortnight."""
    springs = 1 + 0.35 * math.cos(2 * math.pi * hours / (24 * 14.77))
    return 1.6 + 1.1 * springs * math.cos(2 * math.pi * hours / 12.42)


def harbour_svg() -> str:
    """Draw a lantern on the mole and a boat at the quay."""
    waves = "".join(
        f'<path d="M0 {y} q 20 -8 40 0 {"t 40 0 " * 11}" '
        f'fill="none" stroke="#8fc3cf" stroke-opacity="{0.2 + step * 0.15:.2f}" stroke-width="2"/>'
        for step, y in enumerate((178, 196, 214))
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 240" role="img">
  <title>A lantern on the mole, a boat at the quay</title>
  <defs>
    <linearGradient id="sky" x2="0" y2="1"><stop stop-color="#27496d"/><stop offset="1" stop-color="#e9b384"/>
    </linearGradient>
  </defs>
  <rect width="480" height="165" fill="url(#sky)"/>
  <rect y="165" width="480" height="75" fill="#1d4e5f"/>
  {waves}
  <path d="M320 165 h160 v-22 h-140 z" fill="#4a4e57"/>
  <path d="M372 143 l4 -70 h16 l4 70 z" fill="#f4efe1"/><path d="M375 100 h18 l1 16 h-20 z" fill="#b5403a"/>
  <rect x="374" y="60" width="20" height="13" fill="#ffd97a"/><path d="M371 60 l13 -11 l13 11 z" fill="#2f3540"/>
  <path d="M374 66 L0 14 v104 z" fill="#ffd97a" fill-opacity=".25"/>
  <path d="M90 168 h120 l-16 26 h-88 z" fill="#7a3b2e"/>
  <path d="M148 166 v-92 M148 78 l44 80 h-44 z" fill="#f4efe1" stroke="#4a2c22" stroke-width="3"/>
</svg>
"""


def tides_svg() -> str:
    """Draw the water level of two days."""
    hours = (quarter / 4 for quarter in range(193))
    points = " ".join(f"{40 + hour * 9:.1f},{180 - water_level(hour) * 45:.1f}" for hour in hours)
    lines = "".join(
        f'<path d="M40 {180 - metres * 45} h432" stroke="#888" stroke-opacity=".3"/>'
        f'<text x="32" y="{184 - metres * 45}" text-anchor="end">{metres} m</text>'
        for metres in range(4)
    )
    times = "".join(
        f'<text x="{40 + hour * 9}" y="212" text-anchor="middle">{hour} h</text>' for hour in range(0, 49, 12)
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 490 220" role="img">
  <title>Four high waters in two days</title>
  <g font-family="sans-serif" font-size="12" fill="#777">
  {lines}{times}
  </g>
  <polyline points="{points}" fill="none" stroke="#2a7f8f" stroke-width="3" stroke-linejoin="round"/>
</svg>
"""


def view_png() -> bytes:
    """Draw the picture that the repository stores with Git LFS."""
    return png(landscape(SeededRandom("view"), 960, 540))
