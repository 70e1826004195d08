/** Changes of policy sets that open something, one at a time. */
import type { PolicyDocument } from '@remit/contract'

type Spec = Record<string, unknown>

interface Weakened {
  readonly what: string
  readonly documents: PolicyDocument[]
}

/** Every document left out, every bound moved, every pattern dropped from a rule that forbids. */
export function weakened(documents: readonly PolicyDocument[]): Weakened[] {
  const deniesByDefault = documents.some(
    ({ kind, spec }) =>
      kind === 'Settings' && 'default_effect' in spec && spec.default_effect === 'deny',
  )
  return documents.flatMap((one, i) => {
    if (one.kind === 'Tests' || one.kind === 'Property') return []
    const spec: Spec = one.spec
    const isOpening =
      one.kind === 'Permission' || one.kind === 'Policy' ? spec['effect'] !== 'deny' : false
    const variants = [
      ...boundsMoved(spec, isOpening),
      ...(isOpening ? [] : patternsDropped(spec)),
      ...(one.kind === 'Permission' || deniesByDefault
        ? isOpening
          ? patternsWidened(spec)
          : []
        : []),
    ]
    const name = `${one.kind} ${one.name}`
    return [
      { what: `${name} left out`, documents: documents.toSpliced(i, 1) },
      ...variants.map((change) => ({
        what: `${name}: ${JSON.stringify(change)}`,
        documents: documents.with(i, { ...one, spec: { ...spec, ...change } } as PolicyDocument),
      })),
    ]
  })
}

/** Each number of the condition, moved by one to the side that opens; and the cap of a day. */
function boundsMoved({ condition, daily_usd: daily }: Spec, isOpening: boolean): Spec[] {
  if (typeof daily === 'number') return [{ daily_usd: daily + 1 }]
  if (typeof condition !== 'string') return []
  return [...condition.matchAll(/([<>=]=?|[[,]) ?(\d+)\b(?=(?:[^"]*"[^"]*")*[^"]*$)/g)].map(
    (found) => {
      const [whole, operator = '', number = ''] = found
      const step = operator.startsWith('<') === isOpening || !/[<>]/.test(operator) ? 1 : -1
      const moved = `${operator} ${Number(number) + step}`
      return {
        condition:
          condition.slice(0, found.index) + moved + condition.slice(found.index + whole.length),
      }
    },
  )
}

const LISTS = ['agents', 'actions', 'resources']
const listsOf = (spec: Spec) =>
  LISTS.flatMap((name) => {
    const list = spec[name]
    return Array.isArray(list) ? [{ name, list: list as string[] }] : []
  })

const patternsDropped = (spec: Spec): Spec[] =>
  listsOf(spec).flatMap(({ name, list }) =>
    list.length < 2 ? [] : list.map((_, i) => ({ [name]: list.toSpliced(i, 1) })),
  )

const patternsWidened = (spec: Spec): Spec[] => listsOf(spec).map(({ name }) => ({ [name]: ['*'] }))
