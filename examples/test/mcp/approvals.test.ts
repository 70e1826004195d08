import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import { governed, ownProgram } from './support/gateway.ts'
import { connect, startCounting, startGateway } from './support/http.ts'
import { call, MODERN, PAGES, TASKS, textOf } from './support/messages.ts'
import { startRuled } from './support/ruled.ts'
import type { Ruled } from './support/ruled.ts'
import { talkOnHttp, talkOnStdio } from './support/talk.ts'
import type { Talk } from './support/talk.ts'
import { WAYS, WAYS_AND_REVISIONS } from './support/ways.ts'
import type { Way } from './support/ways.ts'

const SERVER = [ownProgram('counting-server')]
const TIMEOUT = { timeout: 60_000 }
/** Seconds that the impatient gateway holds a call. */
const HOLD = 1

/** A rejected request stays rejected for a while: each test pays another amount. */
let usd = 100
const pay = () => call('pay', { usd })
const withProgress = () => ({ ...pay(), _meta: { progressToken: 'p' } })
const paid = () => `pay {"usd":${usd}}`

/** The page that a response names, in either revision. */
function asked(response: unknown) {
  const { result, error } = response as {
    result?: {
      resultType: string
      requestState: string
      inputRequests: { approval: { params: object } }
    }
    error?: { code: number; data: { elicitations: object[] } }
  }
  return {
    kind: error?.code ?? result?.resultType,
    page: error?.data.elicitations[0] ?? result?.inputRequests.approval.params,
    requestState: result?.requestState,
  }
}

