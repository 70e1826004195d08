/** The charges of holds, and the moves of counters that holds cause. Pure. */
import { WINDOWS } from '@remit/contract/values'
import type { Move } from '@remit/core/decision'
import type { SpendHoldRow } from '../tables/schema.ts'

/** Counts amounts of an agent in all windows of a time, hour or day; micro-USD, may be negative. */
export function agentMoves(subject: string, at: string, used: number, held: number): Move[] {
  const moves: Move[] = []
  for (const { letters } of WINDOWS)
    if (letters <= at.length) moves.push({ subject, window: at.slice(0, letters), used, held })
  return moves
}

/** Counts amounts in the windows of a hold. */
export const holdMoves = (
  { agent_id, day, hour }: Pick<SpendHoldRow, 'agent_id' | 'day' | 'hour'>,
  used: number,
  held: number,
): Move[] => agentMoves(agent_id, hour ?? day, used, held)

/** The moves at the end of a hold that nobody settled. */
const endOf = (hold: SpendHoldRow): Move[] => holdMoves(hold, 0, -hold.held_micro)

/** The hold of an allow on a budget, as short as it can be: every allow stores those of its whole path. */
export interface Charge {
  /** Names the budget, of which a later one of the same id is another. */
  readonly uid: string
  /** Of a budget with `per`. */
  readonly value?: string | null | undefined
  readonly window: string
  /** A counted integer. */
  readonly held: number
  /** The end by the budget's own `hold_ttl_seconds`; absent for never. */
  readonly until?: string | undefined
  /** It has ended, and its counter holds it no more. */
  readonly ended?: true
}

/** The counter of a budget, or of one of its values. No agent id contains `*`. */
export const subjectOf = (uid: string, value?: string | null): string =>
  value == null ? `*budget/${uid}` : `*budget/${uid}/${value}`

export const chargesOf = ({ charges }: Pick<SpendHoldRow, 'charges'>): readonly Charge[] =>
  charges === null ? [] : (JSON.parse(charges) as Charge[])

/** The columns of a hold with its charges. */
export function withCharges(
  charges: readonly Charge[],
): Pick<SpendHoldRow, 'charges' | 'charges_until'> {
  const ends = charges.flatMap(({ held, until, ended: isOver }) =>
    held === 0 || !until || isOver ? [] : [until],
  )
  return {
    charges: charges.length === 0 ? null : JSON.stringify(charges),
    charges_until: ends.toSorted()[0] ?? null,
  }
}

/** Returns a hold without the parts that ended by a time, and the moves that end them. */
export function ended(hold: SpendHoldRow, now: string): { hold: SpendHoldRow; moves: Move[] } {
  const isOver = hold.state === 'held' && hold.expires_at !== null && hold.expires_at <= now
  const moves = isOver ? endOf(hold) : []
  const charges = chargesOf(hold).map((charge) => {
    const { uid, value, window, held, until } = charge
    if (charge.ended || !until || until > now) return charge
    moves.push({ subject: subjectOf(uid, value), window, used: 0, held: -held })
    return { ...charge, ended: true as const }
  })
  const state = isOver ? 'expired' : hold.state
  return { hold: { ...hold, state, ...withCharges(charges) }, moves }
}
