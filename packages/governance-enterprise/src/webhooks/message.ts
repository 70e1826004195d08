import type { Entry, WebhookEvent } from '@remit/contract'

/** The event that an entry is, or null for one that nobody is told of. */
export function eventOf(kind: string, decision: string | null): WebhookEvent | null {
  switch (kind) {
    case 'authorization.decided':
      return decision === 'deny' ? 'authorization.denied' : null
    case 'approval.requested':
    case 'approval.decided':
    case 'approval.expired':
    case 'approval.consumed':
    case 'spend.threshold':
      return kind
    default:
      return null
  }
}

/** The same for every attempt and every webhook: what a receiver knows a repeat by. */
export const messageIdOf = (orgId: string, seq: number): string =>
  `msg_${orgId.replace(/^org_/, '')}_${seq}`

/**
 * The body of a message as Standard Webhooks shapes it: type, time and facts. A request's context
 * stays in the ledger: it may hold what must not leave the organization.
 */
export const bodyOf = (event: WebhookEvent, entry: Entry): string =>
  JSON.stringify({ type: event, timestamp: entry.recorded_at, data: dataOf(entry) })

function dataOf(entry: Entry): Record<string, unknown> {
  const { kind, agent_id, action, resource, decision, reason, seq, hash } = entry
  const data = entry.data ?? {}
  const ledger = { seq, hash }
  if (kind === 'spend.threshold') return { ...data, ledger }
  if (kind === 'authorization.decided') {
    const { decision_id, matched, spend } = data
    return { decision_id, agent_id, action, resource, decision, reason, matched, spend, ledger }
  }
  const { context: _, ...approval } = (data['approval'] ?? {}) as Record<string, unknown>
  return { agent_id, action, resource, approval, ledger }
}
