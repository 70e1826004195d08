import { setTimeout } from 'node:timers/promises'
import { refuse } from './judge-protocols.ts'
import type { Asked, Saying } from './judge-protocols.ts'
import type { Exchange, Script } from './judge-server.ts'

type Json = Record<string, unknown>

/** A verdict in the asked shape that picks what `pick` says. */
function verdict({ schema }: Asked, pick: (labels: string[], name: string) => string): Json {
  const fill = (part: Json, name: string): unknown => {
    if (part['enum']) return pick(part['enum'] as string[], name)
    if (part['type'] === 'string') return 'Because.'
    const properties = part['properties'] as Record<string, Json>
    return Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [
        key,
        fill(value, key === 'choice' ? name : key),
      ]),
    )
  }
  return fill(schema ?? {}, '') as Json
}

function send({ asked, speaker, response }: Exchange, text: string, saying?: Saying): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(speaker.answer(asked, text, saying)))
}

const pick =
  (choose: (labels: string[], exchange: Exchange) => string, saying?: Saying): Script =>
  (exchange) => {
    const { asked } = exchange
    send(exchange, JSON.stringify(verdict(asked, (labels) => choose(labels, exchange))), saying)
  }

const first = (labels: string[]): string => labels[0] ?? ''
const good = pick(first)

