"""How colours look: contrast, and distance for usual and for red-green blind eyes."""

from itertools import combinations

import numpy as np

# Linear light as people without one kind of cone see it (Viénot, Brettel and Mollon 1999).
SEEN = {
    "usual": np.eye(3),
    "protan": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deutan": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
}


def parts(colour):
    """Red, green and blue of #rrggbb (3,), from 0 to 255."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])


def light(colour):
    """Linear light of red, green and blue (3,)."""
    c = np.asarray(colour) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """WCAG 2: (L₁ + 0.05)/(L₂ + 0.05) of the relative luminances."""
    a, b = sorted(float(light(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (b + 0.05) / (a + 0.05)


def lab(light):
    """CIE L*a*b* of linear sRGB (3,)."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.clip(to_xyz @ light / [0.9505, 1, 1.089], 1e-6, None))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def nearest(colours, eyes="usual"):
    """The smallest CIE76 ΔE between two of these colours (#rrggbb) to these eyes."""
    seen = [lab(SEEN[eyes] @ light(parts(colour))) for colour in colours]
    return min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))
