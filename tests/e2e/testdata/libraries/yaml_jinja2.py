# cold
import jinja2
import yaml

text = """
name: test
values: [1, 2.5, true, null, "x"]
nested: {a: {b: [c, d]}}
date: 2024-02-29
block: |
  line 1
  line 2
anchor: &x {k: 1}
alias: *x
"""
data = yaml.safe_load(text)
assert data["values"] == [1, 2.5, True, None, "x"] and data["nested"]["a"]["b"] == ["c", "d"]
assert data["date"].isoformat() == "2024-02-29" and data["block"] == "line 1\nline 2\n" and data["alias"] == {"k": 1}
assert yaml.safe_load(yaml.safe_dump(data, allow_unicode=True)) == data
assert len(list(yaml.safe_load_all("a: 1\n---\nb: 2\n"))) == 2
assert yaml.load("a: 1", Loader=yaml.CSafeLoader) == {"a": 1} if yaml.__with_libyaml__ else True
try:
    yaml.safe_load("a: [1, 2")
    raise SystemExit("no error")
except yaml.YAMLError as error:
    assert "line 1" in str(error)
template = jinja2.Template("{% for x in xs if x > 1 %}{{ loop.index }}:{{ x|round(1) }} {% endfor %}{{ name|upper }}{{ missing|default('-') }}")
assert template.render(xs=[1, 2.25, 3], name="n") == "1:2.2 2:3 N-"
environment = jinja2.Environment(loader=jinja2.DictLoader({"base": "<{% block b %}{% endblock %}>", "page": "{% extends 'base' %}{% block b %}{{ v }}{% endblock %}"}), autoescape=True)
assert environment.get_template("page").render(v="<b>") == "<&lt;b&gt;>"
try:
    jinja2.Environment(undefined=jinja2.StrictUndefined).from_string("{{ nope }}").render()
    raise SystemExit("no error")
except jinja2.UndefinedError as error:
    assert "nope" in str(error)
open("t.html", "w").write("file {{ x }}")
assert jinja2.Environment(loader=jinja2.FileSystemLoader(".")).get_template("t.html").render(x=1) == "file 1"
print("ok")
