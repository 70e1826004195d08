import type { Api } from '@remit/testing'

/** An entry as the fold is given it. */
interface Row {
  readonly seq: number
  readonly recorded_at: string
  readonly kind: string
  readonly payload: string | null
}

interface Kept {
  readonly object: object
}

/** As much of the fold's state as is compared here. */
interface State {
  readonly organization: { readonly plan: string; readonly settings: object } | null
  readonly keys: ReadonlyMap<string, { readonly isRevoked: boolean }>
  readonly agents: ReadonlyMap<string, Kept & { readonly isRemoved: boolean }>
  readonly stops: ReadonlyMap<string, { readonly cause: string }>
  readonly credentials: ReadonlyMap<
    string,
    Kept & { readonly id: string; readonly expiresAt: number | null }
  >
  readonly policies: ReadonlyMap<string, Kept>
  readonly permissions: ReadonlyMap<string, Kept>
  readonly approvalRules: ReadonlyMap<string, Kept>
  readonly spendLimits: ReadonlyMap<string, Kept>
  readonly trustPolicies: ReadonlyMap<string, Kept>
  readonly issuers: ReadonlyMap<string, Kept>
  readonly approvals: ReadonlyMap<string, object>
}

interface Facts {
  readonly Fold: new (question: object) => {
    carry(row: Row): void
    entry(row: Row): void
    readonly state: State
  }
  readonly reportQueryOf: (period: object) => object
}
interface Carried {
  readonly readCarriedEntries: (
    db: object,
    orgId: string,
  ) => Promise<{ readonly rows: readonly Row[] }>
}
interface Approvals {
  readonly approvalAt: (approval: object, time: number) => string
}

/** The package may be absent, so it is found when the test runs. */
const load = async (file: string): Promise<unknown> =>
  import(new URL(`../../../../packages/compliance/src/facts/${file}`, import.meta.url).href)

type Objects = readonly Readonly<Record<string, unknown>>[]

/** Everything that is set up, by what it is; lists in the order of their ids. */
export type Setup = Readonly<Record<string, unknown>>

/** Members that are made of other objects, or that time alone changes. */
const DERIVED: ReadonlySet<string> = new Set(
  'chain depth effective keys last_used_at ledger spent status warnings'.split(' '),
)

function plain(objects: Objects): Objects {
  const keep = ([name]: [string, unknown]) => !DERIVED.has(name)
  return objects
    .map((one) => Object.fromEntries(Object.entries(one).filter(keep)))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

/** An object of the state as the entry has it. */
const recorded = (object: object) => JSON.parse(JSON.stringify(object)) as Objects[number]

const nameOf = (one: Readonly<Record<string, unknown>>) => String(one['id'] ?? one['agent_id'])

/** All rows of an organization's ledger. */
export const rowsOf = ({ remit, org }: Api): Promise<Row[]> =>
  remit.db
    .selectFrom('ledger_entry')
    .select(['seq', 'recorded_at', 'kind', 'payload'])
    .where('org_id', '=', org.id)
    .orderBy('seq')
    .execute()

/** Entries that pruning carried over. */
export async function carriedOf({ remit, org }: Api): Promise<readonly Row[]> {
  const { readCarriedEntries } = (await load('../verify/carried-entries.ts')) as Carried
  return (await readCarriedEntries(remit.db, org.id)).rows
}

/** The state that the entries before `to` set up, with the entries carried over. */
export async function folded(
  rows: readonly Row[],
  orgId: string,
  to: number,
  carried: readonly Row[] = [],
): Promise<Setup> {
  const { Fold, reportQueryOf } = (await load('index.ts')) as Facts
  const { approvalAt } = (await load('state/rules.ts')) as Approvals
  const fold = new Fold(reportQueryOf({ orgId, from: 0, to }))
  for (const row of carried) fold.carry(row)
  for (const row of rows) fold.entry(row)
  const { state } = fold
  const objects = (kept: ReadonlyMap<string, Kept>) =>
    plain([...kept.values()].map(({ object }) => recorded(object)))
  return {
    plan: state.organization?.plan,
    settings: recorded(state.organization?.settings ?? {}),
    keys: [...state.keys].flatMap(([id, { isRevoked }]) => (isRevoked ? [] : [id])).toSorted(),
    agents: plain(
      [...state.agents.values()].flatMap((one) => (one.isRemoved ? [] : [recorded(one.object)])),
    ),
    suspended: [...state.stops]
      .filter(([id, { cause }]) => cause === 'suspended' && state.agents.has(id))
      .map(([id]) => id)
      .toSorted(),
    credentials: [...state.credentials.values()]
      .filter(({ expiresAt }) => expiresAt !== null && to < expiresAt)
      .map(({ id, expiresAt }) => `${id} ${expiresAt}`)
      .toSorted(),
    policies: objects(state.policies),
    permissions: objects(state.permissions),
    approvalRules: objects(state.approvalRules),
    spendLimits: objects(state.spendLimits),
    trustPolicies: objects(state.trustPolicies),
    issuers: objects(state.issuers),
    approvals: [...state.approvals]
      .map(([id, approval]) => `${id} ${approvalAt(approval, to)}`)
      .toSorted(),
  }
}

/** The lists that the API returns now. */
export async function listed(api: Api): Promise<Setup> {
  const all = { query: { limit: 1000 } }
  const organization = await api.ok('getOrganization')
  const { data: agents } = await api.ok('listAgents', all)
  const credentials = []
  for (const { agent_id: agentID } of agents) {
    const query = { limit: 1000, status: 'active' }
    credentials.push(...(await api.ok('listCredentials', { params: { agentID }, query })).data)
  }
  const { permissions } = await api.ok('getDelegation', all)
  const data = async (
    name: 'listPolicies' | 'listApprovalRules' | 'listSpendLimits' | 'listTrustPolicies',
  ) => plain((await api.ok(name, all)).data)
  return {
    plan: organization.plan,
    settings: organization.settings,
    keys: (await api.ok('listKeys', all)).data
      .flatMap(({ id, revoked_at: at }) => (at === null ? [id] : []))
      .toSorted(),
    agents: plain(agents),
    suspended: agents
      .flatMap(({ agent_id: id, status }) => (status === 'suspended' ? [id] : []))
      .toSorted(),
    credentials: credentials
      .map(({ id, expires_at: end }) => `${id} ${Date.parse(end)}`)
      .toSorted(),
    policies: await data('listPolicies'),
    permissions: plain(permissions.filter(({ revoked_at: at }) => at === null)),
    approvalRules: await data('listApprovalRules'),
    spendLimits: await data('listSpendLimits'),
    trustPolicies: await data('listTrustPolicies'),
    issuers: plain((await api.ok('listIssuers', all)).data),
    approvals: (await api.ok('listApprovals', all)).data
      .map(({ id, status }) => `${id} ${status}`)
      .toSorted(),
  }
}
