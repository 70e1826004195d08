import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { ASK } from '../bench/requests.ts'

const CLIENTS = 32
const RETRY_MS = 20
/** Enough of a hash to tell entries apart. */
const HASH_LETTERS = 16

/** Decisions at a steady rate, sent to the next server where one does not answer. */
export class PacedLoad {
  /** The start of the hash of each answered entry, by its sequence number. */
  readonly answered = new Map<number, string>()
  /** Milliseconds of each answer, with the time since the start of the load. */
  readonly delays: { readonly atMs: number; readonly tookMs: number }[] = []
  refused = 0
  readonly #agent = new Agent({ keepAlive: true })
  readonly #urls: readonly string[]
  readonly #key: string
  readonly #began = performance.now()
  readonly #clients: Promise<void>[]
  #isOver = false

  /** `urls` may change while it runs; without a rate, each client asks again at once. */
  constructor(urls: readonly string[], key: string, perSecond: number | null) {
    this.#urls = urls
    this.#key = key
    const pauseMs = perSecond === null ? 0 : (1000 * CLIENTS) / perSecond
    this.#clients = Array.from({ length: CLIENTS }, (_, i) => this.#client(i, pauseMs))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#clients)
    this.#agent.destroy()
  }

  async #client(name: number, pauseMs: number): Promise<void> {
    // The clients start one after the other, so that the rate is even.
    let due = performance.now() + (pauseMs * name) / CLIENTS
    for (let turn = name; !this.#isOver; turn++) {
      const wait = due - performance.now()
      if (wait > 0) await setTimeout(wait)
      // Requests that a stop of the database delayed are left out.
      due = Math.max(due, performance.now() - pauseMs) + pauseMs
      if (!(await this.#ask(this.#urls[turn % this.#urls.length] ?? ''))) {
        this.refused++
        await setTimeout(RETRY_MS)
      }
    }
  }

  #ask(url: string): Promise<boolean> {
    const began = performance.now()
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.#key}` }
    return new Promise((resolve) => {
      const asked = request(
        `${url}/v1/authorize`,
        { method: 'POST', agent: this.#agent, headers },
        (response) => {
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (part: string) => (text += part))
          response.on('error', () => resolve(false))
          response.on('end', () => resolve(response.statusCode === 200 && this.#keep(text, began)))
        },
      )
      asked.on('error', () => resolve(false))
      asked.end(JSON.stringify(ASK))
    })
  }

  #keep(text: string, began: number): boolean {
    const { ledger } = JSON.parse(text) as { ledger: { seq: number; hash: string } }
    const now = performance.now()
    this.answered.set(ledger.seq, ledger.hash.slice(0, HASH_LETTERS))
    this.delays.push({ atMs: now - this.#began, tookMs: now - began })
    return true
  }
}
