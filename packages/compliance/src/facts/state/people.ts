import { foldName } from '@remit/contract'
import { recordIn, textIn } from '../recorded-json.ts'
import type { Reducer, Reducers } from './reducer.ts'

/** The names of each person: the id, and every address that the person had. */
export class People {
  readonly #names = new Map<string, Set<string>>()

  add(id: string, email: string): void {
    const names = this.#names.get(id) ?? new Set([id])
    names.add(foldName(email))
    // A reused address remains a name of its first holder, as it does for votes.
    for (const name of names) if (!this.#names.has(name)) this.#names.set(name, names)
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
  if (id && email) people.add(id, email)
}

/** An address is recorded with the invitation, and a changed one with the next sign-in. */
export const personReducers: Reducers = { 'person.invited': know, 'person.signed_in': know }
