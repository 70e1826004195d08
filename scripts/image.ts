/**
 * `node scripts/image.ts <folder> [--edition community]`: makes the container image of the working
 * tree without Docker. Writes `<folder>/image` in the OCI layout, which `skopeo copy oci:<folder>/image
 * docker://…` pushes, and `<folder>/sbom.cdx.json`. Needs a Debian with apt. Prints the digest.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeImage } from './image/make-image.ts'
import { build, install, stageWorkingTree, workspacePackages } from './staging.ts'

const { values, positionals } = parseArgs({
  options: { edition: { type: 'string', default: 'enterprise' } },
  allowPositionals: true,
})
const [out] = positionals
if (out === undefined || !['community', 'enterprise'].includes(values.edition)) {
  console.error('usage: node scripts/image.ts <folder> [--edition community|enterprise]')
  process.exit(2)
}
const stage = await mkdtemp(join(tmpdir(), 'remit-image-'))
try {
  const commercial = (await workspacePackages()).filter(({ tag }) => tag === 'commercial')
  const without = values.edition === 'community' ? commercial.map(({ folder }) => folder) : []
  await stageWorkingTree(stage, without)
  await install(stage)
  await build(stage)
  const { digest, tag } = await makeImage(stage, resolve(out))
  console.log(`${resolve(out)}/image:${tag} ${digest}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await rm(stage, { recursive: true, force: true })
}
