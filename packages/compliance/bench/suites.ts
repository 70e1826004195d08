/**
 * Suites of this package for `pnpm bench`, which finds this file by its place: open code does not
 * know the package.
 */
import type { Module } from '@remit/core/module'
import { complianceSuite } from './compliance.ts'
import { statsSuite } from './stats.ts'

/** A measured goal, as `scripts/bench/report.ts` prints it. */
export interface Result {
  readonly name: string
  readonly value: number
  readonly goal: { readonly atLeast: number } | { readonly below: number } | null
  readonly unit?: string
  readonly detail: string
}

/** A database before its server starts. */
export interface Unstarted {
  readonly databaseUrl: string
  /** PKCS #8 PEM of the ledger's key. */
  readonly signingKey: string
  readonly modules: readonly Module[]
}

/** A server in a process of its own; the headers are those of an admin. */
export interface Server {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  usage(): Promise<{
    readonly mainCpuSeconds: number
    /** Of all threads. */
    readonly cpuSeconds: number
    readonly rssBytes: number
  }>
  stop(): Promise<void>
}

/** The interface of the benchmark's main program to a suite. */
export interface BenchTools {
  readonly rounds: number
  /** Entries of a large ledger. */
  readonly entries: number
  readonly median: (values: readonly number[]) => number
  readonly quantile: (values: readonly number[], q: number) => number
  readonly ratio: (a: readonly number[], b: readonly number[]) => number
  /** Sends bodies in turn for some seconds; any status other than 2xx fails. */
  readonly traffic: (load: {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly bodies: readonly object[]
    readonly connections: number
    readonly seconds: number
  }) => Promise<{ readonly perSecond: number }>
  readonly startRemit: (options: {
    readonly dialect: 'sqlite' | 'postgres'
    readonly fill: (
      database: Unstarted,
    ) => Promise<{ readonly key: string; readonly orgId: string }>
  }) => Promise<Server>
}

export const suites: Readonly<Record<string, (tools: BenchTools) => Promise<Result[]>>> = {
  'compliance-sqlite': (tools) => complianceSuite('sqlite', tools),
  'compliance-postgres': (tools) => complianceSuite('postgres', tools),
  'stats-sqlite': (tools) => statsSuite('sqlite', tools),
  'stats-postgres': (tools) => statsSuite('postgres', tools),
}
