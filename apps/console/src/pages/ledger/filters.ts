const NAMES = [
  'agent_id',
  'actor',
  'action',
  'kind',
  'decision',
  'trace_id',
  'decision_id',
  'from',
  'to',
] as const
export type FilterName = (typeof NAMES)[number]
export type Filters = { readonly [N in FilterName]?: string }

/** The filters of an address; anything else in it is left out. */
export const readFilters = (search: Record<string, unknown>): Filters =>
  Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = search[name]
      const text = typeof value === 'number' ? String(value) : value
      return typeof text === 'string' && text !== '' ? [[name, text]] : []
    }),
  )

/** The filters with one changed; an empty text removes it. */
export function withFilter(filters: Filters, name: FilterName, value: string): Filters {
  const { [name]: _, ...rest } = filters
  return value === '' ? rest : { ...rest, [name]: value }
}

const DECISIONS = ['allow', 'deny', 'needs_approval'] as const

/** `2026-11-22T14:05`, as a browser gives a time without zone, taken as UTC. */
const asTime = (text: string | undefined): string | undefined =>
  text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? `${text}:00.000Z` : text

/** The query of the API. */
export function queryOf({ decision, from, to, ...rest }: Filters) {
  return {
    ...rest,
    from: asTime(from),
    to: asTime(to),
    decision: DECISIONS.find((one) => one === decision),
  }
}

export const isFiltered = (filters: Filters): boolean => Object.keys(filters).length > 0
