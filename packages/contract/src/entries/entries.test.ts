import { describe, expect, it } from 'vitest'
import { ENTRIES, ENTRY_GROUPS, rowOf } from './index.ts'
import type { WebhookEvent } from '../webhooks.ts'
import type { EntryDraft, EventKind } from './index.ts'
import type { EntryKindRow } from './row.ts'

const actor = { type: 'system', id: 'remit' }

describe('the catalogue of entries', () => {
  it('has every kind in one group', () => {
    const grouped = Object.values(ENTRY_GROUPS).flatMap((rows) => Object.keys(rows))
    expect(grouped.toSorted()).toEqual(Object.keys(ENTRIES).toSorted())
    expect(new Set(grouped).size).toBe(grouped.length)
  })

  it('knows no kind of another release, and none by a name of every object', () => {
    for (const kind of ['budget.set', 'constructor', '__proto__'])
      expect(rowOf(kind)).toBeUndefined()
  })

  // `pnpm types` fails where a line below is accepted.
  it('refuses a misspelled kind, a wrong member and a missing member at compile time', () => {
    const data = { agent_id: 'payer', mode: 'open' } as const
    const good: EntryDraft = { kind: 'agent_mode.set', actor, agent_id: 'payer', data }
    // @ts-expect-error a misspelled kind
    const misspelled: EntryDraft = { kind: 'agent_mode.put', actor, agent_id: 'payer', data }
    // @ts-expect-error a member of another kind
    const foreign: EntryDraft = { ...good, data: { ...data, revoked: [] } }
    // @ts-expect-error a value of another type
    const wrong: EntryDraft = { ...good, data: { ...data, mode: 'closed' } }
    // @ts-expect-error a member is missing
    const missing: EntryDraft = { ...good, data: { agent_id: 'payer' } }
    // @ts-expect-error the agent is missing
    const nobody: EntryDraft = { kind: 'agent_mode.set', actor, data }
    // @ts-expect-error an entry without an agent has one
    const somebody: EntryDraft = { kind: 'witness.set', actor, agent_id: 'a', data: { vkey: 'k' } }
    // @ts-expect-error a column of the row is missing
    const row: EntryKindRow = { ...ENTRIES['agent_mode.set'], carried: undefined }
    type Sent = (typeof ENTRIES)[EventKind]['event']['is']
    const isEverySent: [Exclude<WebhookEvent, Sent>] extends [never] ? true : false = true
    // @ts-expect-error a kind that is an event has no reader
    const readers: Readonly<Record<EventKind, string>> = { 'enforcement.gap': 'a gap' }
    const all = [good, misspelled, foreign, wrong, missing, nobody, somebody, row]
    expect([isEverySent, Object.keys(readers)]).toEqual([true, ['enforcement.gap']])

    expect(ENTRIES['agent_mode.set'].data.safeParse(all[0]).success).toBe(false)
    for (const one of [foreign, wrong, missing])
      expect(ENTRIES['agent_mode.set'].data.safeParse(one.data).success).toBe(false)
  })
})
