import { networkInterfaces } from 'node:os'
import { createOutbound } from '@remit/core/net'
import { OPERATOR } from '@remit/core/orgs'
import { SYSTEM } from '@remit/core/caller'
import { handMade, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { decide, open, setRule } from '../support/approvals.ts'
import { dump } from '../support/dump.ts'
import { startMailServer } from '../support/mail-server.ts'
import type { MailServer } from '../support/mail-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventually } from '../support/webhooks.ts'

const BASE = 'https://remit.example.org'
/** A secret in the resource, text for a chat, and members that only the console shows. */
const SECRET = 'AKIAIOSFODNN7EXAMPLE'
const PAYMENT = {
  agent_id: 'treasury <!channel>',
  action: 'payments.transfer',
  resource: `invoice:9003 ${SECRET} [x](http://evil.example)`,
  context: { amount_usd: 1001, note: 'private', omitted: { '/card': 'hidden-digest' } },
}
/** An address of this machine that is not loopback. */
const NEAR = Object.values(networkInterfaces())
  .flatMap((one) => one ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address
const NOWHERE = /private|hidden-digest|AKIA|\u202e/

describe.each(someDialects())('messages for people on %s', (dialect) => {
  let mail: MailServer
  let all: Api
  let api: Api
  beforeAll(async () => {
    mail = await startMailServer()
    const smtp = { url: mail.url, from: 'remit@example.org' }
    all = await createApi({
      dialect,
      outbound: createOutbound({ allowLoopback: true }),
      settings: { baseUrl: BASE, smtp },
    })
  })
  beforeEach(async () => {
    api = all.as(await all.remit.organization())
    await setRule(api, { description: 'Second pair of eyes\u202e', approvers: APPROVERS })
  })
  afterAll(async () => {
    await all.remit.close()
    await mail[Symbol.asyncDispose]()
  })

  const APPROVERS = { users: ['ada@example.org', 'bob@example.org'], roles: [] }
  const create = (body: object) => api.ok('createWebhook', { body })
  const mails = (to: string) => mail.received.filter((one) => one.to.includes(to))
  const lastOf = (id: string) =>
    eventually(async () => {
      const { data } = await api.ok('listDeliveries', { params: { id } })
      return data[0]?.attempts.length ? data[0] : null
    })

  it('go to Slack as blocks without links or mentions of others, and with a link to the request', async () => {
    await using receiver = await startReceiver()
    const { secret, events } = await create({ url: receiver.url, format: 'slack' })
    expect([secret, events]).toEqual([null, ['approval.requested']])
    const id = await open(api, PAYMENT)
    const [message] = await receiver.until(1)
    const body = JSON.parse(message!.body) as { text: string; blocks: Block[] }
    const [header, facts, link] = body.blocks

    expect(header?.text?.text).toMatch(/^Approval needed: 1,001\.00 USD for invoice:9003/)
    expect(facts?.fields?.every(({ type }) => type === 'plain_text')).toBe(true)
    const texts = facts?.fields?.map(({ text }) => text)
    expect(texts).toContain('Agent\ntreasury <!channel>')
    expect(texts).toContain('Amount\n1,001.00 USD')
    expect(texts).toContain('Rule\nSecond pair of eyes\\u{202e}')
    expect(link?.text?.text).toBe(`<${BASE}/console/approvals/${id}|Open in Remit>`)
    expect(body.text).not.toContain('<')
    expect(message!.body).not.toMatch(NOWHERE)
    expect(message!.headers['webhook-signature']).toBeUndefined()

    await open(api, { ...PAYMENT, resource: 'a&<!channel>' })
    const [, next] = await receiver.until(2)
    expect((JSON.parse(next!.body) as Slack).text).toContain('a&amp;&lt;!channel&gt;')
  })

  it('leave out what an entry has in another type than its kind says', async () => {
    await using receiver = await startReceiver()
    await create({ url: receiver.url, format: 'slack', events: ['approval.decided'] })
    const approval = { id: 'apr_1', status: 'approved', votes: [7, {}], requirements: 'large' }
    const told = { kind: 'approval.decided', agent_id: 'payer', action: 'pay' }
    const entries = [handMade({ ...told, actor: SYSTEM, data: { approval } })]
    await all.remit.writer.work(api.org.id, OPERATOR, () =>
      Promise.resolve({ entries, reply: () => undefined }),
    )
    const [message] = await receiver.until(1)

    expect((JSON.parse(message!.body) as Slack).text).toContain('Approved: pay')
  })

  it('warn of a rule whose condition failed, without its description', async () => {
    await using receiver = await startReceiver()
    await create({ url: receiver.url, format: 'slack' })
    const rule = { description: 'Above 1,000 USD', condition: 'amount_usd > 1000.0' }
    await setRule(api, rule)
    await open(api, { ...PAYMENT, context: { amount_usd: -5 } })
    const [message] = await receiver.until(1)
    const { blocks } = JSON.parse(message!.body) as { blocks: Block[] }
    const texts = blocks[1]?.fields?.map(({ text }) => text)

    expect(texts).toContain('Rule\nlarge')
    expect(texts?.join('')).toContain(
      'Warning\nThe condition of the rule large could not be evaluated for this request',
    )
    expect(message!.body).not.toContain('Above 1,000 USD')
  })

  it('go to Teams as an Adaptive Card of texts without Markdown', async () => {
    await using receiver = await startReceiver()
    receiver.answer = (response) => response.writeHead(202).end()
    const { id: webhook } = await create({ url: receiver.url, format: 'teams' })
    const id = await open(api, PAYMENT)
    const [message] = await receiver.until(1)
    const body = JSON.parse(message!.body) as Teams
    const { contentType, content } = body.attachments[0]!

    expect([body.type, contentType]).toEqual(['message', 'application/vnd.microsoft.card.adaptive'])
    expect(new Set(content.body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']))
    const runs = content.body.flatMap(({ inlines }) => inlines)
    expect(new Set(runs.map(({ type }) => type))).toEqual(new Set(['TextRun']))
    expect(runs.map(({ text }) => text)).toContain('treasury <!channel>')
    expect(content.actions).toEqual([
      {
        type: 'Action.OpenUrl',
        title: 'Open in Remit',
        url: `${BASE}/console/approvals/${id}`,
      },
    ])
    expect(message!.body).toContain('1,001.00 USD')
    expect(message!.body).not.toMatch(NOWHERE)
    expect((await lastOf(webhook)).state).toBe('delivered')
  })

  it('tell later events, and others than approvals, by name', async () => {
    await using receiver = await startReceiver()
    const events = ['approval.decided', 'authorization.denied']
    await create({ url: receiver.url, format: 'slack', events })
    const id = await open(api, PAYMENT)
    await decide(api, id, { decision: 'reject', comment: 'secret', approver: 'ada@example.org' })
    await api.ok('authorize', { body: PAYMENT })
    const titles = (await receiver.until(2)).map(({ body }) => (JSON.parse(body) as Slack).text)

    expect(titles.toSorted()).toEqual([
      'Denied: payments.transfer',
      expect.stringMatching(/^Rejected: payments\.transfer on invoice:9003/),
    ])
    expect(JSON.stringify(receiver.received)).not.toContain('secret')
    expect(receiver.received.map(({ body }) => body).join('')).toContain('ada@example.org')
  })

  it('go by e-mail to those who can vote, and not to the requester or after the decision', async () => {
    const { id: webhook } = await create({ url: 'mailto:', format: 'email' })
    const id = await open(api, PAYMENT)
    await lastOf(webhook)
    const [message] = mails('ada@example.org')

    expect(message).toMatchObject({
      from: 'remit@example.org',
      to: ['ada@example.org', 'bob@example.org'],
    })
    expect(message!.content).toMatch(/^Subject: Approval needed: 1,001\.00 USD for invoice:9003/m)
    expect(message!.content).toContain(`Open in Remit: ${BASE}/console/approvals/${id}`)
    expect(message!.content).toContain('treasury &lt;!channel&gt;')
    expect(message!.content).not.toMatch(NOWHERE)

    await decide(api, id, { decision: 'approve', approver: 'ada@example.org' })
    const { id: delivery } = await lastOf(webhook)
    await api.ok('redeliver', { params: { id: webhook, deliveryID: delivery } })
    const again = await eventually(async () => {
      const one = await lastOf(webhook)
      return one.attempts.length === 2 && one
    })
    expect(again).toMatchObject({ state: 'failed', attempts: [{}, { error: 'no_recipient' }] })
  })

  it('go by e-mail to named addresses, with every event, and are tested', async () => {
    const url = 'mailto:ops@example.org,audit@example.org'
    const { id, url: shown } = await create({ url, format: 'email', events: ['spend.threshold'] })
    expect(shown).toBe(url)
    await api.ok('testWebhook', { params: { id } })
    expect((await lastOf(id)).state).toBe('delivered')

    expect(mails('audit@example.org').at(-1)).toMatchObject({
      to: ['ops@example.org', 'audit@example.org'],
      content: expect.stringContaining('Subject: Test of a webhook'),
    })
  })

  it('name the share of a spend limit that is used', async () => {
    await using receiver = await startReceiver()
    await create({ url: receiver.url, format: 'slack', events: ['spend.threshold'] })
    await api.ok('setSpendLimit', { params: { id: 'spender' }, body: { daily_usd: 100 } })
    const context = { amount_usd: 85 }
    await api.ok('authorize', { body: { agent_id: 'spender', action: 'mail.send', context } })
    const messages = await receiver.until(2)
    const titles = messages.map(({ body }) => (JSON.parse(body) as Slack).text)

    expect(titles.toSorted()).toEqual([
      expect.stringMatching(/^Spend limit: 50% reached/),
      expect.stringMatching(/^Spend limit: 80% reached/),
    ])
  })

  it('are sent again where the mail server refuses, and say so without its words', async () => {
    mail.refuses = 450
    const { id } = await create({ url: 'mailto:late@example.org', format: 'email' })
    await open(api, PAYMENT)
    const failed = await lastOf(id)
    mail.refuses = null
    expect(failed).toMatchObject({
      state: 'pending',
      attempts: [{ status: null, error: 'smtp_recipient_refused' }],
      next_attempt_at: expect.any(String),
    })
    await api.ok('redeliver', { params: { id, deliveryID: failed.id } })
    await eventually(() => Promise.resolve(mails('late@example.org').length === 1))
  })

  it('keep the token in the path of a chat out of the database and the ledger', async () => {
    const url = 'https://hooks.slack.com/services/T000/B000/hunter2?x=hunter3'
    const { id, url: shown } = await create({ url, format: 'slack' })
    const { url: read } = await api.ok('getWebhook', { params: { id } })
    expect([shown, read]).toEqual([url, url])
    const everything = JSON.stringify(await dump(all.remit.db, api.org.id))

    expect(everything).toContain('https://hooks.slack.com')
    expect(everything).not.toContain('hunter')
  })

  it.each([
    [{ url: 'http://hooks.slack.com/x', format: 'slack' }, 'url'],
    [{ url: 'mailto:ada@example.org', format: 'slack' }, 'url'],
    [{ url: 'https://example.org/x', format: 'email' }, 'url'],
    // As long as mailto: before the address.
    [{ url: 'https:/ada@example.org', format: 'email' }, 'url'],
    [{ url: 'mailto:ada@example.org?bcc=eve@example.org', format: 'email' }, 'url'],
    [{ url: 'mailto:ada@example.org\r\nBcc: eve@example.org', format: 'email' }, 'url'],
    [{ url: 'mailto:"x" <eve@example.org>', format: 'email' }, 'url'],
    [{ url: 'mailto:', format: 'email', events: ['spend.threshold'] }, 'events'],
    [{ url: 'https://example.org/x', format: 'discord' }, 'format'],
  ])('are refused for %j with the field', async (body, field) => {
    const response = await api.call('createWebhook', { body })
    expect(response.status).toBe(400)
    const { errors } = (await response.json()) as { errors: { path: string }[] }
    expect(errors.map(({ path }) => path)).toEqual([field])
  })

  it.skipIf(NEAR === undefined)(
    'are not sent by e-mail without TLS to another machine',
    async () => {
      await using far = await startMailServer(NEAR)
      const smtp = { url: far.url, from: 'remit@example.org' }
      const plain = await createApi({ dialect, settings: { smtp } })
      try {
        api = plain
        const { id } = await create({ url: 'mailto:ada@example.org', format: 'email' })
        await api.ok('testWebhook', { params: { id } })
        const last = await lastOf(id)

        expect(last).toMatchObject({ state: 'pending', attempts: [{ error: 'tls_failed' }] })
        expect([far.received, far.users]).toEqual([[], []])
      } finally {
        await plain.remit.close()
      }
    },
  )

  it('by e-mail need a mail server', async () => {
    const plain = await createApi({ dialect })
    const refused = await plain.call('createWebhook', {
      body: { url: 'mailto:ada@example.org', format: 'email' },
    })
    expect(await refused.json()).toMatchObject({ errors: [{ path: 'format' }] })
    await plain.remit.close()
  })
})

interface Slack {
  readonly text: string
}
interface Block {
  readonly text?: Slack
  readonly fields?: readonly { readonly type: string; readonly text: string }[]
}
interface Teams {
  readonly type: string
  readonly attachments: readonly {
    readonly contentType: string
    readonly content: {
      readonly body: readonly {
        readonly type: string
        readonly inlines: readonly { readonly type: string; readonly text: string }[]
      }[]
      readonly actions: unknown
    }
  }[]
}
