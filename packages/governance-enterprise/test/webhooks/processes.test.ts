import { createOutbound } from '@remit/core/net'
import { createTestRemit } from '@remit/testing'
import { expect, it } from 'vitest'
import governance from '../../src/index.ts'
import { apiOf } from '../support/api.ts'
import { startReceiver, verified } from '../support/receiver.ts'
import { askDenied, createWebhookApi, denyAll, eventually } from '../support/webhooks.ts'

const EACH = 60

it('two processes that decide and deliver at the same time send every message once', async () => {
  await using receiver = await startReceiver()
  const here = await createWebhookApi({ dialect: 'postgres' })
  const { url, signingKey } = here.remit
  const outbound = createOutbound({ allowLoopback: true })
  const second = await createTestRemit({ modules: [governance], url, signingKey, outbound })
  const there = apiOf(second, here.org)
  await denyAll(here)
  const { id, secret } = await here.ok('createWebhook', { body: { url: receiver.url } })

  const answers = await Promise.all(
    [here, there].flatMap((api) => Array.from({ length: EACH }, () => askDenied(api))),
  )

  await receiver.until(answers.length)
  await eventually(async () => (await there.ok('getWebhook', { params: { id } })).pending === 0)
  const told = receiver.received.map((one) => verified(secret, one).data['decision_id'])
  expect(told).toHaveLength(answers.length)
  expect(new Set(told)).toEqual(new Set(answers.map(({ decision_id }) => decision_id)))
  await second.close()
  await here.remit.close()
})
