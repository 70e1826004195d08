import { setImmediate } from 'node:timers/promises'
import { scorers } from '@remit/contract'
import type { Role, ScorerInfo } from '@remit/contract'
import type { Computer } from '../threads/pool.ts'
import { fail } from '../base/errors.ts'
import { pageOf } from '../base/page.ts'
import { implement } from '../http/endpoint.ts'
import type { Route } from '../http/endpoint.ts'
import { describeScorer, namedScorer } from './catalogue.ts'
import { finishedRun, runScorer } from './run.ts'
import type { ScorerRuns } from './run.ts'
import type { Scorer } from './scorer.ts'
import { sliced } from '../computing/computing.ts'

const { runScorer: run, listScorers: list } = scorers

/** Creates the routes for all scorers of this installation, including those of modules. */
export function scorerRoutes(
  registry: readonly Scorer[],
  observers: readonly ScorerRuns[] = [],
  computer?: Computer,
): Route[] {
  const sorted = registry.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  // Made by the first request: a start does not need the schemas of all parameters.
  let catalogue: ScorerInfo[] | undefined

  return implement(
    { runScorer: run, listScorers: list },
    {
      runScorer: async ({ body }, caller, request) => {
        const scorer = namedScorer(sorted, body.scorer)
        if ('scoreAll' in scorer && caller.principal.type !== 'credential')
          admitRole(caller.principal.role, scorer.name)
        const pacing = { now: () => performance.now(), pause: () => setImmediate() }
        const signal = () => request.signal()
        const answer = await runScorer(scorer, body, {
          ...pacing,
          caller,
          signal,
          ...(computer && { computer }),
        })
        if (observers.length === 0) return answer
        const finished = await finishedRun(body, answer, sliced(pacing))
        for (const observer of observers) await observer.ran(caller, finished)
        return answer
      },
      listScorers: ({ query: { limit, cursor } }) =>
        pageOf(limit, {
          read: () =>
            (catalogue ??= sorted.map(describeScorer)).filter(
              ({ name }) => cursor === undefined || name > cursor,
            ),
          cursor: ({ name }) => name,
          items: (listed) => [...listed],
        }),
    },
  )
}

/** A scorer that calls other services costs money, so that it needs a role that brings data in. */
function admitRole(role: Role, scorer: string): void {
  if (role === 'admin' || role === 'ingest') return
  throw fail('role_required', `The scorer ${scorer} requires one of the roles admin, ingest`)
}
