import { randomUUID } from 'node:crypto'
import { RemitError } from '@remit/contract/client'
import { createGate } from '@remit/sdk'
import type { Allow, Gate, ToolCall, Verdict } from '@remit/sdk'
import { CODES, errorAnswer, notification, resultAnswer, toolError } from '../rpc/answers.ts'
import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'
import { NotAMessage } from '../rpc/message.ts'
import type { Message, Request } from '../rpc/message.ts'
import {
  abilitiesIn,
  eraOf,
  initialAbilities,
  isKnownMethod,
  metaOf,
  NO_ABILITIES,
} from '../rpc/protocol.ts'
import type { Abilities, Era } from '../rpc/protocol.ts'
import type { Coaz } from '../mapping/coaz.ts'
import type { Governed } from './governed.ts'
import { callOf, forwardedBytes, mapped, questionOf } from './question.ts'
import type { GatewayInput, Question } from './question.ts'
import { withoutRetry } from './request-state.ts'
import type { Exchange } from './exchange.ts'
import { Forwarder, readResponse } from './forward.ts'
import { Running } from './running.ts'
import { Tasks } from './tasks.ts'
import { approvalPage, denied, stillPending } from './verdicts.ts'

/** Identity of a session. */
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
   * false for the state of another agent's task, which this client must not see.
   */
  observe(message: Message): boolean {
    if (message.kind !== 'notification') return true
    if (message.method === 'notifications/tools/list_changed') this.#governed.catalog?.expire()
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
    return this.#forwarder.read(method, await exchange.call(bytes))
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
    const send = (allow: Allow, by: Exchange) =>
      this.#forwarder.send(forwardedBytes(own), own, allow, call, by)
    const asked = await this.#call({ question: own, declared }, callId, exchange.signal)
    const verdict = await this.#asking.admit(asked)
    if (verdict.kind === 'allow') return send(verdict, exchange)
    const refused = { id, era, method: question.method }
    if (verdict.kind === 'deny') return denied(refused, verdict, settings.deny)

    const abilities = era === 'modern' ? abilitiesIn(request) : this.#abilities
    const { approvalId } = verdict
    if (this.#tasks && abilities.tasks && method === 'tools/call') {
      const cancel = () => void this.#closeApproval(approvalId)
      const task = this.#tasks.create(verdict.message, cancel, async (signal) => {
        const again = await this.#asking.admit({ ...asked, signal })
        if (again.kind === 'pending') return null
        // The request that began the task was answered long ago, and its connection may be gone.
        const later = { ...exchange, signal, call: (sent: Buffer) => exchange.call(sent, signal) }
        const answer =
          again.kind === 'deny' ? denied(refused, again, settings.deny) : await send(again, later)
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
    if (held.kind === 'deny') return denied(refused, held, settings.deny)
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
