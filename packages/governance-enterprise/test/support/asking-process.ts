import { createPrivateKey } from 'node:crypto'
import { createTestRemit } from '@remit/testing'
import governance from '../../src/index.ts'

/** The message from the parent: the location of Remit's data, and the requests. */
export interface Job {
  readonly url: string
  readonly signingKey: string
  readonly key: string
  readonly times: number
  readonly body: object
}

/** A server process of its own, as far as the database can tell: asks, and answers with the decisions. */
process.once('message', (job: Job) => void ask(job).then((decisions) => process.send?.(decisions)))

async function ask({ url, signingKey, key, times, body }: Job): Promise<string[]> {
  const remit = await createTestRemit({
    modules: [governance],
    url,
    signingKey: createPrivateKey(signingKey),
  })
  const once = async (tries = 20): Promise<string> => {
    const response = await remit.call('POST', '/v1/authorize', { key, body })
    // On a busy machine two processes may wait too long for each other; then nothing was done.
    if (response.status === 503 && tries > 1) return once(tries - 1)
    const { decision } = (await response.json()) as { decision?: string }
    return decision ?? `status ${response.status}`
  }
  const decisions = await Promise.all(Array.from({ length: times }, () => once()))
  await remit.close()
  return decisions
}
