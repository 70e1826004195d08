package remit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const maxResponse = 32 << 20

// Client calls Remit. It is safe for concurrent use.
type Client struct {
	base, key string
	http      *http.Client
}

// NewClient returns a client for a server, such as "http://localhost:8080", and a key of Remit. With a nil
// httpClient no proxy is taken from the environment. Redirects are never followed.
func NewClient(baseURL, key string, httpClient *http.Client) (*Client, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" || base.User != nil ||
		base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("remit: baseURL must be an http or https URL without credentials, query and fragment")
	}
	var own http.Client
	if httpClient != nil {
		own = *httpClient
	} else {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.Proxy = nil
		// Parallel calls of one agent keep their connections.
		transport.MaxIdleConnsPerHost = 32
		own.Transport = transport
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{strings.TrimRight(baseURL, "/"), key, &own}, nil
}

// Response is a success of Remit.
type Response struct {
	Status int
	Header http.Header
	Data   json.RawMessage
}

// Do sends one request, without retries; body is written as JSON unless it is nil. The context limits its time.
// Everything but a success in JSON is an [*Error].
func (c *Client) Do(ctx context.Context, method, path string, body any, header http.Header) (*Response, error) {
	var content []byte
	if body != nil {
		value, err := plainOf(body)
		if err != nil {
			return nil, err
		}
		content = []byte(canonical(value))
	}
	return c.send(ctx, method, path, content, header)
}

func (c *Client) send(ctx context.Context, method, path string, body []byte, header http.Header) (*Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	var raw []byte
	if err == nil {
		defer response.Body.Close()
		raw, err = io.ReadAll(io.LimitReader(response.Body, maxResponse))
	}
	if err != nil {
		var late interface{ Timeout() bool }
		code := "unreachable"
		if errors.As(err, &late) && late.Timeout() {
			code = "timed_out"
		}
		place, _, _ := strings.Cut(path, "?")
		return nil, &Error{Code: code, Message: method + " " + place + " failed", cause: err}
	}
	return read(response, raw)
}

func read(response *http.Response, raw []byte) (*Response, error) {
	status := response.StatusCode
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	failure := &Error{Code: "unexpected_answer", Status: status, Header: response.Header}
	isJSON := media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
	if isJSON && json.Valid(raw) {
		if status >= 200 && status < 300 {
			return &Response{status, response.Header, raw}, nil
		}
		var problem struct{ Code, Detail string }
		if json.Unmarshal(raw, &problem) == nil && problem.Code != "" {
			failure.Code, failure.Message, failure.Problem = problem.Code, problem.Detail, raw
			return nil, failure
		}
	}
	found := "no media type"
	if media != "" {
		found = media
	}
	failure.Message = fmt.Sprintf("%d with %s, not an answer of Remit", status, found)
	return nil, failure
}

// Error is a call of Remit that did not succeed.
type Error struct {
	// Code is one of docs/errors.md, or "unreachable", "timed_out" or "unexpected_answer".
	Code, Message string
	// Status is 0, and Problem nil, where there was no answer of Remit.
	Status  int
	Header  http.Header
	Problem json.RawMessage
	cause   error
}

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Unwrap returns the error of the connection.
func (e *Error) Unwrap() error { return e.cause }

// IsRefusal is true if the same request would be refused again.
func (e *Error) IsRefusal() bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != 408 && e.Status != 429
}

// RetryAfter returns what the server asks for, and whether it does.
func (e *Error) RetryAfter() (time.Duration, bool) {
	value := e.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date)), true
	}
	return 0, false
}

func asError(err error) *Error {
	if found := (*Error)(nil); errors.As(err, &found) {
		return found
	}
	return &Error{Code: "unreachable", Message: err.Error(), cause: err}
}
