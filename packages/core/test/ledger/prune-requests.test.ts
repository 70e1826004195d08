import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CARRIED_KIND, parseCarried } from '../../src/ledger/format/carried.ts'
import { findCut } from '../../src/ledger/store/cut.ts'
import type { Draft } from '../../src/ledger/format/draft.ts'
import { parsePayload } from '../../src/ledger/format/entry.ts'
import type { StoredEntry } from '../../src/ledger/format/entry.ts'
import { readEntries } from '../../src/ledger/store/store.ts'
import { verifyDatabase } from '../../src/ledger/verify/database.ts'
import { setSettings } from '../../src/orgs/administration.ts'
import { carryOver } from '../../src/orgs/prune/carry.ts'
import { planPruning } from '../../src/orgs/prune/index.ts'
import { createClock, createTestRemit, fullDialects, sampled } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { append, decisionDraft } from '../support/drafts.ts'
import { prune } from '../support/pruning.ts'

const DIALECTS = fullDialects()

const HOUR = 60 * 60 * 1000
const EVENTS = 160

/** The same numbers in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % sides
  }
}

const NEXT: Readonly<Record<string, readonly string[]>> = {
  pending: ['pending', 'pending', 'approved', 'rejected', 'expired', 'cancelled'],
  approved: ['consumed', 'expired', 'revoked'],
}

const KIND: Readonly<Record<string, string>> = {
  pending: 'voted',
  approved: 'decided',
  rejected: 'decided',
}

const approval = (kind: string, id: string, status: string): Draft => ({
  kind: `approval.${kind}`,
  actor: { type: 'key', id: 'key_1' },
  agent_id: 'payer',
  data: { approval: { id, status } },
})

const asking = (id: string, policy: number): Draft => ({
  ...decisionDraft(policy),
  decision: 'needs_approval',
  data: { approval: { id, status: 'pending' }, matched: [{ id: `pol_${policy}`, kind: 'policy' }] },
})

/** Requests that are opened, voted on and closed, some at once and some long after. */
class Requests {
  readonly #open = new Map<string, string>()
  #made = 0

  next(roll: (sides: number) => number): Draft[] {
    const [id, status] = [...this.#open][roll(Math.max(1, this.#open.size))] ?? []
    if (id === undefined || status === undefined || roll(4) === 0) {
      const name = `apr_${++this.#made}`
      this.#open.set(name, 'pending')
      return [asking(name, roll(9)), approval('requested', name, 'pending')]
    }
    if (roll(3) === 0) return [status === 'pending' ? asking(id, roll(9)) : decisionDraft(roll(9))]
    const [to = ''] = [NEXT[status]![roll(NEXT[status]!.length)]]
    if (to in NEXT) this.#open.set(id, to)
    else this.#open.delete(id)
    return [approval(KIND[to] ?? to, id, to)]
  }
}

type Entry = Pick<StoredEntry, 'seq' | 'kind'> & { readonly payload: unknown }

/** Sequence numbers of the entries about requests that are open afterwards. */
function openAfter(entries: readonly Entry[]): Record<string, readonly number[]> {
  const open = new Map<string, { told: number[]; decision: number[] }>()
  for (const { seq, payload } of entries) {
    const { data, decision } = payload as {
      data: { approval?: { id: string; status: string } }
      decision: string | null
    }
    if (!data.approval) continue
    const { id, status } = data.approval
    const one = open.get(id) ?? { told: [], decision: [] }
    open.set(id, one)
    if (decision === 'needs_approval') one.decision = [seq]
    else one.told.push(seq)
    if (status !== 'pending' && status !== 'approved') open.delete(id)
  }
  return Object.fromEntries(
    [...open].map(([id, { told, decision }]) => [id, [...decision, ...told].toSorted(asc)]),
  )
}

const asc = (a: number, b: number): number => a - b
const bySeq = (a: Entry, b: Entry): number => a.seq - b.seq
const parsed = (entry: StoredEntry): Entry => ({ ...entry, payload: parsePayload(entry.payload!) })

describe.each(DIALECTS)('prunings of a ledger with requests for approval on %s', (dialect) => {
  const clock = createClock('2025-01-01T00:00:00.000Z')
  let remit: TestRemit
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, clock })
  })
  afterAll(() => remit.close())

  /** The entries as a reader has them: first what was carried of those below the cut. */
  async function readable(orgId: string, rows: readonly StoredEntry[]): Promise<Entry[]> {
    const { size } = (await findCut(remit.db, orgId))!
    const carried = new Map(
      rows.flatMap((row) => {
        const entry = parseCarried(row)
        return entry && entry.seq < size ? [[entry.seq, entry] as const] : []
      }),
    )
    const kept = rows.filter(({ kind }) => kind !== CARRIED_KIND).map(parsed)
    return [...[...carried.values()].toSorted(bySeq), ...kept]
  }

  test.each(sampled([1, 2, 3, 4], 2))(
    'leave what was open at the cut as it was, some of them interrupted (%i)',
    async (seed) => {
      const roll = dice(seed)
      const { id: orgId } = await remit.organization()
      await setSettings(
        remit.writer,
        orgId,
        { retention_days: 1 },
        { acknowledgeShortRetention: true },
      )
      const requests = new Requests()
      const all = new Map<number, StoredEntry>()
      let prunings = 0
      let straddling = 0
      for (let i = 0; i < EVENTS; i++) {
        clock.advance(HOUR)
        await append(remit, orgId, requests.next(roll))
        if (i % 8 !== 7) continue
        const upTo = { before: clock.now() - (24 + roll(36)) * HOUR }
        const question = { upTo, acknowledgeShortRetention: true }
        const rows = await readEntries(remit.db, orgId, 0, 2_000)
        for (const row of rows) all.set(row.seq, row)
        const plan = await planPruning(remit.db, orgId, question, clock.now())
        if (plan === null) continue
        // As if it ended before the cut; the next one may have another.
        if (roll(3) === 0) await carryOver(remit.db, remit.writer, plan, () => undefined)
        if (roll(4) === 0) continue
        const pruned = (await prune(remit, clock, orgId, question))!
        prunings += 1

        const left = await readEntries(remit.db, orgId, 0, 2_000)
        const whole = [...all.values()].filter(({ kind }) => kind !== CARRIED_KIND).map(parsed)
        const below = whole.filter(({ seq }) => seq < pruned.plan.cut)
        straddling += Object.keys(openAfter(below)).length
        const entries = await readable(orgId, left)
        expect(openAfter(entries)).toEqual(openAfter(whole))
        // The read ends at the cut, as for a report about the time after it.
        expect(openAfter(entries.filter(({ seq }) => seq < pruned.plan.cut))).toEqual(
          openAfter(below),
        )
        const carried = left.filter((row) => (parseCarried(row)?.seq ?? Infinity) < pruned.plan.cut)
        expect(pruned.carried).toBe(new Set(carried.map((row) => parseCarried(row)!.seq)).size)
        for (const row of left) all.set(row.seq, row)
      }

      expect(prunings).toBeGreaterThan(4)
      expect(straddling).toBeGreaterThan(4)
      expect((await verifyDatabase(remit.db, orgId, { deep: true })).status).toBe('ok')
    },
    60_000,
  )
})
