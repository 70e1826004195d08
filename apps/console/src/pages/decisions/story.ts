import type { Approval, Entry } from '@remit/contract'
import type { Window as Cap } from '@remit/contract/values'
import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import type { Matched } from './tried.ts'

interface Window {
  readonly limit_usd: number | null
  readonly spent_usd: number
}

/** The facts that a decision records beside the request, unless they are erased. */
export interface Recorded {
  readonly context?: Readonly<Record<string, unknown>>
  readonly matched?: readonly Matched[]
  readonly approval?: { readonly id?: string } | null
  readonly request_id?: string
  readonly trace_id?: string
  readonly hold?: { readonly usd: number; readonly expires_at: string | null } | null
  readonly spend?: (Partial<Record<Cap['word'], Window | null>> & { amount_usd?: number }) | null
}

export interface Story {
  readonly decision: Entry
  readonly recorded: Recorded
  /** Everything that names the decision, oldest first. */
  readonly own: readonly Entry[]
  /** The same, with that of the decisions that asked for the approval and used it. */
  readonly entries: readonly Entry[]
  readonly approval: Approval | null
}

const MOST = 200
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Everything that is recorded about a decision; null if the ledger has none with the id. */
export const storyQuery = (id: string, mayReadApprovals: boolean) =>
  queryOptions({
    queryKey: ['decisions', id, mayReadApprovals],
    queryFn: async ({ signal }): Promise<Story | null> => {
      const { data } = await remit.listEntries({
        query: { decision_id: id, limit: MOST, order: 'asc' },
        signal,
      })
      const decision = data.find(({ kind }) => kind === 'authorization.decided')
      if (!decision) return null
      const recorded: Recorded = decision.data ?? {}
      const request =
        textOf(recorded.approval?.id) ??
        textOf(recorded.request_id) ??
        data.map((entry) => requestOf(entry)).find((found) => found !== undefined)
      const approval =
        request !== undefined && mayReadApprovals
          ? await remit.getApproval({ params: { id: request }, signal }).catch(() => null)
          : null
      const further = approval ? await entriesAround(approval, id, signal) : []
      const bySeq = new Map([...data, ...further].map((entry) => [entry.seq, entry]))
      const entries = [...bySeq.values()].toSorted((one, other) => one.seq - other.seq)
      return { decision, recorded, own: data, entries, approval }
    },
  })

const ENDS: ReadonlySet<string> = new Set(['expired', 'cancelled', 'revoked'])

/** The entries of a request for approval, and of the other decisions that it belongs to. */
async function entriesAround(
  { id, agent_id, requested_at: from, status, decision_id, consumed_by }: Approval,
  own: string,
  signal: AbortSignal,
): Promise<Entry[]> {
  const decisions = [decision_id, consumed_by].flatMap((other) =>
    other === null || other === own ? [] : [{ decision_id: other }],
  )
  const kinds = ['requested', 'voted', 'decided', 'consumed', ...(ENDS.has(status) ? [status] : [])]
  const ofAgent = kinds.map((kind) => ({ agent_id, from, kind: `approval.${kind}` }))
  const pages = await Promise.all(
    [...decisions, ...ofAgent].map((query) =>
      remit.listEntries({ query: { ...query, order: 'asc', limit: MOST }, signal }),
    ),
  )
  return pages
    .flatMap(({ data }) => data)
    .filter((entry) => !entry.kind.startsWith('approval.') || requestOf(entry) === id)
}

/** The request for approval that an entry is about. */
function requestOf({ kind, data }: Entry): string | undefined {
  if (!kind.startsWith('approval.')) return undefined
  const inner = data?.['approval'] as { id?: unknown } | undefined
  return textOf(data?.['request_id']) ?? textOf(inner?.id) ?? textOf(data?.['id'])
}

/** The sum of the costs that were reported; null without any. Pure. */
export function costOf(entries: readonly Entry[]): number | null {
  const costs = entries.flatMap(({ data }) => {
    const cost = data?.['cost_usd']
    return typeof cost === 'number' ? [cost] : []
  })
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0)
}

/** The results that were reported, such as `success`. Pure. */
export const outcomesOf = (entries: readonly Entry[]): string[] =>
  entries.flatMap(({ data }) => textOf(data?.['outcome']) ?? [])
