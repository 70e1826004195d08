import type { Target } from './attack.ts'

/** What the attacker's process is to do. It prepares at once, attacks when told `start` and ends at `stop`. */
export interface AttackerSpec {
  readonly target: Target
  readonly attacks: readonly string[]
}

export type FromAttacker =
  | { readonly kind: 'prepared' }
  /** How many answers had which status; 0 is no answer. */
  | { readonly kind: 'stopped'; readonly statuses: Readonly<Record<number, number>> }

/** What the victim's process is to measure, when told `start`, until it is told `stop`. */
export interface VictimSpec {
  readonly url: string
  readonly key: string
  /** A bare echo on the same machine: what the other processes cost by themselves. */
  readonly echoUrl: string
}

/** Milliseconds from sending a request to the end of its answer. */
export type Latencies = Readonly<Record<'authorize' | 'health' | 'echo', readonly number[]>>

export type FromVictim =
  | { readonly kind: 'ready' }
  | { readonly kind: 'measured'; readonly latencies: Latencies }
