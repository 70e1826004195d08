import { authorize, keys, organization as endpoints } from '@remit/contract'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { cursorAfter, pageOf, placeOf } from '@remit/core/base'
import { keyCreation, keyRevocation, keyRotation, listKeys } from '@remit/core/keys'
import type { IssuedKey } from '@remit/core/keys'
import { answering } from '@remit/core/ledger/lanes'
import { decisionsOfMonth } from '@remit/core/orgs/settings'
import {
  findOrganizationById,
  organizationRecord,
  settingsWarnings,
  updateSettings,
} from '@remit/core/orgs'
import type { OrganizationRecord } from '@remit/core/orgs'

export const authorizeRoutes = ({ decider }: Deps): Route[] =>
  implement(authorize, {
    authorize: ({ body }, _, request) => decider.authorize(body, request),
  })

/** The ingest keys of an organization. Core stores them; this module serves their endpoints. */
export const keyRoutes = ({ db, writer }: Deps): Route[] =>
  implement(keys, {
    listKeys: async ({ query }, { orgId }) => {
      const after = placeOf(query.cursor)
      return pageOf(query.limit, {
        read: (limit) => listKeys(db, orgId, { limit, after }),
        cursor: cursorAfter,
        items: (rows) => [...rows],
      })
    },

    createKey: ({ body }, caller, request) =>
      writer.change(caller.orgId, request, answering(keyCreation(body), wireIssued)),

    rotateKey: ({ params }, caller, request) =>
      writer.change(caller.orgId, request, answering(keyRotation(params.id), wireIssued)),

    revokeKey: ({ params }, caller, request) =>
      writer.change(
        caller.orgId,
        request,
        answering(keyRevocation(params.id), ({ receipt, ...ended }) => ({
          ...ended,
          ledger: receipt,
        })),
      ),
  })

const wireIssued = ({ key, secret, receipt }: IssuedKey) => ({ secret, key, ledger: receipt })

export const organizationRoutes = ({ db, writer, clock }: Deps): Route[] =>
  implement(endpoints, {
    getOrganization: async (_, { orgId }) => ({
      ...shown(organizationRecord(await findOrganizationById(db, orgId))),
      decisions_this_month: await decisionsOfMonth(db, orgId, clock.now()),
    }),

    changeOrganization: async ({ body }, caller, request) => {
      const options = { acknowledgeShortRetention: body.acknowledge_short_retention }
      const { organization, receipt } = await updateSettings(
        writer,
        caller.orgId,
        request,
        body.settings,
        options,
      )
      return { ...shown(organization), ledger: receipt }
    },
  })

const shown = (organization: OrganizationRecord) => ({
  ...organization,
  ...settingsWarnings(organization.settings),
})
