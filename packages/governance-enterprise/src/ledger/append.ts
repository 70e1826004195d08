import type { Answer, AppendRequest, Entry, ledger as endpoints } from '@remit/contract'
import { toMicroUsd } from '@remit/contract'
import { fail, firstOf, invalid, resourceText, wireEntry } from '@remit/core'
import type {
  Caller,
  EntryDraft,
  Failure,
  Item,
  Lane,
  LaneResult,
  Outcome,
  Scope,
} from '@remit/core'
import type { SpendHoldRow } from '../schema.ts'
import { settleHold } from '../spend/settle.ts'
import { addToTotals, findHolds, writeHolds } from '../spend/totals-store.ts'
import type { Movement } from '../spend/totals-store.ts'

type Appended = Answer<typeof endpoints.appendEntry>

/** Appends of callers: the entry, what it costs and the hold it settles, in one transaction. */
export const appendLane: Lane<AppendRequest, Appended> = {
  name: 'append',
  async run(items, scope) {
    const batch = new Batch(scope, await readHolds(items, scope))
    const outcomes = items.map((item) => batch.append(item))
    await batch.write()
    return { outcomes } satisfies LaneResult<Appended>
  },
}

/** What the decisions that the batch settles hold. Every allow has a hold; nothing else can be settled. */
async function readHolds(
  items: readonly Item<AppendRequest>[],
  { orgId, tx }: Scope,
): Promise<Map<string, SpendHoldRow>> {
  const ids = [...new Set(items.flatMap(({ job }) => job.decision_id ?? []))]
  return new Map((await findHolds(tx, orgId, ids)).map((hold) => [hold.decision_id, hold]))
}

/** The appends of one transaction, with the spend they move. */
class Batch {
  readonly #scope: Scope
  readonly #holds: Map<string, SpendHoldRow>
  readonly #settled: SpendHoldRow[] = []
  readonly #movements: Movement[] = []

  constructor(scope: Scope, holds: Map<string, SpendHoldRow>) {
    this.#scope = scope
    this.#holds = holds
  }

  append({ job, caller }: Item<AppendRequest>): Outcome<Appended> | Failure {
    const hold = job.decision_id === undefined ? undefined : this.#holds.get(job.decision_id)
    if (job.decision_id !== undefined) {
      if (!hold)
        return fail('decision_not_found', `There is no allowed decision ${job.decision_id}`)
      if (hold.state === 'settled')
        return fail('decision_settled', `${job.decision_id} is settled already`)
      if (job.agent_id !== undefined && job.agent_id !== hold.agent_id) {
        return invalid(
          'agent_id',
          `must be ${hold.agent_id}, the agent of the decision, or be left out`,
        )
      }
    }
    const draft = draftOf(job, hold?.agent_id ?? job.agent_id ?? null, caller)
    this.#spend(job, hold, draft)
    return {
      entries: [draft],
      reply: (recorded) => {
        const { row, receipt } = firstOf(recorded)
        return { ...wireEntry(row), ledger: receipt }
      },
    }
  }

  #spend(job: AppendRequest, hold: SpendHoldRow | undefined, draft: EntryDraft): void {
    const { cost_usd: cost } = job
    if (cost === undefined) return
    const { recordedAt } = this.#scope
    if (hold) {
      this.#movements.push(...settleHold(hold, cost, recordedAt))
      const settled = { ...hold, state: 'settled' as const }
      this.#holds.set(hold.decision_id, settled)
      this.#settled.push(settled)
    } else if (cost > 0) {
      this.#movements.push({
        agentId: draft.agent_id ?? draft.actor.id,
        day: recordedAt.slice(0, 10),
        spent: toMicroUsd(cost),
        held: 0,
      })
    }
  }

  async write(): Promise<void> {
    const { tx, orgId } = this.#scope
    await writeHolds(tx, this.#settled)
    await addToTotals(tx, orgId, this.#movements)
  }
}

/** Kind `entry.appended`, whatever the caller sends: nothing of his can look like the server's. */
function draftOf(job: AppendRequest, agentId: string | null, caller: Caller | null): EntryDraft {
  const { action, resource, actor, agent_id: _agent, ...data } = job
  const properties = typeof resource === 'object' ? resource.properties : undefined
  const key = caller?.principal.id ?? null
  return {
    kind: 'entry.appended',
    actor: actorOf(actor, agentId, key),
    agent_id: agentId,
    action,
    resource: resourceText(resource),
    data: {
      ...withoutNone(data),
      key_id: key,
      ...(properties && { resource_properties: properties }),
    },
  }
}

function actorOf(
  actor: AppendRequest['actor'],
  agentId: string | null,
  key: string | null,
): Entry['actor'] & {} {
  if (typeof actor === 'object') return actor
  const id = actor ?? agentId
  return id === null ? { type: 'key', id: key ?? 'remit' } : { type: 'agent', id }
}

/** Leaves out what was not given, and an empty trace id, which means none. */
const withoutNone = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(data).filter(
      ([name, value]) => value !== undefined && !(name === 'trace_id' && value === ''),
    ),
  )
