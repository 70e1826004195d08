import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { freePort } from '@remit/testing'
import { vi } from 'vitest'

/** `node scripts/peers.ts install kube-apiserver etcd` builds them. */
const program = (name: string) =>
  resolve(import.meta.dirname, '../../../../node_modules/.cache/peers', name, name)

/** Returns true if an API server is there; otherwise says that its tests are skipped. */
export function hasKubernetesApi(): boolean {
  const isThere = ['etcd', 'kube-apiserver'].every((name) => existsSync(program(name)))
  if (!isThere) process.stderr.write('skipped: an API server of Kubernetes is not installed\n')
  return isThere
}

/** An API server of Kubernetes with its store, without controllers and nodes: it checks and keeps objects. */
export class KubernetesApi {
  readonly #kubectl: readonly [command: string, ...args: string[]]
  readonly #children: ChildProcess[] = []
  #log = ''

  /** Starts it with a folder for its data and waits until it is ready. */
  static async start(kubectl: string, folder: string): Promise<KubernetesApi> {
    const port = await freePort()
    const api = new KubernetesApi(kubectl, port)
    const [store, peer] = [await freePort(), await freePort()].map(
      (one) => `http://127.0.0.1:${one}`,
    )
    api.#run('etcd', [
      `--data-dir=${join(folder, 'etcd')}`,
      ...['listen', 'advertise'].map((what) => `--${what}-client-urls=${store}`),
      ...['listen', 'initial-advertise'].map((what) => `--${what}-peer-urls=${peer}`),
      `--initial-cluster=default=${peer}`,
      '--unsafe-no-fsync',
    ])
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = join(folder, 'service-accounts.pem')
    writeFileSync(key, privateKey.export({ type: 'sec1', format: 'pem' }))
    writeFileSync(join(folder, 'tokens.csv'), 'token,admin,admin,system:masters\n')
    api.#run('kube-apiserver', [
      `--etcd-servers=${store}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${join(folder, 'certificates')}`,
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--service-account-issuer=https://kubernetes.default.svc',
      ...['key', 'signing-key'].map((what) => `--service-account-${what}-file=${key}`),
      '--service-cluster-ip-range=10.0.0.0/24',
    ])
    const isReady = () => {
      if (api.#children.some(({ exitCode }) => exitCode !== null)) throw new Error(api.#log)
      return api.kubectl(['get', '--raw', '/readyz']).status === 0
    }
    await vi.waitUntil(isReady, { timeout: 120_000, interval: 500 })
    return api
  }

  private constructor(kubectl: string, port: number) {
    const server = [`--server=https://127.0.0.1:${port}`, '--insecure-skip-tls-verify']
    this.#kubectl = [kubectl, ...server, '--token=token']
  }

  #run(name: string, args: readonly string[]): void {
    const child = spawn(program(name), args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (this.#log += chunk.toString()))
    this.#children.push(child)
  }

  /** Runs a command of kubectl, with objects as its input. Warnings of the server are in `stderr`. */
  kubectl(
    args: readonly string[],
    objects: readonly unknown[] = [],
  ): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
    const [command, ...server] = this.#kubectl
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
    return spawnSync(command, [...server, ...args], { input, encoding: 'utf8' })
  }

  async stop(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'close')
      child.kill('SIGKILL')
      await ended
    }
  }
}
