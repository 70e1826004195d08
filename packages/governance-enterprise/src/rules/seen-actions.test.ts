import { describe, expect, it } from 'vitest'
import { similarAction } from './seen-actions.ts'

const SEEN = new Set([
  'payments.transfer',
  'tools/call',
  'web.get',
  'deploy.production',
  '支付.发票',
])

describe('an action that no call has had', () => {
  it.each([
    ['paymnets.create', 'payments.transfer'],
    ['payment.transfer', 'payments.transfer'],
    ['paymnets.*', 'payments.transfer'],
    ['payments.transfers', 'payments.transfer'],
    ['payments.tranfser', 'payments.transfer'],
    ['deploy.prodution', 'deploy.production'],
    ['toosl/call', 'tools/call'],
    ['tools/call', null],
    ['payments.create', null],
    ['payments.trans*', null],
    ['payments.transfe*s', null],
    ['web.set', null],
    ['toolx/call', 'tools/call'],
    ['toxxs/call', null],
    ['web.*', null],
    ['*', null],
    ['*.transfers', null],
    ['database.drop', null],
    ['支付.发票', null],
    ['x', null],
  ])('%s is similar to %j', (pattern, similar) => {
    expect(similarAction(pattern, SEEN)).toBe(similar)
  })

  it('is not compared with names that are long', () => {
    const end = 'a'.repeat(40)

    expect(similarAction(`x${end}`, new Set([`y${end}`]))).toBe(null)
    expect(similarAction(`x${end.slice(20)}`, new Set([`y${end.slice(20)}`]))).not.toBe(null)
  })

  it('is similar to none where nothing is recorded', () => {
    expect(similarAction('payments.transfer', new Set())).toBe(null)
  })
})
