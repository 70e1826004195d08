package remit

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	secret    = "whsec_YSBzZWNyZXQgb2YgdGhlIHRlc3RzLCAzMiBieXRlcyE="
	signature = "v1,zh7r9Sg0p4vQymjUIFScbQ0ePhkkCg7jCuSI8aDM3Kk="
	message   = `{"type":"spend.threshold","timestamp":"2026-11-20T08:00:00.000Z","data":{"agent_id":"payer","threshold_percent":80,"note":"ü"}}`
)

// signed is a message that the signer of the server, standardwebhooks for TypeScript, signed.
func signed() http.Header {
	return http.Header{"Webhook-Id": {"msg_01m7wbd2k4k7s3wbgv5n1r8e6c_57"}, "Webhook-Timestamp": {"1795161600"},
		"Webhook-Signature": {signature}}
}

func verify(header http.Header, body string, after time.Duration) (Event, error) {
	webhook, err := NewWebhook(secret)
	if err != nil {
		return Event{}, err
	}
	webhook.Now = func() time.Time { return time.Unix(1795161600, 0).Add(after) }
	return webhook.Verify(header, []byte(body))
}

func TestWebhookTakesWhatTheServerSigned(t *testing.T) {
	for _, after := range []time.Duration{0, -5 * time.Minute, 5 * time.Minute} {
		event, err := verify(signed(), message, after)
		if err != nil || event.Type != "spend.threshold" || event.ID != "msg_01m7wbd2k4k7s3wbgv5n1r8e6c_57" {
			t.Errorf("%+v, %v", event, err)
		}
	}
	several := signed()
	several.Set("Webhook-Signature", "v2,x v1,AAAA "+signature)
	if _, err := verify(several, message, 0); err != nil {
		t.Error(err)
	}
}

func TestWebhookRefusesEverythingElse(t *testing.T) {
	for name, change := range map[string]func(http.Header){
		"another id":        func(h http.Header) { h.Set("Webhook-Id", "msg_2") },
		"another time":      func(h http.Header) { h.Set("Webhook-Timestamp", "1795161601") },
		"no signature":      func(h http.Header) { h.Del("Webhook-Signature") },
		"another signature": func(h http.Header) { h.Set("Webhook-Signature", "v1,"+strings.Repeat("A", 43)+"=") },
		"half a signature":  func(h http.Header) { h.Set("Webhook-Signature", signature[:20]) },
		"another version":   func(h http.Header) { h.Set("Webhook-Signature", "v2"+signature[2:]) },
	} {
		header := signed()
		change(header)
		if _, err := verify(header, message, 0); !errors.Is(err, ErrWebhookSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := verify(signed(), message+" ", 0); !errors.Is(err, ErrWebhookSignature) {
		t.Error(err)
	}
	for _, after := range []time.Duration{-301 * time.Second, 301 * time.Second} {
		if _, err := verify(signed(), message, after); !errors.Is(err, ErrWebhookTimestamp) {
			t.Error(err)
		}
	}
	for _, secret := range []string{"", "whsec_", "whsec_%"} {
		if _, err := NewWebhook(secret); err == nil {
			t.Errorf("%q is no secret", secret)
		}
	}
}

func TestNumbersAreReadAsThemselves(t *testing.T) {
	for range 20_000 {
		number := math.Float64frombits(rand.Uint64())
		if math.IsNaN(number) || math.IsInf(number, 0) {
			continue
		}
		if read, err := strconv.ParseFloat(canonical(number), 64); err != nil || read != number {
			t.Fatalf("%v is written as %s", number, canonical(number))
		}
	}
	for number, text := range map[float64]string{0x1p53: "9007199254740992", 0x1p60: "1152921504606846976", 1e21: "1e+21", 1e-7: "1e-7"} {
		if canonical(number) != text {
			t.Errorf("%s and not %s", canonical(number), text)
		}
	}
}

func TestNamesAreTakenOnlyInNFC(t *testing.T) {
	for text, isTaken := range map[string]bool{"é": true, "e\u0301": false, "\u212b": false, "한글": true, "\u1112\u1161": false,
		"कि": true, "\u0958": false, "a\u0323\u0307": false, "\u2000": false, "日本": true, "が": true, "か\u3099": false, "\xff": false} {
		if taken := problemOf(text) == ""; taken != isTaken {
			t.Errorf("%+q: %v", text, problemOf(text))
		}
	}
}

type asymmetric struct{ Usd float64 }

func (a asymmetric) MarshalJSON() ([]byte, error) { return json.Marshal(a.Usd / 2) }
func (a *asymmetric) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &a.Usd)
}

