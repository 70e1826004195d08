import type { Budget, BudgetInput, RuleMode } from '@remit/contract'
import { draftsOf, linesOf, number, numberOf, same, text } from '../rules/draft.ts'

type Match = BudgetInput['match']

export interface MatchDraft {
  readonly agents: string
  readonly actions: string
  readonly resources: string
  readonly users: string
  /** `key: pattern, pattern`, one key per line. */
  readonly labels: string
}

const EVERYTHING: MatchDraft = { agents: '*', actions: '*', resources: '*', users: '*', labels: '' }

const labelsOf = (typed: string): Match['labels'] =>
  Object.fromEntries(
    linesOf(typed).map((line) => {
      const [key = '', ...patterns] = line.split(/[:,]/).map((part) => part.trim())
      return [key, patterns.filter((one) => one !== '')]
    }),
  )

const match = {
  empty: EVERYTHING,
  typed: ({ labels, ...lists }: Match): MatchDraft => ({
    agents: lists.agents.join('\n'),
    actions: lists.actions.join('\n'),
    resources: lists.resources.join('\n'),
    users: lists.users.join('\n'),
    labels: Object.entries(labels)
      .map(([key, patterns]) => `${key}: ${patterns.join(', ')}`)
      .join('\n'),
  }),
  value: ({ labels, ...lists }: MatchDraft): Match => ({
    agents: linesOf(lists.agents),
    actions: linesOf(lists.actions),
    resources: linesOf(lists.resources),
    users: linesOf(lists.users),
    labels: labelsOf(labels),
  }),
}

/** A number as text; an empty one is null. */
const optionalNumber = {
  empty: '',
  typed: (value: number | null) => String(value ?? ''),
  value: (typed: string) => (typed.trim() === '' ? null : numberOf(typed)),
}

export const budgetDrafts = draftsOf<Budget, BudgetInput>()({
  description: text,
  enabled: same(true),
  mode: same<RuleMode>('enforce'),
  parent_id: text,
  reserved: same(false),
  match,
  per: text,
  unit: same('usd'),
  window: same<Budget['window']>('month'),
  time_zone: same('UTC'),
  limit: number(''),
  on_missing_amount: same<BudgetInput['on_missing_amount']>('zero'),
  hold_ttl_seconds: optionalNumber,
  settlement_by_agent: same<BudgetInput['settlement_by_agent']>('at_least_held'),
  warn_at: {
    empty: '50, 80, 100',
    typed: (value: number[]) => value.join(', '),
    value: (typed: string) =>
      typed.split(',').flatMap((part) => (part.trim() === '' ? [] : [numberOf(part)])),
  },
})
