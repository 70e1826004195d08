import { people } from '@remit/contract'
import { pageOf } from '@remit/core/base'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { answering } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { invitation, personChange, personRemoval, toPerson } from './changes.ts'
import type { IsRoleManaged } from './changes.ts'
import { listPeople } from './store.ts'

export const peopleRoutes = ({ db, ids, writer }: Deps, isRoleManaged: IsRoleManaged): Route[] =>
  implement(people, {
    listPeople: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => listPeople(db, orgId, { limit, after: query.cursor }),
        cursor: ({ id }) => id,
        items: (rows) => rows.map(toPerson),
      }),

    invitePerson: ({ body }, caller, request) =>
      writer.change(
        caller.orgId,
        request,
        answering(
          invitation(ids, body),
          (person) =>
            new Reply(person, { status: 201, headers: { Location: `/v1/people/${person.id}` } }),
        ),
      ),

    changePerson: ({ params, body }, caller, request) =>
      writer.change(caller.orgId, request, personChange(params.id, body, isRoleManaged)),

    removePerson: ({ params }, caller, request) =>
      writer.change(caller.orgId, request, personRemoval(params.id)),
  })
