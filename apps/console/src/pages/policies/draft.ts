import type { Policy, PolicyInput, RuleMode } from '@remit/contract'
import { draftsOf, lines, same, text } from '../rules/draft.ts'

export const policyDrafts = draftsOf<Policy, PolicyInput>()({
  description: text,
  effect: same<'allow' | 'deny'>('deny'),
  agents: lines('*'),
  actions: lines(''),
  resources: lines('*'),
  condition: text,
  enabled: same(true),
  mode: same<RuleMode>('enforce'),
  not_before: same<string | null>(null),
  expires_at: same<string | null>(null),
})
export type Draft = typeof policyDrafts.empty
