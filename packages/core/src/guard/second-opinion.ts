import type { GuardRequest, GuardSource } from '@remit/contract'
import { z } from 'zod'
import { boundedText } from '../net/bounded-text.ts'
import type { Detection } from './detection.ts'
import { readingOfContent, readingOfMessage } from './reading.ts'
import type { Reading } from './reading.ts'

/** Which texts count as attacks when the other model does not answer. */
export const FAIL_CLOSED = ['none', 'documents', 'all'] as const
export type FailClosed = (typeof FAIL_CLOSED)[number]

/** A bigger model that scores texts over HTTP. */
export interface SecondModel {
  readonly url: string
  readonly deadlineMs: number
  readonly failClosed: FailClosed
  /** Told why it did not answer. */
  readonly onFailure: (error: unknown) => void
}

/** For each text of a request what another model found, in order. */
export type Opinions = readonly (readonly Detection[])[]

const Answer = z.object({ scores: z.array(z.number().min(0).max(1)) })
const MAX_ANSWER = 1024 * 1024

interface Asked {
  readonly text: string
  readonly reading: Reading
}

/** Asks the model about all texts of the request that are read for injections, in one request. */
export async function secondOpinions(
  request: GuardRequest,
  model: SecondModel,
  signal: AbortSignal,
): Promise<Opinions> {
  const asked: Asked[] =
    request.content === undefined
      ? (request.messages ?? []).map((message) => ({
          text: message.content,
          reading: readingOfMessage(request, message),
        }))
      : [{ text: request.content, reading: readingOfContent(request) }]
  const wanted = asked.filter(isScored)
  if (wanted.length === 0) return asked.map(() => [])
  const scores = await scoresOf(wanted, model, signal)
  let next = 0
  return asked.map((one) => {
    if (!isScored(one)) return []
    const score = scores?.[next++]
    return score === undefined ? unanswered(one, model.failClosed) : [opinion(one, score)]
  })
}

const isScored = ({ text, reading }: Asked): boolean =>
  text !== '' &&
  reading.source !== 'system' &&
  reading.direction === 'input' &&
  reading.checks.has('injection')

/** Null where there is no answer in time, or none that can be used. */
async function scoresOf(
  wanted: readonly Asked[],
  { url, deadlineMs, onFailure }: SecondModel,
  signal: AbortSignal,
): Promise<readonly number[] | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
      headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
      body: JSON.stringify({
        texts: wanted.map(({ text, reading }) => ({ content: text, source: reading.source })),
      }),
    })
    if (response.status !== 200) throw new Error(`the guard's model answered ${response.status}`)
    const body = await boundedText(response, MAX_ANSWER)
    const { scores } = Answer.parse(JSON.parse(body))
    if (scores.length !== wanted.length)
      throw new Error(`the guard's model gave ${scores.length} scores for ${wanted.length} texts`)
    return scores
  } catch (error) {
    onFailure(error)
    return null
  }
}

const isFromOutside = (source: GuardSource): boolean => source === 'tool' || source === 'document'

function opinion({ text, reading }: Asked, score: number): Detection {
  const category = isFromOutside(reading.source) ? 'indirect_injection' : 'instruction_override'
  return {
    detector: 'model.second',
    category,
    severity: score >= 0.8 ? 'high' : score >= 0.5 ? 'medium' : 'low',
    start: 0,
    end: text.length,
    view: 'original',
    reason: `injection:${category}`,
    risk: score,
  }
}

/** Fails closed for the texts that the operator chose: nobody has looked at them who should have. */
function unanswered(asked: Asked, failClosed: FailClosed): Detection[] {
  const closed =
    failClosed === 'all' || (failClosed === 'documents' && isFromOutside(asked.reading.source))
  if (!closed) return []
  return [{ ...opinion(asked, 1), detector: 'model.unavailable', reason: 'model:unavailable' }]
}
