import { organization as endpoints } from '@remit/contract'
import {
  decisionsOfMonth,
  findOrganizationById,
  implement,
  organizationRecord,
  settingsWarnings,
  updateSettings,
} from '@remit/core'
import type { Deps, OrganizationRecord, Route } from '@remit/core'

export const organizationRoutes = ({ db, writer, clock }: Deps): Route[] =>
  implement(endpoints, {
    getOrganization: async (_, { orgId }) => ({
      ...shown(organizationRecord(await findOrganizationById(db, orgId))),
      decisions_this_month: await decisionsOfMonth(db, orgId, clock.now()),
    }),

    changeOrganization: async ({ body }, caller, request) => {
      const requester = { ...request, caller }
      const { organization, receipt } = await updateSettings(
        writer,
        caller.orgId,
        requester,
        body.settings,
        { acknowledgeShortRetention: body.acknowledge_short_retention },
      )
      return { ...shown(organization), ledger: receipt }
    },
  })

const shown = (organization: OrganizationRecord) => ({
  ...organization,
  ...settingsWarnings(organization.settings),
})
