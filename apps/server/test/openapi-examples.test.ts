import { endpoints } from '@remit/contract'
import { createOutbound } from '@remit/core/net'
import { createTestRemit, startLoginProvider } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { listen } from '../src/boot/listen.ts'
import type { Listener } from '../src/boot/listen.ts'
import { hasModules, loadModules } from '../src/boot/modules.ts'

interface Media {
  readonly example?: Readonly<Record<string, unknown>>
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly example?: unknown
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Sent {
  readonly params?: Readonly<Record<string, string>>
  /** Members of the example that only this server can know. */
  readonly body?: Readonly<Record<string, unknown>>
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
}

const JSON_TYPE = 'application/json'

/** A client that has read nothing but the document, and takes no answer that it does not describe. */
class DocumentReader {
  readonly called = new Set<string>()
  readonly #document: Document
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false })
  readonly #url: string
  readonly #key: string

  constructor(document: Document, url: string, key: string) {
    this.#document = document
    this.#url = url
    this.#key = key
    this.#ajv.addSchema(document, 'openapi')
  }

  /** Sends the example of an operation; resolves to the body of its success. */
  async send(name: string, { params = {}, body, query = '', headers }: Sent = {}) {
    const { path, method, operation } = this.#find(name)
    const example = operation.requestBody?.content[JSON_TYPE]?.example
    const value = (field: string) =>
      params[field] ??
      operation.parameters?.find((one) => one.in === 'path' && one.name === field)?.example
    const place = path.replace(/\{(\w+)\}/g, (_, field: string) => String(value(field)))
    const response = await fetch(`${this.#url}${place}${query}`, {
      method: method.toUpperCase(),
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(example && { 'content-type': JSON_TYPE }),
        ...headers,
      },
      ...(example && { body: JSON.stringify({ ...example, ...body }) }),
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    if (isStream) await response.body?.cancel()
    const text = isStream ? '' : await response.text()
    if (!response.ok) throw new Error(`${name} was refused: ${response.status} ${text}`)
    this.called.add(name)
    const isJson = response.headers.get('content-type') === JSON_TYPE
    const answer = (isJson ? JSON.parse(text) : text) as Record<string, unknown>
    if (isJson) this.#mustBeDescribed({ path, method, name, status: response.status }, answer)
    return answer
  }

  #find(name: string) {
    for (const [path, methods] of Object.entries(this.#document.paths)) {
      for (const [method, operation] of Object.entries(methods))
        if (operation.operationId === name) return { path, method, operation }
    }
    throw new Error(`There is no operation ${name}`)
  }

  #mustBeDescribed(
    { path, method, name, status }: { path: string; method: string; name: string; status: number },
    answer: unknown,
  ): void {
    const place = [path, method, 'responses', status, 'content', JSON_TYPE, 'schema']
      .map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/')
    const validate = this.#ajv.compile({ $ref: `openapi#/paths/${place}` })
    if (validate(answer)) return
    throw new Error(
      `${name} is answered otherwise than described: ${JSON.stringify(validate.errors)}`,
    )
  }
}

/** A token of an issuer of our own, and how that issuer is trusted. */
async function workload(agentId: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const issuer = 'https://issuer.example.com'
  const trusted = {
    issuer,
    preset: null,
    audiences: ['remit'],
    jwks: { type: 'inline', keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] },
    conditions: [{ claim: 'sub', equals: 'pipeline' }],
    agent: {
      type: 'rules',
      rules: [{ match: [{ claim: 'sub', equals: 'pipeline' }], agent_id: agentId }],
    },
  }
  const sign = () =>
    new SignJWT({ sub: 'pipeline', jti: 'once' })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience('remit')
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey)
  return { trusted, sign }
}

const idOf = (answer: Record<string, unknown>): string => String(answer['id'])

