import type { Entry, Policy, PolicyInput, Replay } from '@remit/contract'
import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { versionOf } from '../rules/draft.ts'
import type { Version } from '../rules/draft.ts'
import { withCondition } from '../rules/validation.ts'

const MOST = 1_000
const DAY_MS = 86_400_000

export const pathOf = (id: string): string => `/v1/policies/${encodeURIComponent(id)}`

export const readPolicy = (id: string, signal?: AbortSignal): Promise<Version<Policy>> =>
  versionOf(remit.getPolicy.withResponse({ params: { policyID: id }, ...(signal && { signal }) }))

export const validatePolicy = (input: PolicyInput, signal: AbortSignal) =>
  withCondition(input, (body) => remit.createPolicy({ query: { validate: 'true' }, body, signal }))

/** One rule with its version. */
export const policyQuery = (id: string) =>
  queryOptions({
    queryKey: ['policies', id],
    queryFn: ({ signal }) => readPolicy(id, signal),
    refetchOnWindowFocus: false,
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
