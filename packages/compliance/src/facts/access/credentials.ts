import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { DAY } from '../report-query.ts'
import { isLive } from '../state/credentials.ts'
import type { CredentialState } from '../state/credentials.ts'
import type { FactState } from '../state/state.ts'
import { isRelaxed } from '../thresholds.ts'
import { revokedCredentials } from './revoked-credentials.ts'

const liveAt = ({ credentials }: FactState, time: number): CredentialState[] =>
  [...credentials.values()].filter((one) => isLive(one, time))

/** Returns whether a credential has no expiry, no scope or every scope. */
const isUnlimited = ({ expiresAt, scopes }: CredentialState): boolean =>
  expiresAt === null || scopes.length === 0 || scopes.includes('*')

/** M29 to M31: credentials in the period, and those alive at its end. */
export const credentialsMeter: CreateMeter = ({ question, seqsOf }) => {
  const { from, to, thresholds } = question
  const days = thresholds.credential_max_age_days
  const old = seqsOf('ACC-2')
  const unlimited = seqsOf('ACC-3')
  let before: number | null = null
  let issued = 0
  let revoked = 0
  return {
    reads: ['credential.*', 'agent.removed', 'issuer.removed'],
    entry(entry, state) {
      // The count before the first such entry: an expiry leaves no entry and is derived from this
      // count.
      before ??= liveAt(state, from).length
      if (entry.kind === 'credential.issued' || entry.kind === 'credential.rotated') {
        if (!entry.erased) issued += 1
        return
      }
      for (const one of revokedCredentials(entry, state)) if (isLive(one, entry.time)) revoked += 1
    },
    end(state) {
      before ??= liveAt(state, from).length
      const live = liveAt(state, to)
      for (const one of live) {
        if (to - one.time > days * DAY) old.add(one.seq)
        if (isUnlimited(one)) unlimited.add(one.seq)
      }
      const expired = before + issued - revoked - live.length
      return {
        metrics: [
          {
            id: 'M29',
            value: { alive: live.length, issued, revoked, expired },
            population: live.length,
          },
          { id: 'M30', value: old.count, population: live.length },
          { id: 'M31', value: unlimited.count, population: live.length },
        ],
        checks: [
          outcome({
            check: 'ACC-2',
            population: live.length,
            value: { count: old.count },
            threshold: `none older than ${days} days`,
            relaxed: isRelaxed(thresholds, 'credential_max_age_days'),
            failures: failing(old),
          }),
          outcome({
            check: 'ACC-3',
            population: live.length,
            value: { count: unlimited.count },
            failures: failing(unlimited),
          }),
        ],
      }
    },
  }
}
