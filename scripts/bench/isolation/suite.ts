import { fork } from 'node:child_process'
import type { ChildProcess, ForkOptions } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type { Dialect } from '@remit/core/db'
import { createInstallation } from '../installation.ts'
import type { BenchInstallation } from '../installation.ts'
import { quantile } from '@remit/testing/bench'
import type { Result } from '@remit/testing/bench'
import { startServer } from '../servers.ts'
import type { BenchServer } from '../servers.ts'
import { ATTACKS, newKey } from './attacks.ts'
import type {
  Target,
  AttackerSpec,
  FromAttacker,
  FromVictim,
  Latencies,
  VictimSpec,
} from './attacks.ts'

const GOALS = { authorizeP99: 100, authorizeMost: 250, healthMost: 100 }
/** Requests per second and key, the default of a server. */
const RATE_LIMIT = 1_000
/** Milliseconds of the attack before the measured one, and of the pause between them. */
const WARM_MS = 3_000
const CALM_MS = 1_000
/** The name of all attacks together. */
const ALL = 'all'

/** One organization's requests while another one attacks; `only` names attacks; none means each, and `all` at once. */
export async function* isolationSuite(
  dialect: Dialect,
  seconds: number,
  only: readonly string[],
): AsyncGenerator<Result> {
  const known = [...Object.keys(ATTACKS), ALL]
  const unknown = only.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new Error(`Unknown attack ${unknown.join(', ')}; the attacks are ${known.join(', ')}`)
  const rounds: [string, readonly string[]][] = [
    ['no attack', []],
    ...(only.length > 0 ? only : known).map((name): [string, string[]] =>
      name === ALL ? ['all at once', Object.keys(ATTACKS)] : [name, [name]],
    ),
  ]
  const installation = await createInstallation(dialect)
  const echo = await startServer({ kind: 'echo' })
  try {
    for (const [title, attacks] of rounds)
      yield* resultsOf(`${dialect}, ${title}`, await round(installation, echo, attacks, seconds))
  } finally {
    await echo.stop()
    await installation.remove()
  }
}

interface Round {
  readonly latencies: Latencies
  readonly statuses: Readonly<Record<number, number>>
}

async function round(
  installation: BenchInstallation,
  echo: BenchServer,
  attacks: readonly string[],
  seconds: number,
): Promise<Round> {
  const server = await startServer({ kind: 'remit', ...installation, rateLimit: RATE_LIMIT })
  const victimSpec: VictimSpec = {
    url: server.url,
    key: (await server.addOrganization()).key,
    echoUrl: echo.url,
  }
  const victim = start('victim-process.ts', victimSpec)
  await said<FromVictim, 'ready'>(victim, 'ready')
  const attackerSpec: AttackerSpec = { target: await targetOf(server), attacks }
  const attacker = start('attacker-process.ts', attackerSpec, IN_THE_BACKGROUND)
  await said<FromAttacker, 'prepared'>(attacker, 'prepared')
  const attack = async (during: () => Promise<unknown>) => {
    attacker.send('start')
    await during()
    attacker.send('stop')
    return said<FromAttacker, 'stopped'>(attacker, 'stopped')
  }
  // A server that has run for a while has compiled its code.
  await attack(() => setTimeout(WARM_MS))
  await setTimeout(CALM_MS)
  victim.send('start')
  const { statuses } = await attack(() => setTimeout(seconds * 1_000))
  victim.send('stop')
  const { latencies } = await said<FromVictim, 'measured'>(victim, 'measured')
  victim.kill()
  attacker.kill()
  await server.stop()
  return { latencies, statuses }
}

async function targetOf({ url, organization }: BenchServer): Promise<Target> {
  const admin = organization.key
  return { url, admin, read: await newKey(url, admin, 'read') }
}

const start = (file: string, spec: object, options: ForkOptions = {}): ChildProcess =>
  fork(new URL(file, import.meta.url), [JSON.stringify(spec)], {
    serialization: 'advanced',
    ...options,
  })

/**
 * An attacker elsewhere takes no processor from the server. Without this, on a machine with few of them,
 * the figures would show how processes share a machine.
 */
const IN_THE_BACKGROUND: ForkOptions =
  process.platform === 'win32'
    ? {}
    : { execPath: 'nice', execArgv: ['-n', '10', process.execPath, ...process.execArgv] }

/** Returns the next message of a kind; fails if the process exits before it. */
async function said<M extends { readonly kind: string }, K extends M['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<M, { kind: K }>> {
  const ended = new AbortController()
  const exit = () => ended.abort(new Error(`the process exited before it was ${kind}`))
  child.once('exit', exit)
  try {
    const [message] = (await once(child, 'message', { signal: ended.signal })) as [M]
    if (message.kind !== kind) throw new Error(`${message.kind} came before ${kind}`)
    return message as Extract<M, { kind: K }>
  } finally {
    child.off('exit', exit)
  }
}

function resultsOf(title: string, { latencies, statuses }: Round): Result[] {
  const { authorize, health, echo } = latencies
  const figure = (values: readonly number[], q: number) => quantile(values, q).toFixed(1)
  const most = (values: readonly number[]) => Math.max(...values)
  const answers = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`)
  return [
    {
      name: `${title}: authorize p99`,
      value: quantile(authorize, 0.99),
      unit: ' ms',
      goal: { below: GOALS.authorizeP99 },
      detail: `p50 ${figure(authorize, 0.5)} ms of ${authorize.length}; bare echo p99 ${figure(echo, 0.99)}, at most ${most(echo).toFixed(1)} ms`,
    },
    {
      name: `${title}: authorize at most`,
      value: most(authorize),
      unit: ' ms',
      goal: { below: GOALS.authorizeMost },
      detail: `attacker's answers by status: ${answers.join(', ') || 'none'}`,
    },
    {
      name: `${title}: /health at most`,
      value: most(health),
      unit: ' ms',
      goal: { below: GOALS.healthMost },
      detail: `p50 ${figure(health, 0.5)} ms, p99 ${figure(health, 0.99)} ms`,
    },
  ]
}
