"""Many machines: the jobs of `carat.jobs` over the workers of a Ray cluster, with the results of one process.

A table is a Parquet file, and so is the output. Both, and nothing else, must be in folders that all machines share.
"""

from carat.distributed.doors import explain, recourse, score
from carat.distributed.spread import check_out, check_table, spread

__all__ = ["score", "explain", "recourse", "spread", "check_table", "check_out"]
