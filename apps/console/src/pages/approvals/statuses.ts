import type { ApprovalStatus } from '@remit/contract'
import { t } from '../../texts.ts'

/** Closed statuses with their texts, for a filter. */
export const CLOSED_STATUSES = Object.entries(t.approvals.statuses).filter(
  ([status]) => status !== 'pending',
)

/** The search parameters of the page; anything else is left out. */
export function readSearch(search: Record<string, unknown>) {
  const { tab, id, status, agent_id: agentId } = search
  return {
    ...(tab === 'history' && { tab: 'history' as const }),
    ...(typeof id === 'string' && { id }),
    ...(CLOSED_STATUSES.some(([one]) => one === status) && { status: status as ApprovalStatus }),
    ...(typeof agentId === 'string' && agentId !== '' && { agent_id: agentId }),
  }
}
