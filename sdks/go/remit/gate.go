// Package remit asks Remit before an agent does something of consequence, and runs it only if it is allowed.
//
// A [Gate] is in front of the tools of one agent run: [Run] asks, runs a tool at most once after an allow, and
// settles what it cost. If Remit cannot be reached, nothing runs.
package remit

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"
)

// Kind is one of allow, deny and pending.
type Kind string

// The kinds of verdicts.
const (
	Allow   Kind = "allow"
	Deny    Kind = "deny"
	Pending Kind = "pending"
)

// Verdict is what the gate says about a call. Only an allow may run, once.
type Verdict struct {
	Kind   Kind
	CallID string
	// DecisionID is empty where Remit did not decide.
	DecisionID string
	// Action is what an allow is about.
	Action string
	// Reason is a code, such as "policy_deny", "remit_unavailable" or "unmappable", and Message is for the model.
	Reason, Message string
	// ApprovalID is the approval that an allow used, or for which a pending call waits until Until, in RFC 3339.
	ApprovalID, Until string
	// Budgets are those on the path of an allowed or denied call.
	Budgets []Budget
	// RetryAt is when a call can pass that a budget or spend limit denied, in RFC 3339. It is empty where the call never
	// can (see NeverPasses), where nobody knows, and for other verdicts.
	RetryAt string
	// NeverPasses is true where a budget or spend limit, as it is set, can never let the call pass: do not repeat it.
	NeverPasses bool
}

// Budget is the state of a budget before a call. ResetsAt is empty for one that never ends.
type Budget struct {
	ID        string  `json:"id"`
	Unit      string  `json:"unit"`
	Window    string  `json:"window"`
	Limit     float64 `json:"limit"`
	Used      float64 `json:"used"`
	Held      float64 `json:"held"`
	Remaining float64 `json:"remaining"`
	ResetsAt  string  `json:"resets_at"`
}

// ToolMessage returns the text for the model in the place of a tool's result.
func (v Verdict) ToolMessage() string {
	if v.Kind == Pending {
		return fmt.Sprintf("Not executed: waiting for approval %s. %s", v.ApprovalID, v.Message)
	}
	return fmt.Sprintf("Not executed: denied by Remit (%s). %s", v.Reason, v.Message)
}

// DeniedError tells that a tool was not run: Remit denied the call, or could not be asked.
type DeniedError struct{ Verdict Verdict }

// Error returns the text for the model.
func (e *DeniedError) Error() string { return e.Verdict.ToolMessage() }

// PendingError tells that a tool was not run: the call waits for an approval.
type PendingError struct{ Verdict Verdict }

// Error returns the text for the model.
func (e *PendingError) Error() string { return e.Verdict.ToolMessage() }

// ErrNotExecuted is wrapped by the error of a tool that had no effect: its hold is released. After any other error
// the hold stays.
var ErrNotExecuted = errors.New("not executed")

// Approval says what the gate does with a call that a person has to approve. The zero value waits 4 minutes.
type Approval struct {
	mode string
	wait time.Duration
}

// Wait waits for the vote, and then leaves the call pending.
func Wait(limit time.Duration) Approval { return Approval{"wait", max(0, limit)} }

// Return leaves the call pending at once; check the same call again when the run resumes.
func Return() Approval { return Approval{mode: "return"} }

// Refuse denies the call; the model may call again after the approval.
func Refuse() Approval { return Approval{mode: "refuse"} }

// Options of a gate. All may be left out.
type Options struct {
	// AgentID may be left out with a credential of the agent.
	AgentID string
	// RunID is random unless given. A run that resumes in another process needs a stable one.
	RunID    string
	Approval Approval
	// Tools is the mapping by the name of a tool; Map is used instead if it is given. Its input is what is decided,
	// in JSON.
	Tools map[string]Tool
	Map   func(tool string, input json.RawMessage) (Ask, error)
	// OmitKey is a secret of at least 32 characters for the digests of omitted members, the key of the client
	// unless given.
	OmitKey string
	// Timeout limits a decision with all attempts, 10 s unless given.
	Timeout time.Duration
	// Retries is the number of attempts after the first, 3 unless given, none if negative.
	Retries int
	// ReleaseOn is true for an error of a tool that had no effect.
	ReleaseOn func(error) bool
	// OnWarning receives what the owner should know, such as a cost that is no amount; else it is logged.
	OnWarning func(string)
}

