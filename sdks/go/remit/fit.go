package remit

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
)

const (
	maxBytes    = 64 * 1024
	maxNames    = 2_000
	maxDepth    = 32
	maxReplaced = 100
	maxPointer  = 1_024

	// The most bytes of {"length":…,"sha256":"…"}, and those of the member start without its value.
	stubBytes  = 96
	startBytes = 9
	stubNames  = 2
	// Parts of one list or object that are replaced, before it is replaced itself.
	maxTogether = 16
	// Long texts of which the start is kept; no more than these fit.
	maxShortened = 32
	// A replaced place adds names or bytes where it saves the other, and then another one has to go.
	rounds = 3
)

// part is an object, a list or a longer text of a context.
type part struct {
	value        any
	step         string
	outer        *part
	inner        []*part
	bytes, names int
	stub         stub
	touched      bool
}

// fitted returns a context within 64 KiB, 2,000 names and 32 levels, as the other SDKs make it, and JSON Pointers
// to the places whose values it lacks. Where nothing can be kept, the only pointer is empty.
func fitted(context map[string]any) (map[string]any, []string) {
	root := measured(context, "", nil, 1)
	if root.within() && !root.touched {
		return context, nil
	}
	for range rounds {
		if root.within() {
			break
		}
		if root.names > maxNames {
			root.shed(root.names-maxNames, func(one *part) int { return one.names - stubNames })
		}
		if over := root.bytes - maxBytes; over > 0 && !root.shorten(over) {
			root.shed(over, func(one *part) int { return one.bytes - stubBytes })
		}
	}
	var places []*part
	made := root.rebuilt(&places)
	if root.within() {
		if replaced := pointersOf(places); replaced != nil {
			if whole, isStub := made.(stub); isStub {
				return whole, replaced
			}
			return made.(map[string]any), replaced
		}
	}
	return digestStub(context), []string{""}
}

func (p *part) within() bool { return p.names <= maxNames && p.bytes <= maxBytes }

func (p *part) standIn(stand stub, bytes, names int) *part {
	p.stub, p.bytes, p.names = stand, bytes, names
	for outer := p.outer; outer != nil && !outer.touched; outer = outer.outer {
		outer.touched = true
	}
	return p
}

func (p *part) replace(stand stub, bytes, names int) {
	for outer := p.outer; outer != nil; outer = outer.outer {
		outer.bytes -= p.bytes - bytes
		outer.names -= p.names - names
	}
	p.standIn(stand, bytes, names)
}

func (p *part) replaceWhole() { p.replace(digestStub(p.value), stubBytes, stubNames) }

func digestStub(value any) stub {
	text, isText := value.(string)
	if !isText {
		text = canonical(value)
	}
	return stub{"length": float64(len(text)), "sha256": sha256Hex(text)}
}

func sizeOf(value any) int { return len(canonical(value)) }

func measured(value any, step string, outer *part, depth int) *part {
	made := &part{value: value, step: step, outer: outer}
	tooDeep := false
	add := func(name string, found any) {
		switch found := found.(type) {
		case map[string]any, []any, stub:
			if tooDeep = tooDeep || depth == maxDepth; tooDeep {
				return
			}
			inner := measured(found, name, made, depth+1)
			made.inner = append(made.inner, inner)
			made.bytes += inner.bytes
			made.names += inner.names
		default:
			size := sizeOf(found)
			made.bytes += size
			if _, isText := found.(string); isText && size > stubBytes {
				made.inner = append(made.inner, &part{value: found, step: name, outer: made, bytes: size})
			}
		}
	}
	switch value := value.(type) {
	case stub:
		return made.standIn(value, sizeOf(value), len(value))
	case []any:
		made.bytes = 1 + max(len(value), 1)
		for at, item := range value {
			add(strconv.Itoa(at), item)
		}
	case map[string]any:
		made.bytes = 1 + max(len(value), 1)
		for _, name := range inOrder(value) {
			made.names++
			made.bytes += sizeOf(name) + 1
			add(name, value[name])
		}
	}
	if tooDeep {
		return made.standIn(digestStub(value), stubBytes, stubNames)
	}
	return made
}

