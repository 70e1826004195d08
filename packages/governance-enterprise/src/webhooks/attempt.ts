import type { Entry } from '@remit/contract'
import { Failure, OutboundError } from '@remit/core'
import type { Ledger, Outbound } from '@remit/core'
import { Webhook as Signer } from 'standardwebhooks'
import { bodyOf, messageIdOf } from './message.ts'
import type { DeliveredEvent } from './message.ts'
import type { DeliveryRow } from '../tables/webhooks.ts'

/** The result of an attempt. `error` is a stable code; nothing that a receiver sent is stored. */
export interface Attempted {
  /** `gone` and `failed` are not retried. */
  readonly is: 'delivered' | 'refused' | 'gone' | 'failed'
  readonly status: number | null
  readonly error: string | null
}

/**
 * Sends a message once, signed according to Standard Webhooks. The entry is read now: entries
 * erased in the meantime are not sent. Rejects only if the ledger cannot be read.
 */
export async function attempt(
  { outbound, ledger }: { readonly outbound: Outbound; readonly ledger: Ledger },
  { org_id, seq, event }: DeliveryRow,
  { url, secret }: { readonly url: string; readonly secret: string },
  nowMs: number,
): Promise<Attempted> {
  const entry = await read(ledger, org_id, seq)
  if (entry === null) return { is: 'failed', status: null, error: 'entry_pruned' }
  if (entry.data === null) return { is: 'failed', status: null, error: 'entry_erased' }
  const id = messageIdOf(org_id, seq)
  const body = bodyOf(event as DeliveredEvent, entry)
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': new Signer(secret).sign(id, new Date(nowMs), body),
  }
  try {
    const { status } = await outbound.fetch(url, { method: 'POST', headers, body })
    if (status >= 200 && status < 300) return { is: 'delivered', status, error: null }
    if (status === 410) return { is: 'gone', status, error: 'gone' }
    return { is: 'refused', status, error: 'http_status' }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { is: 'refused', status: null, error: error.code }
  }
}

/** The entry; null if it was pruned. */
async function read(ledger: Ledger, orgId: string, seq: number): Promise<Entry | null> {
  try {
    return await ledger.entry(orgId, seq)
  } catch (error) {
    if (error instanceof Failure && error.code === 'ledger_pruned') return null
    throw error
  }
}