// Call is one call of a tool.
type Call struct {
	Tool string
	// Input is anything that encoding/json can write.
	Input any
	// ID is the id of the tool call: calls with one id in one run are one execution. Random unless given.
	ID string
	// Traceparent is that of W3C Trace Context.
	Traceparent string
}

const maxKept = 1_000

// Gate is in front of the tools of one agent run. It is safe for concurrent use.
type Gate struct {
	client   *Client
	options  Options
	selfTest string

	mutex  sync.Mutex
	calls  map[string]*question
	order  []string
	warned map[string]bool
}

// question is one question for all who ask at the same time; an allow is given out until it is taken.
type question struct {
	done      chan struct{}
	verdict   Verdict
	abandoned bool
	taken     bool
}

// NewGate returns a gate. It refuses a mapping with a mistake and a short secret.
func NewGate(client *Client, options Options) (*Gate, error) {
	if err := checkTools(options.Tools); err != nil {
		return nil, err
	}
	if options.OmitKey != "" && len(options.OmitKey) < 32 {
		return nil, errors.New("remit: OmitKey must have at least 32 characters")
	}
	options.RunID = cmp.Or(options.RunID, rand.Text())
	options.Timeout = cmp.Or(options.Timeout, 10*time.Second)
	options.Retries = max(0, cmp.Or(options.Retries, 3))
	options.Approval = cmp.Or(options.Approval, Wait(4*time.Minute))
	return newGate(client, options), nil
}

func newGate(client *Client, options Options) *Gate {
	return &Gate{client: client, options: options, calls: map[string]*question{}, warned: map[string]bool{}}
}

// Restarted returns a gate of the same run with none of this one's memory, as after a restart.
func (g *Gate) Restarted() *Gate { return newGate(g.client, g.options) }

// Check returns the verdict on a call, recorded in the ledger. A failure is a deny. The input must not change
// before the tool has run.
func (g *Gate) Check(ctx context.Context, call Call) Verdict {
	verdict, _ := g.check(ctx, &call)
	return verdict
}

// Admit checks a call and takes its one execution, for hosts that run the tool themselves: after an allow the call
// is denied from then on. Report its outcome with [Gate.Settle].
func (g *Gate) Admit(ctx context.Context, call Call) Verdict {
	return g.take(g.check(ctx, &call))
}

// Run checks a call, runs it at most once after an allow, and reports its outcome. Where it did not run, the error
// is a [*DeniedError] or a [*PendingError]; else it is that of execute.
//
// The input is read into In as by encoding/json, rules see In as JSON, and execute gets what they see, a copy. So a
// name in another case, or a member that In does not have, is never decided as one thing and run as another.
func Run[In, Out any](ctx context.Context, g *Gate, call Call, execute func(context.Context, In) (Out, error), ending ...Ending[Out]) (Out, error) {
	var none Out
	decided, err := decidedInput[In](call.Input)
	if err != nil {
		return none, &DeniedError{denied(call.ID, "unmappable", err.Error())}
	}
	call.Input = decided
	verdict := g.Admit(ctx, call)
	switch verdict.Kind {
	case Allow:
	case Pending:
		return none, &PendingError{verdict}
	default:
		return none, &DeniedError{verdict}
	}
	// After a panic nobody knows what was done.
	outcome := Outcome{Result: "unknown"}
	// What was done is reported even if the caller has gone.
	defer func() { g.Settle(context.WithoutCancel(ctx), verdict, outcome) }()
	result, err := execute(ctx, decided)
	if err != nil {
		outcome = g.outcomeOf(err)
		return result, err
	}
	outcome = Outcome{}
	for _, one := range ending {
		if one.Cost != nil {
			g.told("Cost", func() { cost := one.Cost(result); outcome.CostUSD = &cost })
		}
		if one.IsFailure != nil {
			g.told("IsFailure", func() {
				if one.IsFailure(result) {
					outcome = Outcome{Result: "failure"}
				}
			})
		}
	}
	return result, nil
}

