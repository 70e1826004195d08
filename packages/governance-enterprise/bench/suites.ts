/** Suites of this package for `pnpm bench`, which finds this file by its place. */
import type { Suites } from '@remit/testing/bench'
import { budgetsSuite } from './budgets.ts'
import { propertiesSuite } from './properties.ts'
import { rulesSuite } from './rules.ts'

export const suites: Suites = {
  budgets: budgetsSuite,
  properties: propertiesSuite,
  rules: rulesSuite,
}
