import { createClient } from '@remit/sdk'
import type { ToolMapping } from '@remit/sdk'
import { Catalog } from '../tools/catalog.ts'
import { Visibility } from '../tools/visibility.ts'
import type { Governed, Settings } from './governed.ts'
import { RequestStates } from './request-state.ts'

export interface GovernOptions {
  readonly url: string
  readonly key: string
  readonly agentId: string | undefined
  readonly upstream: string
  readonly trust: 'pinned' | 'first-use'
  readonly settings: Settings
  readonly mappings: Readonly<Record<string, ToolMapping>>
  readonly warn: (message: string) => void
}

/** One upstream, governed by the Remit at `url`. */
export function governedWith(options: GovernOptions): Governed {
  const { url, key, agentId, upstream, trust, settings, mappings, warn } = options
  const client = createClient({ baseUrl: url, key })
  const visibility = new Visibility({ client, agentId, mappings })
  return {
    client,
    upstream,
    agentId,
    settings,
    mappings,
    states: new RequestStates(key),
    catalog: new Catalog({ client, upstream, trust, visibility }),
    approvalUrl: (id) => new URL(`/console/approvals/${id}`, url).href,
    warn,
  }
}
