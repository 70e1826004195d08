import type { Target } from './attacks.ts'

/** The task of the attacker's process. It prepares immediately, and attacks from `start` to `stop`. */
export interface AttackerSpec {
  readonly target: Target
  readonly attacks: readonly string[]
}

export type FromAttacker =
  | { readonly kind: 'prepared' }
  /** Number of responses by status; 0 is no response. */
  | { readonly kind: 'stopped'; readonly statuses: Readonly<Record<number, number>> }

/** The task of the victim's process: measures from `start` to `stop`. */
export interface VictimSpec {
  readonly url: string
  readonly key: string
  /** A bare echo on the same machine: the cost of the other processes themselves. */
  readonly echoUrl: string
}

/** Milliseconds from sending a request to the end of its response. */
export type Latencies = Readonly<Record<'authorize' | 'health' | 'echo', readonly number[]>>

export type FromVictim =
  | { readonly kind: 'ready' }
  | { readonly kind: 'measured'; readonly latencies: Latencies }
