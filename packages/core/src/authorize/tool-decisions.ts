import type { Caller } from '../caller/caller.ts'
import type { Reading } from './stage.ts'

/** A call of a tool by an agent host. */
export interface HostCall {
  readonly agentId: string | undefined
  readonly action: string
  readonly resource?: string | { readonly type: string; readonly id: string }
  readonly context: Readonly<Record<string, unknown>>
  /** Other readings of the name of the tool. */
  readonly readings?: readonly Reading[]
  /** Why no rule can judge the call. */
  readonly unmappable?: string
  /** Identifies the question: a host that asks it again gets the decision that was made. */
  readonly id?: string
  /** The client of the host chooses the id: what used an approval is decided anew. */
  readonly hasClientId?: boolean
}

/** The decision on a call of a host, which cannot ask again. */
export interface HostDecision {
  readonly decision: 'allow' | 'deny'
  readonly decisionId: string
  /** For the model. */
  readonly message: string
  readonly warnings?: readonly string[]
}

/** Decides calls for hosts that only know allow and deny. */
export interface ToolDecisions {
  /** Waits at most `maxMs` for an approval, then denies and names it. */
  decide(
    caller: Caller,
    call: HostCall,
    options: { readonly maxMs: number; readonly signal: AbortSignal },
  ): Promise<HostDecision>
}
