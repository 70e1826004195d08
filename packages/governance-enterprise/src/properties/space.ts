import type { PropertySpec } from '@remit/contract'
import { isAgentId, isName } from '@remit/contract/values'
import { RESERVED_ACTIONS, RESERVED_AGENT } from '@remit/core/decision'
import type { Ask } from '@remit/core/decision'
import { factsOf } from '../rules/facts.ts'
import { readsOf } from './conditions.ts'
import type { ConditionReads } from './conditions.ts'
import { groupsOf } from './facts.ts'
import type { Group } from './facts.ts'
import { anyMatches, representatives } from './names.ts'
import type { NamedRule } from './rules.ts'

/** A value of one part of a request, with the rules that it does not exclude. */
export interface Choice<T> {
  readonly value: T
  /** 1 for each rule of the space that it does not exclude. */
  readonly rules: Uint8Array
}

/** The requests that differ for some rules. */
export interface Space {
  readonly agents: readonly Choice<string>[]
  readonly actions: readonly Choice<string>[]
  readonly resources: readonly Choice<string | null>[]
  /** Milliseconds, from now on. */
  readonly times: readonly Choice<number>[]
  readonly groups: readonly Group[]
  /** The places in `groups` that each rule reads. */
  readonly read: readonly ReadonlySet<number>[]
  /** The same for the condition of the property. */
  readonly always: ReadonlySet<number>
  /** Why there may be requests that differ from all of these. */
  readonly gaps: readonly string[]
}

interface SpaceInputs {
  readonly scope: PropertySpec['for']
  readonly rules: readonly NamedRule[]
  readonly granted: ReadonlySet<string>
  readonly agents: readonly string[]
  readonly now: number
  readonly askWith: (context: Readonly<Record<string, unknown>>) => Ask
  /** Ends it early, with any part of the space. */
  readonly isOver: () => boolean
}

const NOTHING: ConditionReads = { paths: [], atoms: [], names: [], times: [], gaps: [] }

/** Divides the requests of a scope into classes for which the rules decide alike. */
export function spaceOf({
  scope,
  rules,
  granted,
  agents,
  now,
  askWith,
  isOver,
}: SpaceInputs): Space {
  const reads = rules.map(({ condition }) => (condition ? readsOf(condition.text) : NOTHING))
  const when = scope.when === undefined ? NOTHING : readsOf(scope.when)
  const all = [...reads, when]
  const roots = new Set(all.flatMap(({ paths }) => paths.flatMap(({ path }) => path[0] ?? [])))
  const isOpaque = (root: string) =>
    all.some(({ paths }) => paths.some((one) => one.isOpaque && one.path[0] === root))
  const gaps = new Set<string>()
  for (const [i, { gaps: some }] of all.entries()) {
    const label = rules[i] ? `the condition of ${rules[i].label}` : 'the condition `when`'
    for (const one of some) gaps.add(`${label} ${one}`)
  }
  const literals = (of: 'action' | 'agent_id') =>
    all.flatMap(({ names }) => names.flatMap((one) => (one.of === of ? [one.name] : [])))
  const namesOf = (
    field: 'agents' | 'actions' | 'resources',
    known: readonly string[],
    isValid: (name: string) => boolean,
  ) => {
    const patterns = [
      ...scope[field].map((pattern) => ({ pattern, label: '`for`' })),
      ...rules.flatMap((rule) => rule[field].map((pattern) => ({ pattern, label: rule.label }))),
    ]
    const found = representatives(patterns, known, isValid)
    for (const one of found.gaps) gaps.add(one)
    return found.names.filter((name) => anyMatches(scope[field], name))
  }
  const bits = (has: (rule: NamedRule) => boolean): Uint8Array =>
    Uint8Array.from(isOver() ? [] : rules, (rule) => (has(rule) ? 1 : 0))
  const choices = <T extends string | null>(
    field: 'agents' | 'actions' | 'resources',
    values: readonly T[],
    keep: (value: T) => boolean,
    mode?: (value: T) => boolean,
  ) => distinct(values, (value) => bits((rule) => anyMatches(rule[field], value)), keep, mode)
  const acting = [...granted, ...literals('agent_id'), ...(roots.has('agent') ? agents : [])]
  const isAgentRead = roots.has('agent') || roots.has('subject') || isOpaque('agent_id')
  const actors = new Set(literals('agent_id'))
  const acts = new Set(literals('action'))
  const {
    groups,
    gaps: more,
    groupOf,
  } = groupsOf(
    all.flatMap(({ paths }) => paths),
    all.flatMap(({ atoms }) => atoms),
    (atoms, context) => {
      const facts = factsOf(askWith(context))
      return atoms.map((atom) => atom.of(facts)).join('')
    },
  )
  for (const one of more) gaps.add(one)
  const places = ({ paths }: ConditionReads): ReadonlySet<number> => {
    const isWhole = paths.some(({ path }) => path.length === 1 && path[0] === 'context')
    if (isWhole) return new Set(groups.keys())
    return new Set(paths.map(({ path }) => groups.indexOf(groupOf(path) as Group)).filter(isPlace))
  }
  return {
    agents: choices(
      'agents',
      namesOf('agents', acting, isAgentId).filter((name) => name !== RESERVED_AGENT),
      (name) => isAgentRead || actors.has(name),
      (name) => granted.has(name),
    ),
    actions: choices(
      'actions',
      namesOf('actions', [...acts], isName).filter((name) => !name.startsWith(RESERVED_ACTIONS)),
      (name) => isOpaque('action') || acts.has(name),
    ),
    resources: choices(
      'resources',
      [
        ...(anyMatches(scope.resources, null) ? [null] : []),
        ...namesOf('resources', roots.has('resource') ? resourcesIn(all) : [], isName),
      ],
      () => roots.has('resource'),
    ),
    times: distinct(
      timesOf(rules, all, now),
      (time) => bits((rule) => isInForce(rule, time)),
      () => roots.has('now'),
    ),
    groups,
    read: reads.map(places),
    always: places(when),
    gaps: [...gaps],
  }
}

