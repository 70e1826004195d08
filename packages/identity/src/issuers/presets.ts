import type { ClaimCondition, IssuerInput, IssuerTerms, PRESETS } from '@remit/contract'
import { invalid, isoTime } from '@remit/core/base'

type Preset = (typeof PRESETS)[number]
type Defaults = Pick<
  IssuerTerms,
  'replay' | 'require_jti' | 'allowed_typ' | 'max_token_age_seconds'
>

/**
 * Claims that distinguish the tenants of a shared issuer and are never reassigned: one of each list
 * must be restricted to values.
 */
const PINS: Readonly<Record<Preset, readonly (readonly string[])[]>> = {
  github: [['repository_owner_id'], ['repository_id', 'environment']],
  gitlab: [['namespace_id'], ['project_id']],
  google: [['sub', 'hd']],
  entra: [['sub', 'tid']],
  kubernetes: [['sub']],
  spiffe: [['sub']],
}

/** Presets for which an exact subject in the registry is such a restriction too. */
const SUBJECT_IS_PIN: ReadonlySet<Preset> = new Set(['google', 'entra', 'kubernetes', 'spiffe'])

/** Shared issuers, whether or not their preset is named. */
const SHARED: readonly (readonly [RegExp, Preset])[] = [
  [/^https:\/\/token\.actions\.githubusercontent\.com(\/|$)/, 'github'],
  [/^https:\/\/gitlab\.com(\/|$)/, 'gitlab'],
  [/^(https:\/\/)?accounts\.google\.com(\/|$)/, 'google'],
  [/^https:\/\/(login\.microsoftonline\.com|sts\.windows\.net)(\/|$)/, 'entra'],
]

const DAY_SECONDS = 86_400
const COMMON: Defaults = {
  replay: 'single_use',
  require_jti: true,
  allowed_typ: ['JWT', 'at+jwt', null],
  max_token_age_seconds: 3600,
}
const DEFAULTS: Readonly<Partial<Record<Preset, Partial<Defaults>>>> = {
  // A token lives as long as its job may run.
  gitlab: { max_token_age_seconds: DAY_SECONDS },
  // Projected tokens are read from disk repeatedly until they are renewed; those of EKS live a day.
  kubernetes: {
    replay: 'until_exp',
    require_jti: false,
    allowed_typ: ['JWT', null],
    max_token_age_seconds: DAY_SECONDS,
  },
  google: { require_jti: false, allowed_typ: ['JWT', null] },
  // 60 to 90 minutes, a day for managed identities, 28 hours where access is evaluated continuously;
  // `iat` is 5 minutes before the issue.
  entra: { require_jti: false, max_token_age_seconds: 28 * 3600 + 300 },
  // JWT-SVID §2 names these two; neither is required.
  spiffe: { require_jti: false, allowed_typ: ['JWT', 'JOSE', null] },
}

/** The terms of a new record with the preset's defaults. Throws `invalid_request` for missing ones. */
export function termsOf(input: IssuerInput, defaultAudience: string | null): IssuerTerms {
  const { audiences = defaultAudience === null ? null : [defaultAudience] } = input
  if (!audiences) throw invalid('audiences', 'is required unless REMIT_BASE_URL is set')
  const defaults = { ...COMMON, ...(input.preset && DEFAULTS[input.preset]) }
  const terms: IssuerTerms = {
    ...input,
    audiences: [...audiences],
    replay: input.replay ?? defaults.replay,
    require_jti: input.require_jti ?? defaults.require_jti,
    allowed_typ: [...(input.allowed_typ ?? defaults.allowed_typ)],
    max_token_age_seconds: input.max_token_age_seconds ?? defaults.max_token_age_seconds,
    expires_at: input.expires_at && isoTime(Date.parse(input.expires_at)),
  }
  checkConditions(terms)
  return terms
}

/** Refuses a record that every token of the issuer would satisfy. */
function checkConditions({ issuer, preset, conditions, agent }: IssuerTerms): void {
  const kinds = new Set<Preset>(SHARED.flatMap(([is, kind]) => (is.test(issuer) ? [kind] : [])))
  if (preset) kinds.add(preset)
  for (const kind of kinds) {
    if (agent.type === 'subjects' && SUBJECT_IS_PIN.has(kind)) continue
    for (const claims of PINS[kind]) {
      if (!claims.some((claim) => conditions.some((condition) => pins(condition, claim))))
        throw invalid(
          'conditions',
          `must pin ${claims.join(' or ')} with equals or in: ${kind} issues tokens to many users`,
        )
    }
  }
  if (conditions.length === 0 && agent.type !== 'subjects')
    throw invalid(
      'conditions',
      'must have at least one condition, or agent.type must be subjects: otherwise every token of the issuer matches',
    )
}

const pins = (condition: ClaimCondition, claim: string): boolean =>
  condition.claim === claim && !('prefix' in condition)
