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

/** The setup of a case, and its calls. */
export const partsOf = ({ request }: PublicCase) =>
  'setup' in request ? request : { setup: [], call: request }