const isPlace = (place: number): boolean => place !== -1

/**
 * One value of those that no rule tells apart, and that agree in `mode`; `keep` is true for values that a
 * condition tells apart.
 */
function distinct<T>(
  values: readonly T[],
  rulesOf: (value: T) => Uint8Array,
  keep: (value: T) => boolean,
  mode: (value: T) => boolean = () => false,
): Choice<T>[] {
  const classes = new Map<string, Choice<T>>()
  for (const value of values) {
    const rules = rulesOf(value)
    const key = `${rules.join('')} ${mode(value)} ${keep(value) ? JSON.stringify(value) : ''}`
    if (!classes.has(key)) classes.set(key, { value, rules })
  }
  return [...classes.values()]
}

const isInForce = ({ notBefore, expiresAt }: NamedRule, time: number): boolean =>
  (notBefore === null || time >= notBefore) && (expiresAt === null || time < expiresAt)

/** Now, and the last and first milliseconds around the ends of windows and times in conditions. */
function timesOf(
  rules: readonly NamedRule[],
  all: readonly ConditionReads[],
  now: number,
): number[] {
  const ends = rules.flatMap(({ notBefore, expiresAt }) => [notBefore ?? now, expiresAt ?? now])
  const named = all.flatMap(({ times }) => times.flatMap((time) => [time, time + 1]))
  const around = [...ends, ...named].flatMap((time) => [time - 1, time])
  return [now, ...new Set(around.filter((time) => time > now))]
}

/** Resources of the types and ids that conditions name. */
function resourcesIn(all: readonly ConditionReads[]): string[] {
  const literalsOf = (member: string) =>
    all.flatMap(({ paths }) =>
      paths.flatMap(({ path, literals }) =>
        path[0] === 'resource' && path[1] === member
          ? literals.filter((one) => typeof one === 'string')
          : [],
      ),
    )
  const [types, ids] = [
    [...literalsOf('type'), 'x'],
    [...literalsOf('id'), 'x'],
  ]
  return [...ids, ...types.flatMap((type) => ids.map((id) => `${type}:${id}`))]
}
