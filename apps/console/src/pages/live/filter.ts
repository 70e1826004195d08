import type { Entry } from '@remit/contract'
import { isSpan } from './spans.ts'
import type { Span } from './spans.ts'

const NAMES = ['decision', 'agent', 'action', 'reason'] as const
export type LiveFilter = { readonly [N in (typeof NAMES)[number]]?: string }

/** The search of the page: its filters, and the length of time that it counts. */
export const readLive = (search: Record<string, unknown>): LiveFilter & { span?: Span } => ({
  ...readLiveFilter(search),
  ...(isSpan(search['span']) && { span: search['span'] }),
})

const readLiveFilter = (search: Record<string, unknown>): LiveFilter =>
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
