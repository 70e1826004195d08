import type { AuthorizeRequest } from '@remit/contract'
import { stepsOf } from '@remit/contract/fit'

/** The result of a failed evaluation; as a value of the request, one that is unknown. */
export const FAILED = Symbol('failed')

type Members = Record<string, unknown>
type Seen = Readonly<Members>

const NONE: Seen = {}
const known = new WeakMap<Seen, { readonly replaced: readonly string[]; readonly seen: Seen }>()

/** The context of a request as rules see it: `FAILED` in the places that its sender replaced. */
export function seenContext({
  context = NONE,
  replaced,
}: Pick<AuthorizeRequest, 'context' | 'replaced'>): Seen {
  if (replaced === undefined) return context
  const made = known.get(context)
  if (made?.replaced === replaced) return made.seen
  const seen = withPlaces(context, replaced)
  known.set(context, { replaced, seen })
  return seen
}

/** Copies what contains a replaced place, once. */
export function withPlaces(context: Seen, replaced: readonly string[]): Seen {
  const copies = new Set<unknown>()
  const copyOf = (value: object): Members => {
    const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Members
    copies.add(copy)
    return copy
  }
  const root = { context: copyOf(context) as unknown } satisfies Members
  for (const pointer of replaced) {
    let outer: Members = root
    let step = 'context'
    for (const next of stepsOf(pointer)) {
      const value = outer[step]
      if (typeof value !== 'object' || value === null) break
      if (!copies.has(value)) outer[step] = copyOf(value)
      outer = outer[step] as Members
      step = next
    }
    outer[step] = FAILED
  }
  return root.context as Seen
}
