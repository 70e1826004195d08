import { describe, expect, it } from 'vitest'
import { amountText, summaryOf, titleOf } from './asked.ts'

const asked = (context: Record<string, unknown>, resource: string | null = 'invoice:9003') => ({
  action: 'payments.transfer',
  resource,
  context,
})

describe('a summary', () => {
  it.each([
    [asked({ amount_usd: 1001 }), '1,001.00 USD for invoice:9003'],
    [asked({ amount: 1234567.891234, currency: 'EUR' }), '1,234,567.891234 EUR for invoice:9003'],
    [asked({ amount: 5 }, null), '5.00 USD for payments.transfer'],
    [asked({}), 'payments.transfer on invoice:9003'],
    [asked({}, null), 'payments.transfer'],
  ])('names the amount and the resource: %j', (request, summary) => {
    expect(summaryOf(request)).toBe(summary)
  })

  it('names the tool and the server of a call over MCP, in both forms of a resource', () => {
    const call = { action: 'tools/call', context: { upstream: 'files', args: {} } }
    const id = 'create_directory'

    expect(titleOf({ ...call, resource: `tool:${id}` })).toBe('create_directory on server files')
    expect(summaryOf({ ...call, resource: { type: 'tool', id } })).toBe(
      'create_directory on server files',
    )
    expect(titleOf({ ...call, context: {}, resource: `tool:${id}` })).toBe(id)
    expect(titleOf({ ...call, action: 'fs.write', resource: `tool:${id}` })).toBe('fs.write')
  })

  it.each([
    { amount: 5, amount_usd: 5000 },
    { amount_usd: 5, currency: 'EUR' },
    { amount: 5, currency: 'usd or so' },
    { amount: '5' },
    { amount: 1e-9 },
    { amount: 1e21 },
    { amount: Number.NaN },
  ])('names no amount that is not certain: %j', (context) => {
    expect(amountText({ context })).toBeNull()
  })
})
