import { foldName } from '@remit/contract/values'
import { recordIn, textIn } from '../recorded-json.ts'
import type { Reducer, Reducers } from './reducer.ts'

/** The names of each person: the id, and every address that the person had. */
export class People {
  readonly #names = new Map<string, Set<string>>()
  /** The names of people who were disabled or removed. */
  readonly #former = new Set<ReadonlySet<string>>()

  add(id: string, email: string): void {
    const names = this.#names.get(id) ?? new Set([id])
    names.add(foldName(email))
    // A reused address remains a name of its first holder, as it does for votes.
    for (const name of names) {
      if (!this.#names.has(name)) this.#names.set(name, names)
      // Also if another person has the address now.
      this.#former.delete(this.#names.get(name) ?? names)
    }
  }

  leave(id: string): void {
    const names = this.#names.get(id)
    if (names) this.#former.add(names)
  }

  /** Returns whether one of these names is of a person who was disabled or removed. */
  isFormer(names: readonly (string | null)[]): boolean {
    return names.some((name) => {
      const of = name ? this.#names.get(foldName(name)) : undefined
      return of !== undefined && this.#former.has(of)
    })
  }

  /** Returns these names and all others of the people who have one of them, folded. */
  namesOf(names: readonly (string | null)[]): ReadonlySet<string> {
    const all = names.flatMap((name) => {
      // People of some providers have no address.
      if (!name) return []
      const folded = foldName(name)
      return [folded, ...(this.#names.get(folded) ?? [])]
    })
    return new Set(all)
  }
}

const know: Reducer = ({ people }, { data }) => {
  const member = recordIn(data, 'member') ?? {}
  const id = textIn(member, 'id')
  const email = textIn(member, 'email')
  // The name of a disabled person can change too.
  if (id && email && textIn(member, 'status') !== 'disabled') people.add(id, email)
}

const forget: Reducer = ({ people }, { data }) =>
  people.leave(textIn(recordIn(data, 'member') ?? {}, 'id') ?? '')

/**
 * An address is recorded with the invitation, and a changed one with the next sign-in. A person who is
 * enabled again is updated.
 */
export const personReducers: Reducers = {
  'person.invited': know,
  'person.signed_in': know,
  'person.updated': know,
  'person.disabled': forget,
  'person.removed': forget,
}
