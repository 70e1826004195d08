import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { inFullRun } from '@remit/testing/pure'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../src/settings/config.ts'
import { objectsOf, readTypes, runHelm } from './support/kubernetes-objects.ts'
import type { Validate } from './support/kubernetes-objects.ts'
import { kubernetesTool } from './support/kubernetes-tools.ts'

const VALUES = resolve(import.meta.dirname, '../../../deploy/helm/remit/values.yaml')

interface Container {
  readonly image: string
  readonly envFrom: readonly Record<'configMapRef' | 'secretRef', { name: string } | undefined>[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly securityContext: object
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly selector: { readonly matchLabels?: object } & object
    readonly ports: readonly { readonly name: string; readonly targetPort: string }[]
    readonly template: {
      readonly metadata: { readonly labels: object }
      readonly spec: Readonly<Record<string, unknown>> & { readonly containers: Container[] }
    }
  }
}

const AUTOSCALING = { enabled: true, minReplicas: 2, maxReplicas: 6, requestsInFlight: 64 }
const VARIANTS = {
  'its own values': {},
  'one server': { replicas: 1 },
  'an autoscaler and a monitor': { autoscaling: AUTOSCALING, serviceMonitor: { enabled: true } },
  'a private registry': {
    image: { repository: 'registry.example.org/remit', tag: '1.2.3', pullSecrets: ['pull'] },
    settings: { REMIT_BASE_URL: 'https://a.example', REMIT_LOG_LEVEL: 'warn' },
    resources: {},
  },
} as const

const helm = kubernetesTool('helm')

it('the chart passes settings of the server, and no secret', () => {
  const { settings } = parse(readFileSync(VALUES, 'utf8')) as { settings: Record<string, string> }

  expect(() => readConfig(settings)).not.toThrow(/./)
})

describe.skipIf(!inFullRun('rendering the chart') || helm === null)('the chart in Helm', () => {
  let errorsOf: Validate
  beforeAll(() => {
    errorsOf = readTypes()
  }, 120_000)

  const render = (name: keyof typeof VARIANTS, release = 'remit') =>
    objectsOf(runHelm(helm ?? '', ['template', release], VARIANTS[name])) as readonly Manifest[]
  const find = (all: readonly Manifest[], kind: string): Manifest => {
    const found = all.find((one) => one.kind === kind)
    if (!found) throw new Error(`no ${kind}`)
    return found
  }
  const container = (all: readonly Manifest[], kind: string): Container => {
    const [first] = find(all, kind).spec.template.spec.containers
    if (!first) throw new Error(`${kind} has no container`)
    return first
  }

  it.each(Object.keys(VARIANTS) as (keyof typeof VARIANTS)[])(
    'has objects of the types of Kubernetes with %s, and names nothing twice',
    (name) => {
      const all = render(name)
      // The operator of Prometheus has the type of the other kind.
      for (const one of all.filter(({ kind }) => kind !== 'ServiceMonitor'))
        expect(errorsOf(one), one.kind).toEqual([])
      const names = all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      expect(names).toEqual([...new Set(names)])
    },
  )

  it('passes its linter', () => {
    for (const values of Object.values(VARIANTS))
      expect(runHelm(helm ?? '', ['lint', '--strict'], values)).toContain('0 chart(s) failed')
  })

  it.each([
    [{ passwords: 'secret' }, /passwords/],
    [{ image: { repository: '' } }, /\/image\/repository/],
    [{ replicas: 0 }, /\/replicas/],
  ])('refuses the values %j, and names the field', (values, message) => {
    expect(() => runHelm(helm ?? '', ['template', 'remit'], values)).toThrow(message)
  })

  it('gives the job and the servers the same settings, and other roles of the database', () => {
    const all = render('its own values')
    const [server, job] = [container(all, 'Deployment'), container(all, 'Job')]
    const secrets = ({ envFrom }: Container) => envFrom.map((one) => one.secretRef?.name)

    expect(job.envFrom.slice(0, 2)).toEqual(server.envFrom.slice(0, 2))
    expect(server.envFrom[0]?.configMapRef?.name).toBe(find(all, 'ConfigMap').metadata.name)
    expect([secrets(server)[2], secrets(job)[2]]).toEqual([
      'remit-database-app',
      'remit-database-owner',
    ])
    expect(job.image).toBe(server.image)
    expect(readConfig(find(all, 'ConfigMap').data ?? {}).REMIT_MIGRATE).toBe('check')
  })

  it.each(['Deployment', 'Job'])('runs the %s without rights, on a read-only root', (kind) => {
    const all = render('its own values')
    const { spec } = find(all, kind).spec.template

    expect(spec).toMatchObject({
      securityContext: { runAsNonRoot: true },
      automountServiceAccountToken: false,
    })
    expect(container(all, kind).securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    })
  })

  it('reaches the servers of its own release only', () => {
    const all = render('an autoscaler and a monitor', 'other')
    const { labels } = find(all, 'Deployment').spec.template.metadata
    const selectors = ['Deployment', 'PodDisruptionBudget'].map(
      (kind) => find(all, kind).spec.selector.matchLabels,
    )
    const service = find(all, 'Service')

    for (const selector of [...selectors, service.spec.selector]) {
      expect(labels).toMatchObject(selector ?? { none: true })
      expect(selector).toMatchObject({ 'app.kubernetes.io/instance': 'other' })
      // Otherwise requests would reach the job.
      expect(find(all, 'Job').spec.template.metadata.labels).not.toMatchObject(selector ?? {})
    }
    expect(service.metadata.labels).toMatchObject(
      find(all, 'ServiceMonitor').spec.selector.matchLabels ?? { none: true },
    )
    const ports = container(all, 'Deployment').ports?.map(({ name }) => name)
    expect(service.spec.ports.map(({ targetPort }) => targetPort)).toEqual(ports)
  })

  it('leaves the number of servers to the autoscaler, and keeps one while nodes are drained', () => {
    const scaled = render('an autoscaler and a monitor')

    expect(find(scaled, 'Deployment').spec).not.toHaveProperty('replicas')
    expect(find(scaled, 'HorizontalPodAutoscaler').spec).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: find(scaled, 'Deployment').metadata.name },
    })
    expect(find(render('its own values'), 'Deployment').spec).toMatchObject({ replicas: 2 })
    expect(render('one server').some(({ kind }) => kind === 'PodDisruptionBudget')).toBe(false)
  })

  it('pulls the image that the values name', () => {
    const all = render('a private registry')

    expect(container(all, 'Deployment').image).toBe('registry.example.org/remit:1.2.3')
    expect(find(all, 'Job').spec.template.spec['imagePullSecrets']).toEqual([{ name: 'pull' }])
  })
})
