package remit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Outcome of an allowed call. The zero value is a success at the amount held.
type Outcome struct {
	// Result is "success", "failure" or "unknown"; "" is a success.
	Result string
	// CostUSD is the actual cost, from 0 to 1,000,000,000.
	CostUSD *float64
	// Amounts are the actual amounts in other units, such as tokens; without one, its hold is settled.
	Amounts map[string]float64
	// Release ends the hold of a call that had no effect.
	Release bool
}

// Settle reports the outcome of an allowed call and ends its hold; after an error that is returned the hold stays.
// What was done stays done.
func (g *Gate) Settle(ctx context.Context, verdict Verdict, outcome Outcome) error {
	if verdict.Kind != Allow {
		return errors.New("remit: only an allow can be settled")
	}
	// Self-tests hold nothing.
	if strings.HasPrefix(verdict.Action, selfTestActions) {
		return nil
	}
	if outcome.Result == "" {
		outcome.Result = "success"
	}
	entry := map[string]any{"action": verdict.Action, "decision_id": verdict.DecisionID, "outcome": outcome.Result}
	full := g.entry(entry)
	switch cost := outcome.CostUSD; {
	case outcome.Release:
		full["settle"] = "release"
	case cost != nil && isUSD(*cost):
		full["cost_usd"] = roundedUSD(*cost)
	case cost != nil:
		g.warn(fmt.Sprintf("%v is no amount in USD; the amount held was settled", *cost))
		if outcome.Amounts == nil {
			full["settle"] = "held"
		}
	case outcome.Result == "success" && outcome.Amounts == nil:
		full["settle"] = "held"
	}
	if outcome.Amounts != nil && !outcome.Release {
		amounts := map[string]any{}
		for unit, amount := range outcome.Amounts {
			amounts[unit] = amount
		}
		full["amounts"] = amounts
	}
	err := g.append(ctx, full)
	if err == nil || err.Code == "decision_settled" {
		return nil
	}
	reported := err
	if err.Code == "scope_required" {
		g.warn("The hold stays: to settle below it, the credential needs the scope ledger:settle")
		reported = g.append(ctx, g.entry(entry))
	}
	if reported != nil {
		g.warn(fmt.Sprintf("The outcome of %s could not be reported: %s", verdict.DecisionID, reported))
	}
	return err
}

// ReportGap reports a call that ran without an allow, as an entry enforcement.gap.
func (g *Gate) ReportGap(ctx context.Context, call Call, result string) error {
	entry := g.entry(map[string]any{"action": call.Tool, "decision_id": nil, "outcome": result,
		"metadata": map[string]any{"call_id": call.ID}})
	if err := g.append(ctx, entry); err != nil {
		return err
	}
	return nil
}

func (g *Gate) entry(members map[string]any) map[string]any {
	entry := map[string]any{}
	for name, member := range members {
		entry[name] = member
	}
	if g.options.AgentID != "" {
		entry["agent_id"] = g.options.AgentID
	}
	return entry
}

// append appends an entry; a repeat is the same entry.
func (g *Gate) append(ctx context.Context, entry map[string]any) *Error {
	header := http.Header{"Idempotency-Key": {digest(map[string]any{"settlement": entry})}}
	for attempt := 0; ; attempt++ {
		attemptCtx, end := context.WithTimeout(ctx, 5*time.Second)
		_, err := g.client.send(attemptCtx, "POST", "/v1/ledger", []byte(canonical(entry)), header)
		end()
		if err == nil {
			return nil
		}
		failure := asError(err)
		if attempt == 3 || !canRetry(failure) || !pause(ctx, delayAfter(attempt, failure)) {
			return failure
		}
	}
}

func (g *Gate) outcomeOf(err error) Outcome {
	released := errors.Is(err, ErrNotExecuted)
	if g.options.ReleaseOn != nil && !released {
		g.told("ReleaseOn", func() { released = g.options.ReleaseOn(err) })
	}
	var late interface{ Timeout() bool }
	switch {
	case released:
		return Outcome{Result: "failure", Release: true}
	case errors.Is(err, context.Canceled), errors.As(err, &late) && late.Timeout():
		// Nobody knows what was done.
		return Outcome{Result: "unknown"}
	}
	return Outcome{Result: "failure"}
}
