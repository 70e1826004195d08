import { verifyLedger as endpoints } from '@remit/contract'
import { implement, invalid } from '@remit/core'
import type { Deps, Route } from '@remit/core'
import { sizeOf } from '../watch/checkpoint-files.ts'
import type { Jobs } from '../worker/jobs.ts'
import { verificationOf } from './answer.ts'
import { recordVerification } from './record.ts'

/** `POST /v1/compliance/verify-ledger`. */
export const verifyRoutes = ({ writer }: Pick<Deps, 'writer'>, jobs: Jobs): Route[] =>
  implement(endpoints, {
    verifyLedger: async ({ body }, caller, request) => {
      const { from_seq, to_seq, checkpoint } = body
      if (checkpoint !== undefined && sizeOf(checkpoint) === null)
        throw invalid(
          'checkpoint',
          'must be a signed checkpoint, as `GET /v1/ledger/checkpoint` gives it',
        )
      const check = await jobs.verify(
        caller.orgId,
        {
          ...(from_seq !== undefined && { fromSeq: from_seq }),
          ...(to_seq !== undefined && { toSeq: to_seq }),
          ...(checkpoint !== undefined && { checkpoints: [checkpoint] }),
        },
        { signal: request.signal() },
      )
      const isWhole = from_seq === undefined && to_seq === undefined
      // The answer as such is repeated by its key; the entry needs none.
      const requester = { caller, claim: null, wantsNote: request.wantsNote }
      return recordVerification(writer, caller.orgId, requester, verificationOf(check), isWhole)
    },
  })
