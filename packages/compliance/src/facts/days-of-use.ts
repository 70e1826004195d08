import { isNamed, voteIn, VOTING } from './approvals/votes.ts'
import { ADMINISTRATIVE } from './changes/administrative.ts'
import type { FactEntry } from './entry.ts'
import { DECIDED } from './lazy-entry.ts'
import { isUse } from './ledger/recorded-use.ts'
import { DAY } from './report-query.ts'
import type { FactState } from './state/state.ts'

interface Counted {
  readonly kinds: readonly string[]
  readonly is: (entry: FactEntry, state: FactState) => boolean
}

type Counting = 'use' | 'decisions' | 'requests' | 'votes'

/** Entries whose days count. */
const COUNTED: Readonly<Record<Counting, Counted>> = {
  use: { kinds: [DECIDED, ...VOTING, ...ADMINISTRATIVE], is: isUse },
  decisions: { kinds: [DECIDED], is: ({ erased }) => !erased },
  requests: { kinds: ['approval.requested'], is: ({ erased }) => !erased },
  votes: {
    kinds: VOTING,
    is: (entry) => {
      const vote = voteIn(entry)
      return vote !== null && isNamed(vote)
    },
  },
}

/**
 * Days of the period (UTC) with decisions, votes or changes; with decisions; with requests for
 * approval; with votes of named people.
 */
export type CountedDays = Readonly<Record<Counting, number>>

class Days {
  readonly is: Counted['is']
  #last = -Infinity
  count = 0

  constructor({ is }: Counted) {
    this.is = is
  }

  add(time: number): void {
    const day = Math.floor(time / DAY)
    // A clock that went back does not count a day twice.
    if (day <= this.#last) return
    this.#last = day
    this.count += 1
  }
}

/** Counts the days of a period on which the organization used Remit. */
export class DaysOfUse {
  readonly #days = {
    use: new Days(COUNTED.use),
    decisions: new Days(COUNTED.decisions),
    requests: new Days(COUNTED.requests),
    votes: new Days(COUNTED.votes),
  }
  #first: number | null = null
  #last: number | null = null

  /** Returns the counts that entries of a kind can add to. */
  of(kind: string): readonly Days[] {
    return NAMES.filter((name) => COUNTED[name].kinds.includes(kind)).map(
      (name) => this.#days[name],
    )
  }

  /** Adds an entry of the period to the counts of its kind, with the state before it. */
  add(to: readonly Days[], entry: FactEntry, state: FactState): void {
    for (const days of to) {
      if (!days.is(entry, state)) continue
      days.add(entry.time)
      if (days !== this.#days.use) continue
      this.#first ??= entry.time
      this.#last = entry.time
    }
  }

  get counts(): CountedDays {
    const { use, decisions, requests, votes } = this.#days
    return {
      use: use.count,
      decisions: decisions.count,
      requests: requests.count,
      votes: votes.count,
    }
  }

  /** Milliseconds from the first to the last use in the period; 0 without use. */
  get spanMs(): number {
    return this.#first === null || this.#last === null ? 0 : Math.max(0, this.#last - this.#first)
  }
}

const NAMES = Object.keys(COUNTED) as Counting[]
