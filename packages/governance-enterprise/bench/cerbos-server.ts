import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { conditionOf } from './engines.ts'
import type { PlainRequest, PlainRule } from './workload.ts'

const START_SECONDS = 60

/** Starts the Cerbos server of the npm package with policies on disk and telemetry off. */
export async function startCerbos(
  rules: readonly PlainRule[],
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'remit-bench-cerbos-'))
  mkdirSync(join(folder, 'policies'))
  for (const [service, policy] of policiesOf(rules))
    writeFileSync(join(folder, 'policies', `${service}.json`), JSON.stringify(policy))
  const [http, grpc] = [await freePort(), await freePort()]
  const config = {
    server: { httpListenAddr: `127.0.0.1:${http}`, grpcListenAddr: `127.0.0.1:${grpc}` },
    storage: {
      driver: 'disk',
      disk: { directory: join(folder, 'policies'), watchForChanges: false },
    },
    telemetry: { disabled: true },
  }
  // JSON is YAML.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config))
  const program = fileURLToPath(import.meta.resolve('cerbos'))
  const child = spawn(
    process.execPath,
    [program, 'server', `--config=${join(folder, 'config.yaml')}`, '--log-level=error'],
    { stdio: 'ignore', detached: true },
  )
  const url = `http://127.0.0.1:${http}`
  const stop = async () => {
    // The program of the package starts the server as its own child.
    if (child.exitCode === null && child.pid !== undefined) {
      const exited = once(child, 'exit')
      process.kill(-child.pid, 'SIGTERM')
      await exited
    }
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await answering(url)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, stop }
}

/** One resource policy per service, with a rule per rule of ours; CEL also matches the agent. */
function policiesOf(rules: readonly PlainRule[]): Map<string, object> {
  const byService = Map.groupBy(rules, ({ action }) => serviceOf(action))
  return new Map(
    [...byService].map(([resource, its]) => [
      resource,
      {
        apiVersion: 'api.cerbos.dev/v1',
        resourcePolicy: {
          resource,
          version: 'default',
          rules: its.map((rule) => ({
            actions: [rule.action.slice(resource.length + 1)],
            effect: rule.effect === 'allow' ? 'EFFECT_ALLOW' : 'EFFECT_DENY',
            roles: ['agent'],
            condition: { match: { expr: expressionOf(rule) } },
          })),
        },
      },
    ]),
  )
}

function expressionOf(rule: PlainRule): string {
  const condition = conditionOf(rule).replaceAll('context.', 'R.attr.')
  return rule.agent === '*' ? condition : `P.id == "${rule.agent}" && ${condition}`
}

const serviceOf = (action: string): string => action.slice(0, action.indexOf('.'))

export const CHECK_PATH = '/api/check/resources'

/** A request in the format of Cerbos. */
export function toCheck({ agent_id, action, context }: PlainRequest): object {
  const kind = serviceOf(action)
  return {
    principal: { id: agent_id, roles: ['agent'] },
    resources: [
      { actions: [action.slice(kind.length + 1)], resource: { kind, id: 'none', attr: context } },
    ],
  }
}

/** Returns whether the answer of Cerbos is an allow. */
export function isAllow(answer: unknown): boolean {
  const { results } = answer as { results: { actions: Record<string, string> }[] }
  return Object.values(results[0]?.actions ?? {})[0] === 'EFFECT_ALLOW'
}

async function answering(url: string): Promise<void> {
  for (let waited = 0; waited < START_SECONDS * 10; waited++) {
    const response = await fetch(`${url}/_cerbos/health`).catch(() => null)
    if (response?.ok) return
    await setTimeout(100)
  }
  throw new Error('Cerbos does not answer')
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
