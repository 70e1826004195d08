import { sinks as endpoints } from '@remit/contract'
import type { Entry } from '@remit/contract'
import { existing, isoTime, pageOf } from '@remit/core/base'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { OutboundError } from '@remit/core/net'
import type { Outbound } from '@remit/core/net'
import { OUTBOUND_CALLS, Turns } from '@remit/core/threads'
import { batchOf } from './batch.ts'
import { sinkChange, sinkCreation, sinkDeletion } from './changes.ts'
import { openTarget, findSink, listSinks, wireSink } from './store.ts'
import { sendBatch, SinkFailure } from './targets/send.ts'

export function sinkRoutes(deps: Deps, outbound: Outbound): Route[] {
  const { db, clock, ids, ledger, writer, secrets } = deps
  const changes = { ids, secrets, outbound }
  const tests = new Turns(OUTBOUND_CALLS)
  return implement(endpoints, {
    listSinks: async ({ query }, { orgId }) => {
      const { size } = await ledger.end(orgId)
      return pageOf(query.limit, {
        read: (limit) => listSinks(db, orgId, { limit, after: query.cursor }),
        cursor: ({ id }) => id,
        items: (rows) => rows.map((row) => wireSink(row, size)),
      })
    },

    getSink: async ({ params: { id } }, { orgId }) => {
      const row = existing(await findSink(db, orgId, id), 'sink_not_found')
      return wireSink(row, (await ledger.end(orgId)).size)
    },

    createSink: ({ body }, caller, request) =>
      writer.change(caller.orgId, request, sinkCreation(changes, body)),

    changeSink: ({ params: { id }, body }, caller, request) =>
      writer.change(caller.orgId, request, sinkChange(changes, id, body)),

    deleteSink: ({ params: { id } }, caller, request) =>
      writer.change(caller.orgId, request, sinkDeletion(id)),

    testSink: async ({ params: { id } }, { orgId }) => {
      const row = existing(await findSink(db, orgId, id), 'sink_not_found')
      const at = isoTime(clock.now())
      try {
        const target = openTarget(secrets, row)
        if (target === null) throw new SinkFailure('secret_unreadable', null)
        const record = testRecord(id, at)
        const batch = batchOf({ ...row, kinds: null }, await ledger.head(orgId), [record])
        await tests.run(orgId, () => sendBatch(outbound, row.type, target, batch))
        return { delivered: true, error: null }
      } catch (error) {
        if (!(error instanceof SinkFailure || error instanceof OutboundError)) throw error
        const status = error instanceof SinkFailure ? error.status : null
        return { delivered: false, error: { code: error.code, status, at } }
      }
    },
  })
}

const NO_HASH = '0'.repeat(64)

/** A record that shows that a receiver works; not an entry of the ledger. */
const testRecord = (sinkId: string, at: string): Entry => ({
  seq: 0,
  kind: 'test',
  recorded_at: at,
  actor: { type: 'system', id: 'remit' },
  agent_id: null,
  action: null,
  resource: null,
  decision: null,
  reason: null,
  data: { sink_id: sinkId },
  commitment: NO_HASH,
  salt: null,
  prev_hash: NO_HASH,
  hash: NO_HASH,
})
