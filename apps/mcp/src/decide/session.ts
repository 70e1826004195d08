import { randomUUID } from 'node:crypto'
import { createGate } from '@remit/sdk'
import type { Allow, Gate, Outcome, ToolCall, Verdict } from '@remit/sdk'
import { checkText, textsOf } from '../guard/results.ts'
import { SessionFindings } from '../guard/session-findings.ts'
import { CODES, errorAnswer, notification, resultAnswer, toolError } from '../rpc/answers.ts'
import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'
import { NotAMessage, readUpstream } from '../rpc/message.ts'
import type { Message, Request, Response } from '../rpc/message.ts'
import {
  abilitiesIn,
  eraOf,
  initialAbilities,
  isKnownMethod,
  metaOf,
  NO_ABILITIES,
} from '../rpc/protocol.ts'
import type { Abilities, Era } from '../rpc/protocol.ts'
import type { Governed } from './governed.ts'
import { mapped, questionOf } from './question.ts'
import type { GatewayInput, Question } from './question.ts'
import { withoutRetry } from './request-state.ts'
import { Running, taskIdOf, taskOutcome } from './running.ts'
import { Tasks } from './tasks.ts'
import { approvalPage, denied, stillPending } from './verdicts.ts'

/** One request of a client on its way: how it reaches the upstream, and what happens meanwhile. */
export interface Exchange {
  /** Aborted when the client cancels the request or goes away. */
  readonly signal: AbortSignal
  /** Sends a request to the upstream, and resolves with the bytes of its response. */
  readonly call: (bytes: Buffer) => Promise<Buffer>
  /** Sends a notification to the client, such as the progress of an approval. */
  readonly notify: (text: string) => void
}

/** Identity of a session. */
export interface SessionOptions {
  /** `session_id` in the context of its decisions. */
  readonly id?: string
  readonly actingFor?: string
  /** Shared by all sessions of an agent, where the transport has none. */
  readonly tasks?: Tasks
  readonly running?: Running
}

const PROGRESS_MS = 5_000
const MAX_SETTLING = 64

/** The governed requests of one client to one upstream. */
export class Session {
  readonly id: string
  readonly #governed: Governed
  readonly #actingFor: string | undefined
  readonly #asking: Gate
  readonly #waiting: Gate
  readonly #findings = new SessionFindings()
  readonly #tasks: Tasks
  readonly #running: Running
  readonly #settling = new Set<Promise<unknown>>()
  #abilities: Abilities = NO_ABILITIES

