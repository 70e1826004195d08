import { endpoints, openApi } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import type { Computer } from '../threads/pool.ts'
import type { Job } from '../threads/job.ts'

interface DocumentTask {
  /** Names of the served endpoints in the contract. */
  readonly names: readonly string[]
  readonly version: string
}

/** Many times what the document takes. */
const LIMIT_MS = 10_000

/** The OpenAPI document as JSON. One part. */
export const documentJob: Job<DocumentTask, string> = {
  name: 'document',
  run({ names, version }, tell) {
    const served = names.flatMap((name): [string, Endpoint][] => {
      const endpoint = endpoints[name]
      return endpoint ? [[name, endpoint]] : []
    })
    tell(JSON.stringify(openApi(Object.fromEntries(served), version)))
  },
}

/** Makes the document in a worker: some 150 ms, in which the event loop would stand still. */
export async function makeDocument(
  computer: Computer,
  owner: string,
  task: DocumentTask,
): Promise<string> {
  const { parts, ended } = await computer.run(owner, documentJob, task, LIMIT_MS)
  const [document] = parts
  if (document === undefined) throw new Error(`the OpenAPI document needs too much ${ended}`)
  return document
}
