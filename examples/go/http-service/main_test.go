package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remit-dev/remit/sdks/go/remit"
)

func post(t *testing.T, url, key, body string) (int, map[string]any) {
	t.Helper()
	request, err := http.NewRequest("POST", url+"/refunds", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var found map[string]any
	json.NewDecoder(response.Body).Decode(&found)
	return response.StatusCode, found
}

func start(t *testing.T, remitURL string) (url string, paid *atomic.Int32) {
	t.Helper()
	gate, err := newGate(remitURL, fmt.Sprintf("refunds-%d", time.Now().UnixNano()))
	if err != nil {
		t.Fatal(err)
	}
	paid = new(atomic.Int32)
	service := httptest.NewServer(newService(gate, func(_ context.Context, input refund) (receipt, error) {
		paid.Add(1)
		return receipt{input.Order, input.AmountUSD}, nil
	}))
	t.Cleanup(service.Close)
	return service.URL, paid
}

func TestLivePaysOnceAfterTheVote(t *testing.T) {
	if os.Getenv("REMIT_URL") == "" {
		t.Skip("REMIT_URL names no server")
	}
	url, paid := start(t, os.Getenv("REMIT_URL"))
	body := `{"order": "o-7", "amount_usd": 40}`
	status, answer := post(t, url, "k", body)
	if status != http.StatusAccepted || paid.Load() != 0 {
		t.Fatalf("%d %v", status, answer)
	}
	client, err := remit.NewClient(os.Getenv("REMIT_URL"), os.Getenv("REMIT_KEY"), nil)
	if err != nil {
		t.Fatal(err)
	}
	vote := map[string]any{"decision": "approve", "approver": "ada@example.org"}
	if _, err := client.Do(context.Background(), "POST", fmt.Sprintf("/v1/approvals/%v/decide", answer["approval_id"]), vote, nil); err != nil {
		t.Fatal(err)
	}
	if status, answer = post(t, url, "k", body); status != http.StatusOK || answer["paid_usd"] != 40.0 {
		t.Errorf("%d %v", status, answer)
	}
	if status, answer = post(t, url, "k", body); status != http.StatusForbidden || answer["reason"] != "already_decided" {
		t.Errorf("%d %v", status, answer)
	}
	if paid.Load() != 1 {
		t.Errorf("paid %d times", paid.Load())
	}
}

func TestPaysNothingWhileRemitIsAway(t *testing.T) {
	url, paid := start(t, "http://127.0.0.1:9")
	if status, answer := post(t, url, "k", `{"order": "o-7", "amount_usd": 40}`); status != http.StatusServiceUnavailable || paid.Load() != 0 {
		t.Errorf("%d %v", status, answer)
	}
}
