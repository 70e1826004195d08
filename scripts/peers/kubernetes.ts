import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { goProgram } from './environment.ts'

const VERSION = '1.37.2'

/** Builds the API server of Kubernetes, for `apps/server/test/kubernetes-api.test.ts`. */
export function installApiServer(): void {
  const module = `k8s.io/kubernetes@v${VERSION}`
  const found = execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' })
  const { GoMod } = JSON.parse(found) as { GoMod: string }
  // Folders of its repository, which are published as modules of the same release.
  const staged = readFileSync(GoMod, 'utf8').matchAll(/^\s*(\S+) => \.\/staging\//gm)
  goProgram('kube-apiserver', {
    modules: [module],
    replace: Array.from(staged, ([, name]) => `${name}=${name}@v0${VERSION.slice(1)}`),
    target: 'k8s.io/kubernetes/cmd/kube-apiserver',
  })
}
