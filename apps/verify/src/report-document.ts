import { isObject, JsonError } from './jcs.ts'

/** The verifiable parts of a report. The whole `content` is hashed. */
export interface Report {
  readonly id: string
  readonly framework: string
  readonly period: { readonly from: string; readonly to: string }
  readonly generated_at: string
  readonly generated_by: unknown
  readonly generated_by_person?: unknown
  readonly evaluation?: unknown
  readonly content_sha256: string
  readonly csv_sha256: string
  readonly record_seq: number
  readonly ledger_head: { readonly size: number; readonly hash: string }
  readonly content: {
    readonly framework: { readonly id: string }
    readonly organization: { readonly id: string }
    readonly catalog: { readonly sha256: string }
    readonly scope: { readonly categories: readonly string[]; readonly role: string | null }
    readonly period: { readonly from: string; readonly to: string }
    readonly summary: Readonly<Record<string, number>>
    readonly ledger: {
      readonly first_seq: number | null
      readonly last_seq: number | null
      readonly entries: number
      readonly by_kind: Readonly<Record<string, number>>
      readonly hash_at_last: string | null
      readonly verified: boolean
    }
    readonly controls: readonly {
      readonly id: string
      readonly evidence: readonly {
        readonly kind: string
        readonly first_seq: number | null
        readonly last_seq: number | null
        readonly sample: readonly number[]
      }[]
    }[]
    readonly findings: readonly { readonly id: string; readonly seqs: readonly number[] }[]
  }
}

type Form = (value: unknown, path: string) => void

const is =
  (what: string, good: (value: unknown) => boolean): Form =>
  (value, path) => {
    if (!good(value)) throw new JsonError(`not a report: ${path} is not ${what}`)
  }

const text = is('a text', (value) => typeof value === 'string')
const count = is('a count', (value) => Number.isSafeInteger(value) && Number(value) >= 0)
const countOrNull = is(
  'a count or null',
  (value) => value === null || (Number.isSafeInteger(value) && Number(value) >= 0),
)
const yesOrNo = is('true or false', (value) => typeof value === 'boolean')
const textOrNull = is('a text or null', (value) => value === null || typeof value === 'string')
const time = is(
  'a time like 2026-01-31T00:00:00.000Z',
  (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
)

const object =
  (members: Readonly<Record<string, Form>>): Form =>
  (value, path) => {
    if (!isObject(value)) throw new JsonError(`not a report: ${path} is not an object`)
    for (const [name, form] of Object.entries(members)) form(value[name], `${path}.${name}`)
  }

const list =
  (form: Form): Form =>
  (value, path) => {
    if (!Array.isArray(value)) throw new JsonError(`not a report: ${path} is not a list`)
    for (const [at, one] of value.entries()) form(one, `${path}[${at}]`)
  }

const counts: Form = (value, path) => {
  if (!isObject(value)) throw new JsonError(`not a report: ${path} is not an object`)
  for (const [name, one] of Object.entries(value)) count(one, `${path}.${name}`)
}

const REPORT = object({
  id: text,
  framework: text,
  status: is('"ready"', (value) => value === 'ready'),
  period: object({ from: time, to: time }),
  generated_at: text,
  content_sha256: text,
  csv_sha256: text,
  record_seq: count,
  ledger_head: object({ size: count, hash: text }),
  content: object({
    schema: is('"report/1"', (value) => value === 'report/1'),
    framework: object({ id: text }),
    organization: object({ id: text }),
    catalog: object({ sha256: text }),
    scope: object({ categories: list(text), role: textOrNull }),
    period: object({ from: time, to: time }),
    summary: counts,
    ledger: object({
      first_seq: countOrNull,
      last_seq: countOrNull,
      entries: count,
      by_kind: counts,
      hash_at_last: textOrNull,
      verified: yesOrNo,
    }),
    controls: list(
      object({
        id: text,
        evidence: list(
          object({
            kind: text,
            first_seq: countOrNull,
            last_seq: countOrNull,
            sample: list(count),
          }),
        ),
      }),
    ),
    findings: list(object({ id: text, seqs: list(count) })),
  }),
})

/** Parses a report; throws `JsonError` with the path of the first error. */
export function readReport(document: unknown): Report {
  REPORT(document, 'report')
  return document as Report
}
