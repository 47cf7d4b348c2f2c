"""One file per tab of the page: the plain values its template says, and what is drawn there.

Each has ``section(facts) -> Section``, or None where the facts say nothing about it. Words are in
``templates/<id>.html``, figures in ``assets/``.
"""
