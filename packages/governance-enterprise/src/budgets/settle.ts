/** The charges of settlements and appends to budgets. Pure. */
import type { AppendRequest } from '@remit/contract'
import { fromUnits, toUnits } from '@remit/contract/values'
import { isoTime } from '@remit/core/base'
import { resourceText } from '@remit/core/decision'
import type { Counters, Move } from '@remit/core/decision'
import type { EntryData, EntryDraft } from '@remit/core/ledger/lanes'
import { chargesOf, subjectOf } from '../counters/charges.ts'
import type { Charge } from '../counters/charges.ts'
import type { SpendHoldRow } from '../tables/schema.ts'
import { thresholdEntries } from './evaluate.ts'
import type { HeldCharge } from './evaluate.ts'
import { ownerOf, pathOf } from './tree.ts'
import type { BudgetTree, Node, Step } from './tree.ts'
import { timeOf } from './windows.ts'

/** The charges in an entry. */
export type ChargesUsed = NonNullable<EntryData<'entry.appended'>['charges']>
type ChargeUsed = ChargesUsed[number]

interface Used {
  readonly moves: readonly Move[]
  readonly used: ChargesUsed
}

/** A hold whose charges are settled. */
export interface Settled extends Used {
  /** The moves without the ends of charges that were over before. */
  readonly counted: readonly Move[]
  /** The budgets that still exist. */
  readonly nodes: readonly Node[]
  /** Those that would get less than was held. */
  readonly below: readonly Node[]
}

const placeOf = (
  { id: budget, unit }: Node,
  { uid, value, window }: Omit<Charge, 'held' | 'until'>,
) => ({ budget, uid, ...(value !== undefined && { value }), unit, window })

/** A charge in the entry of its decision. */
export const recordedCharge = ({ node, charge }: HeldCharge) => ({
  ...placeOf(node, charge),
  held: fromUnits(node.unit, charge.held),
  expires_at: charge.until ?? null,
  ...(node.mode === 'observe' && { observed: true as const }),
})

/**
 * Settles the charges of a hold: up to the held amount counts in the window of the hold, the excess in the
 * current one, and all of it after the end of the charge. Charges of removed budgets are dropped.
 *
 * @param amountOf - The amount in a unit; undefined for the held amount.
 * @param atLeastHeld - Budgets that require it get no less than was held.
 */
export function settleCharges(
  hold: SpendHoldRow,
  amountOf: (unit: string) => number | undefined,
  tree: BudgetTree | null,
  now: number,
  atLeastHeld = false,
): Settled {
  const moves: Move[] = []
  const counted: Move[] = []
  const used: ChargeUsed[] = []
  const nodes: Node[] = []
  const below: Node[] = []
  for (const charge of chargesOf(hold)) {
    const node = tree?.byUid.get(charge.uid)
    if (!node) continue
    nodes.push(node)
    const { uid, value, window, until, ended } = charge
    const { unit } = node
    const subject = subjectOf(uid, value)
    const isOver = ended === true || (until && until <= isoTime(now))
    const held = isOver ? 0 : charge.held
    const wanted = amountOf(unit)
    let amount = wanted === undefined || unit === 'calls' ? charge.held : toUnits(unit, wanted)
    if (unit === 'calls' && wanted === 0) amount = 0
    if (amount < held) below.push(node)
    if (atLeastHeld && node.settlement_by_agent === 'at_least_held') amount = Math.max(amount, held)
    const captured = Math.min(amount, held)
    const end = { subject, window, used: captured, held: ended ? 0 : -charge.held }
    const excess = { subject, window: timeOf(node, now).id, used: amount - captured, held: 0 }
    moves.push(end, excess)
    counted.push(...(isOver ? [excess] : [end, excess]))
    for (const { window: in_, used: part } of [end, excess])
      if (part > 0)
        used.push({ ...placeOf(node, { ...charge, window: in_ }), used: fromUnits(unit, part) })
  }
  return { moves, counted, used, nodes, below }
}

/** The charges of an append without a decision. It counts as no call. */
export function appendedCharges(
  tree: BudgetTree | null,
  { action, resource, cost_usd: cost = 0, amounts = {} }: AppendRequest,
  agentId: string | null,
  now: number,
): Used {
  const moves: Move[] = []
  const used: ChargeUsed[] = []
  if (!tree || agentId === null) return { moves, used }
  const asked = { request: { agent_id: agentId, action }, resource: resourceText(resource) }
  for (const { node, value, subject, time } of pathOf(tree, { ...asked, now, user: null })) {
    const { unit, uid } = node
    const amount = unit === 'usd' ? cost : Object.hasOwn(amounts, unit) ? (amounts[unit] ?? 0) : 0
    if (amount === 0 || unit === 'calls') continue
    moves.push({ subject, window: time.id, used: toUnits(unit, amount), held: 0 })
    used.push({ ...placeOf(node, { uid, value, window: time.id }), used: amount })
  }
  return { moves, used }
}

/** The budgets of counters in their current window; other counters are left out. */
export const timesOf = (
  subjects: readonly string[],
  tree: BudgetTree,
  now: number,
): Pick<Step, 'node' | 'subject' | 'time' | 'value'>[] =>
  subjects.flatMap((subject) => {
    const owner = ownerOf(tree, subject)
    return owner ? [{ ...owner, time: timeOf(owner.node, now) }] : []
  })

/** Entries for the percentages that charges to these counters reach. */
export const reachedBy = (
  subjects: readonly string[],
  tree: BudgetTree,
  counters: Pick<Counters, 'of'>,
  now: number,
): EntryDraft[] => thresholdEntries(timesOf([...new Set(subjects)], tree, now), counters)
