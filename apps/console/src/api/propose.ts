/** Changes of rules that need a second person, proposed as plans of their policy sets. */
import type { Approval, DocumentSpec, PolicyDocument } from '@remit/contract'
import type { Request } from '../format/curl.ts'
import { resourceText } from '@remit/contract/fit'
import { remit } from './client.ts'

// Not from the contract, whose shapes of all endpoints would come with it.
const API_VERSION: PolicyDocument['apiVersion'] = 'remit.dev/v1'

/** The set of changes of the console to objects that are in no set. */
const OWN_SET = 'console'

type Kind = PolicyDocument['kind']

/** An object after a change; without `spec`, it is deleted. */
interface ObjectAfter {
  readonly kind: Kind
  readonly id: string
  readonly spec: Record<string, unknown> | null
}

/** The endpoints of the kinds, with the member of a document that names the agent. */
const ENDPOINTS: readonly { kind: Kind; path: RegExp; agent?: true }[] = [
  { kind: 'Policy', path: /^\/v1\/policies(?:\/([^/?]+))?$/ },
  { kind: 'ApprovalRule', path: /^\/v1\/approval-rules\/([^/?]+)$/ },
  { kind: 'Permission', path: /^\/v1\/delegation\/permissions\/([^/?]+)$/ },
  { kind: 'SpendLimit', path: /^\/v1\/spend-limits\/([^/?]+)$/, agent: true },
  { kind: 'Budget', path: /^\/v1\/budgets\/([^/?]+)$/ },
  { kind: 'AgentMode', path: /^\/v1\/delegation\/agents\/([^/?]+)\/mode$/, agent: true },
  { kind: 'TrustPolicy', path: /^\/v1\/identity\/trust(?:\/([^/?]+))?$/ },
]

/** The settings that a set can have: others do not wait for a second person, or only the host changes them. */
const SETTINGS: Readonly<Record<keyof DocumentSpec<'Settings'>, true>> = {
  default_effect: true,
  unknown_agents: true,
  require_agent_credentials: true,
  require_separate_keys: true,
  four_eyes: true,
  consequential_actions: true,
}

/** Returns the object that a request would change; null for a request of another kind. */
function objectOf({ method, path, body }: Request): ObjectAfter | null {
  const { change_reason: _, ...spec } = (body ?? {}) as Record<string, unknown>
  if (path === '/v1/organization') {
    const settings = (spec['settings'] ?? {}) as Record<string, unknown>
    if (!Object.keys(settings).every((name) => Object.hasOwn(SETTINGS, name))) return null
    return { kind: 'Settings', id: 'settings', spec: settings }
  }
  for (const { kind, path: form, agent } of ENDPOINTS) {
    const [match, id] = form.exec(path) ?? []
    if (match === undefined) continue
    const name = id === undefined ? newName() : decodeURIComponent(id)
    const whole = agent ? { agent_id: name, ...spec } : spec
    return { kind, id: name, spec: method === 'DELETE' ? null : whole }
  }
  return null
}

const newName = (): string => `console-${Date.now().toString(36)}`

/** Returns whether a request changes an object of a policy set. */
export const canPropose = (request: Request): boolean => objectOf(request) !== null

/**
 * Plans the change of a refused request in the set of its object and applies it, which opens a request for approval.
 * Returns the id of that request; null if no approval was needed.
 */
export async function propose(request: Request): Promise<string | null> {
  const object = objectOf(request)
  if (!object) throw new Error('this change cannot be proposed')
  const { data: sets } = await remit.listPolicySets()
  const isIt = (one: { kind: string; object_id: string }) =>
    one.kind === object.kind && one.object_id === object.id
  const owner = sets.find(({ objects }) => objects.some(isIt))
  const set = owner?.id ?? OWN_SET
  const documents = sets.some(({ id }) => id === set) ? await documentsOf(set) : []
  const own = owner?.objects.find(isIt)?.name
  if (object.spec === null && own === undefined) {
    // An object in no set first joins this set; the second plan leaves it out, which deletes it.
    const query = { unmanaged: 'true' } as const
    const all = (await remit.getPolicySetDocuments({ params: { id: set }, query })).documents
    const joining = (all as PolicyDocument[]).filter(
      (one) => one.kind === object.kind && objectIdOf(one) === object.id,
    )
    return (
      (await applied(set, [...documents, ...joining])) ??
      (await applied(set, documents, reasonOf(request)))
    )
  }
  const name = own ?? documentName(object, documents)
  return applied(set, withChange(documents, { ...object, name }), reasonOf(request))
}

