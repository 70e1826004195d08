import { SINK_TARGETS } from '@remit/contract'
import type { Sink, SinkChange, SinkInput, SinkType } from '@remit/contract'
import { checkShape, existing, fail, invalid } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { Reply } from '@remit/core/http'
import { recording } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft, Outcome, LedgerScope } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import type { Outbound } from '@remit/core/net'
import { z } from 'zod'
import type { SinkRow } from '../tables/sinks.ts'
import {
  sealedTarget,
  urlOfTarget,
  changeSink,
  countSinks,
  deleteSink,
  findSink,
  insertSink,
  recordedSink,
  wireSink,
} from './store.ts'
import type { WholeTarget } from './store.ts'

/** The maximum number of sinks of an organization. */
const MAX_SINKS = 10

/** The topic of the signal for changed sinks. */
export const SINKS = 'sinks'

type SinkDeps = Pick<Deps, 'ids' | 'secrets' | 'outbound'>

/** Progress of a sink that begins anew. */
const AT_ONCE = {
  holder: null,
  held_until: 0,
  retry_at: 0,
  failures: 0,
  error_code: null,
  error_status: null,
  error_at: null,
} as const

export function sinkCreation(
  { ids, secrets, outbound }: SinkDeps,
  body: SinkInput,
): Change<Reply<Sink>> {
  const target = checkedTarget(outbound, body.type, body.target)
  return async (scope, caller) => {
    const { tx, orgId, recordedAt } = scope
    if ((await countSinks(tx, orgId)) >= MAX_SINKS)
      throw fail('too_many_sinks', `An organization can have at most ${MAX_SINKS} sinks`)
    const id = ids.next('snk_', Date.parse(recordedAt))
    const row: SinkRow = {
      org_id: orgId,
      id,
      type: body.type,
      format: body.format,
      kinds: listOf(body.kinds),
      description: body.description,
      enabled: body.enabled ? 1 : 0,
      ...sealedTarget(secrets, { org_id: orgId, id }, target),
      next_seq: body.from_seq ?? (await nextEntry(tx, orgId)),
      ...AT_ONCE,
      sent_at: null,
      created_at: recordedAt,
      created_by: actorOf(caller).id,
      updated_at: recordedAt,
    }
    await insertSink(tx, row)
    scope.announce(SINKS)
    const headers = { Location: `/v1/sinks/${id}` }
    const outcome = recorded(row, {
      kind: 'sink.created',
      actor: actorOf(caller),
      data: { from_seq: row.next_seq, ...dataOf(row, caller) },
    })
    return {
      ...outcome,
      reply: (entries) => new Reply(outcome.reply(entries), { status: 201, headers }),
    }
  }
}

/** Changes a sink and lets it send at once. */
export const sinkChange =
  ({ secrets, outbound }: SinkDeps, id: string, body: SinkChange): Change<Sink> =>
  async (scope, caller) => {
    const { tx, orgId, recordedAt } = scope
    const before = existing(await findSink(tx, orgId, id), 'sink_not_found')
    const target = body.target && checkedTarget(outbound, before.type, body.target)
    const row = await changeSink(tx, orgId, id, {
      ...(target && sealedTarget(secrets, before, target)),
      ...(body.format !== undefined && { format: body.format }),
      ...(body.kinds !== undefined && { kinds: listOf(body.kinds) }),
      ...(body.description !== undefined && { description: body.description }),
      ...(body.enabled !== undefined && { enabled: body.enabled ? 1 : 0 }),
      ...(body.from_seq !== undefined && { next_seq: body.from_seq }),
      ...AT_ONCE,
      updated_at: recordedAt,
    })
    if (!row) throw fail('sink_not_found')
    scope.announce(SINKS)
    const moved = body.from_seq !== undefined && { from_seq: body.from_seq }
    return recorded(row, {
      kind: 'sink.updated',
      actor: actorOf(caller),
      data: { ...moved, ...dataOf(row, caller) },
    })
  }

export const sinkDeletion =
  (id: string): Change<undefined> =>
  async ({ tx, orgId }, caller) => {
    const row = existing(await deleteSink(tx, orgId, id), 'sink_not_found')
    return recording({ kind: 'sink.deleted', actor: actorOf(caller), data: dataOf(row, caller) })
  }

const dataOf = (row: SinkRow, caller: Caller | null) => ({
  sink: recordedSink(row),
  ...personOf(caller),
})

const recorded = (row: SinkRow, draft: EntryDraft): Outcome<Sink> => ({
  entries: [draft],
  reply: ([entry]) => ({
    ...wireSink(row, (entry?.row.seq ?? 0) + 1),
    ...(entry && { ledger: entry.receipt }),
  }),
})

const listOf = (kinds: readonly string[] | null): string | null =>
  kinds === null ? null : JSON.stringify(kinds)

async function nextEntry(tx: LedgerScope['tx'], orgId: string): Promise<number> {
  const { size } = await tx
    .selectFrom('ledger_head')
    .select('size')
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return size
}

/** The target; 400 with the reason if it will always be refused. */
function checkedTarget(outbound: Outbound, type: SinkType, given: unknown): WholeTarget {
  const shape = z.object({ target: SINK_TARGETS[type] })
  const target = checkShape(shape, { target: given }).target as WholeTarget
  const field = type === 's3' ? 'target.endpoint' : 'target.url'
  if (type === 'syslog' && !/^syslog\+tls:\/\/[^/?#]+:\d+\/?$/i.test(target.url))
    throw invalid(field, 'must be syslog+tls://host:port')
  const check = outbound.checkTarget(urlOfTarget(type, target), { query: false })
  if ('refused' in check) throw invalid(field, check.refused)
  if (type === 's3' && check.url.pathname !== '/')
    throw invalid(field, 'must be an origin, without a path')
  return target
}
