"""Do names belong to genes, probes or other features? Names of samples are seldom like these.

Identifiers of the usual databases are known by their form. Gene symbols are not: ``AB12`` may be a
patient. But a list of genes always has members of large families in it, ``ZNF12`` or ``SLC2A1``, of
several families at that. Only names that samples do not have are listed: when in doubt, rows are samples.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["IDENTIFIER", "SYMBOLS", "kind_of_names"]

IDENTIFIER, SYMBOLS = "identifier", "symbols"

_IDENTIFIER = re.compile(
    r"(AFFX-)?[\w/.-]+_at"  # Affymetrix: 1007_s_at
    r"|ENS[A-Z]{0,4}[EGTP]\d{9,}(\.\d+)?([_|].*)?"  # Ensembl
    r"|ILMN_\d+|A_\d+_P\d{4,}|TC\d{8,}\.hg\.\d"  # Illumina, Agilent, Clariom
    r"|cg\d{8}(_\w+)?|rs\d{5,}"  # CpG and SNP
    r"|[NX][MRP]_\d{5,}(\.\d+)?"  # RefSeq
    r"|(hsa|mmu|rno)-(mir|miR|let)-\S+"  # micro-RNA
    r"|chr(\d{1,2}|[XYM])[:_-]\d{3,}\S*|(\d{1,2}|[XYM]):\d{4,}\S*"  # places in a genome
    r"|(gene|probe|probeset|feature|transcript|protein|peptide|metabolite|otu|asv|cpg|snp|peak)[ _.-]?\d+",
    re.I,
)
_FAMILY = re.compile(
    r"(ZNF|ZFP|TMEM|CCDC|ANKRD|KRT|CXCL|CCL|COL|SLC|ABC|CYP|RPL|RPS|RPLP|HOX|TRIM|USP|RAB|WNT|FGF|MMP|ADAM"
    r"|KIF|PSM|NDUF|EIF|UBE2|MAP3K|MAPK|CDK|CDC|SERPIN|TUB|ITG|PCDH|CDH|LINC|LOC|KIAA|MIR|SNOR|FAM|FBX|GPR"
    r"|IGF|TNF|CD|HLA-|MT-|KCN|PPP|STAT|SMAD|SOX|GATA|BCL|CASP|ATP|DNAJ|HSP|MUC|CLDN|CEACAM|S100|WDR|ZBTB"
    r"|LRRC|TTC|DDX|POLR|ARHG|PLEK|MRP|COX|NUP|RNF|IL|OR|FOX|TAS2R|TBC1D|CLEC|PIK3|ALDH|AKR|GST|UGT|SULT)"
    r"(\d+[A-Z]{0,3}\d*[A-Z]?\d*|[A-Z]{1,2}\d+[A-Z]?\d*|[A-Z]{1,3})(-?AS\d)?(\.\d+)?",
    re.I,
)
_OPEN_FRAME = re.compile(r"C\d+orf\d+", re.I)
_MOST = 5000
_MEMBERS, _FAMILIES = 8, 5


def kind_of_names(names: Sequence[str]) -> str | None:
    """IDENTIFIER where nearly all are of a known form, SYMBOLS for a list of genes, else None.

    Examples
    --------
    >>> kind_of_names(["1007_s_at", "1053_at", "117_at"])
    'identifier'
    >>> genes = "TP53 ZNF12 SLC2A1 CDK4 KRT19 IL6 COL1A1 EGFR TMEM97 MMP9 CXCL8 BCL2 ESR1 RPL13"
    >>> kind_of_names(genes.split())
    'symbols'
    >>> kind_of_names(["P001", "P002", "AB12"]) is None
    True
    """
    names = names[:: max(1, len(names) // _MOST)]
    if not names:
        return None
    if sum(_IDENTIFIER.fullmatch(name) is not None for name in names) >= 0.8 * len(names):
        return IDENTIFIER
    found = [family[1].upper() for name in names if (family := _FAMILY.fullmatch(name))]
    found += ["ORF" for name in names if _OPEN_FRAME.fullmatch(name)]
    several = len(found) >= max(_MEMBERS, 0.05 * len(names)) and len(set(found)) >= _FAMILIES
    return SYMBOLS if several else None