describe.skipIf(!hasModules())('the examples of the OpenAPI document', () => {
  let remit: TestRemit
  let listener: Listener
  let reader: DocumentReader
  beforeAll(async () => {
    remit = await createTestRemit({
      modules: await loadModules(),
      outbound: createOutbound({ allowLoopback: true }),
    })
    listener = await listen(remit.app, { host: '127.0.0.1', port: 0 })
    const document = (await (await fetch(`${listener.url}/openapi.json`)).json()) as Document
    reader = new DocumentReader(document, listener.url, (await remit.organization()).key)
  })
  afterAll(async () => {
    await listener.stop()
    await remit.close()
  })

  it('limit, decide and read the ledger', async () => {
    await reader.send('setSpendLimit')
    await reader.send('setBudget')
    await reader.send('authorize')
    await reader.send('appendEntry')
    await reader.send('accessEvaluation')
    await reader.send('accessEvaluations')
    for (const name of [
      'getSpendLimit',
      'getSpendHistory',
      'getStats',
      'getUsage',
      'listSpendLimits',
      'listSpendHolds',
      'listBudgets',
      'getBudget',
      'getBudgetUsage',
      'getBudgetHistory',
      'removeBudget',
      'listEntries',
      'listLedgerKeys',
      'streamEntries',
      'getCheckpoint',
    ])
      await reader.send(name)
    await reader.send('getConsistency', { query: '?from=1&to=2' })
    await reader.send('getEntry', { params: { seq: '0' } })
    await reader.send('getProof', { params: { seq: '0' } })
    await reader.send('exportEntries')
    await reader.send('authzenConfiguration')
    await reader.send('removeSpendLimit', { params: { id: 'payer' } })

    expect(reader.called).toContain('removeSpendLimit')
  })

  it('make rules, approvals and permissions', async () => {
    const policyID = idOf(await reader.send('createPolicy'))
    await reader.send('listPolicies')
    await reader.send('dryRunPolicies')
    await reader.send('replayPolicies')
    await reader.send('getPolicy', { params: { policyID } })
    await reader.send('replacePolicy', { params: { policyID }, headers: { 'if-match': '"1"' } })
    await reader.send('deletePolicy', { params: { policyID } })

    const set = { params: { id: 'main' } }
    const { plan_digest } = await reader.send('planPolicySet', set)
    await reader.send('applyPolicySet', { ...set, body: { plan_digest } })
    await reader.send('listPolicySets')
    for (const name of ['getPolicySet', 'getPolicySetDocuments', 'lockPolicySet'])
      await reader.send(name, set)
    await reader.send('removePolicySet', { ...set, query: '?objects=delete' })

    await reader.send('setApprovalRule')
    await reader.send('getApprovalRule')
    await reader.send('listApprovalRules')
    const ask = async (order: string) => {
      const context = { amount_usd: 1500, order }
      const asked = await reader.send('authorize', { body: { action: 'payments.refund', context } })
      expect(asked).toMatchObject({ decision: 'needs_approval' })
      return String(asked['request_id'])
    }
    const requestID = await ask('1')
    const approved = await reader.send('decideApproval', {
      params: { requestID },
      body: { approver: 'ada@example.com' },
    })
    expect(approved).toMatchObject({ status: 'approved' })
    await reader.send('revokeApproval', { params: { id: requestID } })
    await reader.send('cancelApproval', { params: { id: await ask('2') } })
    await reader.send('getApproval', { params: { id: requestID } })
    for (const name of ['listApprovals', 'streamApprovals']) await reader.send(name)
    await reader.send('removeApprovalRule', { params: { id: 'large-refunds' } })

    await reader.send('grantPermission')
    await reader.send('setAgentMode')
    for (const name of ['getPermission', 'getDelegation']) await reader.send(name)
    await reader.send('getEffectivePermissions', { query: '?agent_id=reader' })
    await reader.send('revokePermission', { params: { id: 'reader-reads-invoices' } })
  })

  it('sign in to the console', async () => {
    const { secret: key } = await reader.send('createKey')
    const headers = { 'sec-fetch-site': 'same-origin' }
    await reader.send('startSession', { body: { key }, headers })
    expect(await reader.send('getSession')).toMatchObject({ principal: { type: 'key' } })
    await reader.send('endSession')
  })

  it('administer the organization', async () => {
    await reader.send('changeOrganization')
    await reader.send('getOrganization')
    const person = idOf(await reader.send('invitePerson'))
    await reader.send('changePerson', { params: { id: person } })
    await reader.send('listPeople')
    await reader.send('removePerson', { params: { id: person } })
    const provider = await startLoginProvider()
    await reader.send('setLoginProvider', { body: { issuer: provider.issuer, domains: [] } })
    await reader.send('getLoginProvider')
    await reader.send('removeLoginProvider')
    await provider.close()
    const { key } = await reader.send('createKey')
    const { key: rotated } = await reader.send('rotateKey', {
      params: { id: (key as { id: string }).id },
    })
    await reader.send('listKeys')
    await reader.send('revokeKey', { params: { id: (rotated as { id: string }).id } })
    const id = idOf(await reader.send('createWebhook'))
    for (const name of ['getWebhook', 'listWebhooks']) await reader.send(name, { params: { id } })
    await reader.send('listDeliveries', { params: { id } })
    const { id: deliveryID } = await reader.send('testWebhook', { params: { id } })
    await reader.send('redeliver', { params: { id, deliveryID: String(deliveryID) } })
    await reader.send('deleteWebhook', { params: { id } })
    const params = { id: idOf(await reader.send('createSink')) }
    for (const name of ['changeSink', 'getSink', 'listSinks', 'testSink', 'deleteSink'])
      await reader.send(name, { params })

    expect(reader.called).toContain('deleteWebhook')
  })

  it('serve agent hosts and the MCP gateway', async () => {
    await reader.send('claudeCodeHook')
    await reader.send('codexHook')
    await reader.send('litellmGuardrail')
    const { data } = await reader.send('reportMcpTools')
    const [tool] = data as { id: string; digest: string }[]
    const params = { id: tool!.id }
    await reader.send('admitMcpTool', { params, body: { digest: tool!.digest } })
    await reader.send('reviewMcpTool', { params, body: { digest: tool!.digest } })
    await reader.send('withdrawMcpTool', { params })
    await reader.send('listMcpTools')
    await reader.send('reportInventory')
    await reader.send('listInventory')

    expect(reader.called).toContain('listInventory')
  })

  it('register agents, which trust one another and exchange tokens', async () => {
    await reader.send('registerAgent')
    await reader.send('registerAgent', { body: { agent_id: 'buyer-1' } })
    for (const name of ['getAgent', 'listAgents']) await reader.send(name)
    const { credential, secret } = await reader.send('issueCredential')
    expect(await reader.send('introspectCredential', { body: { token: secret } })).toMatchObject({
      active: true,
    })
    const params = { agentID: 'invoice-bot' }
    await reader.send('listCredentials', { params })
    await reader.send('revokeCredential', {
      params: { credID: (credential as { id: string }).id },
    })
    await reader.send('revokeByText', { body: { token: secret } })
    const policyID = idOf(await reader.send('createTrustPolicy'))
    expect(await reader.send('evaluateTrust')).toMatchObject({ decision: 'allow' })
    await reader.send('listTrustPolicies')
    await reader.send('deleteTrustPolicy', { params: { policyID } })

    const { trusted, sign } = await workload('invoice-bot')
    const idpID = idOf(await reader.send('trustIssuer', { body: trusted }))
    const etag = { federation: { issuers: [idpID] }, status: 'active', suspended_reason: undefined }
    await reader.send('changeAgent', { body: etag })
    expect(
      await reader.send('exchangeToken', { body: { subject_token: await sign() } }),
    ).toMatchObject({ agent_id: 'invoice-bot' })
    for (const name of ['listIssuers', 'authorizationServer']) await reader.send(name)
    await reader.send('removeIssuer', { params: { idpID } })
    await reader.send('trustIssuer')
    expect(await reader.send('changeAgent')).toMatchObject({ status: 'suspended' })
    await reader.send('removeAgent', { params })
  })

  it('score, guard, report and verify', async () => {
    for (const name of ['runScorer', 'listScorers', 'checkContent']) await reader.send(name)
    const id = idOf(await reader.send('createReport'))
    for (const name of ['listReports', 'verifyLedger']) await reader.send(name)
    const report = await vi.waitFor(
      async () => {
        const found = await reader.send('getReport', { params: { id } })
        expect(found).toMatchObject({ status: 'ready' })
        return found as { content: { controls: { checks: { id: string }[] }[] } }
      },
      { timeout: 30_000 },
    )
    const [check] = report.content.controls.flatMap(({ checks }) => checks)
    await reader.send('listReportEvidence', { params: { id }, query: `?check=${check?.id}` })

    expect(reader.called).toContain('listReportEvidence')
  })

  it('are there for every operation that takes a body, and every operation was called', () => {
    expect([...reader.called].toSorted()).toEqual(Object.keys(endpoints).toSorted())
  })
})
