import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { refuse, speakerOf } from './judge-protocols.ts'
import type { Asked, Speaker } from './judge-protocols.ts'

/** A request as it arrived. */
export interface LoggedCall {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
  /** The prompt of the model, in any protocol. */
  readonly system: string
  readonly user: string
  readonly at: number
  /** Requests that were open then, with this one. */
  readonly open: number
}

/** One request that a script answers. */
export interface Exchange {
  readonly asked: Asked
  readonly speaker: Speaker
  readonly response: ServerResponse
  readonly path: string
  /** The number of earlier requests to this model. */
  readonly nth: number
}

export type Script = (exchange: Exchange) => void | Promise<void>

/**
 * A model server on loopback that speaks the protocols of OpenAI and Anthropic. The model's name picks
 * the script that answers; every request is logged.
 */
export interface JudgeServer {
  readonly url: string
  readonly calls: LoggedCall[]
  /** The most requests that were open at once. */
  peak: number
  readonly scripts: Record<string, Script>
  callsOf(model: string): LoggedCall[]
  forget(): void
  stop(): Promise<void>
}

export async function startJudgeServer(scripts: Record<string, Script>): Promise<JudgeServer> {
  const counts = new Map<string, number>()
  let open = 0
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    judge.peak = Math.max(judge.peak, ++open)
    response.on('close', () => void open--)
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const path = request.url ?? ''
    const speaker = speakerOf(path)
    if (!speaker || request.method !== 'POST') {
      response.writeHead(404).end()
      return
    }
    const body = JSON.parse(text) as Record<string, unknown>
    const asked = speaker.read(body)
    const { system, user, model } = asked
    judge.calls.push({
      path,
      headers: request.headers,
      body,
      system,
      user,
      at: performance.now(),
      open,
    })
    const fault = speaker.faultOf(body, request.headers)
    if (fault !== null) {
      refuse(response, 400, fault)
      return
    }
    const nth = counts.get(model) ?? 0
    counts.set(model, nth + 1)
    const script = judge.scripts[model]
    if (!script) refuse(response, 404, `there is no model ${model}`)
    else await script({ asked, speaker, response, path, nth })
  }
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // A client that leaves early is part of the tests; anything else must show.
      if (!response.destroyed) refuse(response, 418, String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  const judge: JudgeServer = {
    url: `http://127.0.0.1:${port}`,
    calls: [],
    peak: 0,
    scripts,
    callsOf: (model) => judge.calls.filter(({ body }) => body['model'] === model),
    forget: () => {
      judge.calls.length = 0
      judge.peak = 0
      counts.clear()
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return judge
}