  constructor(governed: Governed, { id, actingFor, tasks, running }: SessionOptions = {}) {
    this.id = id ?? randomUUID()
    this.#governed = governed
    this.#actingFor = actingFor
    this.#tasks = tasks ?? new Tasks()
    this.#running = running ?? new Running()
    const { client, agentId, mappings, settings, warn } = governed
    this.#asking = createGate({
      client,
      runId: this.id,
      approval: { mode: 'return' },
      map: (_, input) => mapped(mappings, input as GatewayInput),
      onWarning: warn,
      ...(agentId !== undefined && { agentId }),
    })
    this.#waiting = this.#asking.with({ approval: { mode: 'wait', maxMs: settings.holdMs } })
  }

  /** The response to a request: that of the upstream, or why it did not receive it. */
  async respond(request: Request, exchange: Exchange): Promise<Buffer | string> {
    const era = eraOf(request)
    try {
      return await this.#respond(request, era, exchange)
    } catch (error) {
      exchange.signal.throwIfAborted()
      if (error instanceof NotAMessage) return error.answer
      const reason = error instanceof Error ? error.message : String(error)
      this.#governed.warn(`${request.method}: ${reason}`)
      return errorAnswer(request.id, CODES.internal, reason)
    }
  }

  /** Notes what a message of the upstream, or of a client's notification, changes for later requests. */
  observe(message: Message): void {
    if (message.kind !== 'notification') return
    if (message.method === 'notifications/tools/list_changed') this.#governed.catalog?.expire()
  }

  /** Resolves when the outcomes of all calls are reported. */
  async settled(): Promise<void> {
    while (this.#settling.size > 0) await Promise.all(this.#settling)
  }

  async #respond(request: Request, era: Era, exchange: Exchange): Promise<Buffer | string> {
    const { id, method, params, bytes } = request
    const { settings, catalog } = this.#governed
    if (settings.unknown === 'refuse' && !isKnownMethod(era, method))
      return errorAnswer(
        id,
        CODES.methodNotFound,
        `The gateway does not know the method ${method}.`,
      )
    if (method === 'initialize') this.#abilities = initialAbilities(request)
    const question = questionOf(request)
    if (question) return this.#decided(request, era, question, exchange)
    if (method === 'tools/list' && catalog)
      return catalog.filtered(request, era, await exchange.call(bytes), exchange.call)
    if (method === 'tasks/get' || method === 'tasks/cancel') {
      const own = await this.#ownTask(method, params['taskId'])
      if (own === null) return errorAnswer(id, CODES.invalidParams, 'There is no such task.')
      if (own) return resultAnswer(id, era, own)
    }
    const response = await exchange.call(bytes)
    if (method.startsWith('tasks/')) this.#settleTask(method, params['taskId'], response)
    return response
  }

  async #decided(
    request: Request,
    era: Era,
    question: Question,
    exchange: Exchange,
  ): Promise<Buffer | string> {
    const { id, method, params } = request
    const { settings, states, catalog, approvalUrl } = this.#governed
    if (question.type === 'tool' && catalog) {
      const withheld = await catalog.reasonToWithhold(question.name, request, exchange.call)
      if (withheld !== null) return this.#withheld(request, era, withheld)
    }
    const call = JSON.stringify([method, question.name, question.args])
    // The upstream asked for input: this is the same call, which was decided before.
    const goesOn = this.#running.takeInput(params['requestState'], call)
    if (goesOn) return this.#forward(request.bytes, question, goesOn, call, exchange)

    const state = states.read(params['requestState'])
    if (state === 'invalid')
      return errorAnswer(
        id,
        CODES.invalidParams,
        'params.requestState: was not made by this gateway.',
      )
    const callId = state?.callId ?? `${method} ${randomUUID()}`
    const bytes = state ? withoutRetry(request.bytes) : request.bytes
    const asked = await this.#call(question, callId, exchange.signal)
    const verdict = await this.#asking.admit(asked)
    if (verdict.kind === 'allow') return this.#forward(bytes, question, verdict, call, exchange)
    const refused = { id, era, method: question.method }
    if (verdict.kind === 'deny') return denied(refused, verdict, settings.deny)

    const abilities = era === 'modern' ? abilitiesIn(request) : this.#abilities
    if (abilities.tasks && method === 'tools/call') {
      const task = this.#tasks.create(this.#owner, verdict.message, async (signal) => {
        const again = await this.#asking.admit({ ...asked, signal })
        if (again.kind === 'pending') return null
        const later = { ...exchange, signal }
        const answer =
          again.kind === 'deny'
            ? denied(refused, again, settings.deny)
            : await this.#forward(bytes, question, again, call, later)
        const { result, error } = readResponse(Buffer.from(answer))
        return result === null ? { error } : { result }
      })
      return resultAnswer(id, era, task)
    }
    if (abilities.urlElicitation) {
      const { approvalId } = verdict
      const url = approvalUrl(approvalId)
      return approvalPage(refused, verdict, url, states.write({ callId, approvalId }))
    }
    const held = await this.#hold(asked, request, exchange, verdict)
    if (held.kind === 'allow') return this.#forward(bytes, question, held, call, exchange)
    if (held.kind === 'deny') return denied(refused, held, settings.deny)
    return stillPending(refused, held)
  }

  async #call(question: Question, callId: string, signal: AbortSignal): Promise<ToolCall> {
    const { upstream } = this.#governed
    const facts = {
      upstream,
      session_id: this.id,
      guard: await this.#findings.facts(),
      ...(this.#actingFor !== undefined && { acting_for: this.#actingFor }),
    }
    return { tool: question.name, input: { question, facts }, callId, signal }
  }

  /** Waits for the vote, and tells the client so where it gave a token for progress. */
  async #hold(
    asked: ToolCall,
    request: Request,
    exchange: Exchange,
    first: Verdict,
  ): Promise<Verdict> {
    const { progressToken } = metaOf(request.params)
    const message = first.kind === 'pending' ? `Waiting for approval ${first.approvalId}` : ''
    let progress = 0
    const tell = () => {
      progress++
      exchange.notify(notification('notifications/progress', { progressToken, progress, message }))
    }
    const timer = progressToken === undefined ? undefined : setInterval(tell, PROGRESS_MS)
    if (timer) tell()
    try {
      return await this.#waiting.admit(asked)
    } finally {
      clearInterval(timer)
    }
  }

  /** Sends an allowed request to the upstream and reports its outcome. */
  async #forward(
    bytes: Buffer,
    question: Question,
    allow: Allow,
    call: string,
    exchange: Exchange,
  ): Promise<Buffer | string> {
    let response: Response
    try {
      response = readResponse(await exchange.call(bytes))
    } catch (error) {
      // Nobody knows whether the upstream carried it out.
      await this.#settle(allow, { outcome: 'unknown' })
      throw error
    }
    const { result } = response
    if (result === null) {
      await this.#settle(allow, { outcome: 'failure' })
      return response.bytes
    }
    const taskId = taskIdOf(result)
    if (taskId !== null) this.#running.keepTask(taskId, allow)
    else if (result['resultType'] === 'input_required') {
      const state = result['requestState']
      if (typeof state === 'string') this.#running.keepInput(state, call, allow)
    } else
      await this.#settle(allow, { outcome: result['isError'] === true ? 'failure' : 'success' })
    return this.#checked(response, result, question)
  }

  /** The result, after the guard has noted it or while it does. */
  async #checked(
    response: Response,
    result: Members,
    question: Question,
  ): Promise<Buffer | string> {
    const { settings, client, agentId } = this.#governed
    if (settings.results === 'off') return response.bytes
    const text = textsOf(result)
    if (text.trim() === '') return response.bytes
    const found = this.#findings.add(checkText(text, { client, agentId, sessionId: this.id }))
    if (settings.results === 'note') return response.bytes
    const finding = await found
    if (finding?.action !== 'block') return response.bytes
    const message = `Withheld by the guard of Remit (${finding.reasons.join(', ')}).`
    const era = 'resultType' in result ? 'modern' : 'legacy'
    return question.type === 'tool'
      ? toolError(response.id, era, message)
      : errorAnswer(response.id, CODES.denied, message)
  }

  #withheld({ id }: Request, era: Era, reason: string): string {
    return this.#governed.settings.deny === 'error'
      ? errorAnswer(id, CODES.denied, reason)
      : toolError(id, era, reason)
  }

  get #owner(): string {
    return this.#governed.agentId ?? ''
  }

  async #ownTask(method: string, taskId: unknown): Promise<Members | null | undefined> {
    return method === 'tasks/get'
      ? this.#tasks.get(taskId, this.#owner)
      : this.#tasks.cancel(taskId, this.#owner)
  }

  #settleTask(method: string, taskId: unknown, bytes: Buffer): void {
    const { result } = readResponse(bytes)
    const outcome = isMembers(result) ? taskOutcome(method, result) : null
    const allow = outcome === null ? null : this.#running.takeTask(taskId)
    if (allow && outcome !== null) void this.#settle(allow, { outcome })
  }

  /** Reports an outcome behind the response. Waits only where reports pile up. */
  async #settle(allow: Allow, outcome: Outcome): Promise<void> {
    const report = this.#asking.settle(allow, outcome).finally(() => this.#settling.delete(report))
    this.#settling.add(report)
    if (this.#settling.size > MAX_SETTLING) await Promise.race(this.#settling)
  }
}

function readResponse(bytes: Buffer): Response {
  const message = readUpstream(bytes)
  if (message.kind !== 'response') throw new Error('The upstream sent no response.')
  return message
}
