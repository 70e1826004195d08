import { describe, expect, it } from 'vitest'
import { isDenied } from './visibility.ts'

type Effective = Parameters<typeof isDenied>[0]
type Deny = Effective['denies'][number]
type Grant = Effective['grants'][number]

const effective = (changes: object): Effective =>
  ({
    agent_id: 'a',
    at: '2026-11-22T08:00:00.000Z',
    state: 'active',
    mode: 'open',
    grants: [],
    denies: [],
    ...changes,
  }) as unknown as Effective
const deny = (changes: Partial<Deny>): Partial<Deny> => ({
  actions: ['tools/*'],
  resources: ['tool:pay'],
  condition: null,
  not_before: null,
  ...changes,
})
const grant = (changes: Partial<Grant>): Partial<Grant> => ({
  actions: ['tools/call'],
  resources: ['tool:p*'],
  partial: false,
  ...changes,
})

describe('a tool is left out of the list', () => {
  it.each([
    ['of an agent that is suspended', { state: 'suspended' }],
    ['by a deny without a condition', { denies: [deny({})] }],
    ['of an agent that needs a grant and has none', { mode: 'granted' }],
    [
      'where the grant is for other tools',
      { mode: 'granted', grants: [grant({ resources: ['tool:x'] })] },
    ],
  ])('%s', (_, changes) => {
    expect(isDenied(effective(changes), 'tools/call', 'tool:pay')).toBe(true)
  })
})

describe('a tool is listed', () => {
  it.each([
    ['without a deny', {}],
    ['where a deny depends on the request', { denies: [deny({ condition: 'true' })] }],
    ['before a deny is in force', { denies: [deny({ not_before: '2026-11-23T00:00:00.000Z' })] }],
    ['where a deny is for other tools', { denies: [deny({ resources: ['tool:x'] })] }],
    ['with a grant', { mode: 'granted', grants: [grant({})] }],
    [
      'with a grant whose patterns are not listed',
      { mode: 'granted', grants: [grant({ actions: [], partial: true })] },
    ],
  ])('%s', (_, changes) => {
    expect(isDenied(effective(changes), 'tools/call', 'tool:pay')).toBe(false)
  })
})
