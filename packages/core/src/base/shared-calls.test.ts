import { describe, expect, it } from 'vitest'
import { SharedCalls } from './shared-calls.ts'

/** Calls that end when told, and the number that began. */
function calls() {
  const open: PromiseWithResolvers<string>[] = []
  const execute = () => {
    const call = Promise.withResolvers<string>()
    open.push(call)
    return call.promise
  }
  return { open, execute }
}

describe('calls with the same key', () => {
  it('share one execution that began after they arrived', async () => {
    const shared = new SharedCalls<string>()
    const { open, execute } = calls()
    const first = shared.run('a', execute)
    const [second, third] = [shared.run('a', execute), shared.run('a', execute)]
    expect(open).toHaveLength(1)
    open[0]?.resolve('old')
    expect(await first).toBe('old')
    await Promise.resolve()
    expect(open).toHaveLength(2)
    open[1]?.resolve('new')
    expect(await Promise.all([second, third])).toEqual(['new', 'new'])
  })

  it('do not wait for those with another key, and none stays behind', async () => {
    const shared = new SharedCalls<string>()
    const { open, execute } = calls()
    const answers = [shared.run('a', execute), shared.run('b', execute)]
    expect(open).toHaveLength(2)
    for (const call of open) call.resolve('done')
    await Promise.all(answers)
    void shared.run('a', execute)
    expect(open).toHaveLength(3)
  })

  it('run again after one that failed', async () => {
    const shared = new SharedCalls<string>()
    const { open, execute } = calls()
    const first = shared.run('a', execute)
    const second = shared.run('a', execute)
    open[0]?.reject(new Error('no database'))
    await expect(first).rejects.toThrow('no database')
    await Promise.resolve()
    open[1]?.resolve('good')
    expect(await second).toBe('good')
  })
})
