// An agent of LangChainGo whose tools stand behind the gate. A scripted model pays two invoices.
//
//	REMIT_URL=http://localhost:8080 REMIT_KEY=rmk_… go run .
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/remit-dev/remit/sdks/go/remit"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/fake"
	"github.com/tmc/langchaingo/tools"
)

// governed is a tool behind the gate. The text of the model is read into In before it is decided.
type governed[In any] struct {
	gate              *remit.Gate
	name, description string
	execute           func(context.Context, In) (string, error)
	// callID is for hosts that know the id of the tool call.
	callID string
}

func (g governed[In]) Name() string        { return g.name }
func (g governed[In]) Description() string { return g.description }

// Call returns what a denied call tells the model as the result: an error would end the run.
func (g governed[In]) Call(ctx context.Context, input string) (string, error) {
	call := remit.Call{Tool: g.name, Input: json.RawMessage(input), ID: g.callID}
	result, err := remit.Run(ctx, g.gate, call, g.execute)
	if errors.As(err, new(*remit.DeniedError)) || errors.As(err, new(*remit.PendingError)) {
		return err.Error(), nil
	}
	return result, err
}

type transfer struct {
	AmountUSD float64 `json:"amount_usd"`
	To        string  `json:"to"`
}

func newGate(agentID string, approval remit.Approval) (*remit.Gate, error) {
	client, err := remit.NewClient(os.Getenv("REMIT_URL"), os.Getenv("REMIT_KEY"), nil)
	if err != nil {
		return nil, err
	}
	return remit.NewGate(client, remit.Options{
		AgentID:  agentID,
		Approval: approval,
		Tools:    map[string]remit.Tool{"transfer": {Action: "payments.transfer", Amount: "/amount_usd"}},
	})
}

// answer lets the agent answer with a model and a tool.
func answer(ctx context.Context, model llms.Model, tool tools.Tool, question string) (string, error) {
	agent := agents.NewOneShotAgent(model, []tools.Tool{tool}, agents.WithMaxIterations(5))
	return chains.Run(ctx, agents.NewExecutor(agent), question)
}

func main() {
	gate, err := newGate("payer", remit.Approval{})
	if err != nil {
		log.Fatal(err)
	}
	bank := governed[transfer]{gate: gate, name: "transfer", description: "Pays an amount in USD.",
		execute: func(_ context.Context, input transfer) (string, error) {
			return fmt.Sprintf("paid %v USD to %s", input.AmountUSD, input.To), nil
		}}
	model := fake.NewFakeLLM([]string{
		"Action: transfer\nAction Input: {\"amount_usd\": 40, \"to\": \"ACME\"}",
		"Final Answer: The invoice was handled.",
	})
	text, err := answer(context.Background(), model, bank, "Pay the invoice of ACME.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
}
