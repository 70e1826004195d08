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
  /** Requests are of so many agents in turn, `agent-0` and so on. */
  readonly agents?: number
}

/** A server process of its own, as far as the database can tell: asks, and answers with the decisions. */
process.once('message', (job: Job) => void ask(job).then((decisions) => process.send?.(decisions)))

async function ask({ url, signingKey, key, times, body, agents }: Job): Promise<string[]> {
  const remit = await createTestRemit({
    modules: [governance],
    url,
    signingKey: createPrivateKey(signingKey),
  })
  const once = async (i: number, tries = 20): Promise<string> => {
    const agent = agents === undefined ? {} : { agent_id: `agent-${i % agents}` }
    const asked = { key, body: { ...body, ...agent } }
    const response = await remit.call('POST', '/v1/authorize', asked)
    // On a busy machine two processes may wait too long for each other; then nothing was done.
    if (response.status === 503 && tries > 1) return once(i, tries - 1)
    const { decision } = (await response.json()) as { decision?: string }
    return decision ?? `status ${response.status}`
  }
  const decisions = await Promise.all(Array.from({ length: times }, (_, i) => once(i)))
  await remit.close()
  return decisions
}