describe.skipIf(!hasModules())('a call that needs an approval', () => {
  const file = new CallFile()
  const open: Talk[] = []
  let remit: Ruled
  let remote: Awaited<ReturnType<typeof startCounting>>
  let patient: Awaited<ReturnType<typeof startGateway>>
  let impatient: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => {
    remit = await startRuled()
    remote = await startCounting()
    const upstreams = {
      remote: { url: remote.url },
      started: { command: process.execPath, args: SERVER, env: { CALLS: file.path } },
    }
    patient = await startGateway(remit, { agent: 'tester', upstreams })
    impatient = await startGateway(remit, { agent: 'tester', hold_seconds: HOLD, upstreams })
  })
  afterAll(async () => {
    await patient?.stop()
    await impatient?.stop()
    await remote?.stop()
    await remit.stop()
    file.remove()
  })
  beforeEach(() => {
    usd++
    file.clear()
    remote.calls.length = 0
  })
  afterEach(async () => {
    await remit.rejectAll()
    await Promise.all(open.splice(0).map((talk) => talk.close()))
  })

  const calls = () => [...file.calls, ...remote.calls]
  const FLAGS = ['--agent', 'tester', '--name', 'started', '--env', 'CALLS']
  const ENV = { CALLS: file.path }
  const talk = async (
    way: Way,
    revision: '2025-11-25' | '2026-07-28',
    capabilities: object = {},
    isPatient = true,
  ): Promise<Talk> => {
    const opening = { revision, capabilities }
    const flags = isPatient ? FLAGS : ['--hold', String(HOLD), ...FLAGS]
    const { url } = isPatient ? patient : impatient
    const opened =
      way === 'stdio'
        ? await talkOnStdio(remit, SERVER, opening, { flags, env: ENV })
        : await talkOnHttp(`${url}/mcp/${way}`, remit.org.key, opening)
    open.push(opened)
    return opened
  }
  const hasPending = () => expect.poll(remit.pending, TIMEOUT).toHaveLength(1)
  const ran = (answers: unknown[]) =>
    answers.filter((answer) => JSON.stringify(answer).includes(JSON.stringify(paid())))

  describe.each(WAYS_AND_REVISIONS)('on %s, of a client of %s', (way, revision) => {
    it('is held with progress, and runs once when a person approves it', async () => {
      const { ask, notes } = await talk(way, revision)
      const answer = ask('tools/call', withProgress())
      await expect.poll(() => notes.length, TIMEOUT).toBeGreaterThan(0)
      expect(calls()).toEqual([])
      const id = await remit.approve()

      expect(textOf((await answer)['result'])).toBe(paid())
      expect(calls()).toEqual(['pay'])
      expect(notes[0]).toMatchObject({
        method: 'notifications/progress',
        params: { progressToken: 'p', message: `Waiting for approval ${id}` },
      })
    })

    it('is refused clearly when the hold ends; 20 repeats after the vote run it once', async () => {
      const { ask, notes } = await talk(way, revision, {}, false)
      const { result } = await ask('tools/call', withProgress())
      const [approval] = await remit.pending()

      expect(result).toMatchObject({ isError: true })
      expect(textOf(result)).toContain(`waiting for approval ${approval!.id}`)
      expect(textOf(result)).toContain('Call again with the same arguments')
      expect(notes).not.toEqual([])
      expect(calls()).toEqual([])
      await remit.approve()
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask('tools/call', pay())))
      expect(calls()).toEqual(['pay'])
      expect(ran(answers)).toHaveLength(1)
    })

    it('is refused when a person rejects it', async () => {
      const { ask } = await talk(way, revision)
      const answer = ask('tools/call', pay())
      await hasPending()
      await remit.reject()

      expect(textOf((await answer)['result'])).toContain('approval_rejected')
      expect(calls()).toEqual([])
    })

    it('names the page of the approval to a client that can open it; 20 repeats run it once', async () => {
      const { ask } = await talk(way, revision, PAGES)
      const { page, requestState, kind } = asked(await ask('tools/call', pay()))
      const [approval] = await remit.pending()
      expect(kind).toBe(revision === '2025-11-25' ? -32042 : 'input_required')
      expect(page).toMatchObject({
        mode: 'url',
        elicitationId: approval!.id,
        url: `${remit.url}/console/approvals/${approval!.id}`,
      })
      const again = {
        ...pay(),
        ...(requestState !== undefined && {
          requestState,
          inputResponses: { approval: { action: 'accept' } },
        }),
      }

      // The client says that its user accepted: nobody has voted.
      await ask('tools/call', again)
      expect(calls()).toEqual([])
      await remit.approve()
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask('tools/call', again)))
      expect(calls()).toEqual(['pay'])
      expect(ran(answers)).toHaveLength(1)
      // With its state, a repeat is the same call, which needs no further vote.
      const isSame = requestState !== undefined
      expect(isSame ? await remit.pending() : []).toEqual([])
    })
  })

  it.each(WAYS)('takes no state on %s that the gateway did not sign', async (way) => {
    const { ask } = await talk(way, '2026-07-28', PAGES)
    const { requestState } = asked(await ask('tools/call', pay()))
    await remit.approve()
    const [prefix, , signature] = String(requestState).split('.')
    const other = Buffer.from('{"callId":"tools/call 1","approvalId":"apr_1"}').toString(
      'base64url',
    )

    for (const forged of [`${requestState}x`, `${prefix}.${other}.${signature}`]) {
      const answer = await ask('tools/call', { ...pay(), requestState: forged })
      expect(answer).toMatchObject({ error: { code: -32602 } })
    }
    expect(calls()).toEqual([])
  })

  describe.each(WAYS)('on %s, of a client with tasks', (way) => {
    const begin = async () => {
      const opened = await talk(way, '2026-07-28', TASKS)
      const { result } = await opened.ask('tools/call', pay())
      expect(result).toMatchObject({ resultType: 'task', status: 'working' })
      const taskId = String((result as Record<string, unknown>)['taskId'])
      const look = async () =>
        (await opened.ask('tasks/get', { taskId }))['result'] as Record<string, unknown>
      return { ...opened, taskId, look }
    }

    it('becomes a task that follows the vote; 20 looks at it run it once', async () => {
      const { look } = await begin()
      expect((await look())['status']).toBe('working')
      expect(calls()).toEqual([])
      await remit.approve()
      await Promise.all(Array.from({ length: 20 }, look))

      await expect.poll(async () => (await look())['status'], TIMEOUT).toBe('completed')
      expect(textOf((await look())['result'])).toBe(paid())
      expect(calls()).toEqual(['pay'])
    })

    it('does not run as a task that a person rejects, or that the client cancels', async () => {
      const rejected = await begin()
      await remit.reject()
      await expect.poll(async () => (await rejected.look())['status'], TIMEOUT).toBe('completed')
      expect((await rejected.look())['result']).toMatchObject({ isError: true })

      usd++
      const { ask, taskId, look } = await begin()
      await ask('tasks/cancel', { taskId })
      // Nobody has to vote any more.
      await expect.poll(remit.pending, TIMEOUT).toEqual([])
      expect((await look())['status']).toBe('cancelled')
      expect(calls()).toEqual([])
    })
  })

  it('is a task for its own agent only', async () => {
    const owners = [{ type: 'user' as const, id: 'ada' }]
    await remit.client.registerAgent({ body: { agent_id: 'other', owners } })
    const { secret } = await remit.client.issueCredential({
      params: { agentID: 'other' },
      body: { scopes: ['authorize', 'guard', 'ledger:append'] },
    })
    const own = await talk('remote', '2026-07-28', TASKS)
    const { result } = await own.ask('tools/call', pay())
    const { taskId } = result as Record<string, unknown>
    const opening = { revision: '2026-07-28', capabilities: TASKS } as const
    const other = await talkOnHttp(`${patient.url}/mcp/remote`, secret ?? '', opening)
    await remit.approve()

    expect(await other.ask('tasks/get', { taskId })).toMatchObject({ error: { code: -32602 } })
    expect(calls()).toEqual([])
  })

  describe.each(WAYS)('on %s, of a client of the SDK', (way) => {
    const clientOf = async (options: object) => {
      const { client } =
        way === 'stdio'
          ? await governed(remit, SERVER, { flags: FLAGS, env: ENV, ...options })
          : await connect(`${patient.url}/mcp/${way}`, remit.org.key, options)
      return client
    }

    it('runs after the user of the page has voted there', async () => {
      const client = await clientOf({ ...MODERN, capabilities: PAGES })
      const seen: string[] = []
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        seen.push((params as { url: string }).url)
        const id = await remit.approve()
        expect(seen).toEqual([`${remit.url}/console/approvals/${id}`])
        return { action: 'accept' }
      })

      expect(textOf(await client.callTool(pay()))).toBe(paid())
      expect(calls()).toEqual(['pay'])
      await client.close()
    })

    it('never runs because that client accepts whatever it is asked', async () => {
      const client = await clientOf({ ...MODERN, capabilities: PAGES })
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept' }))

      await expect(client.callTool(pay())).rejects.toThrow(/rounds/i)
      expect(calls()).toEqual([])
      await client.close()
    })

    it.each([{}, MODERN])('asks a client that fills in forms for nothing', async (options) => {
      const client = await clientOf({ ...options, capabilities: { elicitation: { form: {} } } })
      let forms = 0
      client.setRequestHandler('elicitation/create', () => {
        forms++
        return { action: 'accept', content: { approve: true } }
      })
      const answer = client.callTool(pay())
      await hasPending()
      await remit.reject()

      expect((await answer).isError).toBe(true)
      expect(forms).toBe(0)
      expect(calls()).toEqual([])
      await client.close()
    })
  })
})
