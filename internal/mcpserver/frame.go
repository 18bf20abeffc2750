package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// The SDK's own reader ends the server at the first line that it can't parse,
// and rounds large ids. So lines are cut and parsed here.

// frameLimit is the longest message that a caller within the caps can need:
// JSON writes a byte as six at worst, "\u0000".
func frameLimit(lim sandbox.Limits) int {
	return 6*(lim.CodeBytes+lim.StdinBytes) + 64<<10
}

// errLineTooLong is no end: the rest of that line was skipped.
var errLineTooLong = errors.New("line too long")

// lineReader cuts a stream into lines, holding at most limit bytes of each.
type lineReader struct {
	in    *bufio.Reader
	limit int
}

func newLineReader(in io.Reader, limit int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

// next returns a line without its end. The last line needs no end.
func (r *lineReader) next() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		part = bytes.TrimSuffix(part, []byte("\n"))
		if tooLong = tooLong || len(line)+len(part) > r.limit; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLineTooLong
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}

// message is a request or notification with its id as it came: nil if none.
type message struct {
	*jsonrpc.Request
	rawID json.RawMessage
}

// fault says why a line is no request.
type fault struct {
	id   json.RawMessage // nil when the line did not have one that is valid
	code int64
	text string
}

func invalid(id json.RawMessage, format string, args ...any) *fault {
	return &fault{id: id, code: jsonrpc.CodeInvalidRequest, text: "invalid request: " + fmt.Sprintf(format, args...)}
}

// parseLine reads one line. A blank line and a response (nothing was asked)
// are neither a message nor a fault.
func parseLine(line []byte) (*message, *fault) {
	// Windows shells put a byte order mark before what they pipe.
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(line) == 0 {
		return nil, nil
	}
	var keys map[string]json.RawMessage
	err := json.Unmarshal(line, &keys)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && line[0] == '[':
		return nil, invalid(nil, "batches are not supported, send one message a line")
	case errors.As(err, &kind), err == nil && keys == nil:
		return nil, invalid(nil, "expected an object")
	case err != nil:
		return nil, &fault{code: jsonrpc.CodeParseError, text: "parse error: " + err.Error()}
	}
	return parseKeys(keys)
}

func parseKeys(keys map[string]json.RawMessage) (*message, *fault) {
	rawID, hasID := keys["id"]
	id, ok := parseID(rawID)
	if hasID && !ok {
		return nil, invalid(nil, "id must be a string or a number")
	}
	if string(keys["jsonrpc"]) != `"2.0"` {
		return nil, invalid(rawID, `jsonrpc must be "2.0"`)
	}
	if keys["method"] == nil && (keys["result"] != nil || keys["error"] != nil) {
		return nil, nil
	}
	method, ok := parseString(keys["method"])
	if !ok {
		return nil, invalid(rawID, "method must be a string")
	}
	if hasID && strings.HasPrefix(method, "notifications/") {
		return nil, invalid(rawID, "a notification has no id")
	}
	params := keys["params"]
	if !isNull(params) && params[0] != '{' {
		return nil, &fault{id: rawID, code: jsonrpc.CodeInvalidParams, text: "invalid params: expected an object"}
	}
	return &message{&jsonrpc.Request{ID: id, Method: method, Params: params}, rawID}, nil
}

// parseID makes the SDK's form of an id. It knows integers up to 2^53 and
// strings; any other number gets a string that no client would choose. The
// answer carries the id as it came in any case.
func parseID(raw json.RawMessage) (jsonrpc.ID, bool) {
	if s, ok := parseString(raw); ok {
		return makeID(s)
	}
	if isNull(raw) || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return jsonrpc.ID{}, false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && n >= -1<<53 && n <= 1<<53 {
		return makeID(float64(n))
	}
	return makeID("\x00" + string(raw))
}

func makeID(v any) (jsonrpc.ID, bool) {
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
}

func parseString(raw json.RawMessage) (s string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' || !utf8.Valid(raw) {
		return "", false
	}
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}
