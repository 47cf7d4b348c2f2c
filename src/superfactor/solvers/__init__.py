"""Three ways to minimise F over rank ≤ r, each returning a `Solution`.

`newton.solve` is the default; `lpgd.solve` is Algorithm 1 as printed, `lpgd.minimize` the same for
any smooth f(θ, γ); `bcd.solve` is block coordinate descent over the factors. Import the one you want.
"""
