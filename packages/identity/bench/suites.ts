/** Suites of this package for `pnpm bench`, which finds this file by its place. */
import type { Suites } from '@remit/testing/bench'
import { bearerSuite } from './bearer.ts'

export const suites: Suites = { identity: bearerSuite }
