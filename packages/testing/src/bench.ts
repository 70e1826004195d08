import type { Module } from '@remit/core/module'

/** One measured goal: a ratio within one run, or a value with a bound. */
export interface Result {
  readonly name: string
  readonly value: number
  readonly goal: { readonly atLeast: number } | { readonly below: number } | null
  readonly unit?: string
  readonly detail: string
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Returns the value below which the share `q` of the values lies. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? NaN
}

/** Returns true if a result meets its goal; one without a goal is only printed. */
export const isMet = ({ value, goal }: Result): boolean =>
  goal === null || ('atLeast' in goal ? value >= goal.atLeast : value < goal.below)

export function formatResult(result: Result): string {
  const { name, value, goal, unit = '', detail } = result
  const bound = goal === null ? '' : 'atLeast' in goal ? `>= ${goal.atLeast}` : `< ${goal.below}`
  const mark = goal === null ? '    ' : isMet(result) ? 'ok  ' : 'MISS'
  return `${mark} ${name.padEnd(52)} ${value.toFixed(3).padStart(9)}${unit} ${bound.padEnd(8)} ${detail}`
}

/** Alternates the measurements `rounds` times, so that all see the same machine load. */
export async function alternate<K extends string>(
  rounds: number,
  measures: Readonly<Record<K, () => Promise<number>>>,
): Promise<Record<K, number[]>> {
  const names = Object.keys(measures) as K[]
  const values = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<
    K,
    number[]
  >
  for (let round = 0; round < rounds; round++) {
    for (const name of names) values[name].push(await measures[name]())
  }
  return values
}

/** The median of the ratios of two series, round by round. */
export const ratio = (a: readonly number[], b: readonly number[]): number =>
  median(a.map((value, i) => value / (b[i] ?? NaN)))

/** A database before its server starts. */
export interface EmptyInstallation {
  readonly databaseUrl: string
  /** PKCS #8 PEM of the ledger's key. */
  readonly signingKey: string
  readonly modules: readonly Module[]
}

/** Remit in a process of its own; the headers are those of an admin. */
export interface MeasuredServer {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  usage(): Promise<{
    /** Of all threads. */
    readonly cpuSeconds: number
    /** Of the main thread, which decides. */
    readonly mainCpuSeconds: number
    readonly rssBytes: number
  }>
  stop(): Promise<void>
}

/** The interface of the benchmarks' main program to a suite of a package. */
export interface BenchTools {
  readonly rounds: number
  /** Entries of a large ledger. */
  readonly entries: number
  /** `fill` creates an organization with the data of the suite, bypassing the limits of the API. */
  readonly startRemit: (options?: {
    readonly dialect?: 'sqlite' | 'postgres'
    readonly fill?: (
      database: EmptyInstallation,
    ) => Promise<{ readonly key: string; readonly orgId: string }>
  }) => Promise<MeasuredServer>
}

/** The suites of a package by name, which its `bench/suites.ts` exports. */
export type Suites = Readonly<Record<string, (tools: BenchTools) => Promise<Result[]>>>
