import type { SelfTestResult } from '../self-test.ts'

export type Enforcement =
  | 'enforced'
  /** The host asks a hook of this process; without the process it does not ask. */
  | 'enforced_while_the_hook_runs'
  | 'not_enforced'
  | 'not_tested'

/** The result for one framework of a project. */
export interface Finding {
  readonly framework: string
  readonly language: 'javascript' | 'python'
  readonly package: string
  /** Null where it is not installed. */
  readonly version: string | null
  readonly adapter: string
  readonly enforcement: Enforcement
  /** The reason, where it is not enforced or not tested. */
  readonly detail: string
  /** The cases of the self-test; empty where it did not run. */
  readonly cases: readonly SelfTestResult[]
}

export interface Examination {
  readonly server: string
  readonly folder: string
  readonly findings: readonly Finding[]
  /** Frameworks that are declared, but that no source imports. */
  readonly unused: readonly string[]
}
