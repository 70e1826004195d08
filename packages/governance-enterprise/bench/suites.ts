/**
 * Suites of this package for `pnpm bench`, which finds this file by its place: open code does not
 * know the package.
 */
import { cerbosSuite } from './cerbos.ts'
import { rulesSuite } from './rules.ts'

/** A measured goal, as `scripts/bench/report.ts` prints it. */
export interface Result {
  readonly name: string
  readonly value: number
  readonly goal: { readonly atLeast: number } | { readonly below: number } | null
  readonly unit?: string
  readonly detail: string
}

/** The results of one round of load. */
export interface Traffic {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** The interface of the benchmark's main program to a suite. */
export interface BenchTools {
  readonly rounds: number
  readonly alternate: <K extends string>(
    rounds: number,
    measures: Readonly<Record<K, () => Promise<number>>>,
  ) => Promise<Record<K, number[]>>
  readonly median: (values: readonly number[]) => number
  readonly ratio: (a: readonly number[], b: readonly number[]) => number
  /** Remit in a process of its own on an empty SQLite file; the headers are those of an admin. */
  startRemit(): Promise<{
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    stop(): Promise<void>
  }>
  /** A round of POSTs with different bodies; any answer other than 2xx fails. */
  traffic(load: {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly bodies: readonly object[]
    readonly connections: number
  }): Promise<Traffic>
}

export const suites: Readonly<Record<string, (tools: BenchTools) => Promise<Result[]>>> = {
  rules: rulesSuite,
  cerbos: cerbosSuite,
}
