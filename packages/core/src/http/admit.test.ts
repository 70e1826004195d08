import { contract } from '@remit/contract'
import { describe, expect, it } from 'vitest'
import { fail } from '../base/errors.ts'
import type { Authenticator } from '../keys/authenticator.ts'
import { Sessions } from '../sessions/sessions.ts'
import { authenticate } from './admit.ts'

/** The addresses that count as having sent a wrong key after one refusal of the authenticator. */
async function countedAfter(refusal: Error): Promise<string[]> {
  const counted: string[] = []
  const admission = authenticate(
    contract.runScorer,
    { header: 'Bearer rmk_x' },
    () => '192.0.2.1',
    {
      authenticator: {
        recall: () => null,
        authenticate: () => Promise.reject(refusal),
      } as unknown as Authenticator,
      sessions: new Sessions(
        null as never,
        'enterprise',
        { now: () => 0 },
        { keyLogin: false, place: () => null },
      ),
      rateLimit: null,
      failedKeys: {
        take: (address) => {
          counted.push(address)
          return Promise.resolve()
        },
      },
    },
  )
  await expect(admission).rejects.toBe(refusal)
  return counted
}

describe('a key that is refused', () => {
  it('counts as wrong against its address', async () => {
    expect(await countedAfter(fail('unauthorized'))).toEqual(['192.0.2.1'])
  })

  it('does not count while the database cannot say whether it is wrong', async () => {
    expect(await countedAfter(fail('overloaded'))).toEqual([])
    expect(await countedAfter(new Error('connection lost'))).toEqual([])
  })
})
