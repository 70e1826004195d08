import { parseJson } from '@remit/contract/json'
import type { GuardRequest, GuardSource } from '@remit/contract'
import { z } from 'zod'
import { boundedText } from '../net/outbound.ts'
import type { Detection } from './detection.ts'
import { textsOf } from './reading.ts'
import type { TextToCheck } from './reading.ts'

/** Texts that count as attacks while the external model is unavailable. */
export const FAIL_CLOSED = ['none', 'documents', 'all'] as const
export type FailClosed = (typeof FAIL_CLOSED)[number]

/** An external model that scores texts over HTTP. */
export interface ExternalModel {
  readonly url: string
  readonly deadlineMs: number
  readonly failClosed: FailClosed
  /** Called with the error when it fails. */
  readonly onFailure: (error: unknown) => void
}

/** The detections of the external model for each text of a request, in order. */
export type ExternalDetections = readonly (readonly Detection[])[]

const Answer = z.object({ scores: z.array(z.number().min(0).max(1)) })
const MAX_ANSWER = 1024 * 1024

/** Scores all texts of the request that are checked for injections, in one call. */
export async function externalDetections(
  request: GuardRequest,
  model: ExternalModel,
  signal: AbortSignal,
): Promise<ExternalDetections> {
  const asked = textsOf(request)
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

const isScored = ({ text, reading }: TextToCheck): boolean =>
  text !== '' &&
  reading.source !== 'system' &&
  reading.direction === 'input' &&
  reading.checks.has('injection')

/** Returns null without a valid response in time. */
async function scoresOf(
  wanted: readonly TextToCheck[],
  { url, deadlineMs, onFailure }: ExternalModel,
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
    if (response.status !== 200)
      throw new Error(`the external guard model responded with status ${response.status}`)
    const body = await boundedText(response, MAX_ANSWER)
    const answer = parseJson(body)
    // The parser's own message would quote the text, which belongs in no log.
    if (answer === undefined)
      throw new Error('the response of the external guard model is not JSON')
    const { scores } = Answer.parse(answer)
    if (scores.length !== wanted.length)
      throw new Error(
        `the external guard model returned ${scores.length} scores for ${wanted.length} texts`,
      )
    return scores
  } catch (error) {
    onFailure(error)
    return null
  }
}

const isFromOutside = (source: GuardSource): boolean => source === 'tool' || source === 'document'

function opinion({ text, reading }: TextToCheck, score: number): Detection {
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

/** Fails closed for the texts that the operator selected. */
function unanswered(asked: TextToCheck, failClosed: FailClosed): Detection[] {
  const closed =
    failClosed === 'all' || (failClosed === 'documents' && isFromOutside(asked.reading.source))
  if (!closed) return []
  return [{ ...opinion(asked, 1), detector: 'model.unavailable', reason: 'model:unavailable' }]
}