// Ending says how the result of a tool is settled.
type Ending[Out any] struct {
	// Cost returns the actual cost in USD; without it the amount held is settled.
	Cost func(Out) float64
	// IsFailure is true for a result that tells of a failure: the hold stays.
	IsFailure func(Out) bool
}

// Wrap returns a tool that asks first, as [Run] does. The id of the call is that of [WithCallID].
func Wrap[In, Out any](g *Gate, tool string, execute func(context.Context, In) (Out, error), ending ...Ending[Out]) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, input In) (Out, error) {
		id, _ := ctx.Value(callID{}).(string)
		return Run(ctx, g, Call{Tool: tool, Input: input, ID: id}, execute, ending...)
	}
}

type callID struct{}

// WithCallID gives the id of a tool call to a tool of [Wrap].
func WithCallID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callID{}, id)
}

// decidedInput reads an input as a tool does. The copy has nothing but what its JSON has, and each name once.
func decidedInput[In any](input any) (decided In, err error) {
	var raw, again []byte
	for range 2 {
		var next In
		if raw, err = normalJSON(input); err != nil {
			return decided, &unmappable{problem: "cannot be written as JSON: " + err.Error()}
		}
		if err = json.Unmarshal(raw, &next); err != nil {
			return decided, &unmappable{problem: "does not fit the tool: " + err.Error()}
		}
		decided, input = next, next
	}
	if again, err = normalJSON(decided); err != nil || string(again) != string(raw) {
		return decided, &unmappable{problem: "has another JSON when it is read again"}
	}
	return decided, nil
}

func denied(call, reason, message string) Verdict {
	return Verdict{Kind: Deny, CallID: call, Reason: reason, Message: message}
}

func alreadyDecided(call, decisionID string) Verdict {
	verdict := denied(call, "already_decided",
		"This call was allowed before and may have run; it needs a new call id to run again.")
	verdict.DecisionID = decisionID
	return verdict
}

// take is the one execution of an allowed call.
func (g *Gate) take(verdict Verdict, asked *question) Verdict {
	if verdict.Kind != Allow {
		return verdict
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if asked.taken {
		return alreadyDecided(verdict.CallID, verdict.DecisionID)
	}
	asked.taken = true
	return verdict
}

func (g *Gate) check(ctx context.Context, call *Call) (Verdict, *question) {
	call.ID = cmp.Or(call.ID, rand.Text())
	request, err := g.prepare(call)
	if err != nil {
		return denied(call.ID, "unmappable", err.Error()), nil
	}
	key := g.key(call.ID, request, "")
	for {
		g.mutex.Lock()
		known := g.calls[key]
		if known == nil {
			asked := &question{done: make(chan struct{})}
			g.keep(key, asked)
			g.mutex.Unlock()
			verdict := g.decideSafely(ctx, call, request)
			g.mutex.Lock()
			asked.verdict = verdict
			// Who still waits asks again.
			asked.abandoned = verdict.Kind != Allow && ctx.Err() != nil
			if verdict.Kind != Allow && g.calls[key] == asked {
				delete(g.calls, key)
			}
			g.mutex.Unlock()
			close(asked.done)
			return verdict, asked
		}
		isTaken := known.taken
		g.mutex.Unlock()
		if isTaken {
			return alreadyDecided(call.ID, ""), nil
		}
		select {
		case <-ctx.Done():
			return failed(call.ID, asError(ctx.Err())), nil
		case <-known.done:
		}
		if !known.abandoned {
			return known.verdict, known
		}
	}
}

// keep remembers the last calls: it forgets the oldest ones, which the server still knows.
func (g *Gate) keep(key string, asked *question) {
	g.calls[key] = asked
	if g.order = append(g.order, key); len(g.order) > maxKept {
		delete(g.calls, g.order[0])
		g.order = g.order[1:]
	}
}

func (g *Gate) prepare(call *Call) (request map[string]any, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("the mapping panicked: %v", problem)
		}
	}()
	input, err := plainOf(call.Input)
	if err != nil {
		return nil, err
	}
	return g.request(call.Tool, input)
}

func (g *Gate) secret() string { return cmp.Or(g.options.OmitKey, g.client.key) }

