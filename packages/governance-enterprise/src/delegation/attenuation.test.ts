import fc from 'fast-check'
import { runs } from '@remit/testing/pure'
import { describe, expect, it } from 'vitest'
import { aPermission } from '../../test/support/permissions.ts'
import { anAsk, NOW } from '../../test/support/rules.ts'
import { isAbout } from '../rules/rule-index.ts'
import { depthLeft, widerThan, toPermission } from './permission.ts'
import type { RequestedPermission, CompiledPermission } from './permission.ts'

const link = (given: Parameters<typeof aPermission>[0]): CompiledPermission =>
  toPermission(aPermission({ can_delegate: 1, max_depth: 2, ...given }))

const cut = (given: Partial<RequestedPermission> = {}): RequestedPermission => ({
  actions: ['payments.transfer'],
  resources: ['account:42'],
  notBefore: null,
  expiresAt: null,
  maxDepth: null,
  ...given,
})

const root = link({
  id: 'root',
  actions: ['payments.*', 'mail.send'],
  resources: ['account:*'],
  not_before: '2026-11-20T08:00:00.000Z',
  expires_at: '2026-12-01T00:00:00.000Z',
})
const middle = link({ id: 'middle', actions: ['payments.transfer'], max_depth: 1 })
const at = (text: string) => Date.parse(text)

describe('a child permission', () => {
  it.each([
    ['as much as it has', { actions: ['payments.*', 'mail.send'], resources: ['account:*'] }, []],
    ['a part of it', {}, []],
    ['another action', { actions: ['payments.transfer', 'mail.read'] }, ['actions.1']],
    ['a wider pattern', { actions: ['payments*'] }, ['actions.0']],
    ['every action', { actions: ['*'] }, ['actions.0']],
    ['every resource', { resources: ['*'] }, ['resources.0']],
    ['its window', { notBefore: root.notBefore, expiresAt: root.expiresAt }, []],
    ['a later end', { expiresAt: at('2026-12-01T00:00:00.001Z') }, ['expires_at']],
    ['an earlier beginning', { notBefore: at('2026-11-20T07:59:59.999Z') }, ['not_before']],
    ['all the links that are left', { maxDepth: 1 }, []],
    ['more links than are left', { maxDepth: 2 }, ['max_depth']],
    [
      'everything at once',
      { actions: ['*'], resources: ['*'], maxDepth: 8 },
      ['max_depth', 'actions.0', 'resources.0'],
    ],
  ])('%s', (_, given, paths) => {
    expect(widerThan([root], cut(given)).map(({ path }) => path)).toEqual(paths)
  })

  it('is compared with every link, not with the last one only', () => {
    expect(widerThan([root, middle], cut())).toEqual([])
    expect(widerThan([root, middle], cut({ actions: ['mail.send'] }))).toEqual([
      { path: 'actions.0', message: 'mail.send is not covered by the patterns of middle' },
    ])
    expect(widerThan([root, middle], cut({ resources: ['file:1'] }))).toEqual([
      { path: 'resources.0', message: 'file:1 is not covered by the patterns of root' },
    ])
  })

  it.each([
    [[2], 1],
    [[0], -1],
    [[8], 7],
    [[2, 1], 0],
    [[2, 8], 0],
    [[8, 1], 0],
    [[1, 8], -1],
    [[8, 7, 6, 5, 4, 3, 2], 1],
    [[8, 8, 8, 8, 8, 8, 8, 8], 0],
    [[8, 8, 8, 8, 8, 8, 8, 8, 8], -1],
  ])('leaves, after links with max_depth %j, %d', (depths, left) => {
    expect(depthLeft(depths.map((max_depth) => link({ max_depth })))).toBe(left)
  })

  it('does not follow the last link that max_depth allows', () => {
    expect(widerThan([link({ max_depth: 0 })], cut()).map(({ path }) => path)).toEqual([
      'parent_id',
    ])
  })

  it('covers nothing outside a link, if it is not refused as too wide', () => {
    const pattern = fc.constantFrom('*', 'a*', '*b', 'a', 'ab', 'a*b', 'b')
    const list = fc.array(pattern, { minLength: 1, maxLength: 3 })
    const end = fc.constantFrom(NOW, NOW + 1)
    const permission = fc.record({ actions: list, resources: list, expiresAt: end })
    const name = fc.constantFrom('a', 'b', 'ab', 'aab', 'ba')
    fc.assert(
      fc.property(permission, permission, name, name, (wide, narrow, action, resource) => {
        const wider = { ...link({}), ...wide }
        const ask = anAsk({ action, resource })
        fc.pre(widerThan([wider], cut(narrow)).length === 0)
        fc.pre(isAbout({ ...link({}), ...narrow }, ask))
        expect(isAbout(wider, ask)).toBe(true)
      }),
      { numRuns: runs(500), maxSkipsPerRun: 1_000 },
    )
  })
})
