import { isUsd } from '@remit/contract/values'
import type { Atom, Literal, ReadPath } from './conditions.ts'
import { AMOUNT } from '../rules/types.ts'

/** Members of a context with their values. */
export type Members = readonly (readonly [string, unknown])[]

/** Members of the context that vary together, and a value for each class of their values. */
export interface Group {
  /** Members of the context that it has. */
  readonly members: ReadonlySet<string>
  readonly cells: readonly Members[]
}

export interface Groups {
  readonly groups: readonly Group[]
  readonly gaps: readonly string[]
  /** The group that a path belongs to; undefined for another part of the request. */
  readonly groupOf: (path: readonly string[]) => Group | undefined
}

/** What is read at a place of the context, and below it. */
interface Place {
  readonly literals: Set<Literal>
  isOpaque: boolean
  readonly below: Map<string, Place>
}

const emptyPlace = (): Place => ({ literals: new Set(), isOpaque: false, below: new Map() })

const MAX_VALUES = 5_000
const ABSENT = Symbol('absent')
/** What the amount of a request depends on. */
const AMOUNT_MEMBERS = [AMOUNT, 'amount', 'currency']

/**
 * Divides the contexts into classes that no atom tells apart, and takes one of each. Values that are read by
 * more than atoms are all kept. `evaluate` gives the results of atoms for a context.
 */
export function groupsOf(
  paths: readonly ReadPath[],
  atoms: readonly Atom[],
  evaluate: (atoms: readonly Atom[], context: Readonly<Record<string, unknown>>) => string,
): Groups {
  const gaps: string[] = []
  const root = emptyPlace()
  const amount = emptyPlace()
  let readsAmount = false
  for (const { path, literals, isOpaque } of paths) {
    const [variable, ...members] = path
    const isAmount = variable === AMOUNT
    readsAmount ||= isAmount
    if (!isAmount && variable !== 'context') continue
    const place = isAmount ? amount : placeOf(root, members)
    for (const one of literals) place.literals.add(one)
    place.isOpaque ||= isOpaque
  }
  const keys = [...root.below.keys()]
  const own = readsAmount ? keys.filter((key) => !AMOUNT_MEMBERS.includes(key)) : keys
  const groups = own.map((key) => {
    const place = root.below.get(key) ?? emptyPlace()
    const cells = valuesOf(place, key, gaps).map((value): Members =>
      value === ABSENT ? [] : [[key, value]],
    )
    return grouped([key], cells, isAnyOpaque(place) || root.isOpaque)
  })
  if (root.isOpaque && keys.length === 0) groups.push(grouped(['x'], [[], [['x', 'x']]], true))
  if (readsAmount) {
    const direct = AMOUNT_MEMBERS.filter((key) => root.below.has(key))
    if (direct.length > 0)
      gaps.push(`conditions read amount_usd beside context.${direct.join(', context.')}`)
    const cells = direct.length > 0 ? spelledAmounts(root, amount, gaps) : amounts(amount)
    const isOpaque = amount.isOpaque || direct.some((key) => isAnyOpaque(root.below.get(key)))
    groups.push(grouped(AMOUNT_MEMBERS, cells, isOpaque))
  }
  const byMember = new Map(groups.flatMap((one) => [...one.members].map((name) => [name, one])))
  return {
    groups,
    gaps,
    groupOf: ([variable, member = '']) =>
      byMember.get(variable === AMOUNT ? AMOUNT : variable === 'context' ? member : ''),
  }

  function grouped(
    members: readonly string[],
    cells: readonly Members[],
    isOpaque: boolean,
  ): Group {
    const names = new Set(members)
    const mine = atoms.filter(({ path: [variable, member = ''] }) =>
      names.has(variable === AMOUNT ? AMOUNT : member),
    )
    const classes = new Map<string, Members>()
    for (const cell of cells) {
      const key = isOpaque ? JSON.stringify(cell) : evaluate(mine, Object.fromEntries(cell))
      if (!classes.has(key)) classes.set(key, cell)
    }
    return { members: names, cells: [...classes.values()] }
  }
}

