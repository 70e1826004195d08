import { endpoints } from '@remit/contract'
import { Failure } from '../base/errors.ts'
import { Refusal } from '../threads/job.ts'
import type { Job } from '../threads/job.ts'
import { checkBody, readJson } from './check-body.ts'
import { cutErrors } from './problem.ts'

interface BodyTask {
  /** Name of the endpoint in the contract. */
  readonly endpoint: string
  readonly bytes: Uint8Array
}

/**
 * A checked body as JSON, in pieces that the event loop can parse one by one: the whole with empty
 * lists, and the items of each list. A single text would have to be parsed at once.
 */
interface BodyPieces {
  readonly whole: string
  readonly lists: readonly (readonly [name: string, items: readonly string[]])[]
}

type Members = Record<string, unknown>

/** Reads and checks a body. One part. */
export const bodyJob: Job<BodyTask, BodyPieces> = {
  name: 'body',
  run({ endpoint: name, bytes }, tell) {
    const endpoint = endpoints[name]
    if (!endpoint) throw new Error(`the contract has no endpoint ${name}`)
    try {
      tell(piecesOf(checkBody(endpoint, bytes) as Members))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const { code, message, extras } = error
      throw new Refusal({ code, message, extras: cutErrors(extras) } satisfies SentFailure)
    }
  },
}

type SentFailure = Pick<Failure, 'code' | 'message' | 'extras'>

/** Converts the refusal of a body from the thread into a failure. */
export function bodyRefusal({ reason }: Refusal): Failure {
  const { code, message, extras } = reason as SentFailure
  return new Failure(code, message, extras)
}

function piecesOf(body: Members): BodyPieces {
  const lists = Object.entries(body).flatMap(([name, items]) =>
    Array.isArray(items) && name !== '__proto__' ? [[name, items as unknown[]] as const] : [],
  )
  const empty = Object.fromEntries(lists.map(([name]) => [name, []]))
  return {
    whole: JSON.stringify({ ...body, ...empty }),
    lists: lists.map(([name, items]) => [name, items.map((item) => JSON.stringify(item))]),
  }
}

/** Reassembles a body. `rest` is called between pieces, so that other requests can run. */
export async function assembled(
  { whole, lists }: BodyPieces,
  rest: () => Promise<void>,
): Promise<unknown> {
  const body = readJson(Buffer.from(whole)) as Members
  for (const [name, texts] of lists) {
    const items: unknown[] = []
    for (const text of texts) {
      items.push((readJson(Buffer.from(`[${text}]`)) as unknown[])[0])
      await rest()
    }
    body[name] = items
  }
  return body
}
