/**
 * Suites of this package for `pnpm bench`, which finds this file by its place: open code does not
 * know the package.
 */
import { bearerSuite } from './bearer.ts'

/** A measured goal, as `scripts/bench/report.ts` prints it. */
export interface Result {
  readonly name: string
  readonly value: number
  readonly goal: { readonly atLeast: number } | { readonly below: number } | null
  readonly unit?: string
  readonly detail: string
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
  readonly startRemit: () => Promise<{
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    stop(): Promise<void>
  }>
}

export const suites: Readonly<Record<string, (tools: BenchTools) => Promise<Result[]>>> = {
  identity: bearerSuite,
}
