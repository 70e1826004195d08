import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readGatewayConfig } from '@remit/mcp'
import { expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import { direct, serverProgram } from './support/gateway.ts'
import { connect } from './support/http.ts'
import { startProgram } from './support/program.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

/** The configuration in a document, with this machine's files. */
function exampleIn(document: string, folder: string): object {
  const text = readFileSync(join(ROOT, document), 'utf8')
  const example = [...text.matchAll(/```json\n([^`]*)```/g)]
    .map(([, json = '']) => json)
    .find((json) => json.includes('"upstreams"'))
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'Bearer secret')
  const config = JSON.parse((example ?? '').replace('/run/secrets/search', secret)) as {
    upstreams: { files: object }
  }
  const files = { command: process.execPath, args: [serverProgram('server-filesystem'), folder] }
  return {
    ...config,
    trust: 'first-use',
    listen: '127.0.0.1:0',
    upstreams: { ...config.upstreams, files: { ...config.upstreams.files, ...files } },
  }
}

it.skipIf(!hasModules())(
  'the configuration in the documentation serves server-filesystem, and ends when it is asked to',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'remit-serve-'))
    const remit = await startRemit()
    const gateway = await startProgram(remit, exampleIn('docs/mcp.md', folder))
    const plain = await direct([serverProgram('server-filesystem'), folder])
    const { client } = await connect(`${gateway.url}/mcp/files`, remit.org.key)
    const call = { name: 'list_directory', arguments: { path: folder } }

    expect(await client.listTools()).toEqual(await plain.client.listTools())
    expect(await client.callTool(call)).toEqual(await plain.client.callTool(call))
    expect(await gateway.stop()).toBe(0)
    await plain.client.close()
    await client.close()
    await remit.stop()
    rmSync(folder, { recursive: true })
  },
)

it('the configuration in the README can be read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'remit-serve-'))
  const path = join(folder, 'gateway.json')
  writeFileSync(path, JSON.stringify(exampleIn('apps/mcp/README.md', folder)))

  expect([...readGatewayConfig(path, {}).upstreams.keys()]).toEqual(['files', 'search'])
  rmSync(folder, { recursive: true })
})
