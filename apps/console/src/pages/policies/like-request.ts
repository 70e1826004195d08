import type { Approval } from '@remit/contract'
import { resourceText } from '@remit/contract/fit'
import { t } from '../../texts.ts'
import { policyDrafts } from './draft.ts'
import type { Draft } from './draft.ts'

type Facts = Pick<Approval, 'id' | 'agent_id' | 'action' | 'resource'>

/** The resources of requests like one: all of its type. */
const resourcesLike = (request: Facts): string => {
  const text = resourceText(request)
  return text.includes(':') ? `${text.slice(0, text.indexOf(':'))}:*` : text || '*'
}

/** A draft that allows requests like one. It is a proposal: nothing is stored. */
export const allowLike = (request: Facts): Draft => ({
  ...policyDrafts.empty,
  effect: 'allow',
  description: t.policies.likeDescription(request.id),
  agents: request.agent_id,
  actions: request.action,
  resources: resourcesLike(request),
})

const celText = (text: string): string => JSON.stringify(text)

/** A condition of an approval rule that no longer asks for requests like one. */
export function exceptLike(condition: string | null, request: Facts): string {
  const like = `agent_id == ${celText(request.agent_id)} && action == ${celText(request.action)}`
  return condition === null ? `!(${like})` : `(${condition}) && !(${like})`
}
