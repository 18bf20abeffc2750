package sandbox

import (
	"encoding/json"
	"testing"
)

func TestStepJSON(t *testing.T) {
	steps := []Step{
		{Name: "a", Nr: 1, Args: []Arg{Int(-100), FD("x"), Bytes{Data: []byte{0, 255}, Pointers: map[int][]byte{8: {1}}}}, Want: 3},
		{Name: "b", Nr: 2, Bind: "x"},
		{Name: "c", Nr: 3, Any: true},
		{Name: "d", Nr: 4, Args: []Arg{Text("/"), Bytes{Data: []byte{1}, FDs: map[int]FD{8: "x", 16: "y"}}}},
	}
	got, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	want := `[["a",1,[-100,{"fd":"x"},{"bytes":"AP8=","pointers":{"8":"AQ=="}}],3,null],["b",2,[],null,"x"],["c",3,[],null,null],` +
		`["d",4,[{"bytes":"LwA="},{"bytes":"AQ==","fds":{"16":"y","8":"x"}}],0,null]]`
	if string(got) != want {
		t.Errorf("steps = %s\nwant    %s", got, want)
	}
}
