/**
 * The victim of `pnpm bench isolation`, a separate process. Sends at a fixed rate, regardless of
 * the response times, so that a slow server does not get less load.
 */
import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { ASK } from '../requests.ts'
import type { FromVictim, VictimSpec } from './attacks.ts'

const WARM_REQUESTS = 500
const EVERY_MS = 10

const { url, key, echoUrl } = JSON.parse(process.argv[2] ?? '') as VictimSpec
const tell = (message: FromVictim) => process.send?.(message)
const agent = new Agent({ keepAlive: true })
const body = JSON.stringify(ASK)

/** Milliseconds to the end of the response; infinite unless it is a success. */
function ask(method: 'GET' | 'POST', at: string): Promise<number> {
  return new Promise((resolve) => {
    const refused = () => resolve(Infinity)
    const started = performance.now()
    const sent = request(
      at,
      {
        agent,
        method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      },
      (answer) => {
        answer.resume().once('end', () => {
          if (answer.statusCode === 200) resolve(performance.now() - started)
          else refused()
        })
      },
    )
    sent.once('error', refused)
    sent.end(method === 'POST' ? body : undefined)
  })
}

const QUESTIONS = {
  authorize: () => ask('POST', `${url}/v1/authorize`),
  health: () => ask('GET', `${url}/health`),
  echo: () => ask('POST', `${echoUrl}/echo`),
}

for (let done = 0; done < WARM_REQUESTS; done++)
  for (const question of Object.values(QUESTIONS)) await question()
tell({ kind: 'ready' })

const latencies: Record<keyof typeof QUESTIONS, number[]> = { authorize: [], health: [], echo: [] }
const over = new AbortController()
process.on('disconnect', () => process.exit(1))
process.on('message', (message) => {
  if (message === 'start') void measure()
  else over.abort()
})

async function measure(): Promise<void> {
  const asked: Promise<unknown>[] = []
  for (let turn = 0; !over.signal.aborted; turn++) {
    for (const name of ['authorize', 'health', 'echo'] as const) {
      // Every other turn is for the health checks.
      if (name !== 'authorize' && turn % 2 === 1) continue
      asked.push(QUESTIONS[name]().then((ms) => latencies[name].push(ms)))
    }
    await setTimeout(EVERY_MS)
  }
  await Promise.all(asked)
  tell({ kind: 'measured', latencies })
}
