import { setTimeout } from 'node:timers/promises'
import type { ReadyReport } from '@remit/contract'
import type { Api } from './api.ts'

/**
 * Waits for a report: the first thread of a process may take longer to start than the response
 * waits.
 */
export async function readyReport(api: Api, body: object): Promise<ReadyReport> {
  let made = await api.ok('createReport', { body })
  while (made.status === 'generating') {
    await setTimeout(50)
    made = await api.ok('getReport', { params: { id: made.id } })
  }
  if (made.status !== 'ready') throw new Error(made.detail)
  return made
}
