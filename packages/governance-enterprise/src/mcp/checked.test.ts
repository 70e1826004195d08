import type { Deps } from '@remit/core/module'
import { describe, expect, it } from 'vitest'
import { checked } from './report.ts'

const tool = (name: string, description: string) => ({ name, description })
const ANSWER = {
  action: 'block',
  score: 1,
  reasons: ['injection:instruction_override'],
  findings: [],
  threshold: 0.5,
}

/** A pool whose worker finds every text bad. */
function workers() {
  const lengths: number[] = []
  const computer = {
    run: (_owner: string, _job: unknown, { request }: { request: { content: string } }) => {
      lengths.push(request.content.length)
      return Promise.resolve({ parts: [ANSWER], ended: null })
    },
    close: () => Promise.resolve(),
  } as unknown as Deps['computer']
  return { computer, lengths }
}

/** A clock that five milliseconds pass on at each look, and the turns that are given to others. */
function pacing() {
  const turns: number[] = []
  let now = 0
  return {
    turns,
    now: () => (now += 5),
    pause: () => {
      turns.push(now)
      return Promise.resolve()
    },
  }
}

describe('reported definitions', () => {
  it('with long texts are checked in a worker, short ones on the event loop', async () => {
    const { computer, lengths } = workers()
    const tools = [tool('short', 'Reads a file'), tool('long', 'a b '.repeat(10_000))]

    const [short, long] = await checked(tools, computer, 'org', pacing())

    expect(lengths).toEqual([expect.closeTo(40_000, -2)])
    expect(short).toMatchObject({ findings: [], isBlocked: false })
    expect(long).toMatchObject({ findings: ANSWER.reasons, isBlocked: true })
  })

  it('leave turns of the event loop to others, however many they are', async () => {
    const { computer } = workers()
    const pace = pacing()
    const tools = Array.from({ length: 60 }, (_, i) => tool(`tool-${i}`, 'Reads a file'))

    await checked(tools, computer, 'org', pace)

    expect(pace.turns.length).toBeGreaterThan(10)
  })
})
