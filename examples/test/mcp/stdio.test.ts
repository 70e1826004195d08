import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { direct, governed, lines, serverProgram } from './support/gateway.ts'

const EVERYTHING = [serverProgram('server-everything'), 'stdio']

describe.skipIf(!hasModules())('server-everything behind the gateway on stdio', () => {
  let remit: RemitServer
  let plain: Awaited<ReturnType<typeof direct>>
  let behind: Awaited<ReturnType<typeof direct>>

  beforeAll(async () => {
    remit = await startRemit()
    plain = await direct(EVERYTHING)
    behind = await governed(remit, EVERYTHING)
  })
  afterAll(async () => {
    await plain?.client.close()
    await behind?.client.close()
    await remit.stop()
  })

  it('has the same tools, prompts and resources', async () => {
    expect(await behind.client.listTools()).toEqual(await plain.client.listTools())
    expect(await behind.client.listPrompts()).toEqual(await plain.client.listPrompts())
    expect(await behind.client.listResources()).toEqual(await plain.client.listResources())
    console.log(lines.join(''))
  })

  it('has the same results', async () => {
    const call = { name: 'echo', arguments: { message: 'hello' } }

    expect(await behind.client.callTool(call)).toEqual(await plain.client.callTool(call))
  })
})