const reasonOf = ({ body }: Request): string | undefined =>
  (body as { change_reason?: string } | undefined)?.change_reason

/** A name for an object whose id, such as that of an agent, need not be one, or names another document. */
const documentName = ({ kind, id }: ObjectAfter, documents: readonly PolicyDocument[]): string =>
  /^[A-Za-z0-9][\w.:@-]{0,127}$/.test(id) &&
  !documents.some((one) => one.kind === kind && one.name === id)
    ? id
    : newName()

const objectIdOf = ({ kind, name, spec }: PolicyDocument): string =>
  kind === 'SpendLimit' || kind === 'AgentMode' ? spec.agent_id : name

const documentsOf = async (id: string): Promise<PolicyDocument[]> =>
  (await remit.getPolicySetDocuments({ params: { id } })).documents as PolicyDocument[]

interface NamedChange {
  readonly kind: string
  readonly name: string
  readonly spec: Record<string, unknown> | null
}

/** Documents after a change: members that it does not name stay. */
function withChange(
  documents: readonly PolicyDocument[],
  { kind, name, spec }: NamedChange,
): PolicyDocument[] {
  const isIt = (one: PolicyDocument) => one.kind === kind && one.name === name
  const before = documents.find(isIt)
  if (spec === null) return documents.filter((one) => !isIt(one))
  const after = { apiVersion: API_VERSION, kind, name, spec: { ...before?.spec, ...spec } }
  const changed = after as unknown as PolicyDocument
  return before ? documents.map((one) => (isIt(one) ? changed : one)) : [...documents, changed]
}

/** Plans and applies documents; returns the id of the approval that they wait for, or null. */
async function applied(
  id: string,
  documents: readonly PolicyDocument[],
  reason?: string,
): Promise<string | null> {
  const params = { id }
  const body = { documents: [...documents], allow_empty: true }
  const { plan_digest } = await remit.planPolicySet({ params, body })
  const answer = await remit.applyPolicySet({
    params,
    body: { ...body, plan_digest, ...(reason !== undefined && { change_reason: reason }) },
  })
  const { approval } = answer as { approval?: Pick<Approval, 'id'> }
  return approval?.id ?? null
}

export interface ShownChange {
  readonly kind: string
  readonly name: string
  /** Where it is not the name: the agent of a spend limit. */
  readonly object_id?: string
  readonly change: string
  readonly weakens: boolean
  /** Absent in a long plan; of a replaced object, only the members that differ. */
  readonly before?: Record<string, unknown> | null
  readonly after?: Record<string, unknown> | null
}

/** The changes in the context of a request to change rules; null for other requests. */
export const changesIn = ({ agent_id, context }: Approval): ShownChange[] | null =>
  agent_id === 'remit.rules' && Array.isArray(context['changes'])
    ? (context['changes'] as ShownChange[])
    : null

/**
 * Applies a request that was approved: the documents of the set with its changes. Throws if they do not make the plan
 * that was approved, because they were proposed from elsewhere, with tests.
 */
export async function applyApproved(request: Approval): Promise<void> {
  const { context, resource } = request
  const id = resourceText({ resource }).replace(/^policy_set:/, '')
  const { data: sets } = await remit.listPolicySets()
  let documents = sets.some((set) => set.id === id) ? await documentsOf(id) : []
  for (const { kind, name, change, after } of changesIn(request) ?? [])
    if (change !== 'release')
      documents = withChange(documents, {
        kind,
        name,
        spec: change === 'delete' ? null : (after ?? {}),
      })
  const body = { documents, allow_empty: true, plan_digest: String(context['plan_digest']) }
  const reason = context['change_reason']
  await remit.applyPolicySet({
    params: { id },
    body: { ...body, ...(typeof reason === 'string' && { change_reason: reason }) },
  })
}
