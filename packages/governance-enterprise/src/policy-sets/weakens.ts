import { isDeepStrictEqual } from 'node:util'
import type { ObjectChange, ObjectKind } from '@remit/contract'
import { covers } from '@remit/contract/patterns'
import type { Spec } from './compare.ts'

type Change = Pick<ObjectChange, 'change' | 'kind'> & {
  readonly before: Spec | null
  readonly after: Spec | null
}

/**
 * Returns whether a change may allow what was denied or held before; false only if it provably does not.
 * Pure.
 */
export function weakens({ change, kind, before, after }: Change): boolean {
  if (change === 'release' || isEqual(before, after)) return false
  return WEAKENS[kind](inForce(before), inForce(after))
}

/** A rule that decides something; null for none, and for one that is disabled or observed. */
const inForce = (spec: Spec | null): Spec | null =>
  spec === null || spec['enabled'] === false || spec['mode'] === 'observe' ? null : spec

type Weakens = (before: Spec | null, after: Spec | null) => boolean

/** Of rules with an effect: policies, permissions, trust policies. */
const effects =
  (patterns: readonly string[], isBound: (spec: Spec) => boolean = () => false): Weakens =>
  (before, after) => {
    if (after === null) return before?.['effect'] === 'deny'
    if (before === null) return after['effect'] === 'allow' && !isBound(after)
    if (before['effect'] !== after['effect']) return after['effect'] === 'allow'
    const [wide, narrow] = after['effect'] === 'deny' ? [after, before] : [before, after]
    return !isWithin(narrow, wide, patterns) || !isSameBut(before, after, [...patterns, ...TEXTS])
  }

/** Members without an effect on decisions. */
const TEXTS = ['description']
const RULE = ['agents', 'actions', 'resources']

const WEAKENS: Readonly<Record<ObjectKind, Weakens>> = {
  Policy: effects(RULE),
  // A permission cannot exceed its parent.
  Permission: effects(['actions', 'resources'], ({ parent_id: parent }) => parent !== null),
  TrustPolicy: effects(['source_agents', 'target_agents', 'actions']),

  ApprovalRule: (before, after) => {
    if (before === null || after === null) return before !== null
    const votes = ['required_approvals', 'required_rejections']
    return (
      !isWithin(before, after, RULE) ||
      !isNoLess(after['required_approvals'], before['required_approvals']) ||
      !isNoLess(before['required_rejections'], after['required_rejections']) ||
      !hasNoMoreApprovers(before['approvers'], after['approvers']) ||
      !isSameBut(before, after, [...RULE, ...TEXTS, ...votes, 'approvers'])
    )
  },

  SpendLimit: (before, after) => {
    if (before === null || after === null) return before !== null
    const caps = Object.keys({ ...before, ...after }).filter((name) => name.endsWith('_usd'))
    return (
      !caps.every((name) => isNoHigher(after[name] ?? null, before[name] ?? null)) ||
      !isSameBut(before, after, caps)
    )
  },

  Budget: (before, after) => {
    if (before === null || after === null) return before !== null
    // A smaller slice is room for others, and a wider one is room for those that it matches.
    if (before['reserved'] === true) return !isSameBut(before, after, ['warn_at', ...TEXTS])
    const [narrow, wide] = [before['match'], after['match']] as Spec[]
    return (
      !isNoHigher(after['limit'] ?? null, before['limit'] ?? null) ||
      !narrow ||
      !wide ||
      !isWithin(narrow, wide, [...RULE, 'users']) ||
      !isEqual(narrow['labels'], wide['labels']) ||
      !isSameBut(before, after, ['limit', 'match', 'warn_at', ...TEXTS])
    )
  },

  AgentMode: (_, after) => after?.['mode'] !== 'granted',

  Settings: (before, after) =>
    Object.entries(after ?? {}).some(
      ([name, value]) =>
        !isEqual(value, before?.[name]) && !isStricter(name, value, before?.[name]),
    ),
}

const isStricter = (name: string, value: unknown, before: unknown): boolean =>
  name === 'consequential_actions'
    ? isListWithin(before, value)
    : value === 'deny' || value === true

/** Every pattern of the lists of one rule is covered by one of the other. */
const isWithin = (narrow: Spec, wide: Spec, names: readonly string[]): boolean =>
  names.every((name) => isListWithin(narrow[name], wide[name]))

const isListWithin = (narrow: unknown, wide: unknown): boolean =>
  Array.isArray(narrow) &&
  Array.isArray(wide) &&
  narrow.every((one) =>
    wide.some(
      (other) =>
        isEqual(one, other) ||
        (typeof one === 'string' && typeof other === 'string' && covers(other, one)),
    ),
  )

const isSameBut = (before: Spec, after: Spec, names: readonly string[]): boolean =>
  Object.keys(after).every(
    (name) =>
      names.includes(name) || after[name] === undefined || isEqual(before[name], after[name]),
  )

const isNoLess = (a: unknown, b: unknown): boolean =>
  typeof a === 'number' && typeof b === 'number' && a >= b

/** Null is no cap. */
const isNoHigher = (cap: unknown, before: unknown): boolean =>
  before === null || (typeof cap === 'number' && typeof before === 'number' && cap <= before)

/** Null is everybody who may decide. */
function hasNoMoreApprovers(before: unknown, after: unknown): boolean {
  if (before === null) return true
  const [old, next] = [before, after] as { users?: unknown; roles?: unknown }[]
  return (
    next !== null && isListWithin(next?.users, old?.users) && isListWithin(next?.roles, old?.roles)
  )
}

const isEqual = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a ?? null, b ?? null)
