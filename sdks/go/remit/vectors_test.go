package remit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

type vector struct {
	Name string
	Gate struct {
		AgentID, RunID, OmitKey string
		Approval                struct {
			Mode  string
			MaxMs int
		}
		Retries int
		Map     map[string]Tool
	}
	Call struct {
		Tool, CallID, Traceparent string
		Input                     json.RawMessage
		InputJSON                 string
	}
	Exchanges []struct {
		Request struct {
			Method, Path string
			Headers      map[string]string
			Body         json.RawMessage
			BodyJSON     string
		}
		Response *struct {
			Status  int
			Headers map[string]string
			Body    json.RawMessage
			Text    *string
		}
	}
	Verdict map[string]any
}

// scripted answers as a vector says, and compares what is sent, byte for byte in the headers.
type scripted struct {
	*testing.T
	vector vector
	count  int
	id     map[string]string
}

func (s *scripted) RoundTrip(request *http.Request) (*http.Response, error) {
	if s.count >= len(s.vector.Exchanges) {
		s.Errorf("%s %s is one request too many", request.Method, request.URL)
		return nil, io.ErrUnexpectedEOF
	}
	exchange := s.vector.Exchanges[s.count]
	s.count++
	expected, id, key := exchange.Request, request.Header.Get("X-Request-Id"), request.Header.Get("Idempotency-Key")
	if first, has := s.id[key]; id != "" && has && first != id {
		s.Errorf("the attempts of one question have the ids %s and %s", first, id)
	}
	s.id[key] = id
	for _, name := range []string{"authorization", "content-type", "idempotency-key", "traceparent", "x-request-id"} {
		found, wanted := request.Header.Get(name), expected.Headers[name]
		if wanted == "$request-id" && found != "" {
			wanted = found
		}
		if found != wanted {
			s.Errorf("%s is %q and not %q", name, found, wanted)
		}
	}
	if found := request.Method + " " + request.URL.RequestURI(); found != expected.Method+" "+expected.Path {
		s.Errorf("%s and not %s %s", found, expected.Method, expected.Path)
	}
	var body []byte
	if request.Body != nil {
		body, _ = io.ReadAll(request.Body)
	}
	wanted := expected.Body
	if expected.BodyJSON != "" {
		wanted = json.RawMessage(expected.BodyJSON)
	}
	if !reflect.DeepEqual(parsed(body), parsed(wanted)) {
		s.Errorf("the body is\n%.600s\nand not\n%.600s", body, wanted)
	}
	response := exchange.Response
	if response == nil {
		return nil, errors.New("the connection broke")
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for name, value := range response.Headers {
		header.Set(name, strings.Replace(value, "$request-id", id, 1))
	}
	text := []byte(response.Body)
	if response.Text != nil {
		text = []byte(*response.Text)
	}
	return &http.Response{StatusCode: response.Status, Header: header, Body: io.NopCloser(bytes.NewReader(text))}, nil
}

func parsed(text []byte) (value any) {
	json.Unmarshal(text, &value)
	return value
}

// hasHalfPair: a text of Go has no half of a surrogate pair: encoding/json reads U+FFFD.
func hasHalfPair(raw []byte) bool {
	text := regexp.MustCompile(`(?i)\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}`).ReplaceAllString(string(raw), "")
	return regexp.MustCompile(`(?i)\\ud[89a-f]`).MatchString(text)
}

func TestVectors(t *testing.T) {
	raw, err := os.ReadFile("../../../packages/sdk/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []json.RawMessage }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	impossible := 0
	for _, raw := range file.Vectors {
		if hasHalfPair(raw) {
			impossible++
			continue
		}
		var one vector
		if err := json.Unmarshal(raw, &one); err != nil {
			t.Fatal(err)
		}
		t.Run(one.Name, func(t *testing.T) {
			t.Parallel()
			play(t, one)
		})
	}
	if ran := len(file.Vectors) - impossible; impossible != 3 || ran < 100 {
		t.Errorf("%d vectors have half a surrogate pair, and %d ran", impossible, ran)
	}
}

func play(t *testing.T, one vector) {
	script := &scripted{T: t, vector: one, id: map[string]string{}}
	client, err := NewClient("http://remit.example", "rmk_vector", &http.Client{Transport: script})
	if err != nil {
		t.Fatal(err)
	}
	approval := map[string]Approval{"return": Return(), "refuse": Refuse(), "wait": Wait(time.Duration(one.Gate.Approval.MaxMs) * time.Millisecond)}
	retries := one.Gate.Retries
	if retries == 0 {
		retries = -1
	}
	gate, err := NewGate(client, Options{AgentID: one.Gate.AgentID, RunID: one.Gate.RunID, OmitKey: one.Gate.OmitKey,
		Approval: approval[one.Gate.Approval.Mode], Retries: retries, Tools: one.Gate.Map})
	if err != nil {
		t.Fatal(err)
	}
	input := one.Call.Input
	if one.Call.InputJSON != "" {
		input = json.RawMessage(one.Call.InputJSON)
	}
	call := Call{Tool: one.Call.Tool, Input: input, ID: one.Call.CallID, Traceparent: one.Call.Traceparent}
	found := gate.Check(context.Background(), call)
	if script.count != len(one.Exchanges) {
		t.Errorf("%d of %d requests were sent", script.count, len(one.Exchanges))
	}
	orNull := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	members := map[string]any{"kind": string(found.Kind), "callId": found.CallID, "decisionId": orNull(found.DecisionID)}
	switch found.Kind {
	case Allow:
		members["action"], members["reason"], members["approvalId"] = found.Action, found.Reason, orNull(found.ApprovalID)
	case Deny:
		members["reason"], members["message"] = found.Reason, found.Message
	case Pending:
		members["approvalId"], members["until"], members["message"] = found.ApprovalID, orNull(found.Until), found.Message
	}
	if found.Budgets != nil {
		text, _ := json.Marshal(found.Budgets)
		members["budgets"] = parsed(text)
	}
	if found.RetryAt != "" {
		members["retryAt"] = found.RetryAt
	} else if found.NeverPasses {
		members["retryAt"] = nil
	}
	if !reflect.DeepEqual(members, one.Verdict) {
		t.Errorf("the verdict is\n%v\nand not\n%v", members, one.Verdict)
	}
}
