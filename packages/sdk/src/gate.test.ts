import { createClient } from '@remit/contract/client'
import { describe, expect, it } from 'vitest'
import { createGate } from './gate.ts'

const client = createClient({
  baseUrl: 'http://127.0.0.1:9',
  key: 'rmk_x',
  fetch: () => Promise.reject(new Error('sent')),
})
const gateWith = (options: object = {}) => createGate({ client, retries: 0, ...options })

describe('createGate', () => {
  it.each([
    [{ approval: { mode: 'ask' } }, 'approval.mode must be one of wait, return, refuse'],
    [{ approval: { mode: 'wait', max_ms: 8000 } }, 'approval.max_ms is unknown'],
    [{ approval: { mode: 'wait', maxMs: 1, maxSeconds: 1 } }, 'approval.maxSeconds is unknown'],
    [{ approval: { mode: 'return', maxMs: 8000 } }, 'approval.maxMs is unknown'],
    [{ approval: { mode: 'wait' } }, 'approval.maxMs must be a number'],
    [{ approval: { mode: 'wait', maxMs: '8000' } }, 'approval.maxMs must be a number'],
    [{ map: { pay: { ommit: ['/iban'] } } }, 'map.pay.ommit is unknown'],
    [{ map: { pay: { omit: ['iban'] } } }, 'map.pay: iban is no JSON Pointer'],
    [{ map: { pay: { omit: [''] } } }, 'is no JSON Pointer'],
    [{ map: { pay: { amount: '$.usd' } } }, 'map.pay: $.usd is no JSON Pointer'],
    [{ omitKey: 'short' }, 'omitKey must have at least 32 characters'],
  ])('refuses %j', (options, message) => {
    expect(() => gateWith(options)).toThrow(
      new RegExp(message.replaceAll(/[$.]/g, String.raw`\$&`)),
    )
  })
})

describe('the name of a tool', () => {
  it.each(['pay ', 'pay\u200b', 'pay.*', 'e\u0301', '', 'x'.repeat(257)])(
    '%j is refused where the tool is wrapped, and denied where it is called',
    async (tool) => {
      expect(() => gateWith().wrap(tool, () => 'ran')).toThrow(TypeError)
      expect(await gateWith().check({ tool, input: {} })).toMatchObject({ reason: 'unmappable' })
    },
  )

  it('can be any one where a function maps it', async () => {
    const gate = gateWith({ map: () => ({ action: 'pay' }) })

    expect(await gate.wrap('pay.*', () => 'ran', { onDeny: 'return' })({})).toMatchObject({
      reason: 'remit_unavailable',
    })
  })
})

describe('settle', () => {
  it('never throws for a verdict that holds nothing, and says so', async () => {
    const warnings: string[] = []
    const gate = gateWith({ onWarning: (text: string) => warnings.push(text) })
    const deny = await gate.check({ tool: 'pay', input: {} })
    const pending = { ...deny, kind: 'pending', approvalId: 'apr_1', until: null }

    expect(await gate.settle(deny)).toEqual({ settled: false, error: null })
    expect(await gate.settle(pending as typeof deny)).toEqual({ settled: false, error: null })
    expect(warnings).toEqual([expect.stringContaining('Only an allow')])
  })

  it('never throws where the server cannot be reached, or a warning cannot be given', async () => {
    const gate = gateWith({
      onWarning: () => {
        throw new Error('no logger')
      },
    })
    const allow = {
      kind: 'allow',
      decisionId: 'dec_1',
      callId: 'c',
      action: 'pay',
      reason: '',
      approvalId: null,
    } as const

    expect(await gate.settle(allow, { costUsd: 5n as unknown as number })).toMatchObject({
      settled: false,
      error: { code: 'unreachable' },
    })
  })
})

describe('an input that cannot be read', () => {
  it.each(['no', null, undefined])('is denied where it throws %j', async (thrown) => {
    const input = Object.defineProperty({}, 'usd', {
      enumerable: true,
      get() {
        throw thrown as unknown as Error
      },
    })

    expect(await gateWith().check({ tool: 'pay', input })).toMatchObject({
      kind: 'deny',
      reason: 'unmappable',
    })
  })
})
