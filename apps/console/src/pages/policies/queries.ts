import type { Entry, Policy, PolicyInput, Replay } from '@remit/contract'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { exchange, remit, send } from '../../api/client.ts'

const MOST = 1_000
const DAY_MS = 86_400_000

export const policiesQuery = queryOptions({
  queryKey: ['policies'],
  queryFn: ({ signal }) => remit.listPolicies({ query: { limit: MOST }, signal }),
})

export interface Stored {
  readonly policy: Policy
  readonly etag: string | null
}

export const pathOf = (id: string): string => `/v1/policies/${encodeURIComponent(id)}`

/** One rule with its version; without an endpoint for one rule, from the list and without. */
export const policyQuery = (id: string, hasOwn: boolean) =>
  queryOptions({
    queryKey: ['policies', id],
    queryFn: async ({ signal }): Promise<Stored | null> => {
      if (hasOwn) {
        const answer = await exchange<Policy>('GET', pathOf(id), { signal })
        return { policy: answer.data, etag: answer.headers.get('etag') }
      }
      const { data } = await remit.listPolicies({ query: { limit: MOST }, signal })
      const policy = data.find((one) => one.id === id)
      return policy ? { policy, etag: null } : null
    },
    refetchOnWindowFocus: false,
  })

export interface Validation {
  readonly valid: boolean
  readonly errors: readonly {
    readonly path: string
    readonly message: string
    readonly position?: { readonly line: number; readonly column: number } | undefined
  }[]
  readonly warnings: readonly string[]
}

export const validationQuery = (input: PolicyInput, isOn: boolean) =>
  queryOptions({
    queryKey: ['validation', input],
    enabled: isOn,
    queryFn: ({ signal }) =>
      send<Validation>('POST', '/v1/policies', { query: { validate: true }, body: input, signal }),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })

/** Replays the recorded decisions of some days under a draft, in place of the rule `id`. */
export function replay(input: PolicyInput, id: string | null, days: number): Promise<Replay> {
  const now = Date.now()
  return remit.replayPolicies({ body: replayBody(input, id, days, now), timeoutMs: 90_000 })
}

export const replayBody = (input: PolicyInput, id: string | null, days: number, now: number) => ({
  from: new Date(now - days * DAY_MS).toISOString(),
  to: new Date(now).toISOString(),
  limit: 50,
  // A disabled rule decides nothing: it is as if it were not there.
  overlay: { add: input.enabled ? [input] : [], remove: id === null ? [] : [id] },
})

const CHANGES = ['policy.created', 'policy.updated', 'policy.deleted'] as const

const policyOf = ({ data }: Entry): { id?: unknown } | null =>
  (data?.['policy'] as { id?: unknown } | undefined) ?? data

/** The changes of one rule, newest first, from the newest thousand of each kind. */
export const historyQuery = (id: string) =>
  queryOptions({
    queryKey: ['policies', id, 'history'],
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        CHANGES.map((kind) => remit.listEntries({ query: { kind, limit: MOST }, signal })),
      )
      return pages
        .flatMap(({ data }) => data)
        .filter((entry) => policyOf(entry)?.id === id)
        .toSorted((one, other) => other.seq - one.seq)
    },
  })

/** The rule of a change as text that compares well. */
export function ruleText(entry: Entry): string {
  const { ledger: _, updated_at: __, ...rule } = (policyOf(entry) ?? {}) as Record<string, unknown>
  return JSON.stringify(rule, null, 2)
}

const isName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name)

/** Names that requests had below `context` lately, for completion. */
export const contextNamesQuery = queryOptions({
  queryKey: ['context-names'],
  queryFn: async ({ signal }) => {
    const query = { kind: 'authorization.decided', limit: 500 }
    const { data } = await remit.listEntries({ query, signal })
    const names = data.flatMap((entry) => Object.keys(entry.data?.['context'] ?? {}))
    return [...new Set(names)].filter(isName).toSorted((one, other) => (one < other ? -1 : 1))
  },
  staleTime: 300_000,
})
