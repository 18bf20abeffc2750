# Data comes in as stdin: pandas_csv.py < sales.csv
import sys

import pandas as pd

sales = pd.read_csv(sys.stdin)
sales["revenue"] = sales["units"] * sales["price"]
print(sales.groupby("region")["revenue"].agg(["count", "sum", "mean"]))
