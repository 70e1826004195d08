import { organization as endpoints } from '@remit/contract'
import { findOrganizationById, implement, organizationRecord, updateSettings } from '@remit/core'
import type { Deps, Route } from '@remit/core'

export const organizationRoutes = ({ db, writer }: Deps): Route[] =>
  implement(endpoints, {
    getOrganization: async (_, { orgId }) =>
      organizationRecord(await findOrganizationById(db, orgId)),

    changeOrganization: async ({ body }, caller, request) => {
      const requester = { ...request, caller }
      const { organization, receipt } = await updateSettings(
        writer,
        caller.orgId,
        requester,
        body.settings,
      )
      return { ...organization, ledger: receipt }
    },
  })