function placeOf(root: Place, members: readonly string[]): Place {
  let place = root
  for (const name of members) {
    let next = place.below.get(name)
    if (!next) place.below.set(name, (next = emptyPlace()))
    place = next
  }
  return place
}

const isAnyOpaque = (place: Place | undefined): boolean =>
  place !== undefined && (place.isOpaque || [...place.below.values()].some(isAnyOpaque))

/** Absent, and values of every JSON type on each side of every literal. */
function valuesOf(place: Place, name: string, gaps: string[]): unknown[] {
  const texts = [...place.literals].filter((one) => typeof one === 'string')
  const more = place.isOpaque ? texts.flatMap((one) => [`${one}x`, `x${one}`, `x${one}x`]) : []
  const values: unknown[] = [ABSENT, true, false, freshText(texts), ...texts, ...more]
  values.push(...numbersAround(place.literals), [])
  if (place.isOpaque) values.push(...[...place.literals].map((one) => [one]), [...place.literals])
  values.push(...mapsOf(place, name, gaps))
  return values
}

function mapsOf(place: Place, name: string, gaps: string[]): object[] {
  let maps: Members[] = [[]]
  for (const [key, below] of place.below) {
    const values = valuesOf(below, `${name}.${key}`, gaps)
    if (maps.length * values.length > MAX_VALUES) {
      gaps.push(`context.${name} has too many combinations of values`)
      maps = maps.slice(0, Math.max(1, Math.floor(MAX_VALUES / values.length)))
    }
    maps = maps.flatMap((map) =>
      values.map((value): Members => (value === ABSENT ? map : [...map, [key, value]])),
    )
  }
  return maps.map((map) => Object.fromEntries(map))
}

/** A text of a letter that no literal has, if there is one: string functions look into texts. */
function freshText(texts: readonly string[]): string {
  const letter = ['x', 'y', 'z', 'q', 'j', 'w', '~', '^'].find(
    (one) => !texts.some((text) => text.includes(one)),
  )
  let text = letter ?? 'x'
  while (texts.includes(text)) text += 'x'
  return text
}

/** The literals, and numbers below, between and above them. */
function numbersAround(literals: ReadonlySet<Literal>): number[] {
  const sorted = [...literals].filter((one) => typeof one === 'number').toSorted((a, b) => a - b)
  const [least = 1, most = 1] = [sorted[0], sorted.at(-1)]
  const step = (one: number) => Math.max(1, Math.abs(one))
  const between = sorted.slice(1).map((one, i) => one / 2 + (sorted[i] ?? one) / 2)
  return [...new Set([...sorted, least - step(least), ...between, most + step(most)])].filter(
    Number.isFinite,
  )
}

const MOST_USD = 1e9
const toMicro = (usd: number): number => Math.round(usd * 1e6) / 1e6

/** No amount, none that counts, and valid amounts on each side of every literal. */
function amounts({ literals }: Place): Members[] {
  const cuts = numbersAround(new Set([...literals, 0, MOST_USD]))
  const usd = [...new Set([...cuts, ...cuts.map(toMicro)])].filter(isUsd)
  return [[], [[AMOUNT, 'x']], ...usd.map((one): Members => [[AMOUNT, one]])]
}

/** The spellings of an amount with each other. */
function spelledAmounts(root: Place, amount: Place, gaps: string[]): Members[] {
  const literals = [...amount.literals, 0]
  let cells: Members[] = [[]]
  for (const key of AMOUNT_MEMBERS) {
    const place = root.below.get(key) ?? emptyPlace()
    for (const one of key === 'currency' ? ['USD'] : literals) place.literals.add(one)
    const values = valuesOf(place, key, gaps)
    cells = cells
      .flatMap((cell) =>
        values.map((value): Members => (value === ABSENT ? cell : [...cell, [key, value]])),
      )
      .slice(0, MAX_VALUES)
  }
  return cells
}
