import type { Entry, WebhookEvent } from '@remit/contract'

/** The event of a test, which goes to one webhook whatever its events, and the kind of its entry. */
export const TEST = 'webhook.test'
export const TESTED = 'webhook.tested'

export type DeliveredEvent = WebhookEvent | typeof TEST

/** The event of an entry; null if webhooks do not receive it. */
export function eventOf(kind: string, decision: string | null): WebhookEvent | null {
  switch (kind) {
    case 'authorization.decided':
      return decision === 'deny' ? 'authorization.denied' : null
    case 'approval.requested':
    case 'approval.decided':
    case 'approval.expired':
    case 'approval.consumed':
    case 'enforcement.gap':
    case 'mcp.tool_changed':
    case 'quota.threshold':
    case 'spend.threshold':
      return kind
    default:
      return null
  }
}

/** Equal for all attempts and webhooks, so that a receiver can recognize a repeat. */
export const messageIdOf = (orgId: string, seq: number): string =>
  `msg_${orgId.replace(/^org_/, '')}_${seq}`

/**
 * The body of a message in the shape of Standard Webhooks: type, time and facts. The context of a
 * request is omitted, since it may be confidential.
 */
export const bodyOf = (event: DeliveredEvent, entry: Entry): string =>
  JSON.stringify({ type: event, timestamp: entry.recorded_at, data: dataOf(entry) })

function dataOf(entry: Entry): Record<string, unknown> {
  const { kind, agent_id, action, resource, decision, reason, seq, hash } = entry
  const data = entry.data ?? {}
  const ledger = { seq, hash }
  if (kind === 'spend.threshold' || kind === 'quota.threshold') return { ...data, ledger }
  if (kind === TESTED) return { webhook_id: data['webhook_id'], ledger }
  if (kind === 'authorization.decided') {
    const { decision_id, matched, spend } = data
    return { decision_id, agent_id, action, resource, decision, reason, matched, spend, ledger }
  }
  if (kind === 'mcp.tool_changed') return { tool: data['tool'], ledger }
  if (kind === 'enforcement.gap') {
    const { decision_id, outcome } = data
    return { decision_id, agent_id, action, resource, outcome, ledger }
  }
  const { context: _, ...approval } = (data['approval'] ?? {}) as Record<string, unknown>
  return { agent_id, action, resource, approval, ledger }
}

/** Returns the sequence number of a message; null for any other text. */
export function seqOfMessage(orgId: string, id: string): number | null {
  const [, seq] = /_(\d{1,15})$/.exec(id) ?? []
  return seq !== undefined && messageIdOf(orgId, Number(seq)) === id ? Number(seq) : null
}
