import type { GuardAnswer, GuardRequest } from '@remit/contract'
import type { Job } from '../threads/job.ts'
import type { Computer } from '../threads/pool.ts'
import { fail } from '../base/errors.ts'
import { checkContent } from './guard.ts'
import type { ExternalDetections } from './external-model.ts'

/**
 * Texts up to this total of UTF-16 units are checked on the event loop: about 5 ms, 30 for the
 * slowest input.
 */
const INLINE_LENGTH = 16_384
/** Many times the duration of the largest body. */
const LIMIT_MS = 20_000

interface CheckTask {
  readonly request: GuardRequest
  readonly opinions: ExternalDetections | undefined
}

export const checkJob: Job<CheckTask, GuardAnswer> = {
  name: 'guard',
  run: ({ request, opinions }, tell) => tell(checkContent(request, opinions)),
}

/**
 * Runs `checkContent`, in a worker if the texts are long, so that other requests need not wait.
 * Throws `deadline_exceeded` or `overloaded`: an incomplete check has no verdict.
 */
export async function checkAnywhere(
  { request, opinions }: CheckTask,
  computer: Computer,
  owner: string,
  limitMs = LIMIT_MS,
): Promise<GuardAnswer> {
  if (lengthOf(request) <= INLINE_LENGTH) return checkContent(request, opinions)
  const { parts, ended } = await computer.run(owner, checkJob, { request, opinions }, limitMs)
  const [answer] = parts
  if (answer) return answer
  const later = { headers: { 'Retry-After': '1' } }
  throw ended === 'time'
    ? fail('deadline_exceeded', 'The check exceeded its time limit and has no verdict', later)
    : fail('overloaded', 'The check exceeded its memory limit and has no verdict', later)
}

const lengthOf = ({ content, messages = [] }: GuardRequest): number =>
  messages.reduce((sum, message) => sum + message.content.length, content?.length ?? 0)
