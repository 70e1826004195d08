import type { Agent, ApprovalRule, Entry, Policy } from '@remit/contract'
import { t } from '../texts.ts'

/** An address of the console, as the router takes it. */
export interface Target {
  readonly to: string
  readonly params?: Readonly<Record<string, string>>
  readonly search?: Readonly<Record<string, string>>
}

export interface Hit {
  readonly group: string
  readonly text: string
  readonly note?: string
  readonly target: Target
}

/** The lists to search; one that the role cannot read is empty. */
export interface Searched {
  readonly pages: readonly { readonly to: string; readonly label: string }[]
  readonly agents: readonly Agent[]
  readonly policies: readonly Policy[]
  readonly rules: readonly ApprovalRule[]
  /** The newest decisions. */
  readonly decisions: readonly Entry[]
  readonly canReadLedger: boolean
}

const MOST_PER_GROUP = 6
const { groups } = t.search

/** Ids with a page of their own, by their prefix. */
const BY_ID: readonly (readonly [RegExp, (id: string) => Hit])[] = [
  [
    /^\d{1,15}$/,
    (seq) => ({
      group: groups.direct,
      text: t.ledger.entry(Number(seq)),
      target: { to: '/ledger/$seq', params: { seq } },
    }),
  ],
  [
    /^dec_\w+$/,
    (id) => ({
      group: groups.direct,
      text: `${t.decisions.title} ${id}`,
      target: { to: '/decisions/$id', params: { id } },
    }),
  ],
  [
    /^apr_\w+$/,
    (id) => ({
      group: groups.direct,
      text: `${t.search.approval} ${id}`,
      target: { to: '/approvals/$id', params: { id } },
    }),
  ],
]

/** The hits for a text, the most specific groups first. Pure. */
export function hitsOf(text: string, searched: Searched): Hit[] {
  const query = text.trim()
  if (query === '') return []
  const part = query.toLowerCase()
  const has = (...values: (string | null | undefined)[]): boolean =>
    values.some((value) => value?.toLowerCase().includes(part))
  const some = <T>(rows: readonly T[], isHit: (row: T) => boolean, hit: (row: T) => Hit): Hit[] =>
    rows.filter(isHit).slice(0, MOST_PER_GROUP).map(hit)
  return [
    ...BY_ID.flatMap(([form, hit]) =>
      form.test(query) && searched.canReadLedger ? [hit(query)] : [],
    ),
    ...some(
      searched.agents,
      ({ agent_id, name, owners }) =>
        has(agent_id, name, ...owners.map(({ id, email }) => email ?? id)),
      ({ agent_id, name }) => ({
        group: groups.agents,
        text: agent_id,
        ...(name && { note: name }),
        target: { to: '/agents/$id', params: { id: agent_id } },
      }),
    ),
    ...some(
      searched.policies,
      ({ id, description, actions, condition }) => has(id, description, condition, ...actions),
      ({ id, description, effect, actions }) => ({
        group: groups.policies,
        text: description ?? id,
        note: `${effect} ${actions.join(', ')}`,
        target: { to: '/policies/$id', params: { id } },
      }),
    ),
    ...some(
      searched.rules,
      ({ id, description, actions, condition }) => has(id, description, condition, ...actions),
      ({ id, description }) => ({
        group: groups.rules,
        text: id,
        ...(description && { note: description }),
        target: { to: '/policies/approval-rules/$id', params: { id } },
      }),
    ),
    ...some(
      searched.decisions,
      ({ agent_id, action, resource, reason, seq }) =>
        has(agent_id, action, resource, reason, String(seq)),
      ({ seq, agent_id, action, resource, decision }) => ({
        group: groups.decisions,
        text: [action, resource].filter(Boolean).join(' '),
        note: `${decision?.replace('_', ' ')} · ${agent_id} · ${t.ledger.entry(seq)}`,
        target: { to: '/ledger/$seq', params: { seq: String(seq) } },
      }),
    ),
    ...some(
      searched.pages,
      ({ label }) => has(label),
      ({ label, to }) => ({ group: groups.pages, text: label, target: { to } }),
    ),
    ...(searched.canReadLedger
      ? (['action', 'agent_id', 'trace_id'] as const).map((name) => ({
          group: groups.ledger,
          text: t.search.entriesOf[name](query),
          target: { to: '/ledger', search: { [name]: query } },
        }))
      : []),
  ]
}
