# cold
import io

import pandas as pd

text = "city,year,sales\nBerlin,2023,10\nBerlin,2024,12.5\nParis,2023,7\nParis,2024,\n"
frame = pd.read_csv(io.StringIO(text))
assert frame.shape == (4, 3) and frame["sales"].isna().sum() == 1 and frame.dtypes["year"] == "int64"
totals = frame.groupby("city")["sales"].agg(["sum", "mean", "count"])
assert totals.loc["Berlin"].tolist() == [22.5, 11.25, 2.0] and totals.loc["Paris", "count"] == 1
wide = frame.pivot_table(index="city", columns="year", values="sales", fill_value=0)
assert wide.loc["Paris", 2024] == 0 or wide.loc["Paris", 2023] == 7
merged = frame.merge(pd.DataFrame({"city": ["Berlin", "Paris"], "country": ["DE", "FR"]}), on="city")
assert merged["country"].tolist() == ["DE", "DE", "FR", "FR"]
days = pd.date_range("2024-01-01", periods=60, freq="D", tz="Europe/Berlin")
series = pd.Series(range(60), index=days)
assert series.resample("W").sum().iloc[0] == sum(range(7)) and series.rolling(7).mean().iloc[6] == 3
frame.to_csv("out.csv", index=False)
assert pd.read_csv("out.csv").equals(frame)
assert pd.read_json(io.StringIO(frame.to_json(orient="records"))).shape == (4, 3)
assert "Berlin" in frame.to_string() and "<table" in frame.to_html() and frame.describe().loc["max", "sales"] == 12.5
assert frame.query("sales > 8 and city == 'Berlin'").shape[0] == 2 and frame.eval("sales * 2").iloc[0] == 20
import sqlite3

connection = sqlite3.connect("file.db")
frame.to_sql("t", connection, index=False)
assert pd.read_sql("select sum(sales) as s from t", connection)["s"][0] == 29.5
frame.to_pickle("f.pickle")
assert pd.read_pickle("f.pickle").equals(frame)
print(frame, frame.info(buf=io.StringIO()))
print("ok")
