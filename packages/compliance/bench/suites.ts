/** Suites of this package for `pnpm bench`, which finds this file by its place. */
import type { Suites } from '@remit/testing/bench'
import { complianceSuite } from './compliance.ts'

export const suites: Suites = {
  'reports-sqlite': (tools) => complianceSuite('sqlite', tools),
  'reports-postgres': (tools) => complianceSuite('postgres', tools),
}
