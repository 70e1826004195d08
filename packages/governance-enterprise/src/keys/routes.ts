import { keys } from '@remit/contract'
import { cursorAfter, pageOf, placeOf } from '@remit/core/base'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { keyCreation, keyRevocation, keyRotation, listKeys } from '@remit/core/keys'
import type { IssuedKey } from '@remit/core/keys'
import { answering } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'

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
      writer.change(caller.orgId, { ...request, caller }, answering(keyCreation(body), wireIssued)),

    rotateKey: ({ params }, caller, request) =>
      writer.change(
        caller.orgId,
        { ...request, caller },
        answering(keyRotation(params.id), wireIssued),
      ),

    revokeKey: ({ params }, caller, request) =>
      writer.change(
        caller.orgId,
        { ...request, caller },
        answering(keyRevocation(params.id), ({ receipt, ...ended }) => ({
          ...ended,
          ledger: receipt,
        })),
      ),
  })

const wireIssued = ({ key, secret, receipt }: IssuedKey) => ({ secret, key, ledger: receipt })
