//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// fields are the keys of an answer in their order. The last one is optional.
var fields = []string{"stdout", "stderr", "exit_code", "duration_ms", "truncated", "timed_out", "note"}

// TestAnswerForms looks at answers as they are on the wire: some clients show a
// model only the text, others only the structured content.
func TestAnswerForms(t *testing.T) {
	t.Parallel()
	w := initialized(t, "MCP_EXEC_MAX_OUTPUT_BYTES=1000")
	schema := outputSchema(t, w)
	for _, tt := range []struct {
		name string
		args args
		note bool
	}{
		{"clean", args{"code": "print(1)"}, false},
		{"note", args{"code": "pass"}, true},
		{"failure", args{"code": "1/0"}, false},
		{"HTML and quotes", args{"code": `print('<a href="x">&amp;</a>', "\\ \u2028 \u00e9 \U0001f600 \x7f")`}, false},
		{"control characters", args{"code": `import os; os.write(1, bytes(range(256)))`}, false},
		{"cut", args{"code": `print('<' * 5000)`}, true},
		{"timeout", args{"code": "while True: pass", "timeout_s": 1}, false},
		{"signal", args{"code": "import os; os.abort()"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := w.exec(tt.args)
			a := w.receive()
			if string(a.ID) != id {
				t.Fatalf("got %s, want the answer to %s", a.raw, id)
			}
			checkForms(t, a, schema, tt.note)
		})
	}
}

func checkForms(t *testing.T, a answer, schema *jsonschema.Resolved, note bool) {
	t.Helper()
	var call struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if err := json.Unmarshal(a.Result, &call); err != nil {
		t.Fatal(err)
	}
	if call.IsError || len(call.Content) != 1 || call.Content[0].Type != "text" {
		t.Fatalf("want one text block and no error, got %.300s", a.raw)
	}
	if call.Content[0].Text != string(call.Structured) {
		t.Errorf("the two forms differ:\ntext       %.300s\nstructured %.300s", call.Content[0].Text, call.Structured)
	}
	want := fields
	if !note {
		want = fields[:len(fields)-1]
	}
	if got := keysInOrder(t, call.Structured); !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	for _, escape := range []string{`\u003c`, `\u003e`, `\u0026`} {
		if strings.Contains(a.raw, escape) {
			t.Errorf("HTML is escaped: %.300s", a.raw)
		}
	}
	var value any
	if err := json.Unmarshal(call.Structured, &value); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("not valid against the declared schema: %v: %.300s", err, call.Structured)
	}
}

func keysInOrder(t *testing.T, object json.RawMessage) []string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(object))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		t.Fatalf("%.100s is no object (%v)", object, err)
	}
	var keys []string
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, token.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

// outputSchema is what tools/list declares, made strict: nothing undeclared.
func outputSchema(t *testing.T, w *wire) *jsonschema.Resolved {
	t.Helper()
	w.request("tools/list", "{}")
	var list struct {
		Tools []struct {
			Name         string          `json:"name"`
			InputSchema  json.RawMessage `json:"inputSchema"`
			OutputSchema json.RawMessage `json:"outputSchema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(w.receive().Result, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 1 || list.Tools[0].Name != "exec" {
		t.Fatalf("tools %+v, want exec alone", list.Tools)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(list.Tools[0].OutputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	schema.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(map[string]any{"stdout": 1}); err == nil {
		t.Fatal("the declared schema takes anything")
	}
	return resolved
}

// TestInputSchema holds the declared input to what every model API takes:
// scalar types, no unions, only code required.
func TestInputSchema(t *testing.T) {
	t.Parallel()
	s := start(t)
	list, err := s.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(list.Tools[0].InputSchema)
	var schema struct {
		Type       string
		Required   []string
		Properties map[string]struct{ Type string }
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if schema.Type != "object" || !slices.Equal(schema.Required, []string{"code"}) || len(schema.Properties) != 3 {
		t.Errorf("input schema %s", data)
	}
	for name, want := range map[string]string{"code": "string", "timeout_s": "integer", "stdin": "string"} {
		if got := schema.Properties[name].Type; got != want {
			t.Errorf("%s has type %q, want %q", name, got, want)
		}
	}
}
