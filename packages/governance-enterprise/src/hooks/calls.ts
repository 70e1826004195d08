import type { ToolHookAnswer } from '@remit/contract'
import { invalid, isoTime } from '@remit/core/base'
import type { Caller } from '@remit/core/caller'
import { eachPart } from '@remit/core/db'
import type { ToolDecisions } from '@remit/core/decision'
import type { Deps } from '@remit/core/module'
import type { Append } from '../ledger/appender.ts'
import { deniedByHook, permission, preToolUse } from './answers.ts'
import type { Questions } from './once.ts'
import { findCall, forgetCalls, promptKey, putCall, takePrompt } from './store.ts'
import { callOf, keysOf, questionOf, withoutReason } from './tool-hook.ts'
import type { Host, ToolHook } from './tool-hook.ts'

const KEPT_MS = 24 * 3_600_000
const SWEEP_MS = 3_600_000

/** The name of a reported outcome among the stored answers of its caller. */
const KIND = 'hook-outcome'

/** A hook with the caller that sent it and the agent that it is about. */
export interface Asked {
  readonly caller: Caller
  readonly agent: string
  readonly host: Host
  readonly hook: ToolHook
}

export interface AnswerOptions {
  /** An allow is explicit, instead of silence. */
  readonly allows: boolean
  readonly maxMs: number
  readonly signal: AbortSignal
}

interface HostCallsDeps extends Pick<Deps, 'db' | 'clock'> {
  readonly tools: ToolDecisions
  readonly append: Append
  readonly questions: Questions
}

/** The calls of agent hosts, from the decision to the outcome. */
export class HostCalls {
  readonly #deps: HostCallsDeps
  #sweptAt = 0

  constructor(deps: HostCallsDeps) {
    this.#deps = deps
  }

  /** Decides a call. The repeated question of a host has the decision of the first. */
  async decide(asked: Asked, options: AnswerOptions): Promise<ToolHookAnswer> {
    const { db, tools, clock } = this.#deps
    const { caller, agent, host, hook } = asked
    requireCallId(hook)
    const keys = keysOf(host, hook, agent)
    const known = await findCall(db, caller.orgId, { call: keys.call })
    // Its hold is settled: a second execution would be held by nobody.
    if (known?.decision === 'ran' && known.input_key === keys.input)
      return deniedByHook(`The call ${hook.tool_use_id} has run already. Call again.`)
    const call = callOf(host, hook, agent)
    const question = { ...call, id: questionOf(keys.call, call) }
    const { decision, decisionId, message } = await tools.decide(caller, question, options)
    await this.#sweep(clock.now())
    await putCall(db, {
      org_id: caller.orgId,
      call_key: keys.call,
      input_key: keys.input,
      decision_id: decisionId,
      decision,
      message,
      created_at: isoTime(clock.now()),
    })
    return preToolUse(decision, message, options.allows)
  }

  /** Answers a prompt, which does not name its call: as the decision on it, or else by one of its own. */
  async permit(asked: Asked, options: AnswerOptions): Promise<ToolHookAnswer> {
    const { db, tools, clock } = this.#deps
    const { caller, agent, host } = asked
    const { hook, input, known } = await this.#prompted(asked)
    if (known?.decision === 'deny') return permission('deny', known.message)
    const call = callOf(host, hook, agent)
    // Rules may have changed since. Without a call, nothing tells a repeat from another prompt.
    const question = known ? { ...call, id: questionOf(known.call_key, call) } : call
    const { decision, decisionId, message } = await tools.decide(caller, question, options)
    if (decision === 'deny') return permission('deny', message)
    if (!known)
      await putCall(db, {
        org_id: caller.orgId,
        call_key: promptKey(decisionId),
        input_key: input,
        decision_id: decisionId,
        decision,
        message,
        created_at: isoTime(clock.now()),
      })
    return options.allows ? permission('allow') : {}
  }

  /** The hook of a prompt, and the call that it is about, unless there was none. */
  async #prompted({ caller, agent, host, hook }: Asked) {
    const find = async (one: ToolHook) => {
      const { input } = keysOf(host, one, agent)
      return { hook: one, input, known: await findCall(this.#deps.db, caller.orgId, { input }) }
    }
    const found = await find(hook)
    const own = withoutReason(hook)
    if (found.known || own === null) return found
    const call = await find(own)
    return call.known ? call : found
  }

  /** Settles the decision of a call that ran, or records that it had none: once for each call. */
  async settle({ caller, agent, host, hook }: Asked, isSuccess: boolean): Promise<void> {
    const { db, append, questions, clock } = this.#deps
    requireCallId(hook)
    const keys = keysOf(host, hook, agent)
    const known =
      (await findCall(db, caller.orgId, { call: keys.call })) ??
      (await takePrompt(db, caller.orgId, keys))
    const isSame = known?.input_key === keys.input
    if (known?.decision === 'ran' && isSame) return
    const { action, resource } = callOf(host, hook, agent)
    const entry = {
      action,
      agent_id: agent,
      outcome: isSuccess ? 'success' : 'failure',
      ...(resource !== undefined && { resource }),
      metadata: { call_id: hook.tool_use_id, session_id: hook.session_id },
    } as const
    // Another input than the decided one ran without a decision.
    const ending = isSuccess && known?.decision === 'allow' ? { settle: 'held' as const } : {}
    const link = isSame ? { decision_id: known.decision_id, ...ending } : { decision_id: null }
    const id = isSame ? known.decision_id : `${keys.call}.${keys.input}`
    await questions.once(caller, KIND, id, (requested) =>
      append(caller, { ...entry, ...link }, requested),
    )
    await putCall(db, {
      org_id: caller.orgId,
      call_key: keys.call,
      input_key: keys.input,
      decision_id: isSame ? known.decision_id : '',
      decision: 'ran',
      message: '',
      created_at: isoTime(clock.now()),
    })
  }

  async #sweep(now: number): Promise<void> {
    if (now - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = now
    const { db } = this.#deps
    // Those of an organization that is unavailable are forgotten later.
    await eachPart(
      db,
      (part) => forgetCalls(db, part, isoTime(now - KEPT_MS)),
      () => undefined,
    )
  }
}

function requireCallId({ tool_use_id: id }: ToolHook): void {
  if (id === undefined) throw invalid('tool_use_id', 'is required')
}
