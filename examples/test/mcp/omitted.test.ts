import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { connect, startCounting, startGateway } from './support/http.ts'

const SECRET = { REMIT_OMIT_KEY: 'a-secret-of-the-gateway-for-digests' }

describe.skipIf(!hasModules())('an argument that the gateway hides', () => {
  let remit: RemitServer
  let server: Awaited<ReturnType<typeof startCounting>>
  beforeAll(async () => {
    remit = await startRemit()
    server = await startCounting()
    await remit.client.setApprovalRule({
      params: { id: 'pay' },
      body: { resources: ['tool:pay'], binding_context: ['amount_usd', 'args'] },
    })
  })
  afterAll(async () => {
    await server?.stop()
    await remit.stop()
  })

  const HIDDEN = { amount: '/usd', omit: ['/account'] }
  /** A gateway, as after a restart. */
  async function through<T>(
    env: Record<string, string>,
    map: object,
    work: (pay: (args: object) => Promise<string>) => Promise<T>,
  ): Promise<T> {
    const config = {
      agent: 'tester',
      hold_seconds: 0,
      map: { pay: map },
      upstreams: { remote: { url: server.url } },
    }
    const gateway = await startGateway(remit, config, env)
    const { client } = await connect(`${gateway.url}/mcp/remote`, remit.org.key)
    try {
      return await work(async (args) => {
        const result = await client.callTool({ name: 'pay', arguments: { ...args } })
        return JSON.stringify(result.content)
      })
    } finally {
      await client.close()
      await gateway.stop()
    }
  }

  it('is bound by its approval, also after a restart with the same secret', async () => {
    const good = { usd: 5, account: 'GOOD' }
    const [id = ''] = await through(
      SECRET,
      HIDDEN,
      async (pay) => /apr_\w+/.exec(await pay(good)) ?? [],
    )
    const approval = await remit.client.getApproval({ params: { id } })
    expect(approval.context).toMatchObject({
      omitted: { '/account': expect.any(String) as string },
    })
    expect(approval.shown).not.toContain('GOOD')
    await remit.client.decideApproval({
      params: { requestID: id },
      body: { decision: 'approve', approver: 'ada@example.org' },
    })

    await through(SECRET, HIDDEN, async (pay) => {
      expect(await pay({ usd: 5, account: 'EVIL' })).toContain('waiting for approval')
      expect(await pay({ usd: 5 })).toContain('waiting for approval')
    })
    await through({}, HIDDEN, async (pay) =>
      expect(await pay(good)).toContain('waiting for approval'),
    )
    expect(server.calls).toEqual([])
    await through(SECRET, HIDDEN, async (pay) =>
      expect(await pay(good)).not.toContain('Not executed'),
    )
    expect(server.calls).toEqual(['pay'])
  })

  it('is unknown to rules in what a mapping of AuthZEN makes of it', async () => {
    const deny = (resource: string, condition: string) =>
      remit.client.createPolicy({
        body: { effect: 'deny', actions: ['transfer'], resources: [resource], condition },
      })
    await deny('account:has', 'has(context.iban)')
    await deny('account:evil', 'context.to.iban == "EVIL"')
    await deny('account:free', 'has(context.memo)')
    await deny('account:proto', 'has(context.__proto__)')
    const map = {
      omit: ['/iban'],
      authzen: {
        evaluation: {
          subject: { type: 'identity', id: '$token.sub' },
          action: { name: 'transfer' },
          resource: { type: 'account', id: '$params.arguments.from' },
          context: {
            iban: '$params.arguments.?iban',
            to: { iban: '$params.arguments.?iban' },
            usd: '$params.arguments.?usd',
            ...(JSON.parse('{"__proto__":"$params.arguments.?iban"}') as object),
          },
        },
      },
    }
    await through(SECRET, map, async (pay) => {
      expect(await pay({ from: 'proto', iban: 'EVIL' })).toContain('policy_error')
      expect(await pay({ from: 'proto', usd: 5 })).toContain('pay {')
      expect(await pay({ from: 'has', iban: 'GOOD' })).toContain('policy_error')
      expect(await pay({ from: 'evil', iban: 'EVIL' })).toContain('policy_error')
      expect(await pay({ from: 'free', iban: 'GOOD' })).toContain('pay {')
      expect(await pay({ from: 'has', usd: 5 })).toContain('pay {')
    })
    const [entry] = (
      await remit.client.listEntries({ query: { kind: 'authorization.decided', limit: 2 } })
    ).data.toReversed()
    expect(entry?.data).toMatchObject({
      replaced: expect.arrayContaining(['/iban', '/to', '/__proto__']) as string[],
      context: { omitted: {} },
    })
    expect(JSON.stringify(entry)).not.toContain('GOOD')
  })
})
