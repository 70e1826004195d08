import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { ask, decide, open, read, setRule } from '../support/approvals.ts'

describe.each(someDialects())('a comment on a rejection, on %s', (dialect) => {
  let first: Api
  let api: Api
  const clock = createClock()
  beforeAll(async () => {
    first = await createApi({ dialect, clock })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
  })

  const reject = async (comment?: string) => {
    const id = await open(api)
    await decide(api, id, { decision: 'reject', ...(comment !== undefined && { comment }) })
    return read(api, id)
  }

  it('reaches the agent where the rule says so', async () => {
    await setRule(api, { comment_to_agent: true })

    expect(await reject('No invoice.\u202e')).toMatchObject({
      comment_for_agent: 'No invoice.\\u{202e}',
    })
    expect(await ask(api)).toMatchObject({
      decision: 'deny',
      reason: 'approval_rejected',
      message: expect.stringMatching(/^The request was rejected, because: No invoice\./) as string,
    })
  })

  it('stays with the approvers where no rule, or not each of them, says so', async () => {
    await setRule(api, {})
    expect(await reject('secret')).toMatchObject({ comment_for_agent: null })
    expect((await ask(api)).message).not.toContain('secret')

    api = first.as(await first.remit.organization())
    await setRule(api, { comment_to_agent: true })
    await setRule(api, {}, 'other')
    expect(await reject('secret')).toMatchObject({ comment_for_agent: null })
    expect((await ask(api)).message).toMatch(/^The request was rejected\. /)
  })

  it('is none where nobody commented, and none of an approval', async () => {
    await setRule(api, { comment_to_agent: true })
    expect(await reject()).toMatchObject({ comment_for_agent: null })

    api = first.as(await first.remit.organization())
    await setRule(api, { comment_to_agent: true })
    const id = await open(api)
    await decide(api, id, { decision: 'approve', comment: 'Fine.' })
    expect(await read(api, id)).toMatchObject({ status: 'approved', comment_for_agent: null })
  })
})
