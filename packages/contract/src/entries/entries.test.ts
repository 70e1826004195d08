import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { ENTRIES, ENTRY_GROUPS, readData, rowOf } from './index.ts'
import type { WebhookEvent } from '../webhooks.ts'
import type { EntryDraft, EntryKind, EventKind } from './index.ts'
import type { EntryKindRow } from './row.ts'

const actor = { type: 'system', id: 'remit' }

describe('the catalogue of entries', () => {
  it('has every kind in one group', () => {
    const grouped = Object.values(ENTRY_GROUPS).flatMap((rows) => Object.keys(rows))
    expect(grouped.toSorted()).toEqual(Object.keys(ENTRIES).toSorted())
    expect(new Set(grouped).size).toBe(grouped.length)
  })

  it('knows no kind of another release, and none by a name of every object', () => {
    for (const kind of ['other.kind', 'constructor', '__proto__'])
      expect(rowOf(kind)).toBeUndefined()
  })

  // `pnpm types` fails where a line below is accepted.
  it('refuses a misspelled kind, a wrong member and a missing member at compile time', () => {
    const data = { agent_id: 'payer', mode: 'open' } as const
    const good: EntryDraft = { kind: 'agent_mode.set', actor, agent_id: 'payer', data }
    // @ts-expect-error a misspelled kind
    const misspelled: EntryDraft = { kind: 'agent_mode.put', actor, agent_id: 'payer', data }
    // @ts-expect-error a member of another kind
    const foreign: EntryDraft = { ...good, data: { ...data, revoked: [] } }
    // @ts-expect-error a value of another type
    const wrong: EntryDraft = { ...good, data: { ...data, mode: 'closed' } }
    // @ts-expect-error a member is missing
    const missing: EntryDraft = { ...good, data: { agent_id: 'payer' } }
    // @ts-expect-error the agent is missing
    const nobody: EntryDraft = { kind: 'agent_mode.set', actor, data }
    // @ts-expect-error an entry without an agent has one
    const somebody: EntryDraft = { kind: 'witness.set', actor, agent_id: 'a', data: { vkey: 'k' } }
    // @ts-expect-error a column of the row is missing
    const row: EntryKindRow = { ...ENTRIES['agent_mode.set'], carried: undefined }
    type Sent = (typeof ENTRIES)[EventKind]['event']['is']
    const isEverySent: [Exclude<WebhookEvent, Sent>] extends [never] ? true : false = true
    // @ts-expect-error a kind that is an event has no reader
    const readers: Readonly<Record<EventKind, string>> = { 'enforcement.gap': 'a gap' }
    const all = [good, misspelled, foreign, wrong, missing, nobody, somebody, row]
    expect([isEverySent, Object.keys(readers)]).toEqual([true, ['enforcement.gap']])

    expect(ENTRIES['agent_mode.set'].data.safeParse(all[0]).success).toBe(false)
    for (const one of [foreign, wrong, missing])
      expect(ENTRIES['agent_mode.set'].data.safeParse(one.data).success).toBe(false)
  })
})

type Schema = z.core.$ZodType

const defOf = (schema: Schema) => (schema as z.ZodType).def as z.core.$ZodTypes['_zod']['def']
const isCount = (schema: Schema): boolean => (schema as z.ZodNumber).format === 'safeint'

/** Values of the types of a schema, whose constraints do not count; and some others in their places. */
function valuesOf(schema: Schema, odd: fc.Arbitrary<unknown> | null): fc.Arbitrary<unknown> {
  const fitting = (): fc.Arbitrary<unknown> => {
    const def = defOf(schema)
    switch (def.type) {
      case 'optional':
      case 'nullable':
      case 'default':
        return fc.option(valuesOf(def.innerType, odd))
      case 'pipe':
        return valuesOf(def.out, odd)
      case 'number':
        return isCount(schema) ? fc.maxSafeNat() : fc.double({ noNaN: true })
      case 'boolean':
        return fc.boolean()
      case 'literal':
        return fc.constantFrom(...def.values)
      case 'record':
        return fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
      case 'array':
        return fc.array(valuesOf(def.element, odd), { maxLength: 3 })
      case 'object': {
        const members = Object.entries(def.shape).map(
          ([name, member]) => [name, valuesOf(member, odd)] as const,
        )
        return fc.record(Object.fromEntries(members), { requiredKeys: [] })
      }
      case 'union':
        return fc.oneof(...def.options.map((option) => valuesOf(option, odd)))
      case 'unknown':
        return fc.jsonValue()
      case 'null':
        return fc.constant(null)
      default:
        return fc.string()
    }
  }
  return odd ? fc.oneof({ weight: 4, arbitrary: fitting() }, odd) : fitting()
}

/** The members of a schema in a value: null if missing. Throws for a value of another type. */
function membersOf(schema: Schema, value: unknown): unknown {
  if (value === null || value === undefined) return null
  const def = defOf(schema)
  const hasType = (type: string) => {
    if (typeof value !== type) throw new TypeError(`${JSON.stringify(value)} for ${def.type}`)
    return value
  }
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
      return membersOf(def.innerType, value)
    case 'number':
      if (isCount(schema) && !(Number.isSafeInteger(value) && Number(value) >= 0))
        throw new TypeError(`${JSON.stringify(value)} for a count`)
      return hasType('number')
    case 'boolean':
      return hasType('boolean')
    case 'literal':
      return hasType(typeof def.values[0])
    case 'array': {
      if (!Array.isArray(value)) throw new TypeError(`${JSON.stringify(value)} for a list`)
      const items = value.map((item: unknown) => membersOf(def.element, item))
      return items.filter((item) => item !== null)
    }
    case 'object': {
      const object = hasType('object') as Readonly<Record<string, unknown>>
      const members = Object.entries(def.shape).map(
        ([name, member]) => [name, membersOf(member, object[name])] as const,
      )
      return Object.fromEntries(members)
    }
    case 'pipe':
      return membersOf(def.out, value)
    case 'record':
      if (Array.isArray(value)) throw new TypeError('a list for a record')
      return hasType('object')
    case 'union':
      return typeof value === 'object' ? 'an object' : value
    case 'unknown':
      return value
    default:
      return hasType('string')
  }
}

const KINDS = Object.keys(ENTRIES) as EntryKind[]

describe('readData', () => {
  it.each(KINDS)('finds every member of %s', (kind) => {
    const schema = ENTRIES[kind].data
    fc.assert(
      fc.property(valuesOf(schema, null), (data) => {
        expect(membersOf(schema, readData(kind, data))).toEqual(membersOf(schema, data))
      }),
      { numRuns: 5 },
    )
  })

  it.each(KINDS)('never throws and gives only values of the types of %s', (kind) => {
    const schema = ENTRIES[kind].data
    fc.assert(
      fc.property(fc.oneof(valuesOf(schema, fc.jsonValue()), fc.anything()), (data) => {
        membersOf(schema, readData(kind, data))
      }),
      { numRuns: 15 },
    )
  })

  it('leaves bad items out of lists', () => {
    const data = { revoked: ['per_1', 7, null, { id: 'per_2' }, 'per_3'] }
    expect(readData('permission.revoked', data).revoked).toEqual(['per_1', 'per_3'])
  })

  // `pnpm types` fails where a line below is accepted.
  it('has no member that the kind has not', () => {
    const data = readData('agent_mode.set', { mode: 'open', node: 'open' })
    // @ts-expect-error a misspelled member
    const misspelled: unknown = data.node
    expect([data.mode, misspelled]).toEqual(['open', undefined])
  })
})
