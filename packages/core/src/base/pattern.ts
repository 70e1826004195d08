import { RE2JS } from 're2js'

// Limits on compiling a pattern, and on running it on one text. The time of the engine is bounded
// by instructions × characters, which even a short pattern can make very large.
const MAX_REPEAT_WORK = 400_000
const MAX_INSTRUCTIONS = 20_000
const MAX_STEPS = 1e8

/** A pattern in RE2 syntax. `test` takes linear time; it returns undefined above the limit. */
export interface Pattern {
  /** Number of instructions: a test takes this many steps per character. */
  readonly size: number
  test(text: string): boolean | undefined
}

/**
 * Compiles a pattern in RE2 syntax: no lookaround, no backreferences, so no text can make it
 * backtrack. `flags` are any of `i`, `m`, `s`; with `full`, the whole text must match; `maxSteps`
 * bounds instructions × characters of one test. Throws an error with a plain message. Not cached,
 * as a compiled pattern may use a table of 8 MB.
 */
export function compilePattern(
  source: string,
  flags: string,
  full: boolean,
  maxSteps = MAX_STEPS,
): Pattern {
  if (repeatWork(source) > MAX_REPEAT_WORK) throw new Error('has too many repetitions')
  const pattern = RE2JS.compile(source, flagBits(flags))
  const size = pattern.programSize()
  if (size > MAX_INSTRUCTIONS) throw new Error('compiles to too many instructions')
  return {
    size,
    test: (text) => {
      if (size * text.length > maxSteps) return undefined
      return full ? pattern.testExact(text) : pattern.test(text)
    },
  }
}

function flagBits(flags: string): number {
  return (
    (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.includes('m') ? RE2JS.MULTILINE : 0) |
    (flags.includes('s') ? RE2JS.DOTALL : 0)
  )
}

const ESCAPE_OR_REPEAT = /\\[\s\S]|\{(\d{1,4})(?:,(\d{0,4}))?\}/g

/**
 * Returns an upper estimate of the compiled size, because compiling a huge pattern must be avoided.
 */
function repeatWork(source: string): number {
  let repeats = 0
  for (const [, least = '0', most = ''] of source.matchAll(ESCAPE_OR_REPEAT)) {
    repeats += Math.max(Number(least), Number(most))
  }
  return repeats * source.length
}
