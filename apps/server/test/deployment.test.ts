import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { inFullRun } from '@remit/testing/pure'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { boot } from '../src/boot/boot.ts'
import { readConfig } from '../src/settings/config.ts'
import { builtManifests, readTypes } from './support/kubernetes-objects.ts'
import { kubernetesTool } from './support/kubernetes-tools.ts'

const DEPLOY = resolve(import.meta.dirname, '../../../deploy')
const textOf = (name: string) => readFileSync(resolve(DEPLOY, name), 'utf8')

const KINDS = [
  'ConfigMap',
  'Deployment',
  'HorizontalPodAutoscaler',
  'Job',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'Service',
  'ServiceAccount',
]

interface Container {
  readonly envFrom: readonly Record<'configMapRef' | 'secretRef', { name: string } | undefined>[]
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly securityContext: object
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly template?: {
      readonly metadata: { readonly labels: object }
      readonly spec: { readonly containers: readonly Container[] } & Record<string, unknown>
    }
    readonly podSelector?: { readonly matchLabels: object }
  }
}

const kubectl = kubernetesTool('kubectl')
const all = kubectl === null ? null : (builtManifests(kubectl) as readonly Manifest[])

describe.skipIf(all === null)('the Kubernetes manifests', () => {
  const find = (kind: string) => {
    const found = all?.find((one) => one.kind === kind)
    if (!found) throw new Error(`no ${kind}`)
    return found
  }
  const podOf = (kind: string) => {
    const template = find(kind).spec?.template
    const [container] = template?.spec.containers ?? []
    if (!template || !container) throw new Error(`${kind} has no container`)
    return { template, container }
  }
  const secrets = ({ envFrom }: Container) => envFrom.map((one) => one.secretRef?.name)

  it.skipIf(!inFullRun('reading the types of Kubernetes'))(
    'are of the types of Kubernetes',
    () => {
      const errorsOf = readTypes()
      for (const one of all ?? []) expect(errorsOf(one), one.kind).toEqual([])
      expect(all?.map(({ kind }) => kind).toSorted()).toEqual(KINDS)
    },
    300_000,
  )

  it('leave the number of servers to the autoscaler, and keep one while nodes are drained', () => {
    const { spec } = find('HorizontalPodAutoscaler') as unknown as {
      spec: { minReplicas: number; scaleTargetRef: object }
    }
    const budget = find('PodDisruptionBudget').spec as unknown as { minAvailable: number }

    expect(find('Deployment').spec).not.toHaveProperty('replicas')
    expect(spec.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: 'remit' })
    expect(spec.minReplicas).toBeGreaterThan(budget.minAvailable)
  })

  it('give the job and the servers the same settings, and other roles of the database', () => {
    const server = podOf('Deployment').container
    const job = podOf('Job').container

    expect(job.envFrom.slice(0, 2)).toEqual(server.envFrom.slice(0, 2))
    expect(secrets(server)[2]).toBe('remit-database-app')
    expect(secrets(job)[2]).toBe('remit-database-owner')
    // The job needs no key, so it has none.
    expect(job.env).toBeUndefined()
  })

  it('have settings that the server accepts, and no secret', () => {
    const { data = {} } = find('ConfigMap')

    expect(() => readConfig(data)).not.toThrow(/./)
    expect(readConfig(data).REMIT_MIGRATE).toBe('check')
    expect(Object.keys(data).filter((name) => /KEY|SECRET|DATABASE|PEPPER/.test(name))).toEqual([])
    expect(all?.some(({ kind }) => kind === 'Secret')).toBe(false)
  })

  it.each(['Deployment', 'Job'])('run the %s without rights, on a read-only root', (kind) => {
    const { template, container } = podOf(kind)

    expect(template.spec).toMatchObject({
      securityContext: { runAsNonRoot: true },
      automountServiceAccountToken: false,
    })
    expect(container.securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    })
    // The policy of the network selects the pods by this label.
    expect(template.metadata.labels).toMatchObject(
      find('NetworkPolicy').spec?.podSelector?.matchLabels ?? { none: true },
    )
  })
})

it('compose.yaml gives the servers of a profile settings that they accept', () => {
  const text = textOf('compose.yaml').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
  const { services } = parse(text, { merge: true }) as {
    services: Record<string, { environment: Record<string, unknown>; read_only?: boolean }>
  }
  const ours = ['remit', 'migrate', 'remit-1', 'remit-2']

  for (const name of ours) {
    const { environment = {}, read_only } = services[name] ?? {}
    const env = Object.fromEntries(Object.entries(environment).map(([k, v]) => [k, String(v)]))
    expect(read_only, name).toBe(true)
    expect(() => readConfig(env), name).not.toThrow(/./)
  }
  expect(services['remit-1']?.environment).toEqual(services['migrate']?.environment)
})

it('compose.yaml publishes ports on this machine alone, unless it is told otherwise', () => {
  const { services } = parse(textOf('compose.yaml'), { merge: true }) as {
    services: Record<string, { ports?: string[] }>
  }
  const ports = Object.values(services).flatMap((service) => service.ports ?? [])

  expect(ports).toHaveLength(3)
  for (const port of ports) expect(port).toMatch(/^\$\{BIND_ADDRESS:-127\.0\.0\.1\}:\d+:8080$/)
})

it('no server starts outside of evaluation with the database password of compose.yaml', async () => {
  const [, password] = /\$\{POSTGRES_PASSWORD:-(.+)\}@/.exec(textOf('compose.yaml')) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'remit-compose-'))
  const start = (given: Record<string, string>, secret = password) => {
    const settings = {
      ...given,
      REMIT_LEDGER_KEY_FILE: join(folder, 'ledger-key.pem'),
      // Nothing listens on port 1.
      REMIT_DATABASE_URL: `postgres://remit:${secret}@127.0.0.1:1/x`,
    }
    return boot(readConfig(settings), { log: pino({ level: 'silent' }) })
  }

  await expect(start({})).rejects.toThrow(/^REMIT_DATABASE_URL has the password for evaluations/)
  await expect(start({ REMIT_LICENSE_KEY: 'x' })).rejects.toThrow(/set POSTGRES_PASSWORD/)
  await expect(start({}, 'other')).rejects.toThrow(/ECONNREFUSED/)
  await expect(start({ REMIT_EVALUATION: '1' })).rejects.toThrow(/ECONNREFUSED/)
  rmSync(folder, { recursive: true })
})

it('the systemd unit names settings of the server', () => {
  const named = textOf('systemd/remit.service').match(/REMIT_\w+/g) ?? []

  expect(named.length).toBeGreaterThan(0)
  expect(() => readConfig(Object.fromEntries(named.map((name) => [name, '/x'])))).not.toThrow(/./)
})
