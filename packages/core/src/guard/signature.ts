import type { GuardSource } from '@remit/contract'
import type { InjectionCategory } from './categories.ts'

/** One way an attack is worded, written for normalized text (`normalize.ts`). */
export interface Signature {
  readonly id: string
  readonly category: InjectionCategory
  /**
   * The share of attacks among the texts it fires on, were attacks and others equally frequent:
   * measured on the training corpus, with 0.04 % more harmless texts than were seen, at most 0.95.
   * Where the corpus has fewer than twelve such attacks, 0.55 by judgement.
   */
  readonly weight: number
  /** Only in texts of these sources; of every source if absent. */
  readonly sources?: readonly GuardSource[]
  /** What must stand right before, as a regular expression of bounded length. */
  readonly after?: string
  /** What must not stand right before, likewise. */
  readonly notAfter?: string
  /** How a match begins: literal alternatives, separated by `|`, each a word, words or signs. */
  readonly opening: string
  /** How it goes on: a regular expression without unbounded or nested quantifiers. */
  readonly rest: string
  /** A text it fires on. */
  readonly example: string
  /** A harmless text of the same words, on which it must stay silent. */
  readonly benign: string
}

/** A signature ready to run. */
export interface CompiledSignature extends Signature {
  readonly pattern: RegExp
}

/** A place in the normalized text where a signature fires. */
export interface Hit {
  readonly signature: CompiledSignature
  readonly start: number
  readonly end: number
}

/** Signatures by what their matches begin with: a word of a to z, or any other single unit. */
export interface SignatureIndex {
  readonly byWord: ReadonlyMap<string, readonly CompiledSignature[]>
  readonly byUnit: ReadonlyMap<number, readonly CompiledSignature[]>
}

const FIRST_WORD = /^[a-z]+/

/** Up to `units` of the same sentence, as few as needed. */
export const gap = (units: number): string => `[^.!?]{0,${units}}?`

/** Ready to match at one given place, never to search by itself. */
export function compileSignature(signature: Signature): CompiledSignature {
  const { after, notAfter, opening, rest } = signature
  const literals = opening
    .split('|')
    .map((literal) => literal.replace(/[[\](){}.*+?^$\\/]/g, '\\$&').replaceAll(' ', '\\s'))
  const before = `${after ? `(?<=${after})` : ''}${notAfter ? `(?<!${notAfter})` : ''}`
  return { ...signature, pattern: new RegExp(`${before}(?:${literals.join('|')})${rest}`, 'yu') }
}

export function indexSignatures(signatures: readonly Signature[]): SignatureIndex {
  const byWord = new Map<string, CompiledSignature[]>()
  const byUnit = new Map<number, CompiledSignature[]>()
  for (const compiled of signatures.map(compileSignature)) {
    const openings = compiled.opening.split('|')
    for (const word of new Set(openings.flatMap((text) => FIRST_WORD.exec(text) ?? []))) {
      byWord.set(word, [...(byWord.get(word) ?? []), compiled])
    }
    const others = openings.filter((text) => !FIRST_WORD.test(text))
    for (const unit of new Set(others.map((text) => text.charCodeAt(0)))) {
      byUnit.set(unit, [...(byUnit.get(unit) ?? []), compiled])
    }
  }
  return { byWord, byUnit }
}

/**
 * Every place where a signature fires, in order of the text. Signatures are tried only where
 * their opening stands, and each try looks at a bounded stretch, so the time is linear.
 */
export function findHits(text: string, index: SignatureIndex, source: GuardSource): Hit[] {
  const hits: Hit[] = []
  const tryAt = (start: number, candidates: readonly CompiledSignature[] | undefined) => {
    if (!candidates) return
    for (const signature of candidates) {
      const { pattern, sources } = signature
      if (sources && !sources.includes(source)) continue
      pattern.lastIndex = start
      if (pattern.test(text)) hits.push({ signature, start, end: pattern.lastIndex })
    }
  }
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (!isLetter(unit)) {
      tryAt(at, index.byUnit.get(unit))
      continue
    }
    const start = at
    while (isLetter(text.charCodeAt(at + 1))) at++
    tryAt(start, index.byWord.get(text.slice(start, at + 1)))
  }
  return hits
}

/** a to z; NaN at the end of the text is none. */
const isLetter = (unit: number): boolean => unit >= 0x61 && unit <= 0x7a
