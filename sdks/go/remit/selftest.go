package remit

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Canary is a tool that only counts. Its input is an empty object.
type Canary struct {
	Name, Description, CallID string
	ran                       atomic.Int32
}

// Execute counts.
func (c *Canary) Execute(context.Context, struct{}) (string, error) {
	c.ran.Add(1)
	return "the canary ran", nil
}

// Drive lets a host call the canary once behind a gate, and returns the text that the model received.
type Drive func(ctx context.Context, g *Gate, canary *Canary) (string, error)

// SelfTestResult is one case; Detail has the number of runs and the text that the model received.
type SelfTestResult struct {
	Case   string
	Passed bool
	Detail string
}

// SelfTestReport is enforced if no case ran the canary without an allow, and the approved one ran once.
type SelfTestReport struct {
	Enforced bool
	Results  []SelfTestResult
}

// SelfTest proves that a deny blocks: it lets a host's loop call a canary in five cases. The loop is that of [Run]
// if drive is nil. The server records the questions as selftest.checked, and counts none.
func (g *Gate) SelfTest(ctx context.Context, drive Drive) (SelfTestReport, error) {
	if drive == nil {
		drive = func(ctx context.Context, g *Gate, canary *Canary) (string, error) {
			return Run(ctx, g, Call{Tool: canary.Name, Input: struct{}{}, ID: canary.CallID}, canary.Execute)
		}
	}
	test := selfTest{ctx, g, drive}
	report := SelfTestReport{Results: []SelfTestResult{test.blocked("deny", "deny", g.client, g.options.Timeout)}}
	late := make(chan struct{})
	defer close(late)
	for _, one := range []struct {
		name   string
		answer func(http.ResponseWriter, string)
	}{
		{"server_stopped", nil},
		{"late_answer", func(to http.ResponseWriter, allow string) { <-late; io.WriteString(to, allow) }},
		{"garbage_answer", func(to http.ResponseWriter, _ string) { io.WriteString(to, `{"decision":"allow"}<html>`) }},
	} {
		client, stop, err := serve(one.answer)
		if err != nil {
			return report, err
		}
		report.Results = append(report.Results, test.blocked(one.name, "allow", client, 250*time.Millisecond))
		stop()
	}
	report.Results = append(report.Results, test.approvedOnce())
	report.Enforced = true
	for _, result := range report.Results {
		report.Enforced = report.Enforced && result.Passed
	}
	return report, nil
}

type selfTest struct {
	ctx   context.Context
	gate  *Gate
	drive Drive
}

func newCanary() *Canary {
	return &Canary{Name: "remit_selftest", Description: "Does nothing. Call it once.", CallID: "selftest_" + rand.Text()}
}

// heard is the text that the model received. A host may also end the run with an error.
func (t selfTest) heard(answer string, client *Client, timeout time.Duration, canary *Canary) string {
	options := t.gate.options
	options.Approval, options.Timeout, options.OnWarning = Return(), timeout, func(string) {}
	gate := newGate(client, options)
	gate.selfTest = answer
	text, err := t.drive(t.ctx, gate, canary)
	if err != nil {
		return err.Error()
	}
	return text
}

func (t selfTest) blocked(name, answer string, client *Client, timeout time.Duration) SelfTestResult {
	canary := newCanary()
	told := t.heard(answer, client, timeout, canary)
	ran := canary.ran.Load()
	detail := fmt.Sprintf("ran %d times; the model was told: %s", ran, told)
	return SelfTestResult{name, ran == 0 && strings.Contains(told, "Not executed"), detail}
}

// approvedOnce: before the approval it does not run; afterwards, three resumes run it once.
func (t selfTest) approvedOnce() SelfTestResult {
	canary, client := newCanary(), *t.gate.client
	vote := &approving{next: client.http.Transport, before: map[string]bool{}}
	inner := *client.http
	inner.Transport = vote
	client.http = &inner
	var told []string
	for range 4 {
		told = append(told, t.heard("needs_approval", &client, t.gate.options.Timeout, canary))
		if !vote.given && canary.ran.Load() > 0 {
			break
		}
		vote.given = true
	}
	ran := canary.ran.Load()
	detail := fmt.Sprintf("ran %d times; told: %s", ran, strings.Join(told, " | "))
	return SelfTestResult{"approval", vote.given && ran == 1, detail}
}

// approving answers as if a person approved, since nobody can vote on the reserved request: the question after the
// approval, which has another key than those before, reaches the server as one that it allows.
type approving struct {
	next   http.RoundTripper
	before map[string]bool
	given  bool
}

func (a *approving) RoundTrip(request *http.Request) (*http.Response, error) {
	held, allowed := []byte(selfTestActions+"needs_approval"), []byte(selfTestActions+"allow")
	if request.Method == http.MethodGet {
		status := map[bool]string{false: "pending", true: "approved"}[a.given]
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(`{"status":"` + status + `"}`)), Request: request}, nil
	}
	next := a.next
	if next == nil {
		next = http.DefaultTransport
	}
	key := request.Header.Get("Idempotency-Key")
	if a.before[key] = a.before[key] || !a.given; a.before[key] {
		return next.RoundTrip(request)
	}
	body, err := io.ReadAll(request.Body)
	request.Body.Close()
	if err != nil {
		return nil, err
	}
	body = bytes.ReplaceAll(body, held, allowed)
	sent := request.Clone(request.Context())
	sent.Body, sent.ContentLength, sent.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	response, err := next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(response.Body)
	response.Body.Close()
	raw = bytes.ReplaceAll(raw, allowed, held)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return response, err
}

// serve starts a server that misbehaves, or none, and returns a client of it.
func serve(answer func(to http.ResponseWriter, allow string)) (*Client, func(), error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	handler := func(to http.ResponseWriter, from *http.Request) {
		asked, _ := io.ReadAll(from.Body)
		to.Header().Set("Content-Type", "application/json")
		answer(to, `{"decision":"allow","decision_id":"dec_late",`+strings.TrimPrefix(string(asked), "{"))
	}
	server := &http.Server{Handler: http.HandlerFunc(handler)}
	client, err := NewClient("http://"+listener.Addr().String(), "rmk_selftest", nil)
	if answer == nil || err != nil {
		return client, func() {}, errors.Join(err, listener.Close())
	}
	go server.Serve(listener)
	return client, func() { server.Close() }, nil
}
