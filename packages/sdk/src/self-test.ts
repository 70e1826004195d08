import { fetchOf, withOptions } from '@remit/contract/client'
import { randomId } from './key.ts'
import type { Gate } from './gate.ts'
import { SELF_TEST_ACTIONS, selfTestMap } from './mapping.ts'
import { toolMessage } from './errors.ts'

/** The cases of a self-test, each in the host's own loop. */
export type SelfTestCase = 'deny' | 'server_stopped' | 'late_answer' | 'garbage_answer' | 'approval'

export interface SelfTestResult {
  readonly case: SelfTestCase
  readonly passed: boolean
  /** Number of runs of the canary, and the text that the model received. */
  readonly detail: string
}

export interface SelfTestReport {
  /** True if no case let the canary run without an allow, and the approved one ran exactly once. */
  readonly enforced: boolean
  readonly results: readonly SelfTestResult[]
}

/** A tool that only counts. */
export interface Canary {
  readonly name: string
  readonly description: string
  readonly callId: string
  readonly run: () => string
}

/**
 * Lets the host call the canary once, behind `gate`, with a scripted model; resolves to what the model was
 * told.
 */
export type Drive = (gate: Gate, canary: Canary) => Promise<string>

const NAME = 'remit_selftest'
const SHORT_MS = 250

/** Runs the five cases. Asks the server for the reserved actions only. */
export async function runSelfTest(gate: Gate, drive: Drive): Promise<SelfTestReport> {
  const results = [
    await blocked('deny', gate, drive, 'deny'),
    await blocked('server_stopped', gate, drive, 'allow', () =>
      Promise.reject(new TypeError('the server is stopped')),
    ),
    await blocked('late_answer', gate, drive, 'allow', tooLate),
    await blocked('garbage_answer', gate, drive, 'allow', () =>
      Promise.resolve(new Response('{"decision":"allow"}<html>', { headers: JSON_TYPE })),
    ),
    await approvedOnce(gate, drive),
  ]
  return { enforced: results.every(({ passed }) => passed), results }
}

const JSON_TYPE = { 'content-type': 'application/json' }

type Fetch = (request: Request) => Promise<Response>

/** A gate that asks for a reserved action, over another `fetch` where one is given. */
const testGate = (gate: Gate, action: string, fetch?: Fetch): Gate =>
  gate.with({
    approval: { mode: 'return' },
    map: selfTestMap(action),
    onWarning: () => undefined,
    ...(fetch && { client: withOptions(gate.options.client, { fetch }), timeoutMs: SHORT_MS }),
  })

async function blocked(
  name: SelfTestCase,
  gate: Gate,
  drive: Drive,
  action: string,
  fetch?: Fetch,
): Promise<SelfTestResult> {
  const canary = newCanary()
  const told = await heard(drive, testGate(gate, action, fetch), canary)
  const passed = canary.ran === 0 && told.includes('Not executed')
  return { case: name, passed, detail: `ran ${canary.ran} times; the model was told: ${told}` }
}

/** Before the approval it does not run; afterwards, three resumes run it once. */
async function approvedOnce(gate: Gate, drive: Drive): Promise<SelfTestResult> {
  const canary = newCanary()
  const approval = { given: false }
  const fetch = approving(approval, gate.options.client)
  const told: string[] = []
  for (let resumes = 0; resumes < 4; resumes++) {
    // A new gate each time, as after a restart, with the same run.
    const fresh = testGate(gate, 'needs_approval').with({ client: fetch })
    told.push(await heard(drive, fresh, canary))
    if (!approval.given && canary.ran > 0) break
    approval.given = true
  }
  const passed = approval.given && canary.ran === 1
  return { case: 'approval', passed, detail: `ran ${canary.ran} times; told: ${told.join(' | ')}` }
}

const HELD = `${SELF_TEST_ACTIONS}needs_approval`
const ALLOWED = `${SELF_TEST_ACTIONS}allow`

/**
 * The client, as if a person approved, since nobody can vote on the reserved request: the question after
 * the approval, which has another key than those before, reaches the server as one that it allows.
 */
function approving(approval: { readonly given: boolean }, client: Gate['options']['client']) {
  const before = new Set<string | null>()
  const send = fetchOf(client)
  return withOptions(client, {
    async fetch(request) {
      if (request.method === 'GET')
        return Response.json({ status: approval.given ? 'approved' : 'pending' })
      const key = request.headers.get('idempotency-key')
      if (!approval.given) before.add(key)
      if (before.has(key)) return send(request)
      const body = (await request.text()).replace(HELD, ALLOWED)
      const answer = await send(new Request(request, { method: 'POST', body }))
      const text = (await answer.text()).replace(ALLOWED, HELD)
      return new Response(text, { status: answer.status, headers: answer.headers })
    },
  })
}

/** Answers an allow after the gate has given up. */
async function tooLate(request: Request): Promise<Response> {
  await new Promise<void>((resolve) => {
    request.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const { action, agent_id } = (await request.json()) as Record<string, unknown>
  return Response.json({ decision: 'allow', decision_id: 'dec_late', action, agent_id })
}

const newCanary = (): Canary & { readonly ran: number } => {
  const canary = {
    name: NAME,
    description: 'Does nothing. Call it once.',
    callId: `selftest_${randomId()}`,
    ran: 0,
    run() {
      canary.ran++
      return 'the canary ran'
    },
  }
  return canary
}

/** The text that the model received. A host may also end the run with an error. */
const heard = (drive: Drive, gate: Gate, canary: Canary): Promise<string> =>
  drive(gate, canary).catch((error: unknown) => String(error))

/** The loop of a program that calls wrapped tools itself. */
export const driveWrapped: Drive = async (gate, { name, callId, run }) => {
  const tool = gate.wrap(name, run, { onDeny: 'return' })
  const result = await tool({}, { callId })
  return typeof result === 'string' ? result : toolMessage(result)
}
