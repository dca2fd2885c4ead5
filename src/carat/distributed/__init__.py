"""Many machines: the jobs of `carat.jobs` over the workers of a Ray cluster, with the results of one process.

`score`, `explain` and `recourse` read one Parquet file and write another; both must be in folders that all machines
share. `audit` reads its table here, learns here, and has the cells judged there.
"""

from carat.distributed.audits import audit, judging
from carat.distributed.doors import explain, recourse, score
from carat.distributed.spread import check, spread

__all__ = ["score", "explain", "recourse", "audit", "spread", "judging", "check"]
