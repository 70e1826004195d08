import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scratchFolder } from '@remit/testing'
import { rmSync } from 'node:fs'
import { builtManifests, objectsOf, runHelm } from './support/kubernetes-objects.ts'
import { hasKubernetesApi, KubernetesApi } from './support/kubernetes-api.ts'
import { kubernetesTool } from './support/kubernetes-tools.ts'

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly template?: { readonly spec: object } }
}

const helm = kubernetesTool('helm')
const kubectl = kubernetesTool('kubectl')
const render = (values: object) =>
  objectsOf(runHelm(helm ?? '', ['template', 'remit'], values)) as readonly Manifest[]
const INSTALLATIONS: Readonly<Record<string, () => readonly Manifest[]>> = {
  'deploy/kubernetes with all components': () =>
    builtManifests(kubectl ?? '') as readonly Manifest[],
  'the chart with its own values': () => render({}),
  'the chart with one server': () => render({ replicas: 1 }),
  'the chart with an autoscaler': () =>
    render({
      autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 6, requestsInFlight: 64 },
    }),
}

describe.skipIf(!hasKubernetesApi() || helm === null || kubectl === null)(
  'the API server of Kubernetes',
  () => {
    const folder = scratchFolder('kubernetes')
    let api: KubernetesApi | undefined
    beforeAll(async () => {
      api = await KubernetesApi.start(kubectl ?? '', folder)
    })
    afterAll(async () => {
      await api?.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    /** Rejects, and warns of, pods that may do more than they need. */
    const createNamespace = (name: string) => {
      const level = (mode: string) => [`pod-security.kubernetes.io/${mode}`, 'restricted']
      const labels = Object.fromEntries(['enforce', 'warn'].map(level)) as object
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
      // A controller would create it.
      const account = { apiVersion: 'v1', kind: 'ServiceAccount' }
      const objects = [namespace, { ...account, metadata: { name: 'default', namespace: name } }]
      expect(api?.kubectl(['create', '-f', '-'], objects)).toMatchObject({ status: 0 })
    }

    it.each(Object.keys(INSTALLATIONS))(
      'takes all objects and pods of %s without a warning, under the restricted standard',
      (name) => {
        const all = INSTALLATIONS[name]?.() ?? []
        const pods = all.flatMap(({ spec, metadata }) =>
          spec?.template
            ? [{ apiVersion: 'v1', kind: 'Pod', metadata, spec: spec.template.spec }]
            : [],
        )
        expect(pods).toHaveLength(2)
        // The objects of Kustomize name theirs.
        const namespace = name.startsWith('deploy') ? 'remit' : name.replaceAll(/\W/g, '-')
        createNamespace(namespace)
        const options = ['--namespace', namespace, '--server-side', '--validate=strict']

        const applied = api?.kubectl(['apply', ...options, '-f', '-'], all)
        expect(applied).toMatchObject({ status: 0, stderr: '' })
        expect(applied?.stdout.match(/serverside-applied/g)).toHaveLength(all.length)
        const dry = ['apply', ...options, '--dry-run=server', '-f', '-']
        expect(api?.kubectl(dry, pods)).toMatchObject({ status: 0, stderr: '' })
      },
    )
  },
)
