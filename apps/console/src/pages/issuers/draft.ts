import type { AgentMapping, Issuer, IssuerInput, KeySource } from '@remit/contract'
import { DEFAULT_SCOPES, PRESETS } from '@remit/contract/lists'
import { draftsOf, lines, number, optional, same } from '../rules/draft.ts'
import { conditionDraftOf, conditionOf, jsonOr } from './conditions.ts'
import type { ConditionDraft } from './conditions.ts'

export interface KeysDraft {
  readonly type: KeySource['type']
  readonly url: string
  /** JSON. */
  readonly inline: string
}

const jwks = {
  empty: { type: 'discovery', url: '', inline: '' } as KeysDraft,
  typed: (keys: KeySource): KeysDraft => ({
    type: keys.type,
    url: keys.type === 'url' ? keys.url : '',
    inline: keys.type === 'inline' ? JSON.stringify(keys.keys, null, 2) : '',
  }),
  value({ type, url, inline }: KeysDraft): KeySource {
    if (type === 'discovery') return { type }
    if (type === 'url') return { type, url }
    const read = jsonOr(inline)
    // A JWK set as well as its list.
    const list = Array.isArray(read) ? read : ((read as { keys?: unknown } | null)?.keys ?? read)
    return { type, keys: list as never }
  },
}

/** The agent that a token stands for. */
export interface MappingDraft {
  readonly type: AgentMapping['type']
  readonly claim: string
  readonly rules: readonly {
    readonly match: readonly ConditionDraft[]
    readonly agent_id: string
  }[]
}

const mapping = {
  empty: { type: 'claim', claim: 'sub', rules: [] } as MappingDraft,
  typed: (agent: AgentMapping): MappingDraft => ({
    type: agent.type,
    claim: agent.type === 'claim' ? agent.claim : 'sub',
    rules:
      agent.type === 'rules'
        ? agent.rules.map((rule) => ({ ...rule, match: rule.match.map(conditionDraftOf) }))
        : [],
  }),
  value({ type, claim, rules }: MappingDraft): AgentMapping {
    if (type === 'subjects') return { type }
    if (type === 'claim') return { type, claim }
    return {
      type,
      rules: rules.map((rule) => ({ ...rule, match: rule.match.map(conditionOf) })),
    }
  },
}

/** Members that are left out are as the preset says. */
export const issuerDrafts = draftsOf<Issuer, IssuerInput>()({
  issuer: same(''),
  preset: {
    empty: '',
    typed: (preset: IssuerInput['preset']) => preset ?? '',
    value: (typed: string) => PRESETS.find((preset) => preset === typed) ?? null,
  },
  audiences: optional(lines('')),
  allow_foreign_audiences: same(false),
  jwks,
  allowed_algs: same<IssuerInput['allowed_algs']>(['RS256', 'ES256']),
  conditions: {
    empty: [] as readonly ConditionDraft[],
    typed: (conditions: IssuerInput['conditions']) => conditions.map(conditionDraftOf),
    value: (typed: readonly ConditionDraft[]) => typed.map(conditionOf),
  },
  agent: mapping,
  replay: optional(same<'single_use' | 'until_exp'>('single_use')),
  scopes: same<IssuerInput['scopes']>([...DEFAULT_SCOPES]),
  credential_ttl_seconds: number('900'),
  max_token_age_seconds: optional(number('')),
  clock_skew_seconds: number('30'),
  expires_at: same<string | null>(null),
  enabled: same(true),
})
export type Draft = typeof issuerDrafts.empty
