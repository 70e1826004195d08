import { delegation } from '@remit/contract'
import type { Permission } from '@remit/contract'
import { fail } from '@remit/core/base'
import { actorOf, personOf, withAgent } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { firstOf } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { rosterReader } from '../agents/roster.ts'
import { admitCondition } from '../rules/admit-condition.ts'
import { ruleWarnings } from '../rules/lint.ts'
import { actionHints } from '../rules/seen-actions.ts'
import { grantPermission } from './grant.ts'
import { ensureGrantedMode, setMode } from './mode.ts'
import { toPermission } from './permission.ts'
import { readEffective, readOverview, wirePermissions } from './read.ts'
import { findPermission, revokeTree } from './store.ts'
import { wirePermission } from './view.ts'

// Entries have a maximum size; a larger tree has several.
const IDS_AN_ENTRY = 500

export const delegationRoutes = (deps: Deps): Route[] => {
  const { db, clock, writer } = deps
  const readRoster = rosterReader(deps)
  return implement(delegation, {
    getDelegation: ({ query }, caller) =>
      readOverview(db, readRoster, caller.orgId, query, clock.now()),

    getEffectivePermissions: ({ query }, caller) =>
      readEffective(db, readRoster, caller.orgId, withAgent(caller, query).agent_id, clock.now()),

    getPermission: async ({ params }, caller) => {
      const row = await findPermission(db, caller.orgId, params.id)
      const [permission] = await wirePermissions(
        db,
        readRoster,
        caller.orgId,
        row ? [row] : [],
        clock.now(),
      )
      if (!permission) throw fail('permission_not_found')
      return permission
    },

    grantPermission: async ({ params: { id }, body }, caller, request) => {
      admitCondition(body.condition)
      const hints = await actionHints(db, caller.orgId, body.actions)
      return writer.change(caller.orgId, { ...request, caller }, async (scope, admitted) => {
        const { tx, now, orgId } = scope
        const { row, isNew, chain } = await grantPermission(scope, readRoster, admitted, id, body)
        const further =
          row.effect === 'allow' ? await ensureGrantedMode(scope, admitted, row.agent_id) : []
        const permission = wirePermission(row, chain, now, await readRoster(tx, orgId))
        const warnings = [...ruleWarnings(toPermission(row), row.effect, now), ...hints]
        return {
          entries: [{ kind: 'permission.granted', ...headOf(permission, admitted) }, ...further],
          reply: ([recorded]) =>
            new Reply<Permission>(
              { ...permission, warnings, ...(recorded && { ledger: recorded.receipt }) },
              {
                status: isNew ? 201 : 200,
                ...(isNew && { headers: { Location: `/v1/delegation/permissions/${id}` } }),
              },
            ),
        }
      })
    },

    revokePermission: ({ params: { id } }, caller, request) =>
      writer.change(caller.orgId, { ...request, caller }, async (scope, admitted) => {
        const { tx, now, orgId, recordedAt } = scope
        const revoked = await revokeTree(tx, orgId, id, {
          at: recordedAt,
          by: actorOf(admitted).id,
          revision: scope.configVersion,
        })
        const row = await findPermission(tx, orgId, id)
        if (!row || revoked.length === 0) throw fail('permission_not_found')
        const [permission] = await wirePermissions(tx, readRoster, orgId, [row], now)
        if (!permission) throw fail('permission_not_found')
        const head = headOf(permission, admitted)
        const parts = []
        for (let start = 0; start < revoked.length; start += IDS_AN_ENTRY)
          parts.push(revoked.slice(start, start + IDS_AN_ENTRY))
        return {
          entries: parts.map((part) => ({
            kind: 'permission.revoked',
            ...head,
            data: { ...head.data, revoked: part },
          })),
          reply: (recorded) => ({ revoked, ledger: firstOf(recorded).receipt }),
        }
      }),

    setAgentMode: ({ params: { agent_id }, body: { mode } }, caller, request) =>
      writer.change(caller.orgId, { ...request, caller }, async (scope, admitted) => {
        const entry = await setMode(scope, admitted, agent_id, mode)
        return {
          entries: [entry],
          reply: (recorded) => ({ agent_id, mode, ledger: firstOf(recorded).receipt }),
        }
      }),
  })
}

/** The head and the common data of an entry: the whole permission, without its time-dependent members. */
function headOf(whole: Permission, caller: Caller | null) {
  const { effective: _, ...permission } = whole
  return {
    actor: actorOf(caller),
    agent_id: permission.agent_id.includes('*') ? null : permission.agent_id,
    data: { permission, ...personOf(caller) },
  }
}
