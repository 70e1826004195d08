import { createClient } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { createTestRemit } from '@remit/testing'
import type { TestOrganization, TestRemit, TestRemitOptions } from '@remit/testing'
import { hasModules, listen, loadModules } from '@remit/server/testing'

export { hasModules }

/** A real server on a socket, with an organization and its client. */
export interface RemitServer {
  readonly remit: TestRemit
  readonly org: TestOrganization
  readonly url: string
  readonly client: Client
  stop(): Promise<void>
}

export async function startRemit(options: TestRemitOptions = {}): Promise<RemitServer> {
  const modules = hasModules() ? { modules: await loadModules() } : {}
  const remit = await createTestRemit({ ...modules, ...options })
  const listener = await listen(remit.app, { host: '127.0.0.1', port: 0 })
  const org = await remit.organization()
  return {
    remit,
    org,
    url: listener.url,
    client: createClient({ baseUrl: listener.url, key: org.key }),
    async stop() {
      await listener.stop()
      await remit.close()
    },
  }
}
