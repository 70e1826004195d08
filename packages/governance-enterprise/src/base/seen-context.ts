import { isUsd, toMicroUsd } from '@remit/contract/values'
import { stepsOf } from '@remit/contract/fit'

/** The result of a failed evaluation; as a value of the request, one that is unknown. */
export const FAILED = Symbol('failed')

type Members = Record<string, unknown>
type Seen = Readonly<Members>

const NONE: Seen = {}
const known = new WeakMap<Seen, { readonly replaced: unknown; readonly seen: Seen }>()

/** The context of a request as rules see it: `FAILED` in the places that its sender replaced or omitted. */
export function seenContext({
  context = NONE,
  replaced,
}: {
  readonly context?: Seen | undefined
  readonly replaced?: readonly string[] | undefined
}): Seen {
  if (replaced === undefined && context['omitted'] === undefined) return context
  const made = known.get(context)
  if (made && made.replaced === replaced) return made.seen
  const places = [...(replaced ?? []), ...omittedPlaces(context, replaced)]
  const seen = places.length > 0 ? withPlaces(context, places) : context
  known.set(context, { replaced, seen })
  return seen
}

/**
 * The places in `args` that a mapping omits: `omitted` has their pointers and digests. Where rules cannot see
 * which ones these are, all of `args` is unknown.
 */
function omittedPlaces({ omitted }: Seen, replaced: readonly string[] = []): string[] {
  if (replaced.some((place) => /^\/omitted(?:\/|$)/.test(place))) return ['/args']
  if (typeof omitted !== 'object' || omitted === null || Array.isArray(omitted)) return []
  return Object.entries(omitted).flatMap(([pointer, digest]) =>
    pointer.startsWith('/') && typeof digest === 'string' ? [`/args${pointer}`] : [],
  )
}

/** Copies what contains a place, once. A place that is not there is marked too; if it cannot be, what would contain it. */
function withPlaces(context: Seen, places: readonly string[]): Seen {
  const copies = new Set<unknown>()
  const copyOf = (value: object): Members => {
    const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Members
    copies.add(copy)
    return copy
  }
  const root = { context: copyOf(context) as unknown } satisfies Members
  for (const pointer of places) {
    let outer: Members = root
    let step = 'context'
    for (const next of stepsOf(pointer)) {
      const value = Object.hasOwn(outer, step) ? outer[step] : undefined
      if (typeof value !== 'object' || value === null) break
      const isBesideItems = next === 'length' || !Object.hasOwn(value, next)
      if (Array.isArray(value) && isBesideItems) break
      if (!copies.has(value)) outer[step] = copyOf(value)
      outer = outer[step] as Members
      step = next
    }
    // An assignment to `__proto__` would mark nothing.
    Object.defineProperty(outer, step, MARK)
  }
  return root.context as Seen
}

const MARK = { value: FAILED, configurable: true, enumerable: true, writable: true }

/** The requested amount: micro-USD, none, or invalid. */
export type Amount = { readonly micro: number } | 'missing' | 'invalid'

/**
 * Reads `context.amount_usd`, else `context.amount`; a `context.currency` must be USD. Two
 * different amounts are invalid: the tool could spend the other one.
 */
export function amountOf(context: Readonly<Record<string, unknown>> | undefined): Amount {
  if (context === undefined) return 'missing'
  const amount = own(context, 'amount')
  const value = own(context, 'amount_usd') ?? amount
  if (value === undefined || value === null) return 'missing'
  const currency = own(context, 'currency') ?? 'USD'
  if (currency !== 'USD' || (amount ?? value) !== value) return 'invalid'
  if (typeof value !== 'number' || !isUsd(value)) return 'invalid'
  return { micro: toMicroUsd(value) }
}

const own = (record: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined
