import type { FlipCounts } from '@remit/contract'
import { dialectOf } from '@remit/core/db'
import type { Api, Ok } from '@remit/testing'
import { sql } from 'kysely'

export type Replay = Ok<'replayPolicies'>

/** A period with everything in it. */
const WHOLE = { from: '2020-01-01T00:00:00.000Z', to: '2030-01-01T00:00:00.000Z' }

export const replay = (api: Api, body: object = {}): Promise<Replay> =>
  api.ok('replayPolicies', { body: { ...WHOLE, ...body } })

type Counts = Pick<Replay, 'decisions' | 'flipped' | 'not_replayable' | 'flips'>

/** All parts of a replay: on a busy machine, one ends before the last decision. */
export async function wholeReplay(api: Api, body: object = {}): Promise<Counts> {
  const { next_cursor: cursor, ...first } = await replay(api, body)
  if (cursor === null) return first
  const rest = await wholeReplay(api, { ...body, cursor })
  return {
    decisions: first.decisions + rest.decisions,
    flipped: sumOf(first.flipped, rest.flipped),
    not_replayable: sumOf(first.not_replayable, rest.not_replayable),
    flips: [...first.flips, ...rest.flips],
  }
}

const sumOf = <T extends Readonly<Record<string, number>>>(one: T, other: T): T =>
  Object.fromEntries(
    Object.entries(one).map(([name, count]) => [name, count + (other[name] ?? 0)]),
  ) as T

export const refusedReplay = (api: Api, body: object) =>
  api.refusal('replayPolicies', { body: { ...WHOLE, ...body } })

export const NO_FLIPS: FlipCounts = {
  allow_to_deny: 0,
  needs_approval_to_deny: 0,
  deny_to_allow: 0,
  deny_to_needs_approval: 0,
  allow_to_needs_approval: 0,
  needs_approval_to_allow: 0,
}

/** The flips as `seq: decision → decision by rule`. */
export const flipsOf = ({ flips }: Replay): string[] =>
  flips.map(
    ({ seq, was, would_be, cause }) =>
      `${seq}: ${was.decision} → ${would_be.decision} by ${cause ?? 'default'}`,
  )

/** Asks, and gives the sequence number of the decision. */
export async function ask(api: Api, request: object): Promise<number> {
  const { ledger } = await api.ok('authorize', { body: request })
  return ledger.seq
}

/** An entry after the erasure of its payload. */
export const erase = (api: Api, seq: number) =>
  api.remit.db
    .updateTable('ledger_entry')
    .set({
      salt: null,
      payload: null,
      agent_id: null,
      actor_id: null,
      action: null,
      decision: null,
    })
    .where('org_id', '=', api.org.id)
    .where('seq', '=', seq)
    .execute()

/** Puts another text in the place of a payload, past the guard rail of the table. */
export async function bend({ remit: { db }, org }: Api, seq: number): Promise<void> {
  const from = dialectOf(db) === 'postgres' ? 'on ledger_entry' : ''
  await sql.raw(`drop trigger if exists ledger_entry_is_final ${from}`).execute(db)
  await db
    .updateTable('ledger_entry')
    .set({ payload: '{"data":{}}' })
    .where('org_id', '=', org.id)
    .where('seq', '=', seq)
    .execute()
}