func TestAnInputThatRulesWouldNotSeeIsDenied(t *testing.T) {
	gate := offline(t, Options{})
	fails := func(err error) {
		t.Helper()
		var denied *DeniedError
		if !errors.As(err, &denied) || denied.Verdict.Reason != "unmappable" {
			t.Error(err)
		}
	}
	_, err := Run(context.Background(), gate, Call{Tool: "pay", Input: asymmetric{4}}, never[asymmetric](t))
	fails(err)
	_, err = Run(context.Background(), gate, Call{Tool: "pay", Input: math.NaN()}, never[float64](t))
	fails(err)
	_, err = Run(context.Background(), gate, Call{Tool: "pay", Input: json.RawMessage(`{"usd":`)}, never[payment](t))
	fails(err)
	_, err = Run(context.Background(), gate, Call{Tool: "pay", Input: func() {}}, never[any](t))
	fails(err)
	deep := json.RawMessage(strings.Repeat("[", 600) + strings.Repeat("]", 600))
	_, err = Run(context.Background(), gate, Call{Tool: "pay", Input: deep}, never[any](t))
	fails(err)
	gate.options.Map = func(string, json.RawMessage) (Ask, error) { panic("broke") }
	_, err = Run(context.Background(), gate, Call{Tool: "pay"}, never[any](t))
	fails(err)
}

func never[In any](t *testing.T) func(context.Context, In) (int, error) {
	return func(context.Context, In) (int, error) {
		t.Error("it ran")
		return 0, nil
	}
}

func offline(t *testing.T, options Options) *Gate {
	t.Helper()
	client, err := NewClient("http://127.0.0.1:9", "k", nil)
	if err != nil {
		t.Fatal(err)
	}
	options.Retries = -1
	gate, err := NewGate(client, options)
	if err != nil {
		t.Fatal(err)
	}
	return gate
}

func TestNothingRunsWhileRemitIsAway(t *testing.T) {
	var denied *DeniedError
	_, err := Run(context.Background(), offline(t, Options{}), Call{Tool: "pay"}, never[any](t))
	if !errors.As(err, &denied) || denied.Verdict.Reason != "remit_unavailable" {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = Run(cancelled, offline(t, Options{}), Call{Tool: "pay"}, never[any](t)); !errors.As(err, &denied) {
		t.Error(err)
	}
}

func TestNothingRunsAfterAnAnswerThatIsTooLateOrARedirect(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		if from.URL.Path == "/redirect/v1/authorize" {
			http.Redirect(to, from, "/v1/authorize", http.StatusTemporaryRedirect)
			return
		}
		<-release
	}))
	defer server.Close()
	defer close(release)
	for path, code := range map[string]string{"": "timed_out", "/redirect": "unexpected_answer"} {
		client, err := NewClient(server.URL+path, "k", nil)
		if err != nil {
			t.Fatal(err)
		}
		gate, err := NewGate(client, Options{Timeout: 100 * time.Millisecond, Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		verdict := gate.Check(context.Background(), Call{Tool: "pay"})
		if verdict.Reason != "remit_unavailable" || !strings.HasSuffix(verdict.Message, code) {
			t.Errorf("%+v", verdict)
		}
	}
}

func TestMistakesOfTheOwnerAreRefused(t *testing.T) {
	for _, url := range []string{"", "ftp://remit", "http://", "http://a:b@remit", "http://remit?x=1", "http://remit#x"} {
		if _, err := NewClient(url, "k", nil); err == nil {
			t.Errorf("%q", url)
		}
	}
	client, err := NewClient("http://remit/path/", "k", nil)
	if err != nil || client.base != "http://remit/path" {
		t.Error(err)
	}
	for _, options := range []Options{
		{OmitKey: "short"},
		{Tools: map[string]Tool{"pay": {Amount: "usd"}}},
		{Tools: map[string]Tool{"pay": {Omit: []string{"/a~2"}}}},
	} {
		if _, err := NewGate(client, options); err == nil {
			t.Errorf("%+v", options)
		}
	}
}

type panicking struct{}

func (panicking) RoundTrip(*http.Request) (*http.Response, error) { panic("broken transport") }

func TestNothingRunsAndNobodyWaitsAfterAPanicOfTheClient(t *testing.T) {
	client, err := NewClient("http://127.0.0.1:9", "rmk_x", &http.Client{Transport: panicking{}})
	if err != nil {
		t.Fatal(err)
	}
	gate, err := NewGate(client, Options{AgentID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		verdict := gate.Check(context.Background(), Call{Tool: "pay", ID: "same"})
		if verdict.Kind != Deny || verdict.Reason != "remit_unavailable" {
			t.Fatalf("%+v", verdict)
		}
	}
}
