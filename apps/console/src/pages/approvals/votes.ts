import { useCan } from '../../api/session.ts'
import type { Request } from './queries.ts'

/** Returns a test for the right to vote on a request: as the server states it, else by role. */
export function useCanVote(): (request: Request) => boolean {
  const can = useCan()
  return ({ can_vote, status }) =>
    status === 'pending' && (can_vote ?? can('POST /v1/approvals/{requestID}/decide'))
}
