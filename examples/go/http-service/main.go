// An HTTP service that asks Remit before it pays a refund.
//
//	REMIT_URL=http://localhost:8080 REMIT_KEY=rmk_… go run . &
//	curl -d '{"order": "o-7", "amount_usd": 40}' -H 'Idempotency-Key: 1' http://localhost:8090/refunds
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"

	"github.com/remit-dev/remit/sdks/go/remit"
)

type refund struct {
	Order     string  `json:"order"`
	AmountUSD float64 `json:"amount_usd"`
}

type receipt struct {
	Order string  `json:"order"`
	Paid  float64 `json:"paid_usd"`
}

// newService answers POST /refunds with what pay returns, if Remit allows it.
func newService(gate *remit.Gate, pay func(context.Context, refund) (receipt, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /refunds", func(to http.ResponseWriter, from *http.Request) {
		key := from.Header.Get("Idempotency-Key")
		if key == "" {
			http.Error(to, "the header Idempotency-Key must name this refund", http.StatusBadRequest)
			return
		}
		var input refund
		if err := json.NewDecoder(http.MaxBytesReader(to, from.Body, 1<<16)).Decode(&input); err != nil {
			http.Error(to, "the body must be a refund in JSON", http.StatusBadRequest)
			return
		}
		call := remit.Call{Tool: "refund", Input: input, ID: key, Traceparent: from.Header.Get("Traceparent")}
		done, err := remit.Run(from.Context(), gate, call, pay,
			remit.Ending[receipt]{Cost: func(done receipt) float64 { return done.Paid }})
		reply(to, done, err)
	})
	return mux
}

func reply(to http.ResponseWriter, done receipt, err error) {
	status, body := http.StatusOK, any(done)
	var denied *remit.DeniedError
	var pending *remit.PendingError
	switch {
	case errors.As(err, &pending):
		// The client sends the same request again after the vote.
		status, body = http.StatusAccepted, map[string]string{"approval_id": pending.Verdict.ApprovalID}
	case errors.As(err, &denied):
		status, body = http.StatusForbidden, map[string]string{"reason": denied.Verdict.Reason}
		if denied.Verdict.Reason == "remit_unavailable" {
			status = http.StatusServiceUnavailable
		}
	case err != nil:
		status, body = http.StatusBadGateway, map[string]string{"reason": "payment_failed"}
	}
	to.Header().Set("Content-Type", "application/json")
	to.WriteHeader(status)
	json.NewEncoder(to).Encode(body)
}

// newGate is for all requests; its run has a stable id, so that a refund is paid once, also after a restart.
func newGate(url, agentID string) (*remit.Gate, error) {
	client, err := remit.NewClient(url, os.Getenv("REMIT_KEY"), nil)
	if err != nil {
		return nil, err
	}
	return remit.NewGate(client, remit.Options{
		AgentID:  agentID,
		RunID:    "refunds",
		Approval: remit.Return(),
		Tools: map[string]remit.Tool{
			"refund": {Action: "payments.refund", Amount: "/amount_usd", Resource: "order:{/order}"},
		},
	})
}

func main() {
	gate, err := newGate(os.Getenv("REMIT_URL"), "refund-service")
	if err != nil {
		log.Fatal(err)
	}
	pay := func(_ context.Context, input refund) (receipt, error) {
		return receipt{input.Order, input.AmountUSD}, nil
	}
	log.Fatal(http.ListenAndServe("localhost:8090", newService(gate, pay)))
}
