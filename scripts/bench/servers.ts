import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import autocannon from 'autocannon'
import type { BenchOrganization, FromServer, ServerSpec, ToServer, Usage } from './messages.ts'

/** A server process under load. */
export interface BenchServer {
  readonly url: string
  readonly organization: BenchOrganization
  /** Creates another organization on the same server. */
  addOrganization(): Promise<BenchOrganization>
  usage(): Promise<Usage>
  /** Bytes of the heap after a garbage collection; needs `--expose-gc`. */
  heapBytes(): Promise<number>
  stop(): Promise<void>
}

/** The server runs with this process's own flags, for the baseline and the product alike. */
export async function startServer(spec: ServerSpec): Promise<BenchServer> {
  const child = fork(new URL('./server-process.ts', import.meta.url), [JSON.stringify(spec)], {
    serialization: 'advanced',
  })
  const ready = await next(child, 'ready')
  const send = (message: ToServer) => child.send(message)
  return {
    url: `http://127.0.0.1:${ready.port}`,
    organization: ready.organization,
    async addOrganization() {
      send('organization')
      return (await next(child, 'organization')).organization
    },
    usage() {
      send('usage')
      return next(child, 'usage')
    },
    async heapBytes() {
      send('memory')
      return (await next(child, 'memory')).heapBytes
    },
    async stop() {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      send('stop')
      await exited
    },
  }
}

function next<K extends FromServer['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<FromServer, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const done = () => {
      child.off('message', listen)
      child.off('exit', end)
    }
    const end = (code: number | null) => {
      done()
      reject(new Error(`the server process ended with ${code}`))
    }
    const listen = (message: FromServer) => {
      if (message.kind !== kind) return
      done()
      resolve(message as Extract<FromServer, { kind: K }>)
    }
    child.on('message', listen)
    child.on('exit', end)
  })
}

/** The result of one round of load. */
export interface Round {
  readonly perSecond: number
  readonly perCpuSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Load {
  readonly path: string
  readonly body: object
  readonly connections: number
  readonly seconds: number
}

/**
 * Loads a server and counts the responses per its own CPU time; any status other than 2xx fails.
 */
export async function load(
  server: BenchServer,
  { path, body, connections, seconds }: Load,
): Promise<Round> {
  const before = await server.usage()
  const result = await autocannon({
    url: server.url + path,
    method: 'POST',
    connections,
    duration: seconds,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${server.organization.key}`,
    },
    body: JSON.stringify(body),
  })
  const after = await server.usage()
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${path}: ${result.non2xx} refusals, ${result.errors} errors`)
  const answers = result['2xx']
  return {
    perSecond: answers / result.duration,
    perCpuSecond: answers / (after.cpuSeconds - before.cpuSeconds),
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  }
}

/** Sends JSON with the key of the server's organization. */
export const post = (
  { url, organization }: { readonly url: string; readonly organization: { readonly key: string } },
  path: string,
  body: object,
): Promise<Response> =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${organization.key}` },
    body: JSON.stringify(body),
  })

/** Gives the benchmark's agent an unreachable spend limit. */
export async function limitSpend(server: BenchServer): Promise<void> {
  const response = await post(server, '/v1/spend-limits/payer', { daily_usd: 1e9 })
  if (!response.ok) throw new Error(`the spend limit was refused: ${await response.text()}`)
}
