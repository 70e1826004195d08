package remit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The messages of a webhook that are refused.
var (
	ErrWebhookSignature = errors.New("remit: the signature of the webhook does not match")
	ErrWebhookTimestamp = errors.New("remit: the timestamp of the webhook is too old or too new")
)

// Webhook verifies messages of a webhook, which follow Standard Webhooks.
type Webhook struct {
	key []byte
	// Tolerance is how far a timestamp may be from the clock, 5 minutes unless given.
	Tolerance time.Duration
	// Now is the clock, time.Now unless given.
	Now func() time.Time
}

// Event is a verified message. It can arrive twice with the same ID.
type Event struct {
	ID        string          `json:"-"`
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// NewWebhook takes the secret of a webhook, "whsec_…".
func NewWebhook(secret string) (*Webhook, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return nil, errors.New("remit: the secret must be whsec_ and base64")
	}
	return &Webhook{key: key}, nil
}

// Verify returns the event of a message. Body has the bytes as they were received. The error is
// [ErrWebhookSignature] or [ErrWebhookTimestamp], or that of a signed body which is no event.
func (w *Webhook) Verify(header http.Header, body []byte) (Event, error) {
	event := Event{ID: header.Get("Webhook-Id")}
	mac := hmac.New(sha256.New, w.key)
	fmt.Fprintf(mac, "%s.%s.%s", event.ID, header.Get("Webhook-Timestamp"), body)
	expected := mac.Sum(nil)
	matches := false
	for _, signature := range strings.Fields(header.Get("Webhook-Signature")) {
		version, text, _ := strings.Cut(signature, ",")
		found, err := base64.StdEncoding.DecodeString(text)
		// In constant time.
		matches = matches || err == nil && version == "v1" && hmac.Equal(found, expected)
	}
	if !matches || event.ID == "" {
		return Event{}, ErrWebhookSignature
	}
	now, tolerance := time.Now(), 5*time.Minute
	if w.Now != nil {
		now = w.Now()
	}
	if w.Tolerance > 0 {
		tolerance = w.Tolerance
	}
	seconds, err := strconv.ParseInt(header.Get("Webhook-Timestamp"), 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return Event{}, ErrWebhookTimestamp
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return Event{}, fmt.Errorf("remit: the body of the webhook is no event: %w", err)
	}
	return event, nil
}
