import type { EntryReading } from '@remit/contract/entries'
import type { FactEntry } from './entry.ts'
import { Cases } from './facts.ts'
import type { CreateMeter } from './meter.ts'
import type { FactState } from './state/state.ts'
import { revokedCredentials } from './access.ts'
import { metric, ratioOf } from './meter.ts'
import { isInForce } from './state/rules.ts'

const UNKNOWN = 'unknown'

type Exchanged = EntryReading<'token.exchanged'>

/** Returns whether the issuer was trusted at the time of the entry. */
function isTrusted(idpId: string, state: FactState, time: number): boolean {
  const issuer = state.issuers.get(idpId)
  return (
    issuer !== undefined && issuer.enabled && (issuer.expiresAt === null || time < issuer.expiresAt)
  )
}

const isLimited = ({ scopes, expires_at }: Pick<Exchanged, 'scopes' | 'expires_at'>): boolean =>
  (scopes ?? []).some((scope) => scope !== '*') && expires_at !== null

/** M44: token exchanges, and invalid ones among them. */
export const exchangesMeter: CreateMeter = ({ question, seqsOf }) => {
  const wrong = seqsOf('TRU-2')
  const byIssuer = new Map<string, { exchanged: number; refused: number }>()
  /** Exchanges without a recorded result; the entry of the credential follows. */
  const open = new Map<string, number>()
  /** Credentials of untrusted issuers; null for an unnamed one. */
  const strange = new Set<string | null>()
  /** The revocations of credentials from invalid exchanges. */
  const revoked = new Map<string, number>()
  const exchanged = new Cases()
  let untrusted = 0

  function of(idpId: string): { exchanged: number; refused: number } {
    const known = byIssuer.get(idpId) ?? { exchanged: 0, refused: 0 }
    byIssuer.set(idpId, known)
    return known
  }

  function exchange({ seq, time }: FactEntry, data: Exchanged, state: FactState): void {
    const idpId = data.idp_id ?? UNKNOWN
    of(idpId).exchanged += 1
    exchanged.add(time)
    const credential = data.credential_id
    // The entry that trusted the issuer may have been erased.
    if (!isTrusted(idpId, state, time) && state.lost('issuer.trusted') === 0) {
      untrusted += 1
      wrong.add(seq)
      strange.add(credential)
    } else if (!isLimited(data)) open.set(credential ?? String(seq), seq)
  }

  return {
    reads: ['token.*', 'credential.*', 'agent.removed', 'issuer.removed'],
    entry(entry, state) {
      const { kind, erased } = entry
      if (erased) return
      if (kind === 'token.exchanged') exchange(entry, entry.read(kind), state)
      else if (kind === 'token.refused') {
        const { idp_id: idpId, count } = entry.read(kind)
        of(idpId ?? UNKNOWN).refused += count ?? 1
      } else if (kind === 'credential.issued') {
        const { credential } = entry.read(kind)
        if (credential && isLimited(credential)) open.delete(credential.id ?? '')
      } else if (strange.size + open.size > 0) {
        for (const { id } of revokedCredentials(entry, state))
          if (strange.has(id) || open.has(id)) revoked.set(id, entry.seq)
      }
    },
    end(state) {
      for (const seq of open.values()) wrong.add(seq)
      const invalid = { untrusted, unlimited: open.size }
      const trusted = [...state.issuers.keys()].filter((id) => isTrusted(id, state, question.to))
      return {
        metrics: [
          metric(
            'M44',
            { issuers: trusted.length, by_issuer: Object.fromEntries(byIssuer), ...invalid },
            exchanged.count,
          ),
        ],
        checks: [
          wrong.outcome({
            population: exchanged.count,
            cases: exchanged,
            value: invalid,
            fixedBy: lastOf([...strange, ...open.keys()], revoked),
          }),
        ],
      }
    },
  }
}

/** The last revocation, if all these credentials were revoked. */
function lastOf(
  ids: readonly (string | null)[],
  revoked: ReadonlyMap<string | null, number>,
): number | null {
  const seqs = ids.map((id) => revoked.get(id))
  return seqs.every((seq) => seq !== undefined) ? Math.max(...seqs) : null
}

/** Earlier versions recorded `no_policy`. */
const BY_DEFAULT: ReadonlySet<string> = new Set(['default_deny', 'no_policy'])

/** M43: trust evaluations between agents, and rules that allow every agent to reach every agent. */
export const trustMeter: CreateMeter = ({ question, seqsOf }) => {
  const wide = seqsOf('TRU-1')
  const byDecision = { allow: 0, deny: 0 }
  let byDefault = 0
  return {
    reads: ['trust.evaluated'],
    entry({ decision, reason }) {
      if (decision === 'allow') byDecision.allow += 1
      else if (decision === 'deny') byDecision.deny += 1
      else return
      if (decision === 'deny' && BY_DEFAULT.has(reason ?? '')) byDefault += 1
    },
    end({ trustPolicies }) {
      const rules = [...trustPolicies.values()].filter((rule) => isInForce(rule, question.to))
      const wild = rules.filter(({ isWild }) => isWild)
      for (const { effect, changedSeq } of wild) if (effect === 'allow') wide.add(changedSeq)
      const all = byDecision.allow + byDecision.deny
      return {
        metrics: [
          metric(
            'M43',
            {
              ...byDecision,
              denied_by_default: ratioOf(byDefault, all),
              rules: rules.length,
              wildcard_rules: wild.length,
            },
            all,
          ),
        ],
        checks: [wide.outcome({ population: rules.length })],
      }
    },
  }
}
