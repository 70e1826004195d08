import { SCOPES } from '@remit/contract'
import type { Scope } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateText, publicPart } from '../../src/keys/key-text.ts'
import { defineModule } from '../../src/module/module.ts'
import type { CredentialHolder } from '../../src/keys/credentials.ts'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { ALL, pathOf, problemOf, standIn } from './support.ts'

const holders = new Map<string, CredentialHolder>()

/** Agent credentials as a module would bring them: what was handed out here is good. */
const credentials = defineModule({
  name: 'test_credentials',
  setup: () => ({
    provides: {
      credentials: {
        authenticate: (text) => Promise.resolve(holders.get(text) ?? null),
        find: (_tx, ids) =>
          Promise.resolve([...holders.values()].filter(({ id }) => ids.includes(id))),
        used: () => undefined,
      },
    },
  }),
})

/** Also of the errors that OAuth clients read, which are no problem documents. */
const codeOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { code: string }).code

const closed = ALL.filter(([, endpoint]) => !endpoint.public && !endpoint.anyPrincipal)

describe('the scopes of a credential', () => {
  let remit: TestRemit
  let orgId: string
  beforeAll(async () => {
    remit = await createTestRemit({ modules: [standIn, credentials] })
    orgId = (await remit.organization()).id
  })
  afterAll(() => remit.close())

  function credential(
    scopes: readonly Scope[],
    plan: CredentialHolder['plan'] = 'enterprise',
  ): string {
    const text = generateText('rmc_')
    const id = `cred_${publicPart(text)}`
    const expiresAt = Date.now() + 60_000
    const holder = { id, orgId, agentId: 'payer', scopes, expiresAt, plan, configVersion: 1 }
    holders.set(text, holder)
    return text
  }
  const call = (endpoint: (typeof ALL)[number][1], key: string) =>
    remit.call(endpoint.method, pathOf(endpoint), { key, ...(endpoint.body && { body: {} }) })

  it.each(closed)('%s asks for its own scope and no other', async (_, endpoint) => {
    const codes: Partial<Record<Scope, string | undefined>> = {}
    for (const scope of SCOPES) {
      const response = await call(endpoint, credential([scope]))
      codes[scope] = response.status === 403 ? await codeOf(response) : 'let in'
    }

    const otherwise = endpoint.scope === null ? 'principal_not_allowed' : 'insufficient_scope'
    const expected = SCOPES.map((scope) => [scope, endpoint.scope === scope ? 'let in' : otherwise])
    expect(codes).toEqual(Object.fromEntries(expected))
  })

  it.each(closed.filter(([, { scope }]) => scope === null))(
    '%s is for no credential, whatever its row says',
    async (_, endpoint) => {
      const everything = [
        ...SCOPES,
        'approvals:decide',
        'policies:write',
        'identity:write',
        '*',
        'null',
      ]
      const response = await call(endpoint, credential(everything as Scope[]))

      expect(await codeOf(response)).toBe('principal_not_allowed')
    },
  )

  it('says in one answer what is missing', async () => {
    const response = await remit.call('POST', '/v1/guard', {
      key: credential(['authorize']),
      body: {},
    })

    expect(response.headers.get('www-authenticate')).toBe(
      'Bearer realm="remit", error="insufficient_scope", scope="guard"',
    )
    expect(await problemOf(response)).toMatchObject({
      code: 'insufficient_scope',
      required_scope: 'guard',
    })
  })

  it('is refused for the plan first, as everybody is', async () => {
    const response = await remit.call('GET', '/v1/policies', { key: credential([], 'team') })

    expect((await problemOf(response)).code).toBe('plan_required')
  })

  it('gives no agent what decides approvals, mints credentials or administers', () => {
    const forAgents = ALL.filter(([, { scope }]) => scope !== null).map(([name]) => name)

    expect(forAgents.toSorted()).toEqual([
      'accessEvaluation',
      'accessEvaluations',
      'appendEntry',
      'authorize',
      'cancelApproval',
      'checkContent',
      'claudeCodeHook',
      'codexHook',
      'evaluateTrust',
      'getApproval',
      'getBudget',
      'getCheckpoint',
      'getConsistency',
      'getEffectivePermissions',
      'getEntry',
      'getProof',
      'getSpendHistory',
      'getSpendLimit',
      'listApprovals',
      'listBudgets',
      'listEntries',
      'listLedgerKeys',
      'listScorers',
      'litellmGuardrail',
      'reportMcpTools',
      'runScorer',
    ])
  })
})
