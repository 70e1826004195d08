import type { GuardSource } from '@remit/contract'
import type { InjectionCategory } from './categories.ts'
import { BASIS, hashOf, step } from './model/tokens.ts'

/** The category of a signature by the first part of its id. */
const CATEGORY_OF = {
  delimiter: 'delimiter_injection',
  embedded: 'embedded_instruction',
  encoded: 'encoded_payload',
  exfiltration: 'data_exfiltration',
  flood: 'context_flooding',
  hidden: 'hidden_text',
  indirect: 'indirect_injection',
  jailbreak: 'jailbreak',
  leak: 'prompt_leak',
  memory: 'memory_poisoning',
  override: 'instruction_override',
  replication: 'self_replication',
  resource: 'resource_abuse',
  social: 'social_engineering',
  tool: 'tool_abuse',
} as const satisfies Record<string, InjectionCategory>
type Topic = keyof typeof CATEGORY_OF

/** A pattern of an attack's wording, for normalized text (`normalize.ts`). */
export interface Signature {
  readonly id: string
  readonly category: InjectionCategory
  /**
   * The share of attacks among the texts it fires on, were attacks and others equally frequent:
   * measured on the training corpora, with 0.04 % more harmless texts than were seen, at most 0.95.
   * With fewer than twelve such attacks, 0.55 by judgement, or less if harmless texts match.
   */
  readonly weight: number
  /** Only for texts of these sources. Default: all. */
  readonly sources?: readonly GuardSource[]
  /** Required text before a match, as a regular expression of bounded length. */
  readonly after?: string
  /** Excluded text before a match, likewise. */
  readonly notAfter?: string
  /** Start of a match: literal alternatives separated by `|`, each a word, words or signs. */
  readonly opening: string
  /** Rest of a match: a regular expression without unbounded or nested quantifiers. */
  readonly rest: string
  /** A text that matches. */
  readonly example: string
  /** A harmless text with the same words that must not match. */
  readonly benign: string
}

export interface SignatureRow extends Omit<Signature, 'category'> {
  readonly id: `${Topic}.${string}`
}

export const withCategory = ({ id, ...row }: SignatureRow): Signature => ({
  id,
  category: CATEGORY_OF[id.split('.')[0] as Topic],
  ...row,
})

export interface CompiledSignature extends Signature {
  readonly pattern: RegExp
  /** Matches where `notAfter` allows a match to start. Tested last: few candidates remain. */
  readonly free: RegExp | null
}

/** A match of a signature in the normalized text. */
export interface Hit {
  readonly signature: CompiledSignature
  readonly start: number
  readonly end: number
}

/** A signature whose matches may start with a word. */
interface Candidate {
  readonly signature: CompiledSignature
  /** Bits of the possible first letters of the next word; all bits if any is possible. */
  readonly next: number
}

/** Signatures by the start of their matches: a word of a to z, or any other single unit. */
export interface SignatureIndex {
  readonly byWord: ReadonlyMap<string, readonly Candidate[]>
  readonly byUnit: ReadonlyMap<number, readonly CompiledSignature[]>
  /** 1 at the hashes of both, to skip other units without a lookup. */
  readonly openings: Uint8Array
}

const FIRST_WORD = /^[a-z]+/
const SLOTS = 1 << 13
const ANY = -1

/** Matches up to `units` of the same sentence, as few as possible. */
export const gap = (units: number): string => `[^.!?]{0,${units}}?`

/** Compiles a signature for sticky matching at a given position. */
export function compileSignature(signature: Signature): CompiledSignature {
  const { after, notAfter, opening, rest } = signature
  const literals = opening
    .split('|')
    .map((literal) => literal.replace(/[[\](){}.*+?^$\\/]/g, '\\$&').replaceAll(' ', '\\s'))
  const before = after ? `(?<=${after})` : ''
  return {
    ...signature,
    pattern: new RegExp(`${before}(?:${literals.join('|')})${rest}`, 'yu'),
    free: notAfter ? new RegExp(`(?<!${notAfter})`, 'yu') : null,
  }
}

export function indexSignatures(signatures: readonly Signature[]): SignatureIndex {
  const byWord = new Map<string, Candidate[]>()
  const byUnit = new Map<number, CompiledSignature[]>()
  for (const compiled of signatures.map(compileSignature)) {
    const openings = compiled.opening.split('|')
    for (const word of new Set(openings.flatMap((text) => FIRST_WORD.exec(text) ?? []))) {
      const candidate = { signature: compiled, next: nextAfter(word, openings) }
      byWord.set(word, [...(byWord.get(word) ?? []), candidate])
    }
    const others = openings.filter((text) => !FIRST_WORD.test(text))
    for (const unit of new Set(others.map((text) => text.charCodeAt(0)))) {
      byUnit.set(unit, [...(byUnit.get(unit) ?? []), compiled])
    }
  }
  const openings = new Uint8Array(SLOTS)
  for (const word of byWord.keys()) openings[hashOf(word) & (SLOTS - 1)] = 1
  for (const unit of byUnit.keys()) openings[step(BASIS, unit) & (SLOTS - 1)] = 1
  return { byWord, byUnit, openings }
}

/** Returns the possible first letters of the second word of openings that start with this word. */
function nextAfter(word: string, openings: readonly string[]): number {
  const seconds = openings
    .filter((text) => word.startsWith(FIRST_WORD.exec(text)?.[0] ?? '-'))
    .map((text) => (text.startsWith(`${word} `) ? text.charCodeAt(word.length + 1) : NaN))
  return seconds.every(isLetter) ? seconds.reduce((bits, unit) => bits | bitOf(unit), 0) : ANY
}

/** Returns the bit of a letter; one of another letter for other units. */
const bitOf = (unit: number): number => 1 << (unit - 0x61)

/**
 * Returns all matches of signatures, in text order. Signatures are tried only at their openings,
 * and each try examines a bounded stretch, so the time is linear.
 */
export function findHits(text: string, index: SignatureIndex, source: GuardSource): Hit[] {
  const { byWord, byUnit, openings } = index
  const hits: Hit[] = []
  const tryAt = (start: number, signature: CompiledSignature) => {
    const { pattern, free, sources } = signature
    if (sources && !sources.includes(source)) return
    pattern.lastIndex = start
    if (!pattern.test(text)) return
    if (free) {
      free.lastIndex = start
      if (!free.test(text)) return
    }
    hits.push({ signature, start, end: pattern.lastIndex })
  }
  for (let at = 0; at < text.length; at++) {
    let unit = text.charCodeAt(at)
    if (!isLetter(unit)) {
      if (openings[step(BASIS, unit) & (SLOTS - 1)] === 0) continue
      for (const signature of byUnit.get(unit) ?? []) tryAt(at, signature)
      continue
    }
    const start = at
    let hash = BASIS
    for (; isLetter(unit); unit = text.charCodeAt(++at)) hash = step(hash, unit)
    if (openings[hash & (SLOTS - 1)] === 1) {
      const next = bitOf(text.charCodeAt(at + 1))
      for (const candidate of byWord.get(text.slice(start, at)) ?? [])
        if (candidate.next & next) tryAt(start, candidate.signature)
    }
    at--
  }
  return hits
}

/** a to z; NaN at the end of the text is not a letter. */
const isLetter = (unit: number): boolean => unit >= 0x61 && unit <= 0x7a
