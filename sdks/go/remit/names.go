package remit

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxName = 256

// nameOf returns a name as Remit takes it: cleaned, the rules would judge a name that does not run.
func nameOf(text, what string) error {
	if problem := problemOf(text); problem != "" {
		return &unmappable{what, "must " + problem}
	}
	return nil
}

// problemOf tells what a name must be, "" for a name that Remit takes.
func problemOf(text string) string {
	switch {
	case text == "":
		return "not be empty"
	case !utf8.ValidString(text):
		return "be valid UTF-8"
	case utf8.RuneCountInString(text) > maxName:
		return fmt.Sprintf("have at most %d characters", maxName)
	case strings.Contains(text, "*"):
		return "not contain *"
	case !isNFC(text):
		return "be in the normalization form NFC of Unicode"
	}
	for _, char := range text {
		if isUnseen(char) {
			return fmt.Sprintf("not contain the invisible character U+%04X", char)
		}
	}
	if strings.Trim(text, " ") != text {
		return "not begin or end with a blank"
	}
	return ""
}

// Default_Ignorable_Code_Point (UAX #44) that is not in Cc, Cf or Cs; noncharacters of the first plane; symbols
// with a blank glyph.
var ignorable = regexp.MustCompile(`[\x{34f}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{2065}\x{2800}` +
	`\x{3164}\x{fe00}-\x{fe0f}\x{ffa0}\x{fdd0}-\x{fdef}\x{fff0}-\x{fff8}\x{fffc}\x{13441}\x{13442}\x{16fe4}` +
	`\x{1d159}\x{e0000}-\x{e0fff}]`)

func isUnseen(char rune) bool {
	return char != ' ' && unicode.In(char, unicode.C, unicode.Z) ||
		char > '~' && ignorable.MatchString(string(char)) || char&0xfffe == 0xfffe
}

// isNFC is true only for texts in the form NFC: it uses the quick check of UAX #15 without its "maybe", as the
// standard library has no tables for more. So a text with a mark that composes with some letter, or with two marks
// in a row, is none, even where this one stays apart.
func isNFC(text string) bool {
	hasMark := false
	for _, char := range text {
		isMark := char >= 0x300 && unicode.Is(unicode.M, char)
		if char >= 0x300 && unicode.Is(composing, char) || isMark && hasMark {
			return false
		}
		hasMark = isMark
	}
	return true
}

var (
	drivePath   = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
	absolute    = regexp.MustCompile(`^(?:[A-Za-z]:)?/`)
	elsewhere   = regexp.MustCompile(`^(?:~|//|[A-Za-z]:(?:[^/]|$))`)
	escaped     = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
	driveRoot   = regexp.MustCompile(`^[A-Za-z]:$`)
	otherOnDisk = regexp.MustCompile(`[. ]$|:`)
)

// normalPath returns a path without ".", "..", repeated and last slashes, an absolute one unless isRelative; or what
// is accepted, where a server could read something else in it.
func normalPath(text string, isRelative bool) (path, problem string) {
	path = text
	if drivePath.MatchString(text) {
		path = strings.ReplaceAll(text, `\`, "/")
	}
	if !isUsable(path) {
		return "", `must be in NFC, without invisible characters, blanks other than U+0020, outer blanks, * or \`
	}
	if escaped.MatchString(path) {
		return "", "must be a path without escapes"
	}
	if absolute.MatchString(path) == isRelative || elsewhere.MatchString(path) {
		if isRelative {
			return "", "must be a relative path"
		}
		return "", "must be an absolute path"
	}
	if path, problem = joined(strings.Split(path, "/")); problem != "" {
		return "", problem
	}
	if path != "" && problemOf(path) != "" {
		return "", "must have at most 256 characters in normal form, in NFC"
	}
	return path, ""
}

func joined(segments []string) (path, problem string) {
	root := segments[0]
	hasDrive := driveRoot.MatchString(root)
	isAbsolute := hasDrive || root == ""
	if isAbsolute {
		segments = segments[1:]
	}
	var kept []string
	for _, segment := range segments {
		switch {
		case segment == "" || segment == ".":
		case segment != "..":
			kept = append(kept, segment)
		case len(kept) > 0:
			kept = kept[:len(kept)-1]
		default:
			return "", `must not leave its root with ".."`
		}
	}
	for _, segment := range kept {
		// Windows drops these, and reads another file.
		if hasDrive && otherOnDisk.MatchString(segment) {
			return "", "must have no names that end in a dot or a blank, or have a colon"
		}
	}
	path = strings.Join(kept, "/")
	if isAbsolute {
		path = strings.ToUpper(root) + "/" + path
	}
	return path, ""
}

func isUsable(path string) bool {
	if !utf8.ValidString(path) || strings.Trim(path, " ") != path || !isNFC(path) || strings.ContainsAny(path, `*\`) {
		return false
	}
	return strings.IndexFunc(path, isUnseen) < 0
}
