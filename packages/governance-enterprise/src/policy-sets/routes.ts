import { setImmediate } from 'node:timers/promises'
import { policySets } from '@remit/contract'
import { existing } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import { implement } from '@remit/core/http'
import type { ApiRequest, Route } from '@remit/core/http'
import { receipted } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { refuseSuspended } from '@remit/core/orgs/settings'
import { sliced, Turns } from '@remit/core/threads'
import { documentsOf, kindsOf, readSet } from './read.ts'
import { applySet, lockSet, removeSet } from './apply.ts'
import { admitDocuments, planSet } from './plan.ts'
import type { Pace } from './plan.ts'
import { findSet, listSets } from './store.ts'

const PACING = { now: () => performance.now(), pause: () => setImmediate() }

/** Below the deadline of the endpoints. */
const ANSWER_MS = 55_000

const paceOf = (request: ApiRequest): Pace => ({
  rest: sliced(PACING),
  signal: request.signal(),
  until: performance.now() + ANSWER_MS,
})

/** One plan per organization at a time. */
const PLANS = {
  size: Infinity,
  each: 1,
  waiting: { each: 4, total: Infinity },
  patienceMs: 20_000,
}

export const policySetRoutes = (deps: Deps): Route[] => {
  const { db, writer } = deps
  const turns = new Turns(PLANS)
  return implement(policySets, {
    listPolicySets: async (_, { orgId }) => {
      const kinds = kindsOf(deps)
      const rows = await listSets(db, orgId)
      return { data: await Promise.all(rows.map((row) => readSet(db, kinds, row))) }
    },

    getPolicySet: async ({ params }, { orgId }) => {
      const row = existing(await findSet(db, orgId, params.id), 'policy_set_not_found')
      return readSet(db, kindsOf(deps), row)
    },

    getPolicySetDocuments: async ({ params, query }, { orgId }) => {
      const which = { setId: params.id, unmanaged: query.unmanaged === 'true' }
      return { documents: await documentsOf(db, orgId, kindsOf(deps), which) }
    },

    planPolicySet: async ({ params, body }, caller, request) => {
      const { orgId } = caller
      await refuseSuspended(db, orgId)
      const pace = paceOf(request)
      const plan = await turns.run(orgId, async () => {
        const set = await admitDocuments(deps, params.id, body, pace)
        return planSet(deps, caller, set, body, pace)
      })
      const { plan_digest, changes, drift, tests, replay } = plan
      return writer.work(orgId, request, (_scope, admitted) => {
        const policy_set = {
          id: params.id,
          plan_digest,
          changes: changes.length,
          drift: drift.length,
          tests: { passed: tests.passed, failed: tests.failed },
          ...(replay && { replayed: replay.decisions }),
        }
        const data = {
          method: 'plan',
          plan: caller.plan,
          policy_set,
          ...personOf(admitted),
        } as const
        const entry = { kind: 'policy.dry_run', actor: actorOf(admitted), data } as const
        return Promise.resolve(receipted([entry], plan))
      })
    },

    applyPolicySet: ({ params, body }, caller, request) => {
      const pace = paceOf(request)
      return turns.run(caller.orgId, async () => {
        const set = await admitDocuments(deps, params.id, body, pace)
        return applySet(deps, caller, set, body, request, pace)
      })
    },

    lockPolicySet: ({ params, body }, caller, request) =>
      writer.change(caller.orgId, request, lockSet(deps, params.id, body.locked)),

    removePolicySet: ({ params, query }, caller, request) =>
      writer.change(
        caller.orgId,
        request,
        removeSet(deps, params.id, query.objects, { rest: sliced(PACING) }),
      ),
  })
}
