package remit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"math"
	random "math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// answer has the members of a decision that the gate reads.
type answer struct {
	Decision   string
	DecisionID string `json:"decision_id"`
	AgentID    string `json:"agent_id"`
	Action     string
	Reason     string
	Message    string
	Approval   struct {
		ID        string
		ExpiresAt string `json:"expires_at"`
	}
	Budgets []Budget
	RetryAt string
	// A null retry_at; an answer without it leaves open when the call can pass.
	neverPasses bool
	// An allow that an earlier check got, which may have run.
	isOld bool
}

// delayAfter is what the server asks for, else exponential with full jitter.
func delayAfter(attempt int, err *Error) time.Duration {
	if delay, asked := err.RetryAfter(); asked {
		return delay
	}
	return time.Duration(random.Float64() * min(5, 0.2*math.Pow(2, float64(attempt))) * float64(time.Second))
}

func canRetry(err *Error) bool {
	if delay, _ := err.RetryAfter(); delay > time.Minute {
		return false
	}
	status := err.Status
	return status == 0 || status == 408 || status == 429 || status >= 500 || status >= 200 && status < 300 ||
		err.Code == "idempotency_in_progress"
}

// pause returns false if the context ended before.
func pause(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// ask asks until there is an answer, with one key for all attempts: a lost allow is fetched again and holds money
// once.
func (g *Gate) ask(ctx context.Context, body map[string]any, key, traceparent string) (*answer, *Error) {
	id := rand.Text()
	header := http.Header{"Idempotency-Key": {key}, "X-Request-Id": {id}}
	if traceparent != "" {
		header.Set("Traceparent", traceparent)
	}
	deadline := time.Now().Add(g.options.Timeout)
	isLost := false
	for attempt := 0; ; attempt++ {
		limit := time.Until(deadline)
		if attempt < g.options.Retries {
			// Each attempt leaves half of the time to those that may follow.
			limit /= 2
		}
		attemptCtx, end := context.WithTimeout(ctx, limit)
		response, err := g.client.send(attemptCtx, "POST", "/v1/authorize", []byte(canonical(body)), header)
		end()
		if err == nil {
			var found *answer
			if found, err = decision(response, body); err == nil {
				found.isOld = !isOwn(response.Header, id, isLost)
				return found, nil
			}
		}
		failure := asError(err)
		delay := delayAfter(attempt, failure)
		isLast := attempt >= g.options.Retries || time.Until(deadline) <= delay
		isLost = isLost || failure.Problem == nil || failure.Status >= 500
		if isLast || !canRetry(failure) || !pause(ctx, delay) {
			return nil, failure
		}
	}
}

// decision reads an answer; only one to exactly this question counts.
func decision(response *Response, body map[string]any) (*answer, error) {
	var members map[string]json.RawMessage
	var found answer
	// Names of members count as they are written, and encoding/json ignores their case.
	isOne := json.Unmarshal(response.Data, &members) == nil && response.Status == http.StatusOK
	for name, target := range map[string]any{"decision": &found.Decision, "decision_id": &found.DecisionID,
		"agent_id": &found.AgentID, "action": &found.Action, "reason": &found.Reason, "message": &found.Message,
		"approval": &found.Approval, "budgets": &found.Budgets, "retry_at": &found.RetryAt} {
		if raw, has := members[name]; has {
			isOne = json.Unmarshal(raw, target) == nil && isOne
		}
	}
	found.neverPasses = found.Decision == "deny" && string(members["retry_at"]) == "null"
	agent, _ := body["agent_id"].(string)
	isOne = isOne && found.DecisionID != "" && found.Action == body["action"] && (agent == "" || found.AgentID == agent)
	switch found.Decision {
	case "allow", "deny":
	case "needs_approval":
		isOne = isOne && found.Approval.ID != ""
	default:
		isOne = false
	}
	if isOne {
		return &found, nil
	}
	message := strconv.Itoa(response.Status) + " without a decision about " + body["action"].(string)
	return nil, &Error{Code: "unexpected_answer", Message: message, Status: response.Status, Header: response.Header}
}

// isOwn is true if an allow is the answer to this check, and not to an earlier one that may have run.
func isOwn(header http.Header, id string, isLost bool) bool {
	if len(header.Values("Idempotency-Replayed")) == 0 {
		return true
	}
	// A proxy may give requests other ids; then only a lost answer explains a repeat.
	first := header.Get("Idempotency-First-Request-Id")
	if first != "" && header.Get("X-Request-Id") == id {
		return first == id
	}
	return isLost
}

// approval returns the status of an approval, and the comment for the agent, once it is no longer pending or after
// a time; with 0, now.
func (g *Gate) approval(ctx context.Context, id string, limit time.Duration) (status, comment string, _ *Error) {
	deadline := time.Now().Add(limit)
	failures := 0
	for {
		begun := time.Now()
		left := max(0, deadline.Sub(begun))
		wait := min(55, int(math.Ceil(left.Seconds())))
		path := "/v1/approvals/" + url.PathEscape(id)
		if wait > 0 {
			path += "?wait=" + strconv.Itoa(wait)
		}
		attemptCtx, end := context.WithTimeout(ctx, min(left, time.Duration(wait)*time.Second)+10*time.Second)
		response, err := g.client.send(attemptCtx, "GET", path, nil, nil)
		end()
		var found struct {
			Status  string
			Comment any `json:"comment_for_agent"`
		}
		if err == nil && (json.Unmarshal(response.Data, &found) != nil || found.Status == "") {
			err = &Error{Code: "unexpected_answer", Message: "no status of an approval", Status: response.Status}
		}
		delay := time.Duration(0)
		if err == nil {
			if found.Status != "pending" || !time.Now().Before(deadline) {
				comment, _ := found.Comment.(string)
				return found.Status, comment, nil
			}
			failures, delay = 0, max(0, 500*time.Millisecond-time.Since(begun))
		} else {
			failure := asError(err)
			delay = delayAfter(failures, failure)
			failures++
			if failure.IsRefusal() || limit == 0 && failures > 2 || limit > 0 && time.Until(deadline) <= delay {
				return "", "", failure
			}
		}
		if !pause(ctx, delay) {
			return "", "", asError(ctx.Err())
		}
	}
}
