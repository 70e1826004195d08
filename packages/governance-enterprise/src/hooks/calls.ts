import type { ToolHookAnswer } from '@remit/contract'
import { invalid, isoTime } from '@remit/core/base'
import type { Caller } from '@remit/core/caller'
import { eachPart, inPart, on } from '@remit/core/db'
import type { AnyDatabase, Part } from '@remit/core/db'
import type { ToolDecisions } from '@remit/core/decision'
import type { Deps } from '@remit/core/module'
import type { Append } from '../ledger/appender.ts'
import type { Questions } from './once.ts'
import { callOf, keysOf, questionOf, withoutReason } from './tool-hook.ts'
import type { Host, ToolHook, CallKeys } from './tool-hook.ts'
import type { HookCallRow } from '../tables/hooks.ts'
import type { Tables } from '../tables/schema.ts'

const KEPT_MS = 24 * 3_600_000
const SWEEP_MS = 3_600_000

/** The name of a reported outcome among the stored answers of its caller. */
const KIND = 'hook-outcome'

/** A hook with the caller that sent it and the agent that it is about. */
export interface HostCallContext {
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
  async decide(asked: HostCallContext, options: AnswerOptions): Promise<ToolHookAnswer> {
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
    await this.#keep(asked, keys, { decision_id: decisionId, decision, message })
    return preToolUse(decision, message, options.allows)
  }

  /** Answers a prompt, which does not name its call: as the decision on it, or else by one of its own. */
  async permit(asked: HostCallContext, options: AnswerOptions): Promise<ToolHookAnswer> {
    const { tools } = this.#deps
    const { caller, agent, host } = asked
    const { hook, input, known } = await this.#prompted(asked)
    if (known?.decision === 'deny') return permission('deny', known.message)
    const call = callOf(host, hook, agent)
    // Rules may have changed since. Without a call, nothing tells a repeat from another prompt.
    const question = known ? { ...call, id: questionOf(known.call_key, call) } : call
    const { decision, decisionId, message } = await tools.decide(caller, question, options)
    if (decision === 'deny') return permission('deny', message)
    if (!known)
      await this.#keep(
        asked,
        { call: promptKey(decisionId), input },
        { decision_id: decisionId, decision, message },
      )
    return options.allows ? permission('allow') : {}
  }

  /** The hook of a prompt, and the call that it is about, unless there was none. */
  async #prompted({ caller, agent, host, hook }: HostCallContext) {
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
  async settle(asked: HostCallContext, isSuccess: boolean): Promise<void> {
    const { db, append, questions } = this.#deps
    const { caller, agent, host, hook } = asked
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
    await questions.once(caller, KIND, id, (origin) => append({ ...entry, ...link }, origin))
    const decisionId = isSame ? known.decision_id : ''
    await this.#keep(asked, keys, { decision_id: decisionId, decision: 'ran', message: '' })
  }

  #keep(
    { caller }: HostCallContext,
    { call, input }: CallKeys,
    decided: Pick<HookCallRow, 'decision_id' | 'decision' | 'message'>,
  ): Promise<void> {
    const { db, clock } = this.#deps
    return putCall(db, {
      org_id: caller.orgId,
      call_key: call,
      input_key: input,
      ...decided,
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

/** The answer to `PreToolUse`. Silence lets the permission rules of the host decide as well. */
const preToolUse = (
  decision: 'allow' | 'deny',
  message: string,
  allows: boolean,
): ToolHookAnswer => {
  if (decision === 'deny') return deniedByHook(message)
  return allows ? hookAnswer('allow', message) : {}
}

/** The denial of a call, with a text for the model. */
const deniedByHook = (message: string): ToolHookAnswer => hookAnswer('deny', deniedText(message))

const permission = (behavior: 'allow' | 'deny', message?: string): ToolHookAnswer => ({
  hookSpecificOutput: {
    hookEventName: 'PermissionRequest',
    decision: { behavior, ...(message !== undefined && { message: deniedText(message) }) },
  },
})

const hookAnswer = (
  permissionDecision: 'allow' | 'deny',
  permissionDecisionReason: string,
): ToolHookAnswer => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision,
    permissionDecisionReason,
  },
})

const deniedText = (message: string): string => `Not executed: denied by Remit. ${message}`

/** Hashes, which name the other calls, have no dot. */
const PROMPT = 'prompt.'

/** The name of an allow that was given to a permission prompt, until the outcome names its call. */
const promptKey = (decisionId: string): string => `${PROMPT}${decisionId}`

/** A call by its id, or else the newest one with an input that has no outcome yet. */
const findCall = (
  db: AnyDatabase,
  orgId: string,
  by: { readonly call: string } | { readonly input: string },
): Promise<HookCallRow | undefined> => {
  const rows = on<Tables>(db).selectFrom('hook_call').selectAll().where('org_id', '=', orgId)
  return (
    'call' in by
      ? rows.where('call_key', '=', by.call)
      : rows
          .where('input_key', '=', by.input)
          .where('decision', '!=', 'ran')
          .where('call_key', 'not like', `${PROMPT}%`)
          .orderBy('created_at', 'desc')
          .limit(1)
  ).executeTakeFirst()
}

/** Gives the oldest allow of a permission prompt about this input to the call that has run: once. */
const takePrompt = (
  db: AnyDatabase,
  orgId: string,
  { call, input }: CallKeys,
): Promise<HookCallRow | undefined> =>
  on<Tables>(db)
    .updateTable('hook_call')
    .set({ call_key: call })
    .where('org_id', '=', orgId)
    .where('call_key', '=', (one) =>
      one
        .selectFrom('hook_call')
        .select('call_key')
        .where('org_id', '=', orgId)
        .where('input_key', '=', input)
        .where('call_key', 'like', `${PROMPT}%`)
        .orderBy('created_at')
        .limit(1),
    )
    .returningAll()
    .executeTakeFirst()

/** Keeps a call; a later decision replaces an earlier one, but none the outcome of the same input. */
const putCall = async (db: AnyDatabase, row: HookCallRow): Promise<void> => {
  const { org_id: _, call_key: __, ...rest } = row
  await on<Tables>(db)
    .insertInto('hook_call')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['org_id', 'call_key'])
        .doUpdateSet(rest)
        .where((where) =>
          where.or([
            where('hook_call.decision', '!=', 'ran'),
            where('hook_call.input_key', '!=', row.input_key),
          ]),
        ),
    )
    .execute()
}

/** Forgets calls that no host will report any more. */
const forgetCalls = async (db: AnyDatabase, part: Part, before: string): Promise<void> => {
  await on<Tables>(db)
    .deleteFrom('hook_call')
    .where(inPart(part))
    .where('created_at', '<', before)
    .execute()
}
