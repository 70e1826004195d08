import { organization as endpoints } from '@remit/contract'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { decisionsOfMonth } from '@remit/core/orgs/settings'
import {
  findOrganizationById,
  organizationRecord,
  settingsWarnings,
  updateSettings,
} from '@remit/core/orgs'
import type { OrganizationRecord } from '@remit/core/orgs'

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
