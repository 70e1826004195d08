import type { AgentSelector, TrustPolicy, TrustPolicyInput } from '@remit/contract'
import { keptOf, linesOf, textOrNull } from '../rules/validation.ts'

/** A trust policy as it is typed. */
export interface Draft {
  readonly description: string
  readonly effect: 'allow' | 'deny'
  readonly source_agents: string
  readonly target_agents: string
  readonly actions: string
  readonly condition: string
  readonly enabled: boolean
  readonly expires_at: string | null
  /** The stored policy, for members that the form does not show. */
  readonly kept: Partial<TrustPolicyInput>
}

export const EMPTY: Draft = {
  description: '',
  effect: 'allow',
  source_agents: '',
  target_agents: '',
  actions: '',
  condition: '',
  enabled: true,
  expires_at: null,
  kept: {},
}

export const draftOf = (policy: TrustPolicy): Draft => ({
  description: policy.description ?? '',
  effect: policy.effect,
  source_agents: policy.source_agents.map(selectorText).join('\n'),
  target_agents: policy.target_agents.map(selectorText).join('\n'),
  actions: policy.actions.join('\n'),
  condition: policy.condition ?? '',
  enabled: policy.enabled,
  expires_at: policy.expires_at,
  kept: keptOf(policy),
})

export const inputOf = (draft: Draft): TrustPolicyInput => ({
  ...draft.kept,
  description: textOrNull(draft.description),
  effect: draft.effect,
  source_agents: linesOf(draft.source_agents).map(selectorOf),
  target_agents: linesOf(draft.target_agents).map(selectorOf),
  actions: linesOf(draft.actions),
  condition: textOrNull(draft.condition),
  enabled: draft.enabled,
  expires_at: draft.expires_at,
})

const quoted = (value: string): string => (/^[^\s"]+$/.test(value) ? value : JSON.stringify(value))

/** A selector in one line: a pattern, or labels as `name=value`. */
export const selectorText = (selector: AgentSelector): string =>
  typeof selector === 'string'
    ? selector
    : Object.entries(selector.labels)
        .map(([name, value]) => `${name}=${quoted(value)}`)
        .join(' ')

const LABELS = /^(?:[^\s=]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*)(?:\s+|$))+$/
const LABEL = /([^\s=]+)=("(?:[^"\\]|\\.)*"|[^\s"]*)/g

export function selectorOf(line: string): AgentSelector {
  if (!LABELS.test(line)) return line
  return {
    labels: Object.fromEntries(
      Array.from(line.matchAll(LABEL), ([, name = '', value = '']) => [
        name,
        value.startsWith('"') ? unquoted(value) : value,
      ]),
    ),
  }
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}