// shed replaces the smallest part that saves enough; where it takes several, the largest ones that lie side by
// side, if they are few.
func (p *part) shed(excess int, saves func(*part) int) {
	saved := func(one *part) int {
		if one.stub != nil {
			return 0
		}
		return saves(one)
	}
	for current := p; ; {
		most := slices.DeleteFunc(slices.Clone(current.inner), func(one *part) bool { return saved(one) <= 0 })
		slices.SortStableFunc(most, func(one, other *part) int { return cmp.Compare(saved(other), saved(one)) })
		enough := 0
		for enough < len(most) && saved(most[enough]) >= excess {
			enough++
		}
		if enough > 0 {
			current = most[enough-1]
			continue
		}
		left, count := excess, 0
		for ; left > 0 && count < len(most); count++ {
			left -= saved(most[count])
		}
		if current != p && (left > 0 || count > maxTogether) {
			current.replaceWhole()
		} else if count <= maxReplaced {
			for _, one := range most[:count] {
				one.replaceWhole()
			}
		}
		return
	}
}

// shorten keeps only the start of the longest texts; false if that does not save enough.
func (p *part) shorten(excess int) bool {
	type cut struct {
		text *part
		stub stub
		size int
	}
	var cuts []cut
	texts := p.longTexts()
	slices.SortStableFunc(texts, func(one, other *part) int { return cmp.Compare(other.bytes, one.bytes) })
	for _, text := range texts[:min(len(texts), maxShortened)] {
		if excess <= 0 {
			break
		}
		made := shortened(text.value.(string))
		if size := stubBytes + startBytes + sizeOf(made["start"]); size < text.bytes {
			excess -= text.bytes - size
			cuts = append(cuts, cut{text, made, size})
		}
	}
	if excess > 0 {
		return false
	}
	for _, one := range cuts {
		one.text.replace(one.stub, one.size, stubNames+1)
	}
	return true
}

func (p *part) longTexts() []*part {
	var texts []*part
	for _, one := range p.inner {
		if one.stub != nil {
			continue
		}
		if text, isText := one.value.(string); !isText {
			texts = append(texts, one.longTexts()...)
		} else if len(text) > keptBytes {
			texts = append(texts, one)
		}
	}
	return texts
}

func (p *part) rebuilt(places *[]*part) any {
	if p.stub != nil {
		*places = append(*places, p)
		return p.stub
	}
	if !p.touched {
		return p.value
	}
	switch value := p.value.(type) {
	case map[string]any:
		copied := maps.Clone(value)
		for _, one := range p.inner {
			copied[one.step] = one.rebuilt(places)
		}
		return copied
	case []any:
		copied := slices.Clone(value)
		for _, one := range p.inner {
			position, _ := strconv.Atoi(one.step)
			copied[position] = one.rebuilt(places)
		}
		return copied
	}
	return p.value
}

// pointersOf names the places; where they are too many, by what contains them.
func pointersOf(places []*part) []string {
	for depth := maxDepth; depth > 0; depth-- {
		var pointers []string
		fits := true
		for _, place := range places {
			var steps []string
			for one := place; one.outer != nil; one = one.outer {
				steps = append(steps, one.step)
			}
			slices.Reverse(steps)
			pointer := pointerOf(steps[:min(depth, len(steps))])
			fits = fits && len(utf16.Encode([]rune(pointer))) <= maxPointer
			pointers = append(pointers, pointer)
		}
		slices.SortFunc(pointers, compareNames)
		if pointers = slices.Compact(pointers); fits && len(pointers) <= maxReplaced {
			return pointers
		}
	}
	return nil
}
