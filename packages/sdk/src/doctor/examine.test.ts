import { createClient } from '@remit/contract/client'
import { describe, expect, it } from 'vitest'
import { createGate } from '../gate.ts'
import { examine, isAtLeast } from './examine.ts'
import type { Framework } from './examine.ts'

const client = createClient({
  baseUrl: 'http://remit.example',
  key: 'rmk_test',
  fetch: () => Promise.reject(new TypeError('down')),
  retries: 0,
})
const gate = createGate({ client, retries: 0 })
const subject = (load: Framework['load']) => ({
  project: {
    declares: () => true,
    imports: () => true,
    importsModule: (name: string) => name === '@remit/sdk/host',
    installed: () => '1.0.0',
  },
  loaded: () => '1.0.0',
  frameworks: [{ name: 'Host', package: 'host', adapter: 'host', since: '1', load }],
})

describe('an examination', () => {
  it('finds a host that runs the canary all the same not enforced', async () => {
    const load = () =>
      Promise.resolve({
        selfTest: () => gate.selfTest((_, canary) => Promise.resolve(canary.run())),
      })
    const { findings } = await examine(gate, subject(load))

    expect(findings).toMatchObject([
      {
        enforcement: 'not_enforced',
        detail: expect.stringMatching(/^deny: ran 1 times/) as string,
      },
    ])
  })

  it('does not vouch for an adapter that cannot be loaded', async () => {
    const { findings } = await examine(
      gate,
      subject(() => Promise.reject(new Error('Cannot find package'))),
    )

    expect(findings).toMatchObject([{ enforcement: 'not_tested', detail: 'Cannot find package' }])
  })
})

it.each([
  ['1.2.3', '1.2.3', true],
  ['1.10.0', '1.9.9', true],
  ['0.3.299', '0.3.300', false],
  ['7', '7.0.0', true],
  ['6.9.9', '7.0.0', false],
  ['8.0.0-beta.1', '7.0.0', true],
])('%s is at least %s: %s', (version, least, expected) => {
  expect(isAtLeast(version, least)).toBe(expected)
})
