import type { AgentMapping, Issuer, IssuerInput, KeySource } from '@remit/contract'
import { keptOf, linesOf, numberOf } from '../rules/validation.ts'
import { conditionDraftOf, conditionOf, jsonOr } from './conditions.ts'
import type { ConditionDraft } from './conditions.ts'

export const PRESETS = ['github', 'gitlab', 'google', 'entra', 'kubernetes', 'spiffe'] as const
export const ALGS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const satisfies IssuerInput['allowed_algs']
export const SCOPES = [
  'approvals:read',
  'authorize',
  'guard',
  'ledger:append',
  'ledger:read',
  'scorers',
  'trust:check',
] as const satisfies IssuerInput['scopes']

export interface MappingRule {
  readonly match: readonly ConditionDraft[]
  readonly agent_id: string
}

/** A trusted issuer as it is typed. */
export interface Draft {
  readonly issuer: string
  readonly preset: string
  readonly audiences: string
  readonly foreign: boolean
  readonly keys: KeySource['type']
  readonly keysUrl: string
  readonly keysInline: string
  readonly algs: readonly (typeof ALGS)[number][]
  readonly conditions: readonly ConditionDraft[]
  readonly mapping: AgentMapping['type']
  readonly claim: string
  readonly rules: readonly MappingRule[]
  /** Empty: as the preset says. */
  readonly replay: '' | 'single_use' | 'until_exp'
  readonly scopes: readonly (typeof SCOPES)[number][]
  readonly ttl: string
  /** Empty: as the preset says. */
  readonly age: string
  readonly skew: string
  readonly expires_at: string | null
  readonly enabled: boolean
  /** Members that the form does not show, kept from the issuer that it began with. */
  readonly kept: Partial<IssuerInput>
}

export const EMPTY: Draft = {
  issuer: '',
  preset: '',
  audiences: '',
  foreign: false,
  keys: 'discovery',
  keysUrl: '',
  keysInline: '',
  algs: ['RS256', 'ES256'],
  conditions: [],
  mapping: 'claim',
  claim: 'sub',
  rules: [],
  replay: '',
  scopes: ['approvals:read', 'authorize', 'guard', 'ledger:append', 'scorers'],
  ttl: '900',
  age: '',
  skew: '30',
  expires_at: null,
  enabled: true,
  kept: {},
}

/** The terms of an issuer as the draft of another one. */
export const draftOf = (issuer: Issuer): Draft => ({
  issuer: issuer.issuer,
  preset: issuer.preset ?? '',
  audiences: issuer.audiences.join('\n'),
  foreign: issuer.allow_foreign_audiences,
  keys: issuer.jwks.type,
  keysUrl: issuer.jwks.type === 'url' ? issuer.jwks.url : '',
  keysInline: issuer.jwks.type === 'inline' ? JSON.stringify(issuer.jwks.keys, null, 2) : '',
  algs: issuer.allowed_algs,
  conditions: issuer.conditions.map(conditionDraftOf),
  mapping: issuer.agent.type,
  claim: issuer.agent.type === 'claim' ? issuer.agent.claim : 'sub',
  rules:
    issuer.agent.type === 'rules'
      ? issuer.agent.rules.map(({ match, agent_id }) => ({
          match: match.map(conditionDraftOf),
          agent_id,
        }))
      : [],
  replay: issuer.replay,
  scopes: issuer.scopes,
  ttl: String(issuer.credential_ttl_seconds),
  age: String(issuer.max_token_age_seconds),
  skew: String(issuer.clock_skew_seconds),
  expires_at: issuer.expires_at,
  enabled: issuer.enabled,
  kept: keptOf(issuer),
})

export function inputOf(draft: Draft): IssuerInput {
  const audiences = linesOf(draft.audiences)
  return {
    ...draft.kept,
    issuer: draft.issuer,
    preset: PRESETS.find((preset) => preset === draft.preset) ?? null,
    ...(audiences.length > 0 && { audiences }),
    allow_foreign_audiences: draft.foreign,
    jwks: keySourceOf(draft),
    allowed_algs: [...draft.algs],
    conditions: draft.conditions.map(conditionOf),
    agent: mappingOf(draft),
    ...(draft.replay !== '' && { replay: draft.replay }),
    scopes: [...draft.scopes],
    credential_ttl_seconds: numberOf(draft.ttl),
    ...(draft.age !== '' && { max_token_age_seconds: numberOf(draft.age) }),
    clock_skew_seconds: numberOf(draft.skew),
    expires_at: draft.expires_at,
    enabled: draft.enabled,
  }
}

function keySourceOf({ keys, keysUrl, keysInline }: Draft): KeySource {
  if (keys === 'discovery') return { type: keys }
  if (keys === 'url') return { type: keys, url: keysUrl }
  const read = jsonOr(keysInline)
  // A JWK set as well as its list.
  const list = Array.isArray(read) ? read : ((read as { keys?: unknown } | null)?.keys ?? read)
  return { type: keys, keys: list as never }
}

function mappingOf({ mapping, claim, rules }: Draft): AgentMapping {
  if (mapping === 'subjects') return { type: mapping }
  if (mapping === 'claim') return { type: mapping, claim }
  return {
    type: mapping,
    rules: rules.map(({ match, agent_id }) => ({ match: match.map(conditionOf), agent_id })),
  }
}
