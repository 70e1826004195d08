import type { Members } from './facts.ts'
import type { Space } from './space.ts'

/** One request of a space. */
export interface Case {
  readonly agent: string
  readonly action: string
  readonly resource: string | null
  /** Milliseconds. */
  readonly at: number
  readonly context: readonly Members[]
}

/** The cases to decide; they are all that differ if `isWhole`. */
export interface Cases {
  /** Their number, or that of all combinations. */
  readonly of: number
  readonly isWhole: boolean
  readonly cases: Iterable<Case>
}

/**
 * All combinations, or where they are more than `most`, some: each pair of values first. Ends early, with any cases,
 * once `isOver`.
 */
export function casesOf(space: Space, most: number, isOver: () => boolean): Cases {
  const sizes = sizesOf(space)
  const tuples = product(sizes.slice(0, NAMES))
  if (tuples <= most) {
    let of = 0
    for (const places of tuplesOf(space)) {
      of += product([...places.groups].map((place) => space.groups[place]?.cells.length ?? 0))
      if (of > most || isOver()) break
    }
    if (of <= most) return { of, isWhole: true, cases: allCases(space) }
  }
  return {
    of: Math.min(product(sizes), Number.MAX_SAFE_INTEGER),
    isWhole: false,
    cases: some(space),
  }
}

const NAMES = 4

const sizesOf = ({ agents, actions, resources, times, groups }: Space): number[] => [
  agents.length,
  actions.length,
  resources.length,
  times.length,
  ...groups.map(({ cells }) => cells.length),
]

const product = (sizes: readonly number[]): number => sizes.reduce((all, one) => all * one, 1)

interface Tuple extends Omit<Case, 'context'> {
  /** The places of the groups that some rule about it reads. */
  readonly groups: ReadonlySet<number>
}

function* tuplesOf({
  agents,
  actions,
  resources,
  times,
  read,
  always,
}: Space): Generator<Tuple, void, undefined> {
  for (const agent of agents)
    for (const action of actions)
      for (const resource of resources)
        for (const time of times) {
          const groups = new Set(always)
          for (const [i, places] of read.entries()) {
            if (!agent.rules[i] || !action.rules[i] || !resource.rules[i] || !time.rules[i])
              continue
            for (const place of places) groups.add(place)
          }
          const names = { agent: agent.value, action: action.value, resource: resource.value }
          yield { ...names, at: time.value, groups }
        }
}

/** All combinations; members that no rule reads are absent. */
function* allCases(space: Space): Generator<Case, void, undefined> {
  for (const { groups, ...names } of tuplesOf(space))
    for (const context of contexts([...groups].map((place) => space.groups[place]?.cells ?? [])))
      yield { ...names, context }
}

function* contexts(
  parts: readonly (readonly Members[])[],
): Generator<readonly Members[], void, undefined> {
  const [first, ...rest] = parts
  if (!first) yield []
  else for (const others of contexts(rest)) for (const cell of first) yield [cell, ...others]
}

/** Each pair of values of two parts, the others at random; then all at random, without end. */
function* some(space: Space): Generator<Case, void, undefined> {
  const sizes = sizesOf(space)
  if (sizes.includes(0)) return
  const random = randomNumbers()
  const anyOf = () => sizes.map((size) => Math.floor(random() * size))
  for (let first = 0; first < sizes.length; first++)
    for (let second = first + 1; second < sizes.length; second++)
      for (let i = 0; i < (sizes[first] ?? 0); i++)
        for (let j = 0; j < (sizes[second] ?? 0); j++)
          yield caseAt(space, anyOf().with(first, i).with(second, j))
  for (;;) yield caseAt(space, anyOf())
}

function caseAt(
  { agents, actions, resources, times, groups }: Space,
  [agent = 0, action = 0, resource = 0, time = 0, ...places]: readonly number[],
): Case {
  return {
    agent: agents[agent]?.value ?? '',
    action: actions[action]?.value ?? '',
    resource: resources[resource]?.value ?? null,
    at: times[time]?.value ?? 0,
    context: groups.map(({ cells }, i) => cells[places[i] ?? 0] ?? []),
  }
}

/** The same numbers for every search (mulberry32), so that a result can be repeated. */
function randomNumbers(): () => number {
  let state = 1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
