package remit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The tests against a server run with the tests of the repository, which start one.
func liveClient(t *testing.T, through *http.Client) *Client {
	t.Helper()
	if os.Getenv("REMIT_URL") == "" {
		t.Skip("REMIT_URL names no server")
	}
	client, err := NewClient(os.Getenv("REMIT_URL"), os.Getenv("REMIT_KEY"), through)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

type live struct {
	*testing.T
	client *Client
	agent  string
}

var agents atomic.Int32

func newLive(t *testing.T) live {
	t.Parallel()
	made := live{t, liveClient(t, nil), fmt.Sprintf("go-%d-%d", time.Now().UnixNano(), agents.Add(1))}
	made.do("POST", "/v1/spend-limits/"+made.agent, map[string]any{"daily_usd": 1000})
	return made
}

func (l live) do(method, path string, body any) json.RawMessage {
	l.Helper()
	response, err := l.client.Do(context.Background(), method, path, body, nil)
	if err != nil {
		l.Fatal(err)
	}
	return response.Data
}

func (l live) gate(options Options) *Gate {
	options.AgentID = l.agent
	if options.Tools == nil {
		options.Tools = map[string]Tool{"pay": {Amount: "/usd"}, "held.pay": {Amount: "/usd"}}
	}
	gate, err := NewGate(l.client, options)
	if err != nil {
		l.Fatal(err)
	}
	return gate
}

func (l live) spent() (usd, held float64) {
	var limit struct {
		Spent struct {
			Day struct {
				USD  float64 `json:"usd"`
				Held float64 `json:"held_usd"`
			}
		}
	}
	json.Unmarshal(l.do("GET", "/v1/spend-limits/"+l.agent, nil), &limit)
	return limit.Spent.Day.USD, limit.Spent.Day.Held
}

func (l live) wantSpent(usd, held float64) {
	l.Helper()
	if foundUSD, foundHeld := l.spent(); foundUSD != usd || foundHeld != held {
		l.Errorf("spent %v, held %v, and not %v, %v", foundUSD, foundHeld, usd, held)
	}
}

func (l live) entries(kind string) []map[string]any {
	var list struct{ Data []map[string]any }
	json.Unmarshal(l.do("GET", "/v1/ledger?agent_id="+l.agent+"&kind="+kind, nil), &list)
	return list.Data
}

func (l live) approve(id string) {
	l.do("POST", "/v1/approvals/"+id+"/decide", map[string]any{"decision": "approve", "approver": "ada@example.org"})
}

type payment struct {
	USD float64 `json:"usd"`
}

type counter struct{ atomic.Int32 }

func (c *counter) pay(_ context.Context, input payment) (float64, error) {
	c.Add(1)
	return input.USD, nil
}

func (c *counter) want(t *testing.T, runs int32) {
	t.Helper()
	if c.Load() != runs {
		t.Errorf("ran %d times and not %d", c.Load(), runs)
	}
}

func TestLiveRunsAndSettlesTheCost(t *testing.T) {
	l := newLive(t)
	var tool counter
	pay := Wrap(l.gate(Options{}), "pay", tool.pay, Ending[float64]{Cost: func(usd float64) float64 { return usd - 1.5 }})
	if usd, err := pay(context.Background(), payment{40}); usd != 40 || err != nil {
		t.Errorf("%v, %v", usd, err)
	}
	tool.want(t, 1)
	l.wantSpent(38.5, 0)
}

func TestLiveDoesNotRunWhatIsDenied(t *testing.T) {
	l := newLive(t)
	var tool counter
	_, err := Run(context.Background(), l.gate(Options{}), Call{Tool: "denied.pay", Input: payment{1}}, tool.pay)
	var denied *DeniedError
	if !errors.As(err, &denied) || denied.Verdict.Reason != "policy_deny" || denied.Verdict.DecisionID == "" {
		t.Errorf("%v", err)
	}
	tool.want(t, 0)
}

func TestLiveDecidesWhatTheToolReads(t *testing.T) {
	l := newLive(t)
	gate := l.gate(Options{Tools: map[string]Tool{"order": {}}})
	for _, input := range []string{`{"USD": 1, "usd": 5000}`, `{"Usd": 5000}`, `{"usd": 1, "usd": 5000}`} {
		var tool counter
		_, err := Run(context.Background(), gate, Call{Tool: "order", Input: json.RawMessage(input)}, tool.pay)
		var denied *DeniedError
		if !errors.As(err, &denied) || denied.Verdict.Reason != "policy_deny" {
			t.Errorf("%s: %v", input, err)
		}
		tool.want(t, 0)
	}
	raw, err := Run(context.Background(), gate, Call{Tool: "order", Input: json.RawMessage(`{"usd": 5000, "usd": 1}`)},
		func(_ context.Context, input json.RawMessage) (string, error) { return string(input), nil })
	if raw != `{"usd":1}` || err != nil {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestLiveRunsAHeldCallOnceAfterTheVote(t *testing.T) {
	l := newLive(t)
	var tool counter
	gate := l.gate(Options{RunID: "run", Approval: Return()})
	resume := func() error {
		_, err := Run(context.Background(), gate.Restarted(), Call{Tool: "held.pay", Input: payment{3}, ID: "c"}, tool.pay)
		return err
	}
	var pending *PendingError
	if err := resume(); !errors.As(err, &pending) {
		t.Fatal(err)
	}
	other := gate.Check(context.Background(), Call{Tool: "held.pay", Input: payment{4}, ID: "c"})
	if other.Kind != Pending || other.ApprovalID == pending.Verdict.ApprovalID {
		t.Errorf("another amount needs another approval: %+v", other)
	}
	l.approve(pending.Verdict.ApprovalID)
	if err := resume(); err != nil {
		t.Error(err)
	}
	for range 5 {
		var denied *DeniedError
		if err := resume(); !errors.As(err, &denied) || denied.Verdict.Reason != "already_decided" {
			t.Error(err)
		}
	}
	tool.want(t, 1)
	l.wantSpent(3, 0)
}

func TestLiveWaitsForTheVote(t *testing.T) {
	l := newLive(t)
	var tool counter
	done := make(chan error)
	go func() {
		_, err := Run(context.Background(), l.gate(Options{}), Call{Tool: "held.pay", Input: payment{3}}, tool.pay)
		done <- err
	}()
	var list struct{ Data []struct{ ID string } }
	for len(list.Data) == 0 {
		json.Unmarshal(l.do("GET", "/v1/approvals?agent_id="+l.agent, nil), &list)
	}
	tool.want(t, 0)
	l.approve(list.Data[0].ID)
	if err := <-done; err != nil {
		t.Error(err)
	}
	tool.want(t, 1)
}

func TestLiveRefusesWithoutWaiting(t *testing.T) {
	l := newLive(t)
	verdict := l.gate(Options{Approval: Refuse()}).Check(context.Background(), Call{Tool: "held.pay", Input: payment{3}})
	if verdict.Kind != Deny || verdict.Reason != "approval_required" {
		t.Errorf("%+v", verdict)
	}
}

func TestLiveSettlesErrorsAndPanics(t *testing.T) {
	l := newLive(t)
	gate := l.gate(Options{})
	fail := func(usd float64, err error) {
		_, found := Run(context.Background(), gate, Call{Tool: "pay", Input: payment{usd}},
			func(context.Context, payment) (int, error) { return 0, err })
		if found != err {
			t.Errorf("%v and not %v", found, err)
		}
	}
	fail(7, errors.New("broke"))
	fail(5, fmt.Errorf("no funds: %w", ErrNotExecuted))
	fail(11, context.DeadlineExceeded)
	func() {
		defer func() { recover() }()
		Run(context.Background(), gate, Call{Tool: "pay", Input: payment{13}},
			func(context.Context, payment) (int, error) { panic("broke") })
	}()
	if _, held := l.spent(); held != 31 {
		t.Errorf("%v is held", held)
	}
	outcomes := map[any]int{}
	var list struct{ Data []map[string]any }
	json.Unmarshal(l.do("GET", "/v1/ledger?limit=100&agent_id="+l.agent, nil), &list)
	for _, entry := range list.Data {
		if data, _ := entry["data"].(map[string]any); data["outcome"] != nil {
			outcomes[data["outcome"]]++
		}
	}
	if outcomes["failure"] != 2 || outcomes["unknown"] != 2 {
		t.Errorf("the outcomes are %v", outcomes)
	}
}

func TestLiveFiftyCallsWithOneIDAreOneRun(t *testing.T) {
	l := newLive(t)
	gate := l.gate(Options{})
	var tool, denials counter
	var all sync.WaitGroup
	for range 50 {
		all.Add(1)
		go func() {
			defer all.Done()
			_, err := Run(context.Background(), gate, Call{Tool: "pay", Input: payment{9}, ID: "one"}, tool.pay)
			if errors.As(err, new(*DeniedError)) {
				denials.Add(1)
			}
		}()
	}
	all.Wait()
	tool.want(t, 1)
	denials.want(t, 49)
	if found := len(l.entries("authorization.decided")); found != 1 {
		t.Errorf("%d decisions", found)
	}
	l.wantSpent(9, 0)
}

func TestLiveWhoWaitsAsksAgainAfterACancellation(t *testing.T) {
	l := newLive(t)
	gate := l.gate(Options{})
	var tool counter
	call := Call{Tool: "held.pay", Input: payment{2}, ID: "one"}
	ctx, cancel := context.WithCancel(context.Background())
	first, second := make(chan error), make(chan error)
	go func() { _, err := Run(ctx, gate, call, tool.pay); first <- err }()
	var list struct{ Data []struct{ ID string } }
	for len(list.Data) == 0 {
		json.Unmarshal(l.do("GET", "/v1/approvals?agent_id="+l.agent, nil), &list)
	}
	go func() { _, err := Run(context.Background(), gate, call, tool.pay); second <- err }()
	cancel()
	if err := <-first; !errors.As(err, new(*DeniedError)) {
		t.Error(err)
	}
	l.approve(list.Data[0].ID)
	if err := <-second; err != nil {
		t.Error(err)
	}
	tool.want(t, 1)
}

// losing loses the answer to the first question, after the server has decided.
type losing struct{ lost atomic.Bool }

func (l *losing) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil && request.URL.Path == "/v1/authorize" && l.lost.CompareAndSwap(false, true) {
		response.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return response, err
}

func TestLiveARetriedRequestIsDecidedOnce(t *testing.T) {
	l := newLive(t)
	transport := &losing{}
	l.client = liveClient(t, &http.Client{Transport: transport})
	var tool counter
	_, err := Run(context.Background(), l.gate(Options{}), Call{Tool: "pay", Input: payment{4}}, tool.pay)
	if err != nil || !transport.lost.Load() {
		t.Error(err)
	}
	tool.want(t, 1)
	if found := len(l.entries("authorization.decided")); found != 1 {
		t.Errorf("%d decisions", found)
	}
	l.wantSpent(4, 0)
}

func TestLiveDeniesWithoutAKey(t *testing.T) {
	l := newLive(t)
	l.client.key = "rmk_wrong"
	var tool counter
	_, err := Run(context.Background(), l.gate(Options{}), Call{Tool: "pay", Input: payment{4}}, tool.pay)
	var denied *DeniedError
	if !errors.As(err, &denied) || denied.Verdict.Reason != "remit_refused" {
		t.Error(err)
	}
	tool.want(t, 0)
}

func TestLiveWarnsOfACostThatIsNoAmount(t *testing.T) {
	l := newLive(t)
	var warnings counter
	gate := l.gate(Options{OnWarning: func(string) { warnings.Add(1) }})
	var tool counter
	Run(context.Background(), gate, Call{Tool: "pay", Input: payment{4}}, tool.pay, Ending[float64]{Cost: func(float64) float64 { return -1 }})
	Run(context.Background(), gate, Call{Tool: "pay", Input: payment{4}}, tool.pay, Ending[float64]{Cost: func(float64) float64 { panic("no cost") }})
	warnings.want(t, 2)
	l.wantSpent(8, 0)
}

func TestLiveReportsAGap(t *testing.T) {
	l := newLive(t)
	if err := l.gate(Options{}).ReportGap(context.Background(), Call{Tool: "pay", ID: "c"}, "success"); err != nil {
		t.Error(err)
	}
	if found := len(l.entries("enforcement.gap")); found != 1 {
		t.Errorf("%d gaps", found)
	}
}

func TestLiveProvesThatItIsObeyed(t *testing.T) {
	l := newLive(t)
	gate := l.gate(Options{})
	report, err := gate.SelfTest(context.Background(), nil)
	if err != nil || !report.Enforced || len(report.Results) != 5 {
		t.Errorf("%+v, %v", report, err)
	}
	careless := func(ctx context.Context, g *Gate, canary *Canary) (string, error) {
		g.Check(ctx, Call{Tool: canary.Name, Input: struct{}{}, ID: canary.CallID})
		return canary.Execute(ctx, struct{}{})
	}
	report, err = gate.SelfTest(context.Background(), careless)
	if err != nil || report.Enforced {
		t.Errorf("%+v, %v", report, err)
	}
	for _, result := range report.Results {
		if result.Passed {
			t.Errorf("%+v", result)
		}
	}
	if found := len(l.entries("authorization.decided")); found != 0 {
		t.Errorf("%d decisions", found)
	}
}
