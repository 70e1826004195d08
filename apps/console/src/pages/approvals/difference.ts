import type { Approval } from '@remit/contract'
import { amountText, parseJson, pointerOf, titleOf } from '@remit/contract/fit'

type Facts = Pick<Approval, 'agent_id' | 'action' | 'resource' | 'context' | 'replaced'>

/** A member of a request at its dotted path. */
export interface Field {
  readonly path: string
  readonly pointer: string
  readonly value: unknown
}

/** Members of a value, each object and list down to its values, or to one of the places `until`. */
function* leaves(
  value: unknown,
  steps: readonly string[],
  until: readonly string[] = [],
): Generator<Field> {
  const pointer = pointerOf(steps)
  const isOpen = typeof value === 'object' && value !== null && !until.includes(pointer)
  const members = isOpen ? Object.entries(value) : []
  if (members.length > 0)
    for (const [name, member] of members) yield* leaves(member, [...steps, name], until)
  else if (value !== undefined) yield { path: steps.join('.'), pointer, value }
}

/** Members that a host adds to each request of a session; the agent's tool does not read them. */
const OF_SESSION: ReadonlySet<string> = new Set(['session_id', 'guard', 'upstream', 'approval'])
const MONEY: ReadonlySet<string> = new Set(['amount_usd', 'amount', 'currency'])

const nameOf = ({ pointer }: Field): string => pointer.split('/')[1] ?? ''
/** Returns true for a call over MCP, whose title names the tool and the server. */
export const isCall = (request: Facts): boolean => titleOf(request) !== request.action

/**
 * The context of a request as fields, and apart what the session adds. The money is left out where
 * `amountText` says all of it.
 */
export function fieldsOf(request: Approval): {
  readonly asked: readonly Field[]
  readonly session: readonly Field[]
} {
  const { context, replaced, binding_context: bound } = request
  const isSaid = amountText(request) !== null && bound === null
  const ofSession = (field: Field) =>
    OF_SESSION.has(nameOf(field)) || (field.pointer === '/tool' && isCall(request))
  const all = [...leaves(context, [], replaced)].filter(({ pointer }) => pointer !== '')
  const shown = all.filter((field) => nameOf(field) !== 'omitted')
  return {
    asked: shown.filter((field) => !ofSession(field) && !(isSaid && MONEY.has(nameOf(field)))),
    session: shown.filter(ofSession),
  }
}

/** A value for reading: a text as it is, unless it would look like another kind of value. */
export const valueText = (value: unknown): string =>
  typeof value === 'string' && !/^$|^\s|\s$/.test(value) && parseJson(value) === undefined
    ? value
    : JSON.stringify(value)

export interface Difference {
  readonly path: string
  readonly was: string | null
  readonly now: string | null
}

const SESSION = new RegExp(`^context\\.(?:${[...OF_SESSION].join('|')})(?:\\.|$)`)

const factsOf = ({ agent_id, action, resource, context, replaced = [] }: Facts) =>
  new Map(
    [
      ...leaves(
        { agent_id, action, resource: resource ?? undefined, context },
        [],
        replaced.map((place) => `/context${place}`),
      ),
    ].map(({ path, value }) => [path, valueText(value)]),
  )

/** Members in which two requests differ, apart from those of their sessions. */
export function differencesOf(was: Facts, now: Facts): Difference[] {
  const [before, after] = [factsOf(was), factsOf(now)]
  const paths = new Set([...after.keys(), ...before.keys()])
  return [...paths]
    .filter((path) => before.get(path) !== after.get(path) && !SESSION.test(path))
    .map((path) => ({ path, was: before.get(path) ?? null, now: after.get(path) ?? null }))
}

/** The amount in USD that a request asks for; null without one. */
export function amountOf({ context }: Pick<Approval, 'context'>): number | null {
  const amount = context['amount_usd'] ?? context['amount']
  return typeof amount === 'number' && Number.isFinite(amount) ? amount : null
}

/** The members that the agent's side does not show; only their digests are in the request. */
export function hiddenIn({ context }: Pick<Approval, 'context'>): string {
  const omitted: unknown = context['omitted']
  return typeof omitted === 'object' && omitted !== null ? Object.keys(omitted).join(', ') : ''
}
