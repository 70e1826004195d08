import { matchesAll, matchesPattern } from '@remit/contract/patterns'
import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { DAY } from '../report-query.ts'
import { isAtMostPercent } from '../ratio.ts'
import type { PermissionState } from '../state/permissions.ts'
import { isRelaxed } from '../thresholds.ts'
import type { CheckThresholds } from '../thresholds.ts'

const isWild = ({ actions }: PermissionState): boolean => actions.some(matchesAll)

/**
 * M34: grants of every action, and grants without recent use, at the end of the period. A grant that is
 * younger than the time of use is not judged. Each erased decision may have used one of the others.
 */
export const grantsMeter: CreateMeter = ({ question, seqsOf }) => {
  const { to, thresholds } = question
  const percent = thresholds.unused_grants_percent
  const against = seqsOf('ACC-6')
  /** Every action that was decided for each agent. */
  const actions = new Map<string, Set<string>>()
  const since = to - thresholds.unused_grant_days * DAY
  let erased = 0

  const isUsed = ({ agentId, actions: patterns }: PermissionState): boolean => {
    for (const action of actions.get(agentId) ?? [])
      if (patterns.some((pattern) => matchesPattern(pattern, action))) return true
    return false
  }

  return {
    reads: ['authorization.decided'],
    since,
    entry({ agent_id, action, erased: isErased }) {
      if (isErased) erased += 1
      if (agent_id === null || action === null) return
      const known = actions.get(agent_id)
      if (known) known.add(action)
      else actions.set(agent_id, new Set([action]))
    },
    end({ permissions }) {
      const grants = [...permissions.values()].filter(
        ({ effect, expiresAt }) => effect === 'allow' && (expiresAt === null || to < expiresAt),
      )
      const wild = grants.filter(isWild)
      const idle = grants.filter((grant) => grant.changedTime < since && !isUsed(grant))
      const unused = idle.length <= erased ? [] : idle
      const isMostlyUsed = isAtMostPercent(unused.length, grants.length, percent)
      const counts = { wildcards: wild.length, unused: unused.length }
      if (wild.length > 0 || !isMostlyUsed)
        for (const { changedSeq } of new Set([...wild, ...(isMostlyUsed ? [] : unused)]))
          against.add(changedSeq)
      return {
        metrics: [
          { id: 'M34', value: { grants: grants.length, ...counts }, population: grants.length },
        ],
        checks: [
          outcome({
            check: 'ACC-6',
            population: grants.length,
            value: counts,
            threshold: `none covers every action, and at most ${percent}% unused`,
            relaxed: isRelaxed(thresholds, 'unused_grants_percent', 'unused_grant_days'),
            failures: failing(against, { n: grants.length, found: foundText(counts, thresholds) }),
          }),
        ],
      }
    },
  }
}

const foundText = (
  { wildcards, unused }: { readonly wildcards: number; readonly unused: number },
  { unused_grant_days: days }: CheckThresholds,
): string =>
  [
    ...(wildcards > 0 ? [`${wildcards} for every action`] : []),
    ...(unused > 0 ? [`${unused} not used in ${days} days`] : []),
  ].join(' and ')
