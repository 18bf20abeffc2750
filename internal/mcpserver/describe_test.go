package mcpserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

func TestToolSnapshot(t *testing.T) {
	data, err := marshal(execTool(testEnvironment()))
	if err != nil {
		t.Fatal(err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	golden(t, "tool.json", pretty.String()+"\n")
	if bytes.Contains(data, []byte(`\u00`)) {
		t.Errorf("escaped character in %s", data)
	}
}

// A token is four bytes of this kind of text.
func TestToolIsCheap(t *testing.T) {
	tool := execTool(testEnvironment())
	n := len(tool.Description) + len(inputSchema(testEnvironment().Limits)) + len(outputSchema)
	if n > 1600 {
		t.Errorf("description and schemas are %d bytes, limit 1600", n)
	}
	if len(tool.Description) >= 2048 {
		t.Errorf("description is %d bytes, clients cut at 2048", len(tool.Description))
	}
}

func TestDescriptionFollowsEnvironment(t *testing.T) {
	env := sandbox.Environment{Python: "3.10.12", Limits: sandbox.Limits{
		DefaultTimeout: 1500 * time.Millisecond, MaxTimeout: 7 * time.Second, OutputBytes: 1000, StdinBytes: 1025, CodeBytes: 4 << 10,
		MemoryBytes: 1 << 30, Processes: 3, WorkspaceBytes: 1536,
	}}
	tool := execTool(env)
	text := tool.Description + string(inputSchema(env.Limits))
	for _, want := range []string{
		"Python 3.10.12 ", "Installed: the standard library. ", "1.5 s wall clock (timeout_s: up to 7), 1024 MiB memory, 3 processes, 1536 bytes of files, 1000 bytes of output",
		"default 1.5, at most 7", "at most 4 KiB", "at most 1025 bytes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	for _, not := range []string{"numpy", "pandas", "Pillow"} {
		if strings.Contains(text, not) {
			t.Errorf("%q, which is not installed, in %s", not, text)
		}
	}
}

// Some model APIs refuse a schema with anything but one scalar type a property.
func TestSchemasAreFlat(t *testing.T) {
	for name, raw := range map[string]json.RawMessage{"input": inputSchema(testEnvironment().Limits), "output": outputSchema} {
		var schema struct {
			Type       string
			Properties map[string]map[string]string
			Required   []string
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&schema); err != nil {
			t.Errorf("%s schema: %v", name, err)
		}
		for key, property := range schema.Properties {
			for word := range property {
				if word != "type" && word != "description" {
					t.Errorf("%s schema: %s has %q", name, key, word)
				}
			}
		}
	}
}

// The output schema is written by hand: it must not drift from the type.
func TestOutputSchemaFitsOutput(t *testing.T) {
	var schema struct {
		Properties map[string]struct{ Type string }
		Required   []string
	}
	if err := json.Unmarshal(outputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	types := func(o output) map[string]any {
		data, err := marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]any
		if err := json.Unmarshal(data, &keys); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	all, least := types(output{Note: "x"}), types(output{})
	if len(all) != len(schema.Properties) || len(least) != len(schema.Required) {
		t.Errorf("schema %s does not fit %v and %v", outputSchema, all, least)
	}
	for key, value := range all {
		want := map[string]string{"string": "string", "float64": "integer", "bool": "boolean"}[typeName(value)]
		if got := schema.Properties[key].Type; got != want {
			t.Errorf("schema of %s is %q, want %q", key, got, want)
		}
	}
	for _, key := range schema.Required {
		if _, ok := least[key]; !ok {
			t.Errorf("required key %s is not always there", key)
		}
	}
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	}
	return "float64"
}
