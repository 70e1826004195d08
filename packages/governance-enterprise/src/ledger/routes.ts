import { ledger as endpoints } from '@remit/contract'
import type { Entry, LedgerFilters, ListedEntry } from '@remit/contract'
import { actAs, isOwn, ownAgent } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement, Reply, textStream } from '@remit/core/http'
import type { ApiRequest, Route } from '@remit/core/http'
import { noEntry } from '@remit/core/ledger/records'
import type { Deps } from '@remit/core/module'
import { Turns } from '@remit/core/threads'
import type { Append } from './appender.ts'
import { HeadWatch } from './head-watch.ts'
import { ConnectionLimits, eventStream, eventOf, lastEventId } from '../streams/event-stream.ts'
import type { EventSource } from '../streams/event-stream.ts'

const wantsJson = (request: ApiRequest): boolean =>
  /\bapplication\/json\b/i.test(request.header('accept') ?? '')
const JSON_TYPE = { headers: { 'Content-Type': 'application/json' } }

/** Concurrent exports per organization; further ones wait only briefly. */
const EXPORTS = { size: Infinity, each: 4, waiting: { each: 0, total: 0 } }

export function ledgerRoutes({ ledger, log }: Deps, append: Append): Route[] {
  const heads = new HeadWatch({ ledger })
  const places = new ConnectionLimits()
  const exporting = new Turns(EXPORTS)
  /** An agent reads entries about itself; others do not exist for it. */
  const entryFor = async (caller: Caller, seq: number) => {
    const entry = await ledger.entry(caller.orgId, seq)
    const { actor } = entry
    const isBy = actor?.type === 'agent' && isOwn(caller, actor.id)
    if (!isBy && !isOwn(caller, entry.agent_id)) throw noEntry(seq)
    return entry
  }
  return implement(endpoints, {
    listEntries: async ({ query: { fields, ...query } }, caller) => {
      actAs(caller, query.agent_id)
      const agent_id = ownAgent(caller) ?? query.agent_id
      const filters = { ...query, ...(agent_id !== undefined && { agent_id }) }
      const page = await ledger.list(caller.orgId, filters)
      return {
        ...page,
        data: fields === 'header' ? (page.data.map(headerOf) as Entry[]) : page.data,
      }
    },
    listLedgerKeys: async (_, { orgId }) => ({ data: await ledger.signingKeys(orgId) }),
    streamEntries: async ({ query: { after_seq, fields, ...filters } }, caller, request) => {
      const { orgId } = caller
      const { size } = await ledger.end(orgId)
      const after = Math.min(lastEventId(request) ?? after_seq ?? size - 1, size - 1)
      const onEnd = places.take(caller)
      const show = fields === 'header' ? headerOf : (entry: Entry) => entry
      const source = ledgerEvents({ ledger }, heads, orgId, filters, show)
      const over = request.signal()
      const recheck = () => request.recheck()
      const stream = eventStream({ log }, source, { orgId, after, over, recheck, onEnd })
      // Proxies that buffer responses would delay the events.
      return new Reply<string>(stream, { headers: { 'X-Accel-Buffering': 'no' } })
    },
    appendEntry: async ({ body }, caller, request) => {
      actAs(caller, body.agent_id)
      actAs(caller, typeof body.actor === 'object' ? body.actor.id : body.actor)
      return append(body, request)
    },
    getEntry: ({ params }, caller) => entryFor(caller, params.seq),
    getCheckpoint: async (_, caller, request) => {
      const { note, origin, size, hash, vkey } = await ledger.head(caller.orgId)
      // As text, the response is the note itself, for C2SP tools.
      return wantsJson(request) ? new Reply({ note, origin, size, hash, vkey }, JSON_TYPE) : note
    },
    getProof: async ({ params, query }, caller, request) => {
      if (ownAgent(caller) !== null) await entryFor(caller, params.seq)
      const proof = await ledger.proof(caller.orgId, params.seq, query.size)
      return wantsJson(request) ? new Reply({ seq: params.seq, proof }, JSON_TYPE) : proof
    },
    getConsistency: ({ query }, caller) => ledger.consistency(caller.orgId, query.from, query.to),
    exportEntries: async ({ query }, caller) => {
      exporting.admit(caller.orgId)
      const text = await ledger.export(caller.orgId, { afterSeq: query.after_seq })
      return new Reply<string>(textStream(text, await exporting.begin(caller.orgId)))
    },
  })
}

const PIECE = 100

type EventFilters = Pick<LedgerFilters, 'kind' | 'agent_id' | 'decision'>

/** New entries of an organization's ledger that match the filters. */
function ledgerEvents(
  { ledger }: Pick<Deps, 'ledger'>,
  heads: HeadWatch,
  orgId: string,
  filters: EventFilters,
  show: (entry: Entry) => ListedEntry,
): EventSource {
  const watch = heads.watch(orgId)
  return {
    async read(after, over) {
      const query = { ...filters, after_seq: after, order: 'asc', limit: PIECE } as const
      const { data, next_cursor: next, head } = await ledger.follow(orgId, query, over)
      const events = data.map((entry) => eventOf(entry, show(entry)))
      return { events, last: next === null ? head.seq : Number(next), hasMore: next !== null }
    },
    wait: (over) => watch.wait(over),
    close: () => watch.close(),
  }
}

/** An entry without its payload. */
function headerOf(entry: Entry): ListedEntry {
  const header: ListedEntry = { ...entry }
  delete header.data
  delete header.salt
  return header
}
