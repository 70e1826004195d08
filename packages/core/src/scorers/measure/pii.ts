import { findPersonalData } from '../../personal-data/personal-data.ts'

export const PII_TYPES = ['email', 'card', 'iban', 'ssn', 'phone', 'ipv4'] as const
export type PiiType = (typeof PII_TYPES)[number]

/** Personal data in a text; `value` is the same for all notations. */
interface Personal {
  readonly type: PiiType
  readonly value: string
}

// Never issued: area 000, 666 and 9xx, group 00, serial 0000.
const SSN = /(?<![\p{L}\p{N}_-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\p{L}\p{N}_-])/gu
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = new RegExp(
  `(?<![\\p{L}\\p{N}_.])(?:${OCTET}\\.){3}${OCTET}(?![\\p{L}\\p{N}_]|\\.\\d)`,
  'gu',
)

/** Finds personal data in a text by format and check digits. Linear. */
export function* findPii(text: string): Generator<Personal> {
  // The guard redacts these four; the scorer uses the same detectors.
  for (const { kind, start, end } of findPersonalData(text))
    yield { type: kind, value: plain(text.slice(start, end)) }
  yield* matches(text, 'ssn', SSN)
  yield* matches(text, 'ipv4', IPV4)
}

function* matches(text: string, type: PiiType, pattern: RegExp): Generator<Personal> {
  for (const [match] of text.matchAll(pattern)) {
    yield { type, value: type === 'ipv4' ? match : plain(match) }
  }
}

/** Removes separators and converts to lower case. */
const plain = (text: string): string =>
  text.includes('@') ? text.toLowerCase() : text.replace(/[ ().+/-]/g, '').toLowerCase()
