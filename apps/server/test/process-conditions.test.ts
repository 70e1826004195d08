import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { request, startServer } from './support/process.ts'
import type { RunningProcess } from './support/process.ts'

const long = 'a'.repeat(30_000)
const context = { list: Array<string>(8_000).fill(''), text: long }
const doubled = '.map(x, x+x+x+x+x+x+x+x)'.repeat(8)
const nested = '.map(x, [x,x,x,x,x,x,x,x])'.repeat(9)

const REFUSED = {
  'a text of 250 MB': `["aaaaaaaaaaaaaaa"]${doubled}[0].split("").size() > 5`,
  'a list of 67 million': `2 in [[1,1,1,1]]${doubled}[0]`,
  'a value that prints as a gigabyte': `"%s".format([[1]${nested}]).size() > 5`,
  'two values that are compared for a minute': `[1]${nested} == [1]${nested}`,
}
const UNANSWERED = {
  'texts that are joined': 'size(context.list.join(context.text)) > 5',
  'a joined text that is split': 'context.list.join(context.text).split("a").size() > 5',
  'as many loops as may be': `[context.text]${doubled.slice(0, doubled.length / 2)}[0].contains("b")`,
}

describe.skipIf(!hasModules())('a server that is given conditions that make much of little', () => {
  let installation: Installation
  let server: RunningProcess
  let url: string
  let key: string
  let reader: string
  beforeAll(async () => {
    installation = await createInstallation()
    key = (await createOrg(installation.env)).key.secret
    ;({ url, server } = await startServer(installation.env))
    reader = String((await send('/v1/keys', { role: 'read' })).answer['secret'])
    const owners = [{ type: 'user', id: 'ada' }]
    for (const agent_id of ['a', 'b']) await send('/v1/identity/agents', { agent_id, owners })
  })
  afterAll(async () => {
    await server.stop()
    await installation.remove()
  })

  const send = async (path: string, body: unknown, by = key) => {
    const response = await request(`${url}${path}`, by, 'POST', body)
    return { status: response.status, answer: (await response.json()) as Record<string, unknown> }
  }
  const tried = (condition: string) =>
    send(
      '/v1/compliance/policies/dry-run',
      { agent_id: 'a', action: 'x', context, overlay: { add: [{ effect: 'deny', condition }] } },
      reader,
    )

  it.each(Object.entries(REFUSED))('refuses %s, wherever it stands', async (_, condition) => {
    const answers = [
      await tried(condition),
      await send('/v1/policies', { effect: 'deny', condition }),
      await send('/v1/approval-rules/r', { condition }),
      await send('/v1/delegation/permissions/p', { effect: 'deny', agent_id: '*', condition }),
      await send('/v1/identity/trust', { effect: 'deny', condition }),
    ]

    for (const { status, answer } of answers) {
      expect(status, JSON.stringify(answer)).toBe(400)
      expect(JSON.stringify(answer)).toContain('more than 4 loops are chained')
    }
    expect((await fetch(`${url}/health`)).status).toBe(200)
  })

  it.each(Object.entries(UNANSWERED))('answers an error for %s', async (_, condition) => {
    const { status, answer } = await tried(condition)
    expect([status, answer['decision'], answer['reason']]).toEqual([200, 'deny', 'policy_error'])

    await send('/v1/identity/trust', { effect: 'deny', condition })
    const asked = { source_agent_id: 'a', target_agent_id: 'b', action: 'x', context }
    const trust = await send('/v1/identity/authorize', asked)
    expect([trust.answer['decision'], trust.answer['reason']]).toEqual(['deny', 'policy_error'])
    expect((await fetch(`${url}/health`)).status).toBe(200)
  })
})
