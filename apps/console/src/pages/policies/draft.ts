import type { Policy, PolicyInput } from '@remit/contract'
import { keptOf, linesOf, textOrNull } from '../rules/validation.ts'

/** A rule as it is typed: patterns as lines. */
export interface Draft {
  readonly description: string
  readonly effect: 'allow' | 'deny'
  readonly agents: string
  readonly actions: string
  readonly resources: string
  readonly condition: string
  readonly enabled: boolean
  readonly not_before: string | null
  readonly expires_at: string | null
  /** The stored policy, for members that the form does not show. */
  readonly kept: Partial<PolicyInput>
}

export const EMPTY: Draft = {
  description: '',
  effect: 'deny',
  agents: '*',
  actions: '',
  resources: '*',
  condition: '',
  enabled: true,
  not_before: null,
  expires_at: null,
  kept: {},
}

export const draftOf = (policy: Policy): Draft => ({
  description: policy.description ?? '',
  effect: policy.effect,
  agents: policy.agents.join('\n'),
  actions: policy.actions.join('\n'),
  resources: policy.resources.join('\n'),
  condition: policy.condition ?? '',
  enabled: policy.enabled,
  not_before: policy.not_before,
  expires_at: policy.expires_at,
  kept: keptOf(policy),
})

/** The body of the API. Every member is there, so that equal drafts have equal texts. */
export const inputOf = (draft: Draft): PolicyInput => ({
  ...draft.kept,
  description: textOrNull(draft.description),
  effect: draft.effect,
  agents: linesOf(draft.agents),
  actions: linesOf(draft.actions),
  resources: linesOf(draft.resources),
  condition: textOrNull(draft.condition),
  enabled: draft.enabled,
  not_before: draft.not_before,
  expires_at: draft.expires_at,
})
