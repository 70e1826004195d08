package remit

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
)

// Tool says what Remit is asked about the calls of a tool. Pointers are JSON Pointers (RFC 6901) in the input.
type Tool struct {
	// Action is what rules match, the name of the tool unless given.
	Action string `json:"action"`
	// Amount points to the amount in USD, which limits count. A call without this number is denied.
	Amount string `json:"amount"`
	// Resource is a template such as "invoice:{/id}". One that begins with "file:" is a path in normal form.
	Resource string `json:"resource"`
	// Omit points to members that Remit must not see; it gets a keyed digest of each.
	Omit []string `json:"omit"`
}

// Ask is a question about a call: its action, and with a resource and a context what rules see besides.
type Ask struct {
	Action, Resource string
	// Context must be the same in every attempt: an approval is bound to it.
	Context map[string]any
}

const selfTestActions = "remit.selftest."

var (
	pointer  = regexp.MustCompile(`^/(?:[^~]|~[01])*$`)
	template = regexp.MustCompile(`\{(/[^}]*)\}`)
	fileRoot = regexp.MustCompile(`^file:/*`)
	rooted   = regexp.MustCompile(`^(?:/|[A-Za-z]:)`)
)

// checkTools refuses a table with a mistake: a member that is not omitted would be seen.
func checkTools(tools map[string]Tool) error {
	for name, tool := range tools {
		for _, one := range append([]string{tool.Amount}, tool.Omit...) {
			if one != "" && !pointer.MatchString(one) {
				return fmt.Errorf("remit: Tools[%q]: %s is no JSON Pointer such as /invoice/id", name, one)
			}
		}
	}
	return nil
}

func isUSD(value float64) bool { return value >= 0 && value <= 1e9 }

// roundedUSD has 6 decimals; half of the last one is rounded up, as in the other SDKs.
func roundedUSD(usd float64) float64 {
	micro := usd * 1e6
	whole := math.Floor(micro)
	if micro-whole >= 0.5 {
		whole++
	}
	return whole / 1e6
}

// request returns the body of POST /v1/authorize about an input, a plain value.
func (g *Gate) request(tool string, input any) (map[string]any, error) {
	var ask Ask
	var err error
	switch {
	case g.selfTest != "":
		ask.Action = selfTestActions + g.selfTest
	case g.options.Map != nil:
		var raw json.RawMessage = []byte(canonical(input))
		ask, err = g.options.Map(tool, raw)
	default:
		ask, err = g.byTable(tool, input)
	}
	if err != nil {
		return nil, err
	}
	context, isObject := any(ask.Context), true
	if g.options.Map != nil && g.selfTest == "" {
		if context, err = plainOf(ask.Context); err != nil {
			return nil, err
		}
	}
	members, isObject := context.(map[string]any)
	if !isObject || members == nil {
		members = map[string]any{}
	}
	if err := nameOf(ask.Action, "action"); err != nil {
		return nil, err
	}
	// A tool must not get past the rules by its name.
	if strings.HasPrefix(ask.Action, selfTestActions) && g.selfTest == "" {
		return nil, &unmappable{"action", "is reserved for self-tests"}
	}
	fit, replaced := fitted(members)
	request := map[string]any{"action": ask.Action, "context": fit}
	if len(replaced) > 0 {
		places := make([]any, len(replaced))
		for at, place := range replaced {
			places[at] = place
		}
		request["replaced"] = places
	}
	if g.options.AgentID != "" {
		request["agent_id"] = g.options.AgentID
	}
	if ask.Resource != "" {
		if err := nameOf(ask.Resource, "resource"); err != nil {
			return nil, err
		}
		request["resource"] = ask.Resource
	}
	return request, nil
}

func (g *Gate) byTable(tool string, args any) (Ask, error) {
	rule := g.options.Tools[tool]
	ask := Ask{Action: rule.Action}
	if ask.Action == "" {
		ask.Action = tool
	}
	if args == nil {
		args = map[string]any{}
	}
	kept, omitted := args, map[string]any{}
	for _, one := range rule.Omit {
		kept = without(kept, stepsOf(one))
		if member, has := at(args, one); has {
			hidden, err := omittedDigest(g.secret(), tool, one, member)
			if err != nil {
				return ask, err
			}
			omitted[one] = hidden
		}
	}
	ask.Context = map[string]any{"args": kept, "tool": tool}
	if len(omitted) > 0 {
		ask.Context["omitted"] = omitted
	}
	if rule.Resource != "" {
		resource, err := filled(rule.Resource, args)
		if err != nil {
			return ask, err
		}
		ask.Resource = resource
	}
	if rule.Amount != "" {
		found, _ := at(args, rule.Amount)
		amount, isNumber := found.(float64)
		if !isNumber {
			// A limit would count nothing.
			return ask, &unmappable{rule.Amount, "is no number, and the amount needs it"}
		}
		if isUSD(amount) {
			amount = roundedUSD(amount)
		}
		ask.Context["amount_usd"] = amount
	}
	return ask, nameOf(tool, "tool")
}

// filled puts values of the arguments in a template; one of a file is a path in normal form.
func filled(text string, args any) (string, error) {
	root := fileRoot.FindString(text)
	isFile := root != ""
	// The last slash belongs to the path.
	root = strings.TrimSuffix(root, "/")
	path := text[len(root):]
	var made strings.Builder
	end := 0
	for _, found := range template.FindAllStringSubmatchIndex(path, -1) {
		before, place := path[:found[0]], path[found[2]:found[3]]
		value, _ := at(args, place)
		part, isText := value.(string)
		switch value.(type) {
		case float64, bool:
			part, isText = canonical(value), true
		}
		if !isText {
			return "", &unmappable{place, "is no text, number or boolean, and the resource needs it"}
		}
		if isFile {
			isWhole := before == "" || !strings.HasSuffix(before, "/") && strings.HasPrefix(part, "/")
			if _, problem := normalPath(part, !isWhole); problem != "" {
				return "", &unmappable{place, problem}
			}
		}
		made.WriteString(path[end:found[0]] + part)
		end = found[1]
	}
	made.WriteString(path[end:])
	if !isFile {
		return made.String(), nil
	}
	// The values and the template make one path, as for the tool.
	normal, problem := normalPath(made.String(), !rooted.MatchString(made.String()))
	if problem != "" {
		return "", &unmappable{"resource", problem}
	}
	return root + normal, nil
}
