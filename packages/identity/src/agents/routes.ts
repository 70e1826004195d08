import { agents } from '@remit/contract'
import type { Agent } from '@remit/contract'
import { fail, invalid, pageOf } from '@remit/core/base'
import { implement, Reply } from '@remit/core/http'
import type { ApiRequest, Route } from '@remit/core/http'
import { answering } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { alteration, registration, removal } from './changes.ts'
import { findAgent, listAgents } from './store.ts'
import { wireAgents } from './view.ts'

export const agentRoutes = ({ db, clock, ids, writer, offered }: Deps): Route[] =>
  implement(agents, {
    listAgents: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => listAgents(db, orgId, { limit, after: query.cursor }),
        cursor: (row) => row.agent_id,
        items: (rows) => wireAgents(db, orgId, rows),
      }),

    registerAgent: ({ body }, caller, request) => {
      const agentId = body.agent_id ?? ids.next('agt_', clock.now())
      const register = registration(
        agentId,
        body,
        async (scope, id) => (await offered('agentSwitch')?.release(scope, id)) ?? null,
      )
      const location = { Location: `/v1/identity/agents/${encodeURIComponent(agentId)}` }
      return writer.change(
        caller.orgId,
        request,
        answering(register, (agent) => tagged(agent, 201, location)),
      )
    },

    getAgent: async ({ params: { agentID } }, { orgId }) => {
      const row = await findAgent(db, orgId, agentID)
      const [agent] = row && row.status !== 'removed' ? await wireAgents(db, orgId, [row]) : []
      if (!agent) throw fail('agent_not_found')
      return tagged(agent, 200)
    },

    changeAgent: ({ params: { agentID }, body }, caller, request) =>
      writer.change(
        caller.orgId,
        request,
        answering(alteration(agentID, body, versionOf(request)), (agent) => tagged(agent, 200)),
      ),

    removeAgent: ({ params: { agentID } }, caller, request) =>
      writer.change(caller.orgId, request, removal(agentID, versionOf(request))),
  })

const tagged = (agent: Agent, status: number, headers: Record<string, string> = {}) =>
  new Reply<Agent>(agent, { status, headers: { ETag: `"${agent.version}"`, ...headers } })

/** The version in `If-Match`; null without one, and for `*`. */
function versionOf(request: ApiRequest): number | null {
  const text = request.header('if-match')
  if (text === undefined || text === '*') return null
  const [, version] = /^"(\d{1,15})"$/.exec(text) ?? []
  if (version === undefined) throw invalid('If-Match', 'must be the ETag of an agent')
  return Number(version)
}
