package remit

import (
	"bytes"
	"cmp"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxSafe   = 1<<53 - 1
	maxNested = 500
	keptBytes = 2048
)

// stub stands for a value that is not sent. A pointer never reads in it.
type stub map[string]any

// unmappable tells that rules would not see an input as it is.
type unmappable struct{ place, problem string }

func (e *unmappable) Error() string { return cmp.Or(e.place, "the input") + " " + e.problem }

// plainOf returns the JSON of a value as nil, bool, float64, string, []any, map[string]any and stub. An integer
// beyond a double becomes a text, and a text with U+0000 a stub.
func plainOf(value any) (any, error) {
	tree, err := treeOf(value)
	if err != nil {
		return nil, &unmappable{problem: "cannot be written as JSON: " + err.Error()}
	}
	return plain(tree, "", 0)
}

// treeOf is the JSON of a value with its numbers as they are written.
func treeOf(value any) (tree any, err error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return tree, decoder.Decode(&tree)
}

// normalJSON has each name once, in order.
func normalJSON(value any) ([]byte, error) {
	tree, err := treeOf(value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

func plain(value any, path string, depth int) (any, error) {
	if depth > maxNested {
		return nil, &unmappable{path, "is nested too deep"}
	}
	switch value := value.(type) {
	case json.Number:
		number, err := value.Float64()
		if err != nil {
			return nil, &unmappable{path, "is beyond a double"}
		}
		if math.Abs(number) > maxSafe && !strings.ContainsAny(value.String(), ".eE") {
			return value.String(), nil
		}
		return number + 0, nil
	case string:
		if strings.Contains(value, "\x00") {
			return shortened(value), nil
		}
		return value, nil
	case []any:
		for index, item := range value {
			found, err := plain(item, path+"/"+strconv.Itoa(index), depth+1)
			if err != nil {
				return nil, err
			}
			value[index] = found
		}
		return value, nil
	case map[string]any:
		made := make(map[string]any, len(value))
		for name, member := range value {
			found, err := plain(member, path+"/"+name, depth+1)
			if err != nil {
				return nil, err
			}
			if strings.Contains(name, "\x00") {
				name = strings.ReplaceAll(name, "\x00", "\ufffd") + "~" + sha256Hex(name)[:8]
			}
			made[name] = found
		}
		return made, nil
	}
	return value, nil
}

// shortened is a text by its SHA-256, its length in bytes and its first 2 KiB.
func shortened(text string) stub {
	start := strings.ReplaceAll(text, "\x00", "\ufffd")
	if len(start) > keptBytes {
		end := keptBytes
		for !utf8.RuneStart(start[end]) {
			end--
		}
		start = start[:end]
	}
	return stub{"length": float64(len(text)), "sha256": sha256Hex(text), "start": start}
}

// canonical writes a plain value as JSON (RFC 8785); integers below 1e21 have all digits, so that servers read
// the same double.
func canonical(value any) string {
	var out strings.Builder
	write(&out, value)
	return out.String()
}

func write(out *strings.Builder, value any) {
	switch value := value.(type) {
	case nil:
		out.WriteString("null")
	case bool:
		out.WriteString(strconv.FormatBool(value))
	case float64:
		out.WriteString(numberText(value))
	case string:
		writeText(out, value)
	case []any:
		out.WriteByte('[')
		for index, item := range value {
			if index > 0 {
				out.WriteByte(',')
			}
			write(out, item)
		}
		out.WriteByte(']')
	case stub:
		write(out, map[string]any(value))
	case map[string]any:
		out.WriteByte('{')
		for index, name := range inOrder(value) {
			if index > 0 {
				out.WriteByte(',')
			}
			writeText(out, name)
			out.WriteByte(':')
			write(out, value[name])
		}
		out.WriteByte('}')
	default:
		panic(fmt.Sprintf("remit: %T is not plain", value))
	}
}

func writeText(out *strings.Builder, text string) {
	out.WriteByte('"')
	for _, char := range text {
		switch short := strings.IndexRune("\b\f\n\r\t\"\\", char); {
		case short >= 0:
			out.WriteString(`\` + `bfnrt"\`[short:short+1])
		case char < ' ':
			fmt.Fprintf(out, `\u%04x`, char)
		default:
			out.WriteRune(char)
		}
	}
	out.WriteByte('"')
}

func numberText(value float64) string {
	size := math.Abs(value)
	switch {
	case size == 0:
		return "0"
	case size > maxSafe && size < 1e21:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case size >= 1e-6 && size < 1e21:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return strings.Replace(strconv.FormatFloat(value, 'e', -1, 64), "e-0", "e-", 1)
}

// inOrder returns names in the order of their UTF-16 code units.
func inOrder(members map[string]any) []string {
	return slices.SortedFunc(maps.Keys(members), compareNames)
}

func compareNames(one, other string) int {
	return slices.Compare(utf16.Encode([]rune(one)), utf16.Encode([]rune(other)))
}

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func digest(value any) string {
	sum := sha256.Sum256([]byte(canonical(value)))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// omittedDigest is keyed: who reads it cannot try values without the secret.
func omittedDigest(secret, tool, pointer string, value any) (string, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), make([]byte, 32), "remit omitted members", 32)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(canonical([]any{tool, pointer, value})))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

var (
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	index    = regexp.MustCompile(`^(?:0|[1-9][0-9]*)$`)
)

func stepsOf(pointer string) []string {
	steps := strings.Split(pointer, "/")[1:]
	for at, step := range steps {
		steps[at] = unescape.Replace(step)
	}
	return steps
}

func pointerOf(steps []string) string {
	var pointer strings.Builder
	for _, step := range steps {
		pointer.WriteString("/" + escape.Replace(step))
	}
	return pointer.String()
}

// at returns the value at a JSON Pointer, and whether there is one.
func at(value any, pointer string) (any, bool) {
	for _, step := range stepsOf(pointer) {
		switch outer := value.(type) {
		case map[string]any:
			inner, has := outer[step]
			if !has {
				return nil, false
			}
			value = inner
		case []any:
			position, err := strconv.Atoi(step)
			if err != nil || !index.MatchString(step) || position >= len(outer) {
				return nil, false
			}
			value = outer[position]
		default:
			return nil, false
		}
	}
	return value, true
}

// without returns a value without the member that steps name; an item of a list becomes null.
func without(value any, steps []string) any {
	step, rest := steps[0], steps[1:]
	switch outer := value.(type) {
	case map[string]any:
		inner, has := outer[step]
		if !has {
			return value
		}
		copied := maps.Clone(outer)
		if delete(copied, step); len(rest) > 0 {
			copied[step] = without(inner, rest)
		}
		return copied
	case []any:
		copied := slices.Clone(outer)
		position, err := strconv.Atoi(step)
		if err != nil || !index.MatchString(step) || position >= len(copied) {
			return value
		}
		if copied[position] = nil; len(rest) > 0 {
			copied[position] = without(outer[position], rest)
		}
		return copied
	}
	return value
}