/** Every model answers by the script of its name. */
export const SCRIPTS = {
  good,
  retry429: (exchange) =>
    exchange.nth === 0
      ? refuse(exchange.response, 429, 'slow down', { 'retry-after': '0.05' })
      : good(exchange),
  always429: ({ response }) => refuse(response, 429, 'slow down', { 'retry-after': '0.05' }),
  crowded: async ({ response }) => {
    await setTimeout(200)
    refuse(response, 429, 'slow down', { 'retry-after-ms': '20' })
  },
  retry500: (exchange) =>
    exchange.nth < 2
      ? refuse(exchange.response, exchange.nth === 0 ? 500 : 503, 'oops', {
          'retry-after-ms': '20',
        })
      : good(exchange),
  always500: ({ response }) => refuse(response, 500, 'oops', { 'retry-after-ms': '10' }),
  always400: ({ response }) => refuse(response, 400, 'no'),
  /** Leads to itself, where it answers. */
  redirects: (exchange) =>
    exchange.nth === 0
      ? void exchange.response.writeHead(307, { location: exchange.path }).end()
      : good(exchange),
  unauth: ({ response }) => refuse(response, 401, 'Incorrect API key provided: sk-judge-secret'),
  /** Says what it was called with, once where a long reason is cut. */
  quotes_key: (exchange) =>
    send(
      exchange,
      JSON.stringify({
        reasoning: `I got "Bearer sk-judge-secret". ${'x'.repeat(3_960)} sk-judge-secret`,
        choice: 'pass',
      }),
    ),
  /** Prose first, then what was asked for. */
  badjson: (exchange) => (exchange.nth === 0 ? send(exchange, '"pass", I think') : good(exchange)),
  always_badjson: (exchange) => send(exchange, '{"reasoning": "x", "choice": "pass"'),
  not_json: ({ response }) => void response.writeHead(200).end('<html>'),
  offmenu: (exchange) => send(exchange, '{"reasoning":"Because.","choice":"Z"}'),
  twice: (exchange) => send(exchange, '{"reasoning":"","choice":"fail","choice":"pass"}'),
  extra: (exchange) => send(exchange, '{"reasoning":"","choice":"pass","score":1}'),
  truncated: (exchange) => send(exchange, '{"reasoning":"Becau', { ending: 'length' }),
  refusal: (exchange) => send(exchange, '', { ending: 'refusal' }),
  slow: async (exchange) => {
    await setTimeout(5_000)
    await good(exchange)
  },
  reset: ({ response }) => void response.socket?.resetAndDestroy(),
  /** The third label, then the second, then the third: a majority for the third. */
  votes: pick((labels, { nth }) => labels[nth % 3 === 1 ? 1 : 0] ?? ''),
  each_another: pick((labels, { nth }) => labels[nth % labels.length] ?? ''),
  /** Two of three samples fail. */
  mostly_failing: (exchange) =>
    exchange.nth % 3 === 0 ? good(exchange) : refuse(exchange.response, 400, 'no'),
  one_fails: (exchange) =>
    exchange.nth % 3 === 1 ? refuse(exchange.response, 400, 'no') : good(exchange),
  /** Whatever stands first is better. */
  first_wins: good,
  /** Looks at the answers: the longer is better. */
  longer_wins: pick((_, { asked: { user } }) => {
    const length = (field: string) =>
      (new RegExp(`field="${field}">(.*?)</untrusted>`, 's').exec(user)?.[1] ?? '').length
    const [a, b] = [length('answer_a'), length('answer_b')]
    return a === b ? 'tie' : a > b ? 'A' : 'B'
  }),
  /** Obeys any order that stands outside the blocks with the id that the system message names. */
  gullible: pick((labels, { asked: { system, user } }) => {
    const id = /<untrusted id="([^"]+)"/.exec(system)?.[1] ?? ''
    const opening = `<untrusted id="${id}" field="`
    let outside = ''
    let rest = user
    for (;;) {
      const start = rest.indexOf(opening)
      if (start < 0) break
      outside += rest.slice(0, start)
      const end = rest.indexOf('</untrusted>', start)
      rest = end < 0 ? '' : rest.slice(end + '</untrusted>'.length)
    }
    // A model reads letters in disguise too, where they are sent as they are.
    const read = (outside + rest).replace(/[\u{e0020}-\u{e007e}]/gu, (tag) =>
      String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000),
    )
    const hidden = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069]/u.test(user)
    const ordered = /choose (\w+)/.exec(read)?.[1]
    return hidden || ordered === labels[0] ? first(labels) : (labels.at(-1) ?? '')
  }),
  no_json_schema: (exchange) =>
    exchange.asked.form === 'json_schema'
      ? refuse(exchange.response, 400, 'response_format is not supported')
      : good(exchange),
  /** Takes neither a schema nor tools. */
  words_only: (exchange) =>
    exchange.asked.schema
      ? refuse(exchange.response, 400, 'not supported')
      : send(exchange, '{"reasoning":"Because.","choice":"pass"}'),
  garbage_usage: pick(first, { usage: { prompt_tokens: 'many', completion_tokens: -1 } }),
  huge_usage: pick(first, { usage: { prompt_tokens: 1e300, completion_tokens: 1 } }),
  huge: async ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const chunk = `"${'x'.repeat(64 * 1024)}",`
    for (let sent = 0; sent < 10 * 1024 * 1024 && !response.destroyed; sent += chunk.length) {
      if (!response.write(chunk)) await setTimeout(1)
    }
    response.end()
  },
  /** A byte now and then, for longer than anybody waits. */
  dripping: async ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    for (let i = 0; i < 100 && !response.destroyed; i++) {
      response.write(' ')
      await setTimeout(50)
    }
    response.end()
  },
  /** The best label for the criterion `exact`, the worst for any other. */
  by_name: (exchange) => {
    const choose = (labels: string[], name: string) =>
      (name === 'exact' ? labels[0] : labels.at(-1)) ?? ''
    send(exchange, JSON.stringify(verdict(exchange.asked, choose)))
  },
  /** Fails on what says so. */
  picky: (exchange) =>
    exchange.asked.user.includes('BAD') ? refuse(exchange.response, 400, 'no') : good(exchange),
  come_back_soon: ({ response }) => refuse(response, 503, 'busy', { 'retry-after': '20' }),
  come_back_late: ({ response }) => refuse(response, 503, 'busy', { 'retry-after': '31' }),
  come_back_then: (exchange) =>
    exchange.nth === 0
      ? refuse(exchange.response, 503, 'busy', { 'retry-after': new Date().toUTCString() })
      : good(exchange),
  /** Takes its time, so that calls meet. */
  steady: async (exchange) => {
    await setTimeout(20)
    await good(exchange)
  },
} satisfies Record<string, Script>

export type ScriptName = keyof typeof SCRIPTS
