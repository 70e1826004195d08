import type { Entry } from '@remit/contract'

const NAMES = ['decision', 'agent', 'action', 'reason'] as const
export type LiveFilter = { readonly [N in (typeof NAMES)[number]]?: string }

export const readLiveFilter = (search: Record<string, unknown>): LiveFilter =>
  Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = search[name]
      return typeof value === 'string' && value !== '' ? [[name, value]] : []
    }),
  )

const has = (text: string | null, part: string | undefined): boolean =>
  part === undefined || (text ?? '').toLowerCase().includes(part.toLowerCase())

export const isMatch = (filter: LiveFilter, entry: Entry): boolean =>
  (filter.decision === undefined || entry.decision === filter.decision) &&
  has(entry.agent_id, filter.agent) &&
  has(entry.action, filter.action) &&
  has(entry.reason, filter.reason)
