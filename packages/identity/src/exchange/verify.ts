import { compactVerify } from 'jose'
import type { Deps } from '@remit/core/module'
import type { AgentMapping } from '@remit/contract'
import { failing, passesAll, isLive } from '../issuers/issuer.ts'
import type { TrustedIssuer } from '../issuers/issuer.ts'
import type { IssuerKeys } from '../issuers/keys.ts'
import type { Buckets } from './bucket.ts'
import { audiencesOf, checkClaims, isFor, issuerOf, own } from './subject-token.ts'
import type { TokenFacts, SubjectToken, JsonMembers } from './subject-token.ts'
import { TokenRefusal } from './refusals.ts'

/** The verified facts of a token so far, for the entry of a refusal. */
export interface CheckedFacts {
  issuer?: TrustedIssuer
  facts?: TokenFacts
}

export interface Verified {
  readonly issuer: TrustedIssuer
  readonly facts: TokenFacts
  /** Null if the registry determines the agent by subject. */
  readonly agentId: string | null
  /** The signed text: header and payload as received. */
  readonly signed: string
}

interface VerifyDeps {
  readonly clock: Deps['clock']
  readonly keys: IssuerKeys
  readonly buckets: Buckets
}

/**
 * Checks a token, cheap checks first: text, issuer, claims, rate, key, signature, conditions,
 * agent. Throws `TokenRefusal`.
 */
export async function verify(
  { clock, keys, buckets }: VerifyDeps,
  token: SubjectToken,
  records: readonly TrustedIssuer[],
  seen: CheckedFacts,
): Promise<Verified> {
  const now = clock.now()
  const issuer = recordFor(token, records, now)
  seen.issuer = issuer
  const facts = checkClaims(token, issuer.terms, now / 1000)
  seen.facts = facts
  if (!buckets.take(issuer.id, now)) throw new TokenRefusal('rate')
  const key = await keys.find(issuer, token.kid, token.alg)
  if (typeof key === 'string')
    throw new TokenRefusal(key, { kid: token.kid, alg: token.alg }, keys.known(issuer))
  await checkSignature(token, key)
  const condition = failing(issuer.terms.conditions, token.claims)
  if (condition) {
    const { claim, ...test } = condition
    throw new TokenRefusal('condition', { [claim]: own(token.claims, claim) }, { [claim]: test })
  }
  const agentId = agentOf(issuer.terms.agent, token.claims)
  return { issuer, facts, agentId, signed: token.text.slice(0, token.text.lastIndexOf('.')) }
}

function recordFor(
  { claims }: SubjectToken,
  records: readonly TrustedIssuer[],
  now: number,
): TrustedIssuer {
  const named = issuerOf(claims)
  const live = records.filter((record) => record.issuer === named && isLive(record, now))
  if (live.length === 0) {
    const known = records.length > 0 ? 'an issuer that is enabled' : 'a trusted issuer'
    throw new TokenRefusal('iss', { iss: named }, { iss: known })
  }
  const audiences = audiencesOf(claims)
  const [record, ...others] = audiences ? live.filter(({ terms }) => isFor(audiences, terms)) : []
  if (!record || others.length > 0)
    throw new TokenRefusal(
      'aud',
      { aud: own(claims, 'aud') },
      {
        audiences: live.flatMap(({ terms }) => terms.audiences),
        allow_foreign_audiences: live.some(({ terms }) => terms.allow_foreign_audiences),
      },
    )
  return record
}

async function checkSignature(
  { text, alg }: SubjectToken,
  key: Parameters<typeof compactVerify>[1],
): Promise<void> {
  try {
    await compactVerify(text, key, { algorithms: [alg] })
  } catch {
    throw new TokenRefusal('signature')
  }
}

/** The agent of the claims; null if the registry determines it by subject. */
function agentOf(mapping: AgentMapping, claims: JsonMembers): string | null {
  if (mapping.type === 'subjects') return null
  const named =
    mapping.type === 'claim'
      ? [own(claims, mapping.claim)]
      : mapping.rules.filter(({ match }) => passesAll(match, claims)).map((rule) => rule.agent_id)
  const [agent, ...others] = new Set(named)
  if (others.length > 0) throw new TokenRefusal('ambiguous', { agents: [agent, ...others] })
  if (typeof agent === 'string') return agent
  throw mapping.type === 'claim'
    ? new TokenRefusal('mapping', { [mapping.claim]: agent }, { [mapping.claim]: 'an agent id' })
    : new TokenRefusal('mapping', { rules: null }, { rules: 'one that matches' })
}
