import type { Entry } from '@remit/contract'

const NO_HASH = '0'.repeat(64)

/** A record that shows that a receiver works; not an entry of the ledger. */
export const testRecord = (sinkId: string, at: string): Entry => ({
  seq: 0,
  kind: 'test',
  recorded_at: at,
  actor: { type: 'system', id: 'remit' },
  agent_id: null,
  action: null,
  resource: null,
  decision: null,
  reason: null,
  data: { sink_id: sinkId },
  commitment: NO_HASH,
  salt: null,
  prev_hash: NO_HASH,
  hash: NO_HASH,
})
