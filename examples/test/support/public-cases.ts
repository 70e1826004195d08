import { existsSync, readFileSync } from 'node:fs'

export interface HttpCall {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A situation of a public bug report. */
export interface PublicCase<Call = object> {
  readonly id: string
  readonly request: Call | { readonly setup: readonly Call[]; readonly call: Call }
  readonly expect: Readonly<Record<string, unknown>>
}

const FILE = new URL('../../../../shared/data/public/cases.jsonl', import.meta.url)
export const hasPublicCases = existsSync(FILE)
if (!hasPublicCases) process.stderr.write('skipped: ../shared/data/public is not there\n')

export const PUBLIC_CASES: readonly PublicCase[] = hasPublicCases
  ? readFileSync(FILE, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as PublicCase)
  : []

/** Requests whose body or expectation is a sentence, or that are sent often: `public-other-cases.test.ts` has them. */
export const ELSEWHERE: ReadonlySet<string> = new Set([
  'cel-now-is-utc',
  'idempotency-parallel',
  'http-keep-alive-lb',
  'spend-litellm-unpriced',
  'b-tool-over-limit',
  'b-note-grease',
  'b-note-bad-own',
  'b-iban-new-countries',
  'number-2-53-message',
])

/** The setup of a case, and its calls. */
export const partsOf = ({ request }: PublicCase) =>
  'setup' in request ? request : { setup: [], call: request }
