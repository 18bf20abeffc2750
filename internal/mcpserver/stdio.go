package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// drainTime bounds the wait for quick answers (initialize, tools/list) when
	// the input has ended: a client may have closed it right after asking.
	drainTime = time.Second
	// exitTime bounds what ServeStdio takes to return after the input ended,
	// whatever handlers and the reader of out do.
	exitTime = 2 * time.Second
)

// ServeStdio speaks MCP with one client, a message a line, and writes nothing
// else to out. When in ends, or ctx, runs are cancelled at once and their
// answers dropped; other answers are written. It returns nil when in ended,
// the cause of ctx when that did.
//
// It closes neither in nor out, and a Read that blocks is left behind.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	conn := &stdioConn{
		ctx: ctx, log: s.log, out: out, limit: frameLimit(s.runner.Environment().Limits),
		lines: make(chan line), ended: make(chan struct{}), closed: make(chan struct{}),
	}
	go conn.readLines(in)
	session, err := s.mcp.Connect(ctx, conn, nil)
	if err != nil {
		return fmt.Errorf("connect stdio: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- session.Wait() }()
	if err := s.await(ctx, done, conn.ended); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// await watches ctx as well: the connection can't see it end while it is stuck
// in writing to a client that does not read.
func (s *Server) await(ctx context.Context, done <-chan error, ended <-chan struct{}) error {
	select {
	case err := <-done:
		return err
	case <-ended:
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(exitTime):
		s.log.Warn("leaving with a call that does not end")
		return nil
	}
}

// line is what readLines got: text, or why there is none.
type line struct {
	text []byte
	err  error
}

// stdioConn is the connection as the SDK sees it. Read never fails but at the
// end: a bad line is answered here.
type stdioConn struct {
	ctx   context.Context // its end is taken as the end of the input
	log   *slog.Logger
	limit int
	lines chan line
	calls inflight

	writeMu sync.Mutex // protects out; a message is one Write
	out     io.Writer

	endErr  error         // used by Read only; not nil when the input has ended
	cancels []jsonrpc.ID  // used by Read only; runs that it still has to cancel
	ended   chan struct{} // closed when endErr is set

	closeOnce sync.Once
	closed    chan struct{}
}

// Connect makes the connection its own transport: there is only one.
func (c *stdioConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is empty: a pipe has one session.
func (c *stdioConn) SessionID() string { return "" }

// Close makes Read return.
func (c *stdioConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

func (c *stdioConn) readLines(in io.Reader) {
	r := newLineReader(in, c.limit)
	for {
		text, err := r.next()
		select {
		case c.lines <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil && !errors.Is(err, errLineTooLong) {
			return
		}
	}
}

// Read returns the next request. The SDK's ctx never ends, hence c.ctx.
func (c *stdioConn) Read(context.Context) (jsonrpc.Message, error) {
	for c.endErr == nil {
		select {
		case <-c.closed:
			return nil, io.EOF
		case <-c.ctx.Done():
			c.end(io.EOF)
		case in := <-c.lines:
			if req, err := c.receive(in); err != nil || req != nil {
				return req, err
			}
		}
	}
	if len(c.cancels) > 0 {
		id := c.cancels[0]
		c.cancels = c.cancels[1:]
		return cancellation(id), nil
	}
	c.drain()
	return nil, c.endErr
}

// end begins the shutdown. Runs are cancelled with notifications of our own
// while the SDK still reads: once it has seen the end, it writes no answers.
func (c *stdioConn) end(err error) {
	c.endErr = err
	c.cancels = c.calls.cancelRuns()
	close(c.ended)
}

func (c *stdioConn) drain() {
	select {
	case <-c.calls.drained():
	case <-c.closed:
	case <-time.After(drainTime):
	}
}

// receive handles one line. Both results are nil when it is none of the SDK's
// business; an error means that out is broken.
func (c *stdioConn) receive(in line) (jsonrpc.Message, error) {
	switch {
	case errors.Is(in.err, errLineTooLong):
		return nil, c.refuse(invalid(nil, "message is longer than %d bytes", c.limit))
	case errors.Is(in.err, io.EOF):
		c.end(io.EOF)
		return nil, nil
	case in.err != nil:
		c.end(fmt.Errorf("read stdin: %w", in.err))
		return nil, nil
	}
	msg, bad := parseLine(in.text)
	switch {
	case bad != nil:
		return nil, c.refuse(bad)
	case msg == nil:
		return nil, nil
	case msg.Method == "notifications/cancelled":
		return c.cancel(msg), nil
	case msg.IsCall() && !c.calls.begin(msg):
		return nil, c.refuse(invalid(nil, "id %s is in use", clip(string(msg.rawID))))
	}
	return msg.Request, nil
}

// cancel passes a cancellation on when it concerns a request in flight. One
// that comes late is normal and ignored.
func (c *stdioConn) cancel(msg *message) jsonrpc.Message {
	var params map[string]json.RawMessage
	if err := json.Unmarshal(orNull(msg.Params), &params); err != nil {
		return nil
	}
	id, ok := parseID(params["requestId"])
	if !ok || !c.calls.cancel(id) {
		return nil
	}
	return cancellation(id)
}

// cancellation names the request by the SDK's form of its id.
func cancellation(id jsonrpc.ID) jsonrpc.Message {
	params, err := json.Marshal(map[string]any{"requestId": id.Raw()})
	if err != nil {
		panic(err) // an id is an int64 or a string
	}
	return &jsonrpc.Request{Method: "notifications/cancelled", Params: params}
}

// refuse answers a line that is no request.
func (c *stdioConn) refuse(f *fault) error {
	c.log.Warn("message refused", "code", f.code)
	return c.writeReply(reply{ID: f.id, Error: &jsonrpc.Error{Code: f.code, Message: f.text}})
}

// Write sends an answer, unless its request was cancelled.
func (c *stdioConn) Write(_ context.Context, msg jsonrpc.Message) error {
	res, ok := msg.(*jsonrpc.Response)
	if !ok {
		data, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return fmt.Errorf("encode message: %w", err)
		}
		return c.writeLine(data)
	}
	rawID, wanted := c.calls.answer(res.ID)
	if !wanted {
		return nil
	}
	defer c.calls.written()
	return c.writeReply(reply{ID: rawID, Result: res.Result, Error: wireError(res.Error)})
}

// reply is a response as it goes out. A nil ID is null, as JSON-RPC wants it
// where the id is not known; the SDK would leave it out.
type reply struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *jsonrpc.Error
}

// writeReply puts the line together by hand: an encoder would read and copy
// the whole result, megabytes maybe, once more.
func (c *stdioConn) writeReply(r reply) error {
	key, value := `,"result":`, r.Result
	if r.Error != nil {
		var err error
		if value, err = marshal(r.Error); err != nil {
			return fmt.Errorf("encode error: %w", err)
		}
		key = `,"error":`
	}
	data := make([]byte, 0, len(r.ID)+len(value)+64)
	data = append(data, `{"jsonrpc":"2.0","id":`...)
	data = append(data, orNull(r.ID)...)
	data = append(data, key...)
	data = append(data, orNull(value)...)
	return c.writeLine(append(data, '}'))
}

func (c *stdioConn) writeLine(data []byte) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if _, err := c.out.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write stdout: %w", err)
	}
	return nil
}

// wireError gives errors that the SDK left without a code one: all of them say
// that this request has no place here ("invalid during initialization"). It
// quotes the params in some of them, however long.
func wireError(err error) *jsonrpc.Error {
	if err == nil {
		return nil
	}
	out := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: clipTo(err.Error(), 200)}
	var coded *jsonrpc.Error
	if errors.As(err, &coded) {
		out.Code, out.Data = coded.Code, coded.Data
	}
	return out
}
