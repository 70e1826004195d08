/**
 * `node scripts/image/pin-bases.ts [<Dockerfile>]`: writes the digest that each base image has in its registry into
 * the Dockerfile, `deploy/Dockerfile` by default. `--check` changes nothing and exits with 1 if one has no digest, or
 * one that its registry does not have. Needs skopeo.
 */
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../staging.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false } },
})
const file = positionals[0] ?? join(ROOT, 'deploy/Dockerfile')

/** Returns the digest of the manifest that a registry has under a reference: of all platforms together. Throws. */
function digestOf(reference: string): string {
  const manifest = execFileSync('skopeo', ['inspect', '--raw', `docker://${reference}`])
  return `sha256:${hash('sha256', manifest, 'hex')}`
}

/** The base images: the defaults of the arguments `…_IMAGE`. */
const BASE = /^(ARG \w+_IMAGE=)([^@\s]+)(?:@(\S+))?$/gm

const text = readFileSync(file, 'utf8')
const bases = [...text.matchAll(BASE)]
if (bases.length === 0) throw new Error(`${file} names no base image`)
if (values.check)
  for (const [, , name = '', digest] of bases) {
    const repository = name.replace(/:[^/:]+$/, '')
    if (digest !== undefined && digestOf(`${repository}@${digest}`) === digest) continue
    console.error(`${name} has no digest: run \`node scripts/image/pin-bases.ts\``)
    process.exitCode = 1
  }
else
  writeFileSync(
    file,
    text.replace(BASE, (_, start: string, name: string) => `${start}${name}@${digestOf(name)}`),
  )
