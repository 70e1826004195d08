import { hasVisibleCharacter, SuspensionReason } from '@remit/contract'
import { z } from 'zod'
import { CliError } from './errors.ts'

/** Parses `--person`. Throws `CliError`. */
export function readEmail(text: string): string {
  if (z.email().max(254).safeParse(text).success) return text
  throw new CliError(`--person must be an e-mail address; given: ${text}`)
}

/** Parses `--reason`, which is recorded in the ledger. Throws `CliError`. */
export function readReason(text: string): string {
  if (/^[^\p{Cc}]{1,500}$/u.test(text) && hasVisibleCharacter(text)) return text
  throw new CliError(
    '--reason must be one line of 1 to 500 characters with at least one visible character',
  )
}

/** Parses an integer, such as a number of entries or days. Throws `CliError`. */
export function readCount(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new CliError(`${option} must be a whole number; given: ${text}`)
}

const DATE = /^\d{4}-\d{2}-\d{2}$/
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/

/** Parses a time in milliseconds; a date means its start in UTC. Throws `CliError`. */
export function readTime(option: string, text: string): number {
  const time = DATE.test(text) || TIME.test(text) ? Date.parse(text) : NaN
  if (!Number.isNaN(time)) return time
  throw new CliError(`${option} must be a date, or a time in RFC 3339; given: ${text}`)
}

/** The reason of a suspension, which is optional: a blank one is none. */
export function readOptionalReason(text: string | null): string | null {
  const { success, data } = SuspensionReason.safeParse(text)
  if (!success) throw new CliError('--reason must be at most 500 characters')
  return data
}
