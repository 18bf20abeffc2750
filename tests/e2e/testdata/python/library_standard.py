# says: 2.5 [('b', 2), ('a', 1)] 2024-02-29
import base64
import collections
import csv
import datetime
import decimal
import fractions
import gzip
import hashlib
import io
import itertools
import json
import math
import re
import sqlite3
import statistics
import string
import textwrap
import xml.etree.ElementTree
import zipfile
import zoneinfo

print(statistics.median([1, 2, 3, 4]), collections.Counter("abb").most_common(), datetime.date(2024, 2, 28) + datetime.timedelta(1))
print(decimal.Decimal("0.1") * 3, fractions.Fraction(1, 3) + 1, math.isqrt(10**30), list(itertools.combinations("abc", 2)))
print(json.dumps({"b": [1, None, True], "a": "é"}), re.findall(r"(\w)(\d)", "a1 b2"), hashlib.sha256(b"x").hexdigest()[:16])
db = sqlite3.connect(":memory:")
db.execute("create table t (x)")
db.executemany("insert into t values (?)", [(i,) for i in range(10)])
print(db.execute("select sum(x), count(*) from t").fetchone(), sqlite3.connect("file.db").execute("select 1").fetchone())
print(list(csv.reader(io.StringIO('a,"b,c"\n1,2\n'))), base64.b64encode(b"hi"), gzip.decompress(gzip.compress(b"z" * 50)) == b"z" * 50)
print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")).utcoffset(), textwrap.shorten("a b c d", 5), string.digits)
print(xml.etree.ElementTree.fromstring("<a><b>1</b></a>").find("b").text)
with zipfile.ZipFile("z.zip", "w") as archive:
    archive.writestr("x", "y")
print(zipfile.ZipFile("z.zip").read("x"), "%s" % datetime.datetime(2024, 1, 1).strftime("%A %d %B"))
