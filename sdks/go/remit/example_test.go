package remit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/remit-dev/remit/sdks/go/remit"
)

type transfer struct {
	AmountUSD float64 `json:"amount_usd"`
	To        string  `json:"to"`
}

func pay(_ context.Context, input transfer) (string, error) {
	return fmt.Sprintf("paid %v USD to %s", input.AmountUSD, input.To), nil
}

// Without an allow nothing runs. Here no server listens.
func Example() {
	client, err := remit.NewClient("http://127.0.0.1:9", "rmk_…", nil)
	if err != nil {
		panic(err)
	}
	gate, err := remit.NewGate(client, remit.Options{
		AgentID: "payer",
		Retries: -1,
		Tools:   map[string]remit.Tool{"transfer": {Action: "payments.transfer", Amount: "/amount_usd"}},
	})
	if err != nil {
		panic(err)
	}
	call := remit.Call{Tool: "transfer", Input: transfer{40, "ACME"}, ID: "call_1"}
	result, err := remit.Run(context.Background(), gate, call, pay)
	var denied *remit.DeniedError
	var pending *remit.PendingError
	switch {
	case errors.As(err, &denied):
		fmt.Println(denied)
	case errors.As(err, &pending):
		fmt.Println("wait for", pending.Verdict.ApprovalID)
	default:
		fmt.Println(result, err)
	}
	// Output: Not executed: denied by Remit (remit_unavailable). Remit could not be asked: unreachable
}

func ExampleWrap() {
	client, _ := remit.NewClient("http://127.0.0.1:9", "rmk_…", nil)
	gate, _ := remit.NewGate(client, remit.Options{AgentID: "payer", Retries: -1})
	transfer := remit.Wrap(gate, "transfer", pay)
	_, err := transfer(remit.WithCallID(context.Background(), "call_1"), struct {
		AmountUSD float64 `json:"amount_usd"`
		To        string  `json:"to"`
	}{40, "ACME"})
	fmt.Println(errors.As(err, new(*remit.DeniedError)))
	// Output: true
}

func ExampleWebhook_Verify() {
	webhook, err := remit.NewWebhook(os.Getenv("REMIT_WEBHOOK_SECRET"))
	if err != nil {
		return
	}
	http.HandleFunc("POST /remit", func(to http.ResponseWriter, from *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(to, from.Body, 1<<20))
		if err != nil {
			return
		}
		event, err := webhook.Verify(from.Header, body)
		if err != nil {
			http.Error(to, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Println(event.Type, string(event.Data))
	})
}
