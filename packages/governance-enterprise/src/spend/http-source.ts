import { boundedText } from '@remit/core/net'
import { z } from 'zod'
import type { SpendSource } from './measure.ts'

const Answer = z.object({ usd: z.number().min(0) })
const MAX_BYTES = 64 * 1024

/**
 * A spend source over HTTP, such as the cost API of an LLM gateway: `GET
 * <url>?org_id=&agent_id=&window=` returns `{"usd": number}`. Any other response, including a
 * redirect, is a failure.
 */
export function httpSpendSource(url: string): SpendSource {
  return {
    async spent({ orgId, agentId, window }, signal) {
      const target = new URL(url)
      target.searchParams.set('org_id', orgId)
      target.searchParams.set('agent_id', agentId)
      target.searchParams.set('window', window)
      const response = await fetch(target, {
        signal,
        redirect: 'error',
        headers: { Accept: 'application/json' },
      })
      if (response.status !== 200) throw new Error(`the spend source answered ${response.status}`)
      return Answer.parse(JSON.parse(await boundedText(response, MAX_BYTES))).usd
    },
  }
}
