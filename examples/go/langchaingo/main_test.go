package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/remit-dev/remit/sdks/go/remit"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/fake"
)

// listening keeps what the model was told after its first answer.
type listening struct {
	*fake.LLM
	told string
}

func (l *listening) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	l.told = fmt.Sprint(messages)
	return l.LLM.GenerateContent(ctx, messages, options...)
}

// paid lets a scripted model call the tool once, and returns what the tool got and what the model was told.
func paid(t *testing.T, name, input string) (ran []transfer, told string) {
	t.Helper()
	if os.Getenv("REMIT_URL") == "" {
		t.Skip("REMIT_URL names no server")
	}
	gate, err := newGate("go-langchain", remit.Return())
	if err != nil {
		t.Fatal(err)
	}
	tool := governed[transfer]{gate: gate, name: name, description: "Pays.",
		execute: func(_ context.Context, input transfer) (string, error) {
			ran = append(ran, input)
			return "it is paid", nil
		}}
	model := &listening{LLM: fake.NewFakeLLM([]string{"Action: " + name + "\nAction Input: " + input, "Final Answer: done"})}
	text, err := answer(context.Background(), model, tool, "Pay.")
	if err != nil || text != "done" {
		t.Fatalf("%q, %v", text, err)
	}
	return ran, model.told
}

func TestLivePays(t *testing.T) {
	ran, told := paid(t, "transfer", `{"amount_usd": 40, "to": "ACME"}`)
	if len(ran) != 1 || ran[0] != (transfer{40, "ACME"}) || !strings.Contains(told, "it is paid") {
		t.Errorf("%v, %s", ran, told)
	}
}

func TestLiveTellsTheModelWhyItDidNotRun(t *testing.T) {
	for name, reason := range map[string]string{"denied.transfer": "policy_deny", "held.transfer": "waiting for approval"} {
		ran, told := paid(t, name, `{"amount_usd": 40, "to": "ACME"}`)
		if len(ran) != 0 || !strings.Contains(told, "Not executed") || !strings.Contains(told, reason) {
			t.Errorf("%v, %s", ran, told)
		}
	}
	ran, told := paid(t, "transfer", `forty dollars`)
	if len(ran) != 0 || !strings.Contains(told, "unmappable") {
		t.Errorf("%v, %s", ran, told)
	}
}

func TestLiveTheExecutorObeys(t *testing.T) {
	if os.Getenv("REMIT_URL") == "" {
		t.Skip("REMIT_URL names no server")
	}
	gate, err := newGate("go-langchain", remit.Approval{})
	if err != nil {
		t.Fatal(err)
	}
	drive := func(ctx context.Context, gate *remit.Gate, canary *remit.Canary) (string, error) {
		tool := governed[struct{}]{gate, canary.Name, canary.Description, canary.Execute, canary.CallID}
		model := &listening{LLM: fake.NewFakeLLM([]string{"Action: " + canary.Name + "\nAction Input: {}", "Final Answer: done"})}
		_, err := answer(ctx, model, tool, "Call it.")
		return model.told, err
	}
	report, err := gate.SelfTest(context.Background(), drive)
	if err != nil || !report.Enforced {
		t.Errorf("%+v, %v", report, err)
	}
}
