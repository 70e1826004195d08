import { createOutbound } from '@remit/core/net'
import { expect, it } from 'vitest'
import { createApi } from '../support/api.ts'

it('few tests of an organization send at a time; beyond, 429, and others are not', async () => {
  const answer = Promise.withResolvers<never>()
  let sending = 0
  const api = await createApi({
    outbound: createOutbound({
      allowLoopback: false,
      resolve: () => {
        sending += 1
        return answer.promise
      },
    }),
  })
  const other = api.as(await api.remit.organization())
  const target = { url: 'https://logs.example.com/' }
  const sinkOf = async (of: typeof api) =>
    (await of.ok('createSink', { body: { type: 'https', target, enabled: false } })).id
  const [own, theirs] = [await sinkOf(api), await sinkOf(other)]
  const refused = Promise.withResolvers<void>()
  const tests = Array.from({ length: 30 }, async () => {
    const { status } = await api.call('testSink', { params: { id: own } })
    if (status === 429) refused.resolve()
    return status
  })
  await refused.promise
  expect(sending).toBe(4)
  const foreign = other.call('testSink', { params: { id: theirs } })
  answer.reject(new Error('no names here'))

  const statuses = await Promise.all(tests)
  expect(statuses.filter((status) => status === 200)).toHaveLength(20)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  expect((await foreign).status).toBe(200)
  await api.remit.close()
})
