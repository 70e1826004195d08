import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { RequestTurns } from './limits.ts'

/** Requests of 2 ms each, and the order in which they begin. */
function createRequests() {
  let now = 0
  const begun: string[] = []
  const turns = new RequestTurns(() => now)
  const request = async (owner: string) => {
    await turns.take(owner)
    begun.push(owner)
    now += 0.5
  }
  /** Requests that arrive one after the other, in one turn of the event loop. */
  const arrive = async (owners: readonly string[]) => {
    const all: Promise<void>[] = []
    for (const owner of owners) {
      all.push(request(owner))
      await Promise.resolve()
    }
    return all
  }
  return { begun, arrive }
}

describe('requests that arrive at once', () => {
  it('begin in slices, with a turn of the event loop between them', async () => {
    const { begun, arrive } = createRequests()
    const all = await arrive(Array.from({ length: 12 }, () => 'a'))
    const seen = [begun.length]
    while (begun.length < 12) {
      await setImmediate()
      seen.push(begun.length)
    }
    await Promise.all(all)

    expect(Math.max(...seen.slice(1).map((count, at) => count - (seen[at] ?? 0)))).toBeLessThan(6)
  })

  it('of one organization do not delay those of another', async () => {
    const { begun, arrive } = createRequests()
    await Promise.all(await arrive([...Array.from({ length: 100 }, () => 'a'), 'b', 'b']))

    expect(begun).toHaveLength(102)
    expect(begun.lastIndexOf('b')).toBeLessThan(12)
  })

  it('begin at once where there is time', () => {
    const turns = new RequestTurns(() => 0)

    expect([turns.take('a'), turns.take('a'), turns.take('b')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
