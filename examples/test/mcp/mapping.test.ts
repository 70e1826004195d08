import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { connect, startCounting, startGateway } from './support/http.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-map-'))
const FILE = join(folder, 'map.json')

/** The mapping of the documentation, and one for another tool. */
const MAP = {
  pay: {
    amount: '/usd',
    authzen: {
      evaluation: {
        subject: { type: 'identity', id: '$token.sub' },
        action: { name: "$params.arguments.usd > 100.0 ? 'large_payment' : 'payment'" },
        resource: { type: 'account', id: '$params.arguments.account' },
        context: { agent: '$token.?client_id', upstream: 'of the mapping', region: '$$EU' },
      },
    },
  },
}

describe.skipIf(!hasModules())('calls with a mapping of AuthZEN', () => {
  let remit: RemitServer
  let server: Awaited<ReturnType<typeof startCounting>>
  let gateway: Awaited<ReturnType<typeof startGateway>>
  let client: Awaited<ReturnType<typeof connect>>['client']

  beforeAll(async () => {
    writeFileSync(FILE, JSON.stringify(MAP))
    remit = await startRemit()
    server = await startCounting()
    await remit.client.createPolicy({
      body: { effect: 'deny', actions: ['large_payment'], resources: ['account:a1'] },
    })
    gateway = await startGateway(remit, {
      agent: 'tester',
      map_file: FILE,
      upstreams: { remote: { url: server.url } },
    })
    ;({ client } = await connect(`${gateway.url}/mcp/remote`, remit.org.key))
  })
  afterAll(async () => {
    await client?.close()
    await gateway?.stop()
    await server?.stop()
    await remit.stop()
    rmSync(folder, { recursive: true })
  })

  const pay = (args: Record<string, unknown>) => client.callTool({ name: 'pay', arguments: args })
  const last = async () =>
    (await remit.client.listEntries({ query: { kind: 'authorization.decided', limit: 1 } })).data[0]

  it('are decided as the mapping says, with facts that it cannot change', async () => {
    expect((await pay({ usd: 5, account: 'a1' })).isError).toBeFalsy()
    expect(await last()).toMatchObject({
      agent_id: 'tester',
      action: 'payment',
      resource: 'account:a1',
      data: { context: { agent: 'tester', upstream: 'remote', region: '$EU', tool: 'pay' } },
    })
  })

  it('are denied by rules about the mapped action and resource', async () => {
    server.calls.length = 0

    expect((await pay({ usd: 500, account: 'a1' })).isError).toBe(true)
    expect((await pay({ usd: 500, account: 'a2' })).isError).toBeFalsy()
    expect(server.calls).toEqual(['pay'])
  })

  it('are refused where the mapping does not fit their arguments', async () => {
    server.calls.length = 0

    expect(await pay({ usd: 5 })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('evaluation.resource.id') as string }],
    })
    expect(server.calls).toEqual([])
  })

  it('of other tools are decided as before', async () => {
    await client.callTool({ name: 'refund', arguments: {} })

    expect(await last()).toMatchObject({ action: 'tools/call', resource: 'tool:refund' })
  })
})
