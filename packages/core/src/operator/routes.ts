import { operator } from '@remit/contract'
import type { Usage } from '@remit/contract'
import { isoTime } from '../base/clock.ts'
import type { Clock } from '../base/clock.ts'
import { timeOfId } from '../base/ids.ts'
import { fail, invalid } from '../base/errors.ts'
import { invalidCursor } from '../base/page.ts'
import type { ArchiveRules } from '../db/archived.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables, OrganizationRow } from '../db/schema.ts'
import { implement, Reply } from '../http/endpoint.ts'
import type { ApiRequest, Route } from '../http/endpoint.ts'
import { textStream } from '../http/text-stream.ts'
import type { Ledger } from '../ledger/read/ledger.ts'
import type { Writer } from '../ledger/write/writer.ts'
import { decidedBefore, decisionsOfMonth } from '../limits/month.ts'
import {
  changePlanAndLimits,
  findOrganizationById,
  resumeOrganization,
  suspendOrganization,
} from '../orgs/administration.ts'
import { organizationPage, organizationRecord } from '../orgs/organizations.ts'
import type { ListedOrganization, CreateOrganization } from '../orgs/organizations.ts'
import {
  deleteOrganization,
  DELETION_DAYS,
  exportConfiguration,
  findDeleted,
  scheduleDeletion,
} from '../orgs/deletion.ts'
import type { UsageCounts } from '../module/ports.ts'

export interface OperatorRouteDeps {
  readonly db: Database<CoreTables>
  readonly writer: Writer
  readonly ledger: Ledger
  readonly clock: Clock
  readonly version: string
  readonly archive: ArchiveRules
  readonly create: CreateOrganization
  /** Absent without a module that counts usage. */
  readonly usage: () => UsageCounts | undefined
}

/** `/v1/operator`: the commands `remit org` over HTTP, recorded with the name of the key. */
export const operatorRoutes = (deps: OperatorRouteDeps): Route[] => {
  const { db, writer, ledger, clock } = deps
  const shown = async (row: OrganizationRow) => ({
    ...organizationRecord(row),
    decisions_this_month: await decisionsOfMonth(db, row.id, clock.now()),
  })
  const read = async (id: string) => shown(await findOrganizationById(db, id))
  const changed = async (id: string, change: () => Promise<unknown>) => {
    // The writer knows no organization without a ledger.
    await findOrganizationById(db, id)
    await change()
    return read(id)
  }
  return implement(operator, {
    listOrganizations: async ({ query: { limit, cursor } }) => {
      if (cursor !== undefined && timeOfId(cursor) === null) throw invalidCursor()
      const { rows, next } = await organizationPage(db, limit, cursor)
      const now = isoTime(clock.now())
      return { data: rows.map((row) => listed(row, now)), next_cursor: next }
    },

    createOrganization: async ({ body: { name, plan, limits } }, _, request) => {
      const { organization, key } = await deps.create(name, { plan, limits, ...by(request) })
      return {
        organization: await shown(organization),
        key: { secret: key.secret, id: key.id, role: 'admin' as const },
      }
    },

    readOrganization: ({ params }) => read(params.id),

    limitOrganization: ({ params: { id }, body: { plan, limits = {} } }, _, request) =>
      changed(id, () => changePlanAndLimits(writer, id, { plan, limits }, by(request))),

    suspendOrganization: ({ params: { id }, body }, _, request) =>
      changed(id, () => suspendOrganization(writer, id, { ...body, ...by(request) })),

    resumeOrganization: ({ params: { id } }, _, request) =>
      changed(id, () => resumeOrganization(writer, id, by(request))),

    readUsage: async ({ params: { id }, query }): Promise<Usage> => {
      const counts = deps.usage()
      if (!counts) throw fail('not_found', 'This edition counts no usage')
      await findOrganizationById(db, id)
      return counts.hours(id, query)
    },

    exportLedger: async ({ params: { id } }) => {
      await findOrganizationById(db, id)
      return new Reply<string>(textStream(await ledger.export(id, {}), () => undefined))
    },

    exportConfiguration: async ({ params: { id } }) => {
      await findOrganizationById(db, id)
      const at = { now: isoTime(clock.now()), version: deps.version }
      const text = exportConfiguration(db, deps.archive, id, at)
      return new Reply<string>(textStream(text, () => undefined))
    },

    scheduleDeletion: ({ params: { id }, body }, _, request) =>
      changed(id, () => scheduleDeletion(writer, id, DELETION_DAYS, { ...body, ...by(request) })),

    deleteOrganization: async ({ params: { id }, query: { confirm, reason } }, _, request) => {
      if (!(await findDeleted(db, id))) {
        const { name } = await findOrganizationById(db, id)
        if (confirm !== name) throw invalid('confirm', 'must be the name of the organization')
      }
      const noted = { ...(reason !== undefined && { reason }), ...by(request) }
      return deleteOrganization({ db, writer, clock }, id, noted)
    },
  })
}

const listed = ({ decided, decided_month, ...row }: ListedOrganization, now: string) => ({
  ...organizationRecord(row),
  decisions_this_month:
    decided === null || decided_month === null ? 0 : decidedBefore({ decided, decided_month }, now),
})

const by = ({ operator: name }: ApiRequest): { operator?: string } =>
  name === null ? {} : { operator: name }
