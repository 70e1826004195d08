import { builtInScorers } from '@remit/core/scorers'
import type { ResultToScore } from '@remit/contract'
import { ExactMatch, JSONDiff, Levenshtein, ListContains, NumericDiff, ValidJSON } from 'autoevals'
import { l as rougeL } from 'js-rouge'
import { createInstallation } from './installation.ts'
import { alternate, median, ratio } from './report.ts'
import type { Result } from './report.ts'
import { listText, objectOf, SCHEMA, sentence, textOf, typo } from './scorer-texts.ts'
import { delaySuite } from './scorer-delay.ts'
import { load, startServer } from './servers.ts'

/** Work for both sides: a result, and its equivalent for the other library. */
interface Match {
  readonly name: string
  readonly goal: number | null
  readonly scorer: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly results: readonly ResultToScore[]
  readonly rival: (result: ResultToScore) => unknown
}

const VARIANTS = 64
// Below this, the engine has not yet compiled the measured code.
const SHORTEST_MS = 200
const variants = (make: (seed: number) => ResultToScore): ResultToScore[] =>
  Array.from({ length: VARIANTS }, (_, seed) => make(seed))

const texts = (length: number) =>
  variants((seed) => ({ output: typo(textOf(length, seed)), expected: textOf(length, seed) }))

const values = ({ output, expected }: ResultToScore) => ({ output, expected }) as never

const MATCHES: readonly Match[] = [
  {
    name: 'levenshtein, 20 characters',
    goal: 0.8,
    scorer: 'levenshtein',
    results: texts(20),
    rival: (one) => Levenshtein(values(one)),
  },
  {
    name: 'levenshtein, 200 characters',
    goal: 3,
    scorer: 'levenshtein',
    results: texts(200),
    rival: (one) => Levenshtein(values(one)),
  },
  {
    name: 'levenshtein, 2,000 characters',
    goal: 4,
    scorer: 'levenshtein',
    results: texts(2_000),
    rival: (one) => Levenshtein(values(one)),
  },
  {
    name: 'exact_match, text',
    goal: 0.8,
    scorer: 'exact_match',
    results: texts(20),
    rival: (one) => ExactMatch(values(one)),
  },
  {
    name: 'exact_match, JSON objects',
    goal: 1.5,
    scorer: 'exact_match',
    results: variants((seed) => ({ output: objectOf(seed), expected: objectOf(seed) })),
    rival: (one) => ExactMatch(values(one)),
  },
  {
    name: 'numeric_diff',
    goal: 0.8,
    scorer: 'numeric_diff',
    results: variants((seed) => ({ output: seed + 1, expected: seed + 2 })),
    rival: (one) => NumericDiff(values(one)),
  },
  {
    name: 'json_diff, 25 leaves',
    goal: 20,
    scorer: 'json_diff',
    results: variants((seed) => ({ output: objectOf(seed), expected: objectOf(seed + 1) })),
    rival: (one) => JSONDiff(values(one)),
  },
  {
    name: 'json_schema, the same schema again',
    goal: 300,
    scorer: 'json_schema',
    params: { schema: SCHEMA },
    results: variants((seed) => ({ output: JSON.stringify(objectOf(seed)) })),
    rival: ({ output }) => ValidJSON({ output, schema: SCHEMA }),
  },
  {
    name: 'list_contains, 10 × 10',
    goal: 2,
    scorer: 'list_contains',
    results: variants((seed) => ({ output: listText(seed), expected: listText(seed + 1) })),
    rival: (one) => ListContains(values(one)),
  },
  {
    name: 'rouge_l, 300 words, of js-rouge',
    goal: 50,
    scorer: 'rouge_l',
    results: variants((seed) => ({
      output: sentence(300, seed),
      expected: sentence(300, seed + 7),
    })),
    rival: ({ output, expected }) => rougeL(output as string, expected as string),
  },
]

/** Scorers in process against autoevals and js-rouge, and over HTTP against autoevals in process. */
export async function scorersSuite(rounds: number, seconds: number): Promise<Result[]> {
  const results: Result[] = []
  const ms = Math.max(SHORTEST_MS, (seconds * 1000) / 16)
  for (const match of MATCHES) results.push(await compare(match, rounds, ms))
  results.push(await overHttp(rounds, seconds))
  return [...results, ...(await delaySuite())]
}

async function compare(match: Match, rounds: number, ms: number): Promise<Result> {
  const { name, goal, results } = match
  const run = scoring(match)
  const measures = {
    ours: () => perSecond(results, run, ms),
    rival: () => perSecond(results, match.rival, ms),
  }
  await measures.ours()
  await measures.rival()
  const found = await alternate(rounds, measures)
  return {
    name,
    value: ratio(found.ours, found.rival),
    goal: goal === null ? null : { atLeast: goal },
    detail: `${figure(median(found.ours))} against ${figure(median(found.rival))} a second`,
  }
}

function scoring({ scorer: name, params = {} }: Pick<Match, 'scorer' | 'params'>) {
  const scorer = builtInScorers.find((one) => one.name === name)
  if (!scorer) throw new Error(`there is no scorer ${name}`)
  const own = scorer.params.parse(params)
  const prepared = scorer.prepare ? scorer.prepare(own) : own
  return (result: ResultToScore) => scorer.score(result, prepared)
}

/** Results per second; the promises of a library are awaited. */
async function perSecond(
  results: readonly ResultToScore[],
  work: (result: ResultToScore) => unknown,
  ms: number,
): Promise<number> {
  const started = performance.now()
  let done = 0
  for (let now = started; now - started < ms; now = performance.now()) {
    for (const result of results) {
      const answer = work(result)
      if (answer instanceof Promise) await answer
    }
    done += results.length
  }
  return (done * 1000) / (performance.now() - started)
}

const BATCH = 1_000

async function overHttp(rounds: number, seconds: number): Promise<Result> {
  const installation = await createInstallation('sqlite')
  const server = await startServer({ kind: 'remit', ...installation })
  const results = Array.from({ length: BATCH }, (_, seed) => ({
    output: typo(textOf(200, seed)),
    expected: textOf(200, seed),
  }))
  const body = { scorer: 'levenshtein', results }
  let p50 = 0
  const measures = {
    http: async () => {
      const round = await load(server, { path: '/v1/scorers', body, connections: 2, seconds })
      p50 = round.p50Ms
      return round.perSecond * BATCH
    },
    rival: () => perSecond(results, (one) => Levenshtein(values(one)), seconds * 250),
  }
  await measures.http()
  const found = await alternate(rounds, measures)
  await server.stop()
  await installation.remove()
  return {
    name: 'levenshtein over HTTP, 1,000 × 200 characters',
    value: ratio(found.http, found.rival),
    goal: { atLeast: 1.5 },
    detail: `${figure(median(found.http))} against ${figure(median(found.rival))} results a second, p50 ${p50} ms`,
  }
}

const figure = (value: number): string => Math.round(value).toLocaleString('en')
