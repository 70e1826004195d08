import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const PARAMETERS = [
  ['listEntries', 'kind'],
  ['listEntries', 'action'],
  ['listSpendLimits', 'cursor'],
  ['listPolicies', 'cursor'],
  ['listApprovals', 'cursor'],
  ['getDelegation', 'cursor'],
] as const

describe.each(someDialects())('text in a query on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
  })
  afterAll(() => api.remit.close())

  it.each(PARAMETERS)(
    'of %s as %s: 400 with U+0000, else whatever there is',
    async (name, field) => {
      const problem = await api.refusal(name, { query: { [field]: 'a\u0000' } })

      expect(problem.errors).toEqual([{ path: field, message: 'must not contain U+0000' }])
      for (const text of ['%', "'", '\\', '\u{10ffff}'])
        expect((await api.call(name, { query: { [field]: text } })).status).toBe(200)
    },
  )
})
