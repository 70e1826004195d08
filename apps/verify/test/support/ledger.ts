import { createHash } from 'node:crypto'
import { canonical } from '../../src/jcs.ts'
import { sealedFrom, signedBy } from './forge.ts'
import { testKey } from './vectors.ts'

/** An entry to be. */
export interface Draft {
  readonly kind: string
  readonly at: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly actor?: { readonly type: string; readonly id: string }
}

const ORG = 'org_acme'
const ORIGIN = 'remit.example.com/ledger/org_acme/led_01'

/** The lines of a sound export: genesis, then these entries, signed with the published key `one`. */
export function exportOf(drafts: readonly Draft[]): string[] {
  const { vkey } = testKey('one')
  const data = { format: 'ledger-entry/v1', ledger_id: 'led_01', org_id: ORG, origin: ORIGIN, vkey }
  const genesis: Draft = { kind: 'ledger.genesis', at: '2026-01-01T00:00:00.000Z', data }
  const header = {
    type: 'header',
    format: 'ledger-export/v1',
    org_id: ORG,
    ledger_id: 'led_01',
    origin: ORIGIN,
    vkey,
    from_seq: 0,
  }
  const lines = [JSON.stringify(header), ...[genesis, ...drafts].map(lineOf), '{}']
  return signedBy(
    'one',
    sealedFrom(lines, 0, () => ({})),
  )
}

function lineOf(
  { kind, at, data = {}, actor = { type: 'system', id: 'remit' } }: Draft,
  seq: number,
) {
  const payload = canonical({
    action: null,
    actor,
    agent_id: null,
    data,
    decision: null,
    reason: null,
    resource: null,
  })
  const zeros = '0'.repeat(64)
  const row = { seq, recorded_at: at, kind, prev_hash: zeros, commitment: zeros, hash: zeros }
  return JSON.stringify({ type: 'entry', ...row, salt: `${seq}`.padStart(32, '0'), payload })
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
