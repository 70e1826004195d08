import { createClient } from '@remit/contract/client'
import { expect, it } from 'vitest'
import { checkText, textsOf } from './results.ts'

const client = createClient({ baseUrl: 'http://127.0.0.1:9', key: 'rmk_none', retries: 0 })

it('a result that is nested too deeply to be read is a finding', async () => {
  const depth = 100_000
  const content: unknown = JSON.parse('['.repeat(depth) + ']'.repeat(depth))

  const found = await checkText(() => textsOf({ content }), {
    client,
    agentId: 'a',
    sessionId: 's',
  })

  expect(found).toEqual({ action: 'block', reasons: ['unchecked'] })
})
