"""The 72 covariates of a job posting.

The paper has 72 columns "of binary and categorical variables", among them a company logo and the
United States, and does not list them. This gives as many, and is what the data offer once `industry`
with its 131 values is left out:

    3   telecommuting, has_company_logo, has_questions
    1   the posting is in the United States (its location begins with US)
    5   employment_type         7   required_experience
    13  required_education      37  function
    6   text that is missing: location, department, salary range, company profile, requirements,
        benefits

A category that is missing has zeros in all its columns. The categories are listed here rather than
found in the data, so that a part of the postings has the same columns as all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["CATEGORIES", "NAMES", "UNITED_STATES", "encode"]

BINARY = ("telecommuting", "has_company_logo", "has_questions")
UNITED_STATES = "in_united_states"
TEXTS = (
    "location", "department", "salary_range", "company_profile", "requirements", "benefits",
)  # fmt: skip
CATEGORIES = {
    "employment_type": ("Contract", "Full-time", "Other", "Part-time", "Temporary"),
    "required_experience": (
        "Associate", "Director", "Entry level", "Executive", "Internship", "Mid-Senior level",
        "Not Applicable",
    ),
    "required_education": (
        "Associate Degree", "Bachelor's Degree", "Certification", "Doctorate",
        "High School or equivalent", "Master's Degree", "Professional",
        "Some College Coursework Completed", "Some High School Coursework", "Unspecified",
        "Vocational", "Vocational - Degree", "Vocational - HS Diploma",
    ),
    "function": (
        "Accounting/Auditing", "Administrative", "Advertising", "Art/Creative", "Business Analyst",
        "Business Development", "Consulting", "Customer Service", "Data Analyst", "Design",
        "Distribution", "Education", "Engineering", "Finance", "Financial Analyst",
        "General Business", "Health Care Provider", "Human Resources", "Information Technology",
        "Legal", "Management", "Manufacturing", "Marketing", "Other", "Product Management",
        "Production", "Project Management", "Public Relations", "Purchasing", "Quality Assurance",
        "Research", "Sales", "Science", "Strategy/Planning", "Supply Chain", "Training",
        "Writing/Editing",
    ),
}  # fmt: skip

NAMES = (
    *BINARY,
    UNITED_STATES,
    *(f"{column}={value}" for column, values in CATEGORIES.items() for value in values),
    *(f"missing_{text}" for text in TEXTS),
)


def encode(table: pd.DataFrame) -> NDArray[np.float64]:
    """The covariates (n, 72), in the order of NAMES, each 0 or 1.

    `table` has the columns of ``fake_job_postings.csv``, cells as text and empty where missing. A
    table without the texts has columns ``missing_…`` instead; nothing is then known of the country,
    whose column is zero.
    """
    known = set(table.columns)

    def column(name: str) -> Any:
        if name == UNITED_STATES:
            return table["location"].str.match(r"US\b") if "location" in known else 0
        if "=" in name:
            variable, value = name.split("=", 1)
            return table[variable].str.strip() == value
        text = name.removeprefix("missing_")
        return table[text].str.strip() == "" if text in TEXTS and text in known else table[name]

    covariates = np.empty((len(table), len(NAMES)))
    for j, name in enumerate(NAMES):
        covariates[:, j] = column(name)
    return covariates
