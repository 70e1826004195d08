import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { GuardRequest } from '@remit/contract'
import { inspectContent } from '@remit/core/guard'
import { heldByTexts, overHttp } from './guard-http.ts'
import { median, quantile } from '@remit/testing/bench'
import type { Result } from '@remit/testing/bench'

const WEIGHTS = new URL('../../packages/core/weights/guard.bin', import.meta.url)
const START = fileURLToPath(new URL('./guard-start.ts', import.meta.url))
const CHECKS = 4_000
const MB = 1_000_000

// Parts of the texts, so that no two are alike; some have digits, addresses, code, or words of
// attacks.
const SENTENCES = [
  'Please summarize the minutes of the meeting and list who has to do what until Friday.',
  'How do I ignore the first three rows when I read a CSV file with 2,000 lines in python?',
  'The previous invoice (no. 4711) was paid on 12 March; forward the receipt to our office.',
  'Write a short letter to my landlord about the heating, friendly but clear, in two paragraphs.',
  'She studied chemistry in Vienna, moved to Leeds in 1998 and wrote three books about bees.',
  'const total = rows.filter((row) => row.paid).reduce((sum, row) => sum + row.amount, 0)',
  'Opening hours are from nine to five; see https://museum.example/visit?lang=en for details.',
  'Explain the rules of chess to a child, and please do not use the word "strategy" in it.',
  'Übersetze den folgenden Absatz ins Englische und behalte die Überschriften bei.',
  'The server answered 503 twice, then the client gave up and printed the whole response.',
  'Act as a travel guide and tell me what to see in Lisbon in two days with small children.',
]

/** The guard in process, over HTTP, and its memory. */
export async function guardSuite(rounds: number): Promise<Result[]> {
  const short = texts(500).map((content) => GuardRequest.parse({ content }))
  const long = texts(5_000).map((content) => GuardRequest.parse({ content, source: 'document' }))
  const ofShort = inProcess(short, CHECKS * rounds)
  const ofLong = inProcess(long, (CHECKS * rounds) / 10)
  const book = texts(100_000).map((content) => GuardRequest.parse({ content, source: 'document' }))
  const ofBook = inProcess(book, (CHECKS * rounds) / 200)
  const http = await overHttp(
    short.map(({ content = '' }) => content),
    (CHECKS * rounds) / 4,
  )
  const start = Array.from({ length: rounds }, firstCheck)
  const result = (name: string, value: number, below: number, unit: string, detail: string) =>
    ({ name, value, goal: { below }, unit, detail }) satisfies Result
  const all = (values: readonly number[]) =>
    `p50 ${median(values).toFixed(3)} ms, p99 ${quantile(values, 0.99).toFixed(3)} ms`
  const shown = (name: string, values: readonly number[]) =>
    ({ name, value: median(values), goal: null, unit: ' ms', detail: all(values) }) satisfies Result
  return [
    result('500 characters in process, p50', median(ofShort), 0.2, ' ms', all(ofShort)),
    result('500 characters in process, p99', quantile(ofShort, 0.99), 0.6, ' ms', all(ofShort)),
    result('5,000 characters in process, p50', median(ofLong), 2, ' ms', all(ofLong)),
    result('100,000 characters in process, p50', median(ofBook), 50, ' ms', all(ofBook)),
    result('500 characters over HTTP, p50', median(http.passed), 0.6, ' ms', all(http.passed)),
    result('500 characters over HTTP, p99', quantile(http.passed, 0.99), 6, ' ms', ''),
    shown('the same to a server that only sends it back', http.echoed),
    shown('with an entry in the ledger', http.recorded),
    ...(await heldByTexts(texts(5_000))),
    result('first check of a process', median(start), 50, ' ms', ''),
    result('weights, words and classes', statSync(WEIGHTS).size / MB, 1, ' MB', ''),
  ]
}

/** Returns two hundred texts of that length. */
function texts(length: number): string[] {
  return Array.from({ length: 200 }, (_, first) => {
    let text = ''
    for (let i = first; text.length < length; i += 1 + (first % 7))
      text += `${SENTENCES[i % SENTENCES.length]} ${i % 4 === 0 ? `(${first}.${i})` : ''}`
    return text.slice(0, length)
  })
}

/** Milliseconds of each check, sequentially; the first half warms up. */
function inProcess(requests: readonly GuardRequest[], checks: number): number[] {
  const taken: number[] = []
  for (let i = 0; i < checks * 2; i++) {
    const one = requests[i % requests.length]
    if (!one) continue
    const started = performance.now()
    inspectContent(one)
    if (i >= checks) taken.push(performance.now() - started)
  }
  return taken
}

const firstCheck = (): number =>
  Number(execFileSync(process.execPath, [...process.execArgv, START], { encoding: 'utf8' }))
