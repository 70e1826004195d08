import { setImmediate } from 'node:timers/promises'
import type { Allow, Gate, Outcome } from '@remit/sdk'
import { checkText, textsOf, textsOfError, textsOfOther } from '../guard/results.ts'
import { SessionFindings } from '../guard/session-findings.ts'
import { CODES, errorAnswer, toolError } from '../rpc/answers.ts'
import { isMembers } from '../rpc/members.ts'
import { readUpstream } from '../rpc/message.ts'
import type { Response } from '../rpc/message.ts'
import type { Exchange } from './exchange.ts'
import type { Governed } from './governed.ts'
import type { Question } from './question.ts'
import { taskIdOf, taskOutcome } from './running.ts'
import type { Running } from './running.ts'

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
export class Forwarder {
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
    return this.#checked(
      response,
      () => textsOf(result),
      (message) =>
        question.type === 'tool'
          ? toolError(response.id, 'resultType' in result ? 'modern' : 'legacy', message)
          : errorAnswer(response.id, CODES.denied, message),
    )
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

export function readResponse(bytes: Buffer): Response {
  const message = readUpstream(bytes)
  if (message.kind !== 'response') throw new Error('The upstream sent no response.')
  return message
}