func (g *Gate) key(call string, request map[string]any, approval string) string {
	orNull := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	return digest(map[string]any{"agent": orNull(g.options.AgentID), "call": call, "request": digest(request),
		"run": g.options.RunID, "approval": orNull(approval)})
}

func failed(call string, err *Error) Verdict {
	if err.IsRefusal() {
		return denied(call, "remit_refused", "Remit refused the request: "+err.Error())
	}
	return denied(call, "remit_unavailable", "Remit could not be asked: "+err.Code)
}

// decideSafely denies if the client of the program panics, so that nobody waits for the verdict forever.
func (g *Gate) decideSafely(ctx context.Context, call *Call, request map[string]any) (verdict Verdict) {
	defer func() {
		if problem := recover(); problem != nil {
			verdict = denied(call.ID, "remit_unavailable", fmt.Sprintf("Remit could not be asked: %v", problem))
		}
	}()
	return g.decide(ctx, call, request)
}

func (g *Gate) decide(ctx context.Context, call *Call, request map[string]any) Verdict {
	deadline := time.Now().Add(g.options.Approval.wait)
	followed := map[string]bool{}
	approvalID := ""
	for {
		found, failure := g.ask(ctx, request, g.key(call.ID, request, approvalID), call.Traceparent)
		if failure != nil {
			return failed(call.ID, failure)
		}
		verdict := Verdict{Kind: Kind(found.Decision), CallID: call.ID, DecisionID: found.DecisionID,
			Reason: found.Reason, Message: found.Message, Budgets: found.Budgets, RetryAt: found.RetryAt,
			NeverPasses: found.neverPasses}
		deny := func(reason, message string) Verdict {
			return Verdict{Kind: Deny, CallID: call.ID, DecisionID: found.DecisionID, Reason: reason, Message: message}
		}
		switch {
		case found.Decision == "allow" && found.isOld:
			return alreadyDecided(call.ID, found.DecisionID)
		case found.Decision == "allow":
			verdict.Action, verdict.Message = found.Action, ""
			verdict.ApprovalID = cmp.Or(found.Approval.ID, approvalID)
			return verdict
		case found.Decision == "deny":
			return verdict
		case g.options.Approval.mode == "refuse":
			return deny("approval_required", fmt.Sprintf("%s (approval %s)", found.Message, found.Approval.ID))
		}
		verdict.Kind, verdict.Reason = Pending, ""
		verdict.ApprovalID, verdict.Until = found.Approval.ID, found.Approval.ExpiresAt
		if followed[found.Approval.ID] {
			return verdict
		}
		approvalID = found.Approval.ID
		followed[approvalID] = true
		status, comment, failure := g.approval(ctx, approvalID, max(0, min(time.Until(deadline), g.options.Approval.wait)))
		message := fmt.Sprintf("Approval %s is %s.", approvalID, status)
		switch {
		case failure != nil && failure.IsRefusal():
			return deny("remit_refused", fmt.Sprintf("Approval %s cannot be read: %s", approvalID, failure))
		case failure != nil:
			return deny("remit_unavailable", fmt.Sprintf("Approval %s cannot be read: %s", approvalID, failure.Code))
		case status == "pending":
			return verdict
		case status == "consumed":
			return alreadyDecided(call.ID, found.DecisionID)
		case status == "approved":
			continue
		case comment != "":
			message = fmt.Sprintf("Approval %s is %s, because: %s", approvalID, status, comment)
		}
		return deny("approval_"+status, message)
	}
}

// told asks the owner of a tool that has run: a panic must not look as if it had not.
func (g *Gate) told(name string, question func()) {
	defer func() {
		if problem := recover(); problem != nil {
			g.warn(fmt.Sprintf("%s panicked, and its answer was left out: %v", name, problem))
		}
	}()
	question()
}

func (g *Gate) warn(message string) {
	g.mutex.Lock()
	isNew := !g.warned[message] && len(g.warned) < 100
	if isNew {
		g.warned[message] = true
	}
	g.mutex.Unlock()
	switch {
	case !isNew:
	case g.options.OnWarning != nil:
		g.options.OnWarning(message)
	default:
		log.Print("remit: " + message)
	}
}
