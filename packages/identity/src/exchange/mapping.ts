import type { AgentMapping } from '@remit/contract'
import { passesAll } from '../issuers/claim-conditions.ts'
import { TokenRefusal } from './refusal.ts'
import { own } from './subject-token.ts'
import type { JsonMembers } from './subject-token.ts'

/** The agent of the claims; null if the registry determines it by subject. */
export function agentOf(mapping: AgentMapping, claims: JsonMembers): string | null {
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
