import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { RemitError } from '@remit/contract/client'
import { createGate } from '@remit/sdk'
import type { Allow, Deny, Gate, Outcome, ToolCall, Verdict } from '@remit/sdk'
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
  UPDATED,
} from '../rpc/protocol.ts'
import type { Abilities, Era } from '../rpc/protocol.ts'
import type { Coaz } from '../mapping/coaz.ts'
import type { Governed } from './governed.ts'
import { callOf, forwardedBytes, mapped, questionOf } from './question.ts'
import type { GatewayInput, Question } from './question.ts'
import { withoutRetry } from './request-state.ts'
import { Running, taskIdOf, taskOutcome } from './running.ts'
import { Subscriptions, unsubscribingBytes } from './subscriptions.ts'
import { Tasks } from './tasks.ts'
import { approvalPage, denied, stillPending, withBudgets } from './verdicts.ts'
import {
  checkText,
  textsOf,
  textsOfError,
  textsOfOther,
  SessionFindings,
} from '../guard/results.ts'

export interface SessionOptions {
  /** `session_id` in the context of its decisions. */
  readonly id?: string
  readonly actingFor?: string
  /**
   * Shared by all sessions of an agent, where the transport has none. Null where the server ends with the
   * request: nothing is there to run the call after the vote.
   */
  readonly tasks?: Tasks | null
  /** Shared as `tasks`. */
  readonly running?: Running
  /** The upstream knows no agents, and may show one the tasks of another: only those in `running` are passed on. */
  readonly ownTasks?: boolean
}

const PROGRESS_MS = 5_000

/** The governed requests of one client to one upstream. */
export class Session {
  readonly id: string
  readonly #governed: Governed
  readonly #actingFor: string | undefined
  readonly #asking: Gate
  readonly #waiting: Gate
  readonly #tasks: Tasks | null
  readonly #running: Running
  readonly #ownTasks: boolean
  readonly #forwarder: Forwarder
  readonly #subscriptions = new Subscriptions()
  #abilities: Abilities = NO_ABILITIES

