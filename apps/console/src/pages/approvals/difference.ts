import type { Approval } from '@remit/contract'

export interface Difference {
  readonly path: string
  readonly was: string | null
  readonly now: string | null
}

type Facts = Pick<Approval, 'agent_id' | 'action' | 'resource' | 'context'>

/** Members of a value by their dotted path, as JSON texts. */
function* leaves(value: unknown, path: string): Generator<readonly [string, string]> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isObject && Object.keys(value).length > 0)
    for (const [name, member] of Object.entries(value))
      yield* leaves(member, path === '' ? name : `${path}.${name}`)
  else if (value !== undefined) yield [path, JSON.stringify(value)]
}

const factsOf = ({ agent_id, action, resource, context }: Facts) =>
  new Map(leaves({ agent_id, action, resource, context }, ''))

/** Members in which two requests differ. */
export function differencesOf(was: Facts, now: Facts): Difference[] {
  const [before, after] = [factsOf(was), factsOf(now)]
  const paths = new Set([...after.keys(), ...before.keys()])
  return [...paths]
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => ({ path, was: before.get(path) ?? null, now: after.get(path) ?? null }))
}

/** The amount that a request asks for; null without one. */
export function amountOf({ context }: Pick<Approval, 'context'>): number | null {
  const amount = context['amount_usd'] ?? context['amount']
  return typeof amount === 'number' && Number.isFinite(amount) ? amount : null
}
