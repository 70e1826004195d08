import { verifyLedger as endpoints } from '@remit/contract'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import type { Jobs } from '../jobs/jobs.ts'
import { verifyAndRecord } from './verify-and-record.ts'

/** `POST /v1/compliance/verify-ledger`. */
export const verifyRoutes = (
  deps: Pick<Deps, 'ledger' | 'verifierKey' | 'writer'>,
  jobs: Jobs,
): Route[] =>
  implement(endpoints, {
    verifyLedger: ({ body: { checkpoint, ...part } }, caller, request) => {
      const asked = { ...part, checkpoints: checkpoint === undefined ? [] : [checkpoint] }
      // The idempotency key repeats the response; the entry needs none.
      const origin = {
        caller,
        claim: null,
        wantsNote: request.wantsNote,
        whileSuspended: request.whileSuspended,
      }
      const signal = request.signal()
      return verifyAndRecord(deps, jobs, caller.orgId, asked, origin, { signal })
    },
  })
