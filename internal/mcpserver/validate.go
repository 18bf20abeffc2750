package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcp-exec/mcp-exec/internal/sandbox"
)

// parseArguments reads the arguments of a call as clients really send them:
// numbers as strings, null for "not given", keys of their own. The errors are
// for a model: what was expected, what came.
//
// Decoding to a map, not to a struct: encoding/json takes "CODE" for "code"
// there. Of a key that comes twice the last counts. A lone surrogate and an
// invalid byte become U+FFFD.
func parseArguments(raw json.RawMessage, lim sandbox.Limits) (sandbox.Request, error) {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(orNull(raw), &args); err != nil {
		return sandbox.Request{}, fmt.Errorf("arguments: expected an object, got %s", clip(string(raw)))
	}
	code, err := parseCode(args["code"], lim.CodeBytes)
	if err != nil {
		return sandbox.Request{}, err
	}
	timeout, err := parseTimeout(args["timeout_s"], lim)
	if err != nil {
		return sandbox.Request{}, err
	}
	stdin, err := parseText("stdin", args["stdin"], lim.StdinBytes)
	if err != nil {
		return sandbox.Request{}, err
	}
	return sandbox.Request{Code: code, Stdin: stdin, Timeout: timeout}, nil
}

func parseCode(raw json.RawMessage, limit int) (string, error) {
	if isNull(raw) {
		return "", errors.New("code is required: expected a string of Python source, got nothing")
	}
	code, err := parseText("code", raw, limit)
	if err != nil {
		return "", err
	}
	code = stripFence(code)
	if strings.TrimSpace(code) == "" {
		return "", errors.New("code is empty: expected Python source, got only white space")
	}
	return code, nil
}

// parseText reads a string of at most limit bytes; null and absent are empty.
func parseText(key string, raw json.RawMessage, limit int) (string, error) {
	var text string
	if err := json.Unmarshal(orNull(raw), &text); err != nil {
		return "", fmt.Errorf("%s: expected a string, got %s", key, clip(string(raw)))
	}
	if len(text) > limit {
		return "", fmt.Errorf("%s is %d bytes, limit %d", key, len(text), limit)
	}
	return text, nil
}

// parseTimeout rounds up and moves into range what it can read as a number, so
// that a model never loses a turn over half a second.
func parseTimeout(raw json.RawMessage, lim sandbox.Limits) (time.Duration, error) {
	if isNull(raw) {
		return lim.DefaultTimeout, nil
	}
	s, ok := parseNumber(raw)
	switch {
	case !ok:
		return 0, fmt.Errorf("timeout_s: expected a whole number of seconds from 1 to %s, got %s",
			number(lim.MaxTimeout), clip(string(raw)))
	case s == 0:
		return lim.DefaultTimeout, nil
	case s >= lim.MaxTimeout.Seconds():
		return lim.MaxTimeout, nil
	}
	// In range before the conversion: of a huge float64 it is undefined.
	whole := time.Duration(max(1, math.Ceil(s))) * time.Second
	return min(whole, lim.MaxTimeout), nil
}

// parseNumber reads 30, 3e1 and "30". What is too large for a float64 comes
// back as an infinity, which the caller's range takes care of.
func parseNumber(raw json.RawMessage) (float64, bool) {
	text := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return 0, false
		}
		text = strings.TrimSpace(text)
	}
	// ParseFloat also knows "inf", "nan", "0x1p4" and "1_0": nobody's seconds.
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}

// stripFence takes one Markdown fence off code that is nothing but a fenced
// block. No Python program starts with one, so nothing valid is changed. Line
// ends and a byte order mark are left to Python.
func stripFence(code string) string {
	block := strings.TrimSpace(strings.TrimPrefix(code, "\ufeff"))
	for _, mark := range []string{"`", "~"} {
		fence := block[:len(block)-len(strings.TrimLeft(block, mark))]
		first := strings.IndexByte(block, '\n')
		last := strings.LastIndexByte(block, '\n')
		if len(fence) >= 3 && first >= 0 && strings.TrimSpace(block[last+1:]) == fence {
			return block[first+1 : last+1]
		}
	}
	return code
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// clip shortens what came, for a message.
func clip(s string) string { return clipTo(s, 40) }

func clipTo(s string, most int) string {
	if len(s) > most {
		cut := most
		for !utf8.RuneStart(s[cut]) && cut > most-utf8.UTFMax {
			cut--
		}
		s = s[:cut] + "..."
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