  constructor(governed: Governed, options: SessionOptions = {}) {
    const { id, actingFor, tasks, running = new Running(), ownTasks = false } = options
    this.id = id ?? randomUUID()
    this.#governed = governed
    this.#actingFor = actingFor
    this.#tasks = tasks === undefined ? new Tasks() : tasks
    this.#running = running
    this.#ownTasks = ownTasks
    const { client, agentId, settings, warn } = governed
    this.#asking = createGate({
      client,
      runId: this.id,
      approval: { mode: 'return' },
      map: (_, input) => mapped(governed, input as GatewayInput),
      onWarning: warn,
      ...(agentId !== undefined && { agentId }),
    })
    this.#forwarder = new Forwarder({
      governed,
      gate: this.#asking,
      sessionId: this.id,
      running,
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

  /**
   * Notes what a message of the upstream, or of a client's notification, changes for later requests. Returns
   * false for what this client must not see: the state of another agent's task, and a change of a resource to
   * which it has no subscription.
   */
  observe(message: Message): boolean {
    if (message.kind !== 'notification') return true
    if (message.method === 'notifications/tools/list_changed') this.#governed.catalog?.expire()
    if (message.method === UPDATED) return this.#subscriptions.has(message.params['uri'])
    const isOfTask = message.method.startsWith('notifications/tasks')
    return !isOfTask || !this.#ownTasks || this.#running.hasTask(message.params['taskId'])
  }

  /** Resolves when the outcomes of all calls are reported. */
  settled(): Promise<void> {
    return this.#forwarder.settled()
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
    const question = questionOf(request, settings.dropMeta)
    if (question) return this.#decided(request, era, question, exchange)
    if (method === 'tools/list' && catalog)
      return catalog.filtered(request, era, await exchange.call(bytes), exchange.call)
    if (method === 'tasks/get' || method === 'tasks/cancel') {
      const own = await this.#ownTask(method, params['taskId'])
      if (own === null) return errorAnswer(id, CODES.invalidParams, 'There is no such task.')
      if (own) return resultAnswer(id, era, own)
    }
    if (method.startsWith('tasks/')) return this.#ofTasks(request, exchange)
    if (method === 'subscriptions/listen') return this.#listen(request, exchange)
    if (method === 'resources/unsubscribe') return exchange.call(unsubscribingBytes(request))
    return this.#forwarder.read(method, await exchange.call(bytes))
  }

  /** The response to a request for a stream, once each of its subscriptions is allowed. */
  async #listen(request: Request, exchange: Exchange): Promise<Buffer | string> {
    const { settings } = this.#governed
    const sent = await this.#subscriptions.listening(request, settings, async (question) => {
      const callId = `${question.method} ${randomUUID()}`
      const asked = await this.#call({ question, declared: null }, callId, exchange.signal)
      const verdict = await this.#asking.admit(asked)
      if (verdict.kind === 'allow') await this.#asking.settle(verdict)
      return verdict
    })
    return typeof sent === 'string' ? sent : exchange.call(sent)
  }

  /** The response of the upstream about its tasks. */
  async #ofTasks({ id, method, params, bytes }: Request, exchange: Exchange) {
    const { taskId } = params
    if (method !== 'tasks/list') {
      if (this.#ownTasks && !this.#running.hasTask(taskId))
        return errorAnswer(id, CODES.invalidParams, 'There is no such task.')
      const response = await exchange.call(bytes)
      this.#forwarder.settleTask(method, taskId, response)
      return this.#forwarder.read(method, response)
    }
    const response = await exchange.call(bytes)
    const { result } = readResponse(response)
    if (!this.#ownTasks || result === null) return response
    const { tasks } = result
    const own = (Array.isArray(tasks) ? tasks : []).filter(
      (task) => isMembers(task) && this.#running.hasTask(task['taskId']),
    )
    return resultAnswer(id, 'legacy', { ...result, tasks: own })
  }

  async #decided(
    request: Request,
    era: Era,
    question: Question,
    exchange: Exchange,
  ): Promise<Buffer | string> {
    const { id, method, params } = request
    const { settings, states, catalog, approvalUrl } = this.#governed
    let declared: Coaz | null = null
    if (question.type === 'tool' && catalog) {
      const withheld = await catalog.reasonToWithhold(question.name, request, exchange.call)
      if (withheld !== null) return this.#withheld(request, era, withheld)
      declared = catalog.declaredMapping(question.name)
    }
    const call = callOf(question)
    // The upstream asked for input: this is the same call, which was decided before.
    const goesOn = this.#forwarder.continued(params['requestState'], call)
    if (goesOn)
      return this.#forwarder.send(forwardedBytes(question), question, goesOn, call, exchange)

    const state = states.read(params['requestState'])
    if (state === 'invalid')
      return errorAnswer(
        id,
        CODES.invalidParams,
        'params.requestState: was not made by this gateway.',
      )
    const callId = state?.callId ?? `${method} ${randomUUID()}`
    const own = state ? withoutRetry(question) : question
    const send = (allow: Allow, by: Exchange) => {
      if (method === 'resources/subscribe') this.#subscriptions.add(own.name)
      return this.#forwarder.send(forwardedBytes(own), own, allow, call, by)
    }
    const asked = await this.#call({ question: own, declared }, callId, exchange.signal)
    const verdict = await this.#asking.admit(asked)
    if (verdict.kind === 'allow') return send(verdict, exchange)
    const refused = { id, era, method: question.method }
    const refuse = (deny: Deny) => withBudgets(denied(refused, deny, settings.deny), own, deny)
    if (verdict.kind === 'deny') return refuse(verdict)

    const abilities = era === 'modern' ? abilitiesIn(request) : this.#abilities
    const { approvalId } = verdict
    if (this.#tasks && abilities.tasks && method === 'tools/call') {
      const cancel = () => void this.#closeApproval(approvalId)
      const task = this.#tasks.create(verdict.message, cancel, async (signal) => {
        const again = await this.#asking.admit({ ...asked, signal })
        if (again.kind === 'pending') return null
        // The request that began the task was answered long ago, and its connection may be gone.
        const later = { ...exchange, signal, call: (sent: Buffer) => exchange.call(sent, signal) }
        const answer = again.kind === 'deny' ? refuse(again) : await send(again, later)
        const { result, error } = readResponse(Buffer.from(answer))
        return result === null ? { error } : { result }
      })
      return resultAnswer(id, era, task)
    }
    if (abilities.urlElicitation) {
      const url = approvalUrl(approvalId)
      return approvalPage(refused, verdict, url, states.write({ callId, approvalId }))
    }
    const held = await this.#hold(asked, request, exchange, approvalId)
    if (held.kind === 'allow') return send(held, exchange)
    if (held.kind === 'deny') return refuse(held)
    return stillPending(refused, held)
  }

  async #call(
    asked: Omit<GatewayInput, 'facts'>,
    callId: string,
    signal: AbortSignal,
  ): Promise<ToolCall> {
    const { upstream } = this.#governed
    const facts = {
      upstream,
      session_id: this.id,
      guard: await this.#forwarder.findings.facts(),
      ...(this.#actingFor !== undefined && { acting_for: this.#actingFor }),
    }
    return { tool: asked.question.name, input: { ...asked, facts }, callId, signal }
  }

  /** Waits for the vote, and tells the client so where it gave a token for progress. */
  async #hold(
    asked: ToolCall,
    request: Request,
    exchange: Exchange,
    approvalId: string,
  ): Promise<Verdict> {
    const { progressToken } = metaOf(request.params)
    const message = `Waiting for approval ${approvalId}`
    let progress = 0
    const tell = () => {
      progress++
      exchange.notify(notification('notifications/progress', { progressToken, progress, message }))
    }
    const timer = progressToken === undefined ? undefined : setInterval(tell, PROGRESS_MS)
    if (timer) tell()
    const signal = AbortSignal.any([exchange.signal, exchange.gone])
    try {
      const verdict = await this.#waiting.admit({ ...asked, signal })
      if (!signal.aborted) return verdict
      if (verdict.kind === 'allow')
        await this.#asking.settle(verdict, { outcome: 'failure', release: true })
      throw signal.reason
    } catch (error) {
      if (!signal.aborted) throw error
      // Nothing has run yet, and nobody would get the result.
      await this.#closeApproval(approvalId)
      const reason = `The client has gone: not executed, and approval ${approvalId} is closed.`
      throw new Error(reason, { cause: error })
    } finally {
      clearInterval(timer)
    }
  }

  /** Withdraws the request for an approval; one that is decided or used stays as it is. */
  async #closeApproval(id: string): Promise<void> {
    const { client, afterwards, warn } = this.#governed
    try {
      await afterwards(() => client.cancelApproval({ params: { id } }))
    } catch (error) {
      if (error instanceof RemitError && error.status === 409) return
      warn(`approval ${id} stays open: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  #withheld({ id }: Request, era: Era, reason: string): string {
    return this.#governed.settings.deny === 'error'
      ? errorAnswer(id, CODES.denied, reason)
      : toolError(id, era, reason)
  }

  async #ownTask(method: string, taskId: unknown): Promise<Members | null | undefined> {
    return method === 'tasks/get' ? this.#tasks?.get(taskId) : this.#tasks?.cancel(taskId)
  }
}

/** Methods without a decision whose results have texts for a model. */
const READ = new Set(['initialize', 'server/discover', 'tasks/get', 'tasks/cancel', 'tasks/result'])

/** Outcomes that are reported behind responses; beyond them, a call waits. */
const MAX_SETTLING = 64

interface Sender {
  readonly governed: Governed
  readonly gate: Gate
  readonly sessionId: string
  readonly running: Running
}

/** Sends allowed requests to the upstream, reports their outcomes, and has the guard read the results. */
class Forwarder {
  readonly findings = new SessionFindings()
  readonly #sender: Sender
  readonly #settling = new Set<Promise<unknown>>()

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Resolves when the outcomes of all calls are reported. */
  async settled(): Promise<void> {
    while (this.#settling.size > 0) await Promise.all(this.#settling)
  }

  /** The allow of an earlier request that this one continues: the upstream had asked for input. */
  continued(state: unknown, call: string): Allow | null {
    return this.#sender.running.takeInput(state, call)
  }

  /** Sends an allowed request to the upstream and reports its outcome. */
  async send(
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
    const { result, error } = response
    if (result === null) {
      await this.#settle(allow, { outcome: 'failure' })
      return this.#checked(
        response,
        () => textsOfError(error ?? {}),
        (message) => errorAnswer(response.id, CODES.denied, message),
      )
    }
    const taskId = taskIdOf(result)
    if (taskId !== null) this.#sender.running.keepTask(taskId, allow)
    else if (result['resultType'] === 'input_required') {
      const state = result['requestState']
      if (typeof state === 'string') this.#sender.running.keepInput(state, call, allow)
    } else
      await this.#settle(allow, { outcome: result['isError'] === true ? 'failure' : 'success' })
    const answer = await this.#checked(
      response,
      () => textsOf(result),
      (message) =>
        question.type === 'tool'
          ? toolError(response.id, 'resultType' in result ? 'modern' : 'legacy', message)
          : errorAnswer(response.id, CODES.denied, message),
    )
    return withBudgets(answer, question, allow)
  }

  /** The response to a request that was not decided, after the guard has read what a model may read of it. */
  async read(method: string, bytes: Buffer): Promise<Buffer | string> {
    if (!READ.has(method)) return bytes
    const response = readResponse(bytes)
    return this.#checked(
      response,
      () => textsOfOther(method, response.result ?? {}),
      (message) => errorAnswer(response.id, CODES.denied, message),
    )
  }

  /** The response, after the guard has noted its text or while it does. */
  async #checked(
    response: Response,
    textOf: () => string,
    withheld: (message: string) => string,
  ): Promise<Buffer | string> {
    const { governed, sessionId } = this.#sender
    const { settings, client, agentId, warn } = governed
    if (settings.results === 'off') return response.bytes
    // A call may run for longer than the credential of its request is valid.
    const check = () =>
      governed.afterwards(() => checkText(textOf, { client, agentId, sessionId, warn }))
    if (settings.results === 'note') {
      void this.findings.add(afterResponse(check))
      return response.bytes
    }
    const finding = await this.findings.add(check())
    if (finding?.action !== 'block') return response.bytes
    return withheld(`Withheld by the guard of Remit (${finding.reasons.join(', ')}).`)
  }

  /** Reports the outcome of a call that the upstream made a task of. */
  settleTask(method: string, taskId: unknown, bytes: Buffer): void {
    const { result } = readResponse(bytes)
    const outcome = isMembers(result) ? taskOutcome(method, result) : null
    const allow = outcome === null ? null : this.#sender.running.takeTask(taskId)
    if (allow && outcome !== null) void this.#settle(allow, { outcome })
  }

  /** Reports an outcome behind the response. Waits only where reports pile up. */
  async #settle(allow: Allow, outcome: Outcome): Promise<void> {
    const { gate, governed } = this.#sender
    const report = governed
      .afterwards(() => afterResponse(() => gate.settle(allow, outcome)))
      .finally(() => this.#settling.delete(report))
    this.#settling.add(report)
    if (this.#settling.size > MAX_SETTLING) await Promise.race(this.#settling)
  }
}

/** Starts work once the response is written, which happens in this turn of the event loop. */
async function afterResponse<T>(work: () => Promise<T>): Promise<T> {
  await setImmediate()
  return work()
}

function readResponse(bytes: Buffer): Response {
  const message = readUpstream(bytes)
  if (message.kind !== 'response') throw new Error('The upstream sent no response.')
  return message
}

/** One request of a client on its way: how it reaches the upstream, and what happens meanwhile. */
interface Exchange {
  /** Aborted when the client cancels the request, which ends a call that has begun. */
  readonly signal: AbortSignal
  /** Aborted when nobody can receive the response any more. A call that has begun goes on. */
  readonly gone: AbortSignal
  /**
   * Sends a request to the upstream, and resolves with the bytes of its response. It ends with `signal`: that of
   * the exchange unless a call goes on after it.
   */
  readonly call: (bytes: Buffer, signal?: AbortSignal) => Promise<Buffer>
  /** Sends a notification to the client, such as the progress of an approval. */
  readonly notify: (text: string) => void
}
