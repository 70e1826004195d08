import { describe, expect, it } from 'vitest'
import { Failure } from '../base/errors.ts'
import { Turns } from './turns.ts'

/** Work that runs until it is told to end. */
function workIn(turns: Turns) {
  const running: string[] = []
  const ends: Record<string, () => void> = {}
  const start = (owner: string, name: string) =>
    turns.run(owner, async () => {
      running.push(name)
      await new Promise<void>((end) => (ends[name] = end))
      running.splice(running.indexOf(name), 1)
      return name
    })
  return { running, start, end: (name: string) => ends[name]?.() }
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: unknown) => (error instanceof Failure ? error.code : String(error)),
  )

describe('turns', () => {
  it('run so many pieces at once, and never all of one organization', async () => {
    const work = workIn(new Turns({ size: 3 }))
    const all = [
      work.start('a', 'a1'),
      work.start('a', 'a2'),
      work.start('a', 'a3'),
      work.start('b', 'b1'),
      work.start('b', 'b2'),
    ]

    expect(work.running).toEqual(['a1', 'a2', 'b1'])
    work.end('b1')
    await all[3]
    expect(work.running).toEqual(['a1', 'a2', 'b2'])
    work.end('a1')
    await all[0]
    expect(work.running).toEqual(['a2', 'b2', 'a3'])
  })

  it('go to another organization first, where one waits', async () => {
    const work = workIn(new Turns({ size: 1 }))
    const names = ['a1', 'a2', 'a3', 'b1', 'b2']
    const all = Object.fromEntries(names.map((name) => [name, work.start(name.slice(0, 1), name)]))
    const order: string[] = []
    for (let name = work.running[0]; name !== undefined; name = work.running[0]) {
      order.push(name)
      work.end(name)
      await all[name]
    }

    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
  })

  it('go on after work that failed', async () => {
    const turns = new Turns({ size: 1 })
    const failing = turns.run('a', () => Promise.reject(new Error('broken')))
    const next = turns.run('a', () => Promise.resolve('done'))

    await expect(failing).rejects.toThrow('broken')
    expect(await next).toBe('done')
  })

  it('refuse what is too much to wait: of one organization, and of all', async () => {
    const turns = new Turns({ size: 1, waiting: { each: 2, total: 3 } })
    const work = workIn(turns)
    void work.start('a', 'a1')
    const waiting = [work.start('a', 'a2'), work.start('a', 'a3')].map(refusal)

    expect(await refusal(work.start('a', 'a4'))).toBe('jobs_busy')
    waiting.push(refusal(work.start('b', 'b1')))
    expect(await refusal(work.start('c', 'c1'))).toBe('jobs_busy')
    turns.close(new Error('closing'))
    expect(await Promise.all(waiting)).toEqual(Array(3).fill('Error: closing'))
  })

  it('refuse what has waited for too long, and nothing else', async () => {
    const work = workIn(new Turns({ size: 1, patienceMs: 5 }))
    const first = work.start('a', 'a1')

    expect(await refusal(work.start('b', 'b1'))).toBe('jobs_busy')
    const next = work.start('b', 'b2')
    work.end('a1')
    await first
    await new Promise((resolve) => setTimeout(resolve, 20))
    work.end('b2')
    expect(await next).toBe('b2')
  })

  it('end when they are ended from elsewhere, once', async () => {
    const turns = new Turns({ size: 1, each: 1 })
    const work = workIn(turns)
    const end = await turns.begin('a')
    const waiting = [work.start('a', 'a1'), work.start('a', 'a2')]
    expect(work.running).toEqual([])
    end()
    end()
    await new Promise((resolve) => setImmediate(resolve))

    expect(work.running).toEqual(['a1'])
    work.end('a1')
    expect(await waiting[0]).toBe('a1')
  })

  it('remove work whose signal aborts, and start the next', async () => {
    const turns = new Turns({ size: 1, each: 1 })
    const work = workIn(turns)
    const first = work.start('a', 'a1')
    const gone = new AbortController()
    const waiting = turns.run('b', () => Promise.resolve('b1'), gone.signal)
    void work.start('c', 'c1')

    gone.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await expect(turns.run('b', () => Promise.resolve(), gone.signal)).rejects.toThrow('gone')
    work.end('a1')
    await first

    expect(work.running).toEqual(['c1'])
  })

  it('keep to a smaller size when running work ends, and fill a larger one', async () => {
    const turns = new Turns({ size: 2, each: 2 })
    const work = workIn(turns)
    const names = ['a1', 'a2', 'a3', 'a4', 'a5']
    const all = names.map((name) => work.start('a', name))

    turns.size = 1
    work.end('a1')
    await all[0]
    expect(work.running).toEqual(['a2'])
    turns.size = 2
    work.end('a2')
    await all[1]
    expect(work.running).toEqual(['a3', 'a4'])
  })
})

describe('work that is chosen before it starts', () => {
  const each = (most: number) => (free: number) => Math.max(1, Math.min(most, Math.ceil(free / 8)))
  const many = (owner: string) => owner.repeat(20)
  const chosen = (turns: Turns, owners: string) => turns.choose(owners.split(''), (owner) => owner)

  it('is selected in order, within the limits per owner and in total', () => {
    expect(chosen(new Turns({ size: 17, each: each(2) }), 'aaabbc').join('')).toBe('aabbc')
  })

  it('counts the running work until it ends', async () => {
    const turns = new Turns({ size: 3, each: each(2) })
    const [end] = await Promise.all(['a', 'b', 'c'].map((owner) => turns.begin(owner)))
    expect([turns.isFull, turns.full(), chosen(turns, 'd')]).toEqual([true, ['a', 'b', 'c'], []])

    end?.()
    await new Promise((resolve) => setImmediate(resolve))

    expect([turns.isFull, turns.full()]).toEqual([false, ['b', 'c']])
    expect(chosen(turns, 'bad')).toEqual(['a'])
  })

  it('leaves places to others beside ten slow owners', async () => {
    const turns = new Turns({ size: 64, each: each(8) })
    const slow = 'abcdefghij'.split('')
    for (const owner of slow) {
      for (const one of chosen(turns, slow.map(many).join(''))) await turns.begin(one)
      for (const one of chosen(turns, many(owner))) await turns.begin(one)
    }

    expect(turns.full()).toEqual(slow)
    expect(chosen(turns, `${slow.map(many).join('')}z`)).toEqual(['z'])
  })
})
